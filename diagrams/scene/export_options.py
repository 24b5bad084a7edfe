"""The options of an export. A format lists its own in OPTIONS, for the form of the page and the command line.

STEP, STEPS, ORIENTATION and THEME are fields of every view, and flags for every format. `number`, `menu` and `text`
make an option of a single format, which reads it by `Option.of`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from diagrams.scene.view import Value, View
from diagrams.shapes import theme
from sim.core.errors import InputError

SHOWN = 300  # steps of a long run in a picture, by default
POINTS = {"mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0, "pt": 1.0}  # in points of 1/72 inch
LEAST_WIDTH, MOST_WIDTH = 72, 2400  # points
LEAST_FONT, MOST_FONT = 5, 36  # points
_METAVAR = {
    "step": "K",
    "steps": "A-B",
    "crop": "A..B",
    "length": "LENGTH",
    "number": "N",
    "text": "TEXT",
    "cut": "P1=2,P2=3",
    "shown": "TEXT",
}


@dataclass(frozen=True)
class Option:
    """One option of a format.

    name: its flag, and its key in a query. label: on the page. help: on the command line.
    kind: "step", "steps" (a range), "number" (whole, from `least` to `most`), "menu" (of `choices`: value and label),
        "crop" (a range), "length" (with its unit: from `least` to `most` points), "flag" (given or not),
        "cut" (as scene/frontiers.py reads it), "text", or "shown" (the page has no field for it, and sends what it
        shows, as a link does: sim/edit/link.py). For steps, `most` is the length of the range that the form suggests.
    default: the value if none is given.
    begins: the form starts with the page's own "step", "orientation", "scheme" of colours or "drawing" (of the open
        tab), or with the value that a link to the page has by this name.
    in_name: the file's name contains it, unless it is the default.
    long_only: the form has it only for runs that are seen through a window.
    drawing: the form has it only for this drawing.
    form: the regular expression that a text has to match, and the advice if it does not.
    example: a common length. Its `choices` are suggestions. `otherwise` names the choice to give none; without it the
        form begins with the default, or the example.
    is_seen: the option decides what the file shows, and not its layout; the form has two groups for these.
    needs: the form has it only if this other option is given.
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
    drawing: str | None = None
    form: tuple[str, str] | None = None
    example: str = ""
    otherwise: str | None = None
    is_seen: bool = False
    needs: str | None = None

    @property
    def metavar(self) -> str:
        """The placeholder for a value in the command line's help."""
        return _METAVAR.get(self.kind) or f"{{{','.join(value for value, _ in self.choices)}}}"

    def of(self, view: View) -> Any:
        """The value of a format's own option in `view`, else its default."""
        return view.options.get(self.name, self.default)

    def read(self, text: str) -> Value:
        """The value written in `text`. Raises InputError."""
        if self.kind == "step" and re.fullmatch(r"-?[0-9]{1,9}", text):
            return int(text)
        if self.kind == "steps" and (ends := re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", text)):
            return int(ends[1]), int(ends[2])
        if self.kind == "crop" and (ends := re.fullmatch(r"([0-9]{1,9})(?:\.\.|-)([0-9]{1,9})", text)):
            return int(ends[1]), int(ends[2])
        if self.kind == "length" and self._holds(points_in(text)):
            return text
        if self.kind == "flag" and text in ("yes", "no"):
            return text == "yes"
        if self.kind == "number" and re.fullmatch(r"-?[0-9]{1,9}", text) and self._holds(int(text)):
            return int(text)
        is_text = self.kind in ("text", "cut", "shown") and not self.choices
        if (is_text and (self.form is None or re.fullmatch(self.form[0], text))) or text in dict(self.choices):
            return text
        raise InputError(f"--{self.name} {text[:20]!r} {self._advice()}")

    def _holds(self, number: float | None) -> bool:
        return (
            number is not None
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
        )

    def _advice(self) -> str:
        """The end of an error: the mistake in a value, and a right one."""
        if self.kind == "step":
            return "is not a step; give its number, such as 3"
        if self.kind == "steps":
            return "is not a range of steps; give the first and the last one, such as 3-7"
        if self.kind == "crop":
            return "is not a range of steps; give the first and the last one, such as 3..7"
        if self.kind == "flag":
            return "is neither yes nor no; give one of them"
        if self.kind == "length":
            ends = [f"{self.least}pt", f"{self.most}pt"]
            return f"is not possible; give a length from {' to '.join(ends)} with its unit, such as {self.example}"
        if self.kind == "number":
            return f"is not possible; give a whole number from {self.least} to {self.most}"
        if self.form is not None:
            return f"is not possible; {self.form[1]}"
        return f"is not known; say {' or '.join(value for value, _ in self.choices)}"

    def to_json(self) -> dict[str, Any]:
        """The option for the page's form; fields that are None are left out."""
        keys = (
            "name", "label", "kind", "default", "least", "most", "begins", "drawing", "otherwise", "needs",
        )  # fmt: skip
        said = {key: value for key in keys if (value := getattr(self, key)) is not None}
        return said | {
            key: value for key in ("choices", "long_only", "is_seen", "example") if (value := getattr(self, key))
        }


def points_in(length: str) -> float | None:
    """A length such as 84mm in points of 1/72 inch; None if the text is no length."""
    parts = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{1,6})?)(mm|cm|in|pt)", length)
    return float(parts[1]) * POINTS[parts[2]] if parts else None


def number(name: str, label: str, default: int, least: int, most: int) -> Option:
    """An option of one format that is a whole number."""
    words = f"{label}: {least} to {most} (default: {default})"
    return Option(name, label, words, "number", default=default, least=least, most=most)


def menu(name: str, label: str, choices: Sequence[tuple[str, str]], default: str) -> Option:
    """An option of one format that is a choice of values, each with its label."""
    words = f"{label}: {', '.join(f'{value} ({said})' for value, said in choices)} (default: {default})"
    return Option(name, label, words, "menu", tuple(choices), default)


def text(name: str, label: str, default: str = "") -> Option:
    """An option of one format that is a text."""
    return Option(name, label, f"{label} (default: {default or 'none'})", "text", default=default)


SPACE_TIME, LATTICE, PROOF = "space-time", "lattice", "proof"
STEP = Option("step", "Step", "the step to show (default: the last)", "step", begins="step", in_name=True, is_seen=True)
OPENED = replace(STEP, in_name=False)  # for a file with all steps, which opens at one
STEPS = Option(
    "steps", "From step", "the first and the last step to show (default: all)", "steps", in_name=True, is_seen=True
)
CROP = Option(
    "crop", "Diagram from step", "the part of the diagram between two steps, such as 3..7 (default: all of it)", "crop",
    most=SHOWN, in_name=True, drawing=SPACE_TIME, is_seen=True,
)  # fmt: skip
WIDTH = Option(
    "width", "Width", "the width of the figure on paper, such as 84mm, 3.3in or 240pt (default: as on a screen, "
    "or 170mm if only the size of letters is given)",
    "length", (("84mm", "one column"), ("80.6mm", "one of LaTeX's article"), ("170mm", "two columns")),
    least=LEAST_WIDTH, most=MOST_WIDTH, example="84mm", otherwise="as on a screen",
)  # fmt: skip
FONT_SIZE = Option(
    "font-size", "Letters", "the size of all letters on paper, such as 9pt (default: 8pt); labels are placed for it; "
    "without a width the figure is 170mm wide", "length",
    (("7pt", ""), ("8pt", ""), ("9pt", ""), ("10pt", "")), least=LEAST_FONT, most=MOST_FONT, example="8pt",
    needs=WIDTH.name,
)  # fmt: skip
LEGEND = Option(
    "legend", "Legend", "the signs of the diagram with their names, below it", "flag", default=False,
    is_seen=True,
)  # fmt: skip
NO_AXIS = Option(
    "no-axis", "Without times", "leave out the times beside the diagram", "flag", default=False, drawing=SPACE_TIME,
    is_seen=True,
)  # fmt: skip
ORIENTATION = Option(
    "orientation", "Time runs", "the direction of time (default: the scenario's)", "menu",
    (("down", "from top to bottom"), ("right", "from left to right")), begins="orientation",
)  # fmt: skip
THEME = Option(
    "theme", "Colours", "the colours (default: light)", "menu", tuple((name, name) for name in theme.PRINTED), "light",
)  # fmt: skip
PROCESSES = Option(
    "processes", "Processes", "the processes to show, in this order, such as P1,P2,P5 (default: all; on the page those "
    "on show)", "shown",
)  # fmt: skip
CUT = Option(
    "cut", "Cut", "a cut to draw: the events inside by process, such as P1=2,P2=3, or of all in order, such as 2.3.1; "
    "numbers after ~ are the faults inside, such as 2.3.1~1 (default: none)",
    "cut", is_seen=True,
)  # fmt: skip
DRAWING = replace(  # for a picture: one of diagrams/still/pictures.py
    menu(
        "drawing", "Drawing",
        ((SPACE_TIME, "space-time diagram"), (LATTICE, "lattice of consistent cuts"), (PROOF, "Dijkstra's page")),
        SPACE_TIME,
    ),
    in_name=True, begins="drawing", is_seen=True,
)  # fmt: skip
PREDICATE = replace(
    text("predicate", "Predicate to ask of the lattice"), begins="predicate", drawing=LATTICE, is_seen=True
)
PROOF_SNAPSHOT = Option(
    "snapshot", "Snapshot", "the snapshot of Dijkstra's page, such as S1 (default: the first one that all processes "
    "have recorded)", "text", default="", begins="proof", drawing=PROOF, is_seen=True,
)  # fmt: skip
SWAPS = Option(
    "swaps", "Interchanges", "the interchanges on Dijkstra's page: their number, straight, or their places, such as "
    "at-5-4 (default: 0)", "text", default="0", begins="swaps", drawing=PROOF,
    is_seen=True,
    form=("straight|[0-9]{1,9}|at(-[0-9]{1,7})+", "give a number, straight, or at- and places, such as at-5-4"),
)  # fmt: skip
TAB = Option(
    "tab", "Tab", "the tab on show: cut, lattice or proof (default: cut if there is one)", "shown",
    (("cut", "Cut"), (LATTICE, "Lattice"), (PROOF, "Proof")), begins="tab",
)  # fmt: skip
FIGURES = Option(
    "figures", "With the figures", "several algorithms: a table of the costs of their snapshots, below the diagrams",
    "flag", default=False, is_seen=True,
)  # fmt: skip
SHARED = (STEP, STEPS, ORIENTATION, THEME)
SHEET = (WIDTH, FONT_SIZE, LEGEND, NO_AXIS, THEME)  # the paper or screen of a picture (diagrams/drawing/sheet.py)
PICTURE = (  # for a picture of a step
    DRAWING, STEP, CROP, CUT, PREDICATE, PROOF_SNAPSHOT, SWAPS, PROCESSES, FIGURES, *SHEET, ORIENTATION,
)  # fmt: skip
OF_ONE_RUN = (
    DRAWING,
    STEPS,
    CROP,
    CUT,
    PREDICATE,
    PROOF_SNAPSHOT,
    SWAPS,
)  # a row of runs (diagrams/scene/row.py) has none


def pages(most: int) -> tuple[Option, ...]:
    """The options of a file with a page for each step; the form suggests at most `most` pages."""
    return replace(STEPS, most=most), CROP, PROCESSES, ORIENTATION, NO_AXIS, replace(THEME, begins="scheme")


def shown(option: Option) -> Option:
    """The option for a stand-alone page, which opens with the values on show."""
    return replace(option, kind="shown", drawing=None)


def for_run(options: Sequence[Option]) -> tuple[Option, ...]:
    """The options of one run."""
    return tuple(option for option in options if option.name != FIGURES.name)


def for_row(options: Sequence[Option]) -> tuple[Option, ...]:
    """The options of a row of runs, which has only one drawing."""
    left_out = {option.name for option in OF_ONE_RUN}
    return tuple(option for option in options if option.name not in left_out)


def for_log(options: Sequence[Option]) -> tuple[Option, ...]:
    """The options of a window of a log, which has no snapshots, and so no page of Dijkstra's."""
    asked = [option for option in for_run(options) if option.begins not in (PROOF, SWAPS.name)]
    return tuple(replace(own, choices=tuple(c for c in own.choices if c[0] != PROOF)) for own in asked)
