"""What may be asked about an export. A format declares its own in OPTIONS; the page and the command line ask for them.

STEP, STEPS, ORIENTATION and THEME are what a view has for every format, and flags of the command line whatever the
format. `number`, `menu` and `text` make an option of a format's own, which `Option.of` finds in the view.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from diagrams import theme
from diagrams.view import Value, View
from sim.core.errors import InputError

SHOWN = 300  # steps of a long run that a picture shows, unless somebody asks for others
_METAVAR = {"step": "K", "steps": "A-B", "number": "N", "text": "TEXT"}


@dataclass(frozen=True)
class Option:
    """One thing that a format is asked about.

    name: its flag, and its key in a query. label: on the page. help: on the command line.
    kind: "step", "steps" (a range), "number" (whole, from `least` to `most`), "menu" (of `choices`: value and label)
        or "text". Of steps, `most` is how many the page begins with.
    default: what holds where nothing is said.
    begins: what of the page it begins with there: its "step", its "orientation" or its "scheme" of colours.
    in_name: whether the name of the file says it.
    long_only: whether the page asks only about a run so long that it is seen through a window.
    """

    name: str
    label: str
    help: str
    kind: str
    choices: tuple[tuple[str, str], ...] = ()
    default: str | int | None = None
    least: int | None = None
    most: int | None = None
    begins: str | None = None
    in_name: bool = False
    long_only: bool = False

    @property
    def metavar(self) -> str:
        """What stands for a value in the command line's help."""
        return _METAVAR.get(self.kind) or f"{{{','.join(value for value, _ in self.choices)}}}"

    def of(self, view: View) -> Any:
        """What was asked for of a format's own option, else its default."""
        return view.options.get(self.name, self.default)

    def read(self, text: str) -> Value:
        """The value that a text says. Raises InputError with what would be right."""
        if self.kind == "step" and re.fullmatch(r"-?[0-9]{1,9}", text):
            return int(text)
        if self.kind == "steps" and (ends := re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", text)):
            return int(ends[1]), int(ends[2])
        if self.kind == "number" and re.fullmatch(r"-?[0-9]{1,9}", text) and self._holds(int(text)):
            return int(text)
        if self.kind == "text" or text in dict(self.choices):
            return text
        raise InputError(f"--{self.name} {text[:20]!r} {self._advice()}")

    def _holds(self, number: int) -> bool:
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def _advice(self) -> str:
        """What is wrong with a value, and what would be right."""
        if self.kind == "step":
            return "is no step; give its number, such as 3"
        if self.kind == "steps":
            return "is no range of steps; give the first and the last one, such as 3-7"
        if self.kind == "number":
            return f"is not possible; give a whole number from {self.least} to {self.most}"
        return f"is not known; say {' or '.join(value for value, _ in self.choices)}"

    def to_json(self) -> dict[str, Any]:
        """What the page needs to ask for it; what says nothing is left out."""
        told = {key: getattr(self, key) for key in ("name", "label", "kind", "default", "least", "most", "begins")}
        said = {key: value for key, value in told.items() if value is not None}
        return (
            said | ({"choices": self.choices} if self.choices else {}) | ({"long_only": True} if self.long_only else {})
        )


def number(name: str, label: str, default: int, least: int, most: int) -> Option:
    """A format's own whole number."""
    words = f"{label}: {least} to {most} (default: {default})"
    return Option(name, label, words, "number", default=default, least=least, most=most)


def menu(name: str, label: str, choices: Sequence[tuple[str, str]], default: str) -> Option:
    """A format's own choice: values, each with its label."""
    words = f"{label}: {', '.join(f'{value} ({said})' for value, said in choices)} (default: {default})"
    return Option(name, label, words, "menu", tuple(choices), default)


def text(name: str, label: str, default: str = "") -> Option:
    """A format's own text."""
    return Option(name, label, f"{label} (default: {default or 'none'})", "text", default=default)


STEP = Option("step", "Step", "the step to show (default: the last)", "step", begins="step", in_name=True)
OPENED = replace(STEP, in_name=False)  # of what holds all steps, and opens at one
STEPS = Option("steps", "From step", "the first and the last step to show (default: all)", "steps", in_name=True)
WINDOW = replace(  # of what shows one step, amid those around it
    STEPS, help="of a long run, the first and the last step to show", most=SHOWN, in_name=False, long_only=True
)
ORIENTATION = Option(
    "orientation", "Time runs", "where time runs (default: as the scenario says)", "menu",
    (("down", "from top to bottom"), ("right", "from left to right")), begins="orientation",
)  # fmt: skip
THEME = Option(
    "theme", "Colours", "the colours (default: light)", "menu", tuple((name, name) for name in theme.PALETTES), "light",
    begins="scheme",
)  # fmt: skip
SHARED = (STEP, STEPS, ORIENTATION, THEME)
PICTURE = (STEP, WINDOW, ORIENTATION, THEME)  # what is asked about a picture of a step


def pages(most: int) -> tuple[Option, ...]:
    """What is asked about what has a page for each step, and at most so many of them."""
    return replace(STEPS, most=most), ORIENTATION, THEME
