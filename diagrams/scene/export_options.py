"""The options of an export. A format lists its own in OPTIONS; the page and the command line ask for them.

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
        "cut" (as scene/frontiers.py reads it), "text", or "shown" (the page does not ask, but says what it shows, as
        a link does: sim/edit/link.py). For steps, `most` is the length of the range that the form suggests.
    default: the value where none is given.
    begins: the form starts with the page's own "step", "orientation", "scheme" of colours or "drawing" (of the open
        tab), or with what is on show there by this name in a link.
    in_name: the file's name contains it, unless it is the default.
    long_only: the page asks only for runs that are seen through a window.
    drawing: the page asks only for this drawing.
    form: what a text has to look like, as a regular expression, and the advice where it does not.
    example: a length that somebody may want. Its `choices` are suggestions; `otherwise` is what it means to give none,
        where that is a choice of its own: else the page begins with the default, or the example.
    is_seen: it says what is seen in the file, and not how that is set; the page asks for the two apart.
    needs: the page asks only where this other option is given.
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
        """What is wrong with a value, and what would be right."""
        if self.kind == "step":
            return "is no step; give its number, such as 3"
        if self.kind == "steps":
            return "is no range of steps; give the first and the last one, such as 3-7"
        if self.kind == "crop":
            return "is no range of steps; give the first and the last one, such as 3..7"
        if self.kind == "flag":
            return "is neither yes nor no"
        if self.kind == "length":
            ends = [f"{self.least}pt", f"{self.most}pt"]
            return f"is not possible; give a length from {' to '.join(ends)} with its unit, such as {self.example}"
        if self.kind == "number":
            return f"is not possible; give a whole number from {self.least} to {self.most}"
        if self.form is not None:
            return f"is not possible; {self.form[1]}"
        return f"is not known; say {' or '.join(value for value, _ in self.choices)}"

    def to_json(self) -> dict[str, Any]:
        """The option as the page's form needs it; fields that are None are left out."""
        keys = (
            "name", "label", "kind", "default", "least", "most", "begins", "drawing", "otherwise", "needs",
        )  # fmt: skip
        said = {key: value for key in keys if (value := getattr(self, key)) is not None}
        return said | {
            key: value for key in ("choices", "long_only", "is_seen", "example") if (value := getattr(self, key))
        }


def points_in(length: str) -> float | None:
    """A length such as 84mm in points of 1/72 inch; None where it is none."""
    parts = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{1,6})?)(mm|cm|in|pt)", length)
    return float(parts[1]) * POINTS[parts[2]] if parts else None


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


SPACE_TIME, LATTICE, PROOF = "space-time", "lattice", "proof"
STEP = Option("step", "Step", "the step to show (default: the last)", "step", begins="step", in_name=True, is_seen=True)
OPENED = replace(STEP, in_name=False)  # for a file with all steps, which opens at one
STEPS = Option(
    "steps", "From step", "the first and the last step to show (default: all)", "steps", in_name=True, is_seen=True
)
CROP = Option(
    "crop", "Diagram from step", "the part of the diagram from one step to another (default: all of it)", "crop",
    most=SHOWN, in_name=True, drawing=SPACE_TIME, is_seen=True,
)  # fmt: skip
WIDTH = Option(
    "width", "Width", "how wide the figure is on paper, such as 84mm, 3.3in or 240pt (default: as on a screen, "
    "or 170mm where only the letters are given)",
    "length", (("84mm", "one column"), ("80.6mm", "one of LaTeX's article"), ("170mm", "two columns")),
    least=LEAST_WIDTH, most=MOST_WIDTH, example="84mm", otherwise="as on a screen",
)  # fmt: skip
FONT_SIZE = Option(
    "font-size", "Letters", "the size of all letters on paper; labels are placed for it (default: 8pt); "
    "without a width the figure is 170mm wide", "length",
    (("7pt", ""), ("8pt", ""), ("9pt", ""), ("10pt", "")), least=LEAST_FONT, most=MOST_FONT, example="8pt",
    needs=WIDTH.name,
)  # fmt: skip
LEGEND = Option(
    "legend", "Legend", "the signs of the diagram with their meaning, below it", "flag", default=False,
    is_seen=True,
)  # fmt: skip
NO_AXIS = Option(
    "no-axis", "Without times", "leave out the times beside the diagram", "flag", default=False, drawing=SPACE_TIME,
    is_seen=True,
)  # fmt: skip
ORIENTATION = Option(
    "orientation", "Time runs", "where time runs (default: as the scenario says)", "menu",
    (("down", "from top to bottom"), ("right", "from left to right")), begins="orientation",
)  # fmt: skip
THEME = Option(
    "theme", "Colours", "the colours (default: light)", "menu", tuple((name, name) for name in theme.PRINTED), "light",
)  # fmt: skip
PROCESSES = Option(
    "processes", "Processes", "the processes to show, such as P1,P2,P5, in this order (default: all; on the page those "
    "on show)", "shown",
)  # fmt: skip
CUT = Option(
    "cut", "Cut", "a cut to draw: the events inside by process, such as P1=2,P2=3, or of all in order, such as 2.3.1; "
    "~ and numbers after it say which faults of the run are inside, such as 2.3.1~1 (default: none)",
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
    text("predicate", "Predicate that the lattice is asked"), begins="predicate", drawing=LATTICE, is_seen=True
)
PROOF_SNAPSHOT = Option(
    "snapshot", "Snapshot", "the snapshot of Dijkstra's page (default: the first that every process has recorded)",
    "text", default="", begins="proof", drawing=PROOF, is_seen=True,
)  # fmt: skip
SWAPS = Option(
    "swaps", "Interchanges", "how many interchanges on Dijkstra's page, straight, or their places, such as at-5-4 "
    "(default: 0)", "text", default="0", begins="swaps", drawing=PROOF,
    is_seen=True,
    form=("straight|[0-9]{1,9}|at(-[0-9]{1,7})+", "give a number, straight, or at- and places, such as at-5-4"),
)  # fmt: skip
TAB = Option(
    "tab", "Tab", "the tab on show: cut, lattice or proof (default: cut where there is one)", "shown",
    (("cut", "Cut"), (LATTICE, "Lattice"), (PROOF, "Proof")), begins="tab",
)  # fmt: skip
FIGURES = Option(
    "figures", "With the figures", "several algorithms: what the snapshots of each cost, as a table below the diagrams",
    "flag", default=False, is_seen=True,
)  # fmt: skip
SHARED = (STEP, STEPS, ORIENTATION, THEME)
SHEET = (WIDTH, FONT_SIZE, LEGEND, NO_AXIS, THEME)  # what a picture is made for (diagrams/drawing/sheet.py)
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
    """The same for a file with a page like ours: it opens with what is on show."""
    return replace(option, kind="shown", drawing=None)


def for_run(options: Sequence[Option]) -> tuple[Option, ...]:
    """What one run is asked."""
    return tuple(option for option in options if option.name != FIGURES.name)


def for_row(options: Sequence[Option]) -> tuple[Option, ...]:
    """What a row of runs is asked, which has but one drawing."""
    left_out = {option.name for option in OF_ONE_RUN}
    return tuple(option for option in options if option.name not in left_out)


def for_log(options: Sequence[Option]) -> tuple[Option, ...]:
    """What a window of a log is asked: it has no snapshots, so nothing of Dijkstra's page."""
    asked = [option for option in for_run(options) if option.begins not in (PROOF, SWAPS.name)]
    return tuple(replace(own, choices=tuple(c for c in own.choices if c[0] != PROOF)) for own in asked)
