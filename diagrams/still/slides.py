"""The pages of a deck and the frames of an animation: at each step its sentence, the diagram, and the record so far.

A page is 1280 x 720 pixels, for a projector: no letters of it are smaller than 18 pixels. Time down the page leaves
room for the record beside the diagram, time across below it (diagrams/panels/record/table.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagrams.drawing.diagram import Drawing
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import LETTERS, Sheet
from diagrams.panels.record.lines import Record
from diagrams.panels.record.table import board
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import CROP, NO_AXIS, STEPS
from diagrams.scene.view import View
from diagrams.scene.window import on_show, with_processes
from diagrams.shapes import lettering
from diagrams.shapes.grid import Table
from diagrams.shapes.primitives import Box, Pixel, Text
from diagrams.still.caption import of_run
from sim.core.deadline import in_time
from sim.core.errors import InputError

WIDTH, HEIGHT = 1280, 720
MOST_PAGES = 300
SIDE, TOP, BOTTOM = 36.0, 20.0, 18.0  # pixels round everything
WIDE = WIDTH - 2 * SIDE  # pixels of the sentence
GAP = 18.0  # pixels between the sentence, the diagram and the record
HEAD_SIZE = 20.0  # of the line with the step's number
SENTENCES = ((26.0, 2), (24.0, 2), (22.0, 2), (22.0, 3), (20.0, 4), (18.0, 6))  # sizes, with the most lines of each
LEADING = 1.3  # in font sizes
UNIT = 20.0 / LETTERS  # pixels of the page for one of the diagram, whose letters are 20 pixels high on the page
MOST_BESIDE, MOST_BELOW = 520.0, 240.0  # pixels of the record beside or below the diagram


@dataclass(frozen=True)
class Slide:
    """A page: the line with the step's number, the sentence in `lines` of letters of `size`, diagram and record.

    The diagram is in the pixels of the page, and lies in `box`; `description` is for readers who cannot see it.
    """

    step: int
    head: str
    lines: tuple[str, ...]
    size: float
    box: Box
    diagram: Picture
    description: str
    record: tuple[Table, ...]

    @property
    def picture(self) -> Picture:
        """The page as primitives."""
        tables = (part for table in self.record for part in table.drawn())
        around = (*self.diagram.around, *self._caption(), *tables)
        return Picture(WIDTH, HEIGHT, self.diagram.clip, self.diagram.inside, around)

    def _caption(self) -> Iterator[Text]:
        yield Text((SIDE, TOP + HEAD_SIZE), self.head, "start", HEAD_SIZE, "@faint", "bold", halo=False)
        top = TOP + HEAD_SIZE * LEADING
        for number, line in enumerate(self.lines):
            yield Text((SIDE, top + self.size * (1 + LEADING * number)), line, "start", self.size, "@ink", halo=False)


def slides(scene: Scene, view: View) -> Iterator[Slide]:
    """A page for each step of the view's range, everything in the same place on each. Raises InputError."""
    steps = steps_of(scene, view)
    return _Slides(with_processes(on_show(scene, view), view), view, steps).drawn()


def steps_of(scene: Scene, view: View) -> range:
    """The steps of a view: by default those that the diagram is cropped to, else all.

    Raises InputError if there are more than MOST_PAGES, and for steps that are not in the diagram.
    """
    crop = CROP.of(view) or (scene.first, scene.until)
    first, last = view.steps or crop
    if last - first >= MOST_PAGES:
        raise InputError(
            f"a deck or an animation has at most {MOST_PAGES} steps, and these are {last - first + 1}; "
            f"give a range of steps, such as {first}-{first + MOST_PAGES - 1} (--{STEPS.name})"
        )
    if not crop[0] <= first <= last <= crop[1]:
        raise InputError(
            f"--{STEPS.name} {first}-{last}: the diagram has the steps {crop[0]} to {crop[1]} (--{CROP.name}); "
            f"give steps among them"
        )
    return range(first, last + 1)


class _Slides:
    """The layout that all pages of a run share: the sizes of letters, and all places."""

    def __init__(self, scene: Scene, view: View, steps: range) -> None:
        self.scene, self.steps = scene, steps
        self.size, most = _size([scene.steps[step].sentence for step in steps])
        self.lines = {
            step: tuple(lettering.balanced(scene.steps[step].sentence, self.size, WIDE, most)) for step in steps
        }
        top = TOP + LEADING * (HEAD_SIZE + self.size * max(map(len, self.lines.values()))) + GAP
        right, bottom = WIDTH - SIDE, HEIGHT - BOTTOM
        down = view.orientation == "down"
        room = (MOST_BESIDE, bottom - top) if down else (right - SIDE, MOST_BELOW)
        self.board = board(Record(scene), down, *room)
        if self.board and down:
            right -= self.board.width + GAP
        elif self.board:
            bottom -= self.board.height + GAP
        self.corner: Pixel = (right + GAP, top) if down else (SIDE, bottom + GAP)
        self.box = Box(SIDE, top, right, bottom)
        sheet = Sheet(self.box.width / UNIT, self.box.height / UNIT, UNIT, axis=not NO_AXIS.of(view))
        self.drawing = Drawing(scene, view.orientation, sheet)

    def drawn(self) -> Iterator[Slide]:
        """Yield one page after the other."""
        for step in in_time(self.steps, every=1):
            badge = self.scene.steps[step].badge
            head = f"Step {step} of {self.scene.last}" + (f" · {badge}" if badge else "")
            record = tuple(self.board.tables(step, self.corner)) if self.board else ()
            said = f"Step {step} of {self.scene.last}. {self.scene.steps[step].sentence}"
            description = f"{said} {of_run(self.scene, step)}"
            diagram = self.drawing.at(step).scaled(UNIT).moved(self.box.left, self.box.top)
            yield Slide(step, head, self.lines[step], self.size, self.box, diagram, description, record)


def _size(sentences: list[str]) -> tuple[float, int]:
    """The largest letters with which no sentence needs too many lines, and the number of lines that it may have."""
    for size, most in SENTENCES:
        if all(len(lettering.wrapped(sentence, size, WIDE, most + 1)) <= most for sentence in sentences):
            return size, most
    return SENTENCES[-1]
