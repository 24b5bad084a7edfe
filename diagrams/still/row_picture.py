"""A row -> its picture: the diagrams of several runs with their titles, all of one size on one time axis.

If time runs down the page, they lie side by side, on a narrow paper in two rows; else one above the other. So the same
time has the same height, or the same distance from the left side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from diagrams.drawing.diagram import LANE, MOST, Drawing
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import SCREEN_HEIGHT, SCREEN_WIDTH, Sheet
from diagrams.figure.layout import margins
from diagrams.figure.spacetime import arranged
from diagrams.panels.nodes import node_name, nodes_of_run
from diagrams.scene.composition import Scene
from diagrams.scene.row import Row
from diagrams.shapes.lettering import wrapped
from diagrams.shapes.primitives import Pixel, Primitive, Text
from diagrams.still.figures_table import FiguresTable

TITLE, WORDS = 20.0, 16.0  # pixels, on a screen: the letters of a title, and of a refusal
LEADING = 1.3  # in font sizes
GAP, GAP_ON_PAPER = 28.0, 18.0  # pixels between two diagrams
LANE_BESIDE, LANE_BESIDE_ON_PAPER = 90.0, 52.0  # pixels of a line down the page, at least, if some of them fit
LANE_ABOVE = 64.0  # pixels, on a screen: of a line across the page
LEAST_BESIDE, LEAST_ABOVE = 420.0, 240.0  # pixels of a diagram on a screen
LEAST_SHARE = 0.2  # of the width of a paper: a diagram
INSET = 4.0  # pixels to the left of a title
MOST_HEAD, MOST_LINES = 3, 30  # lines of a title, of a refusal


@dataclass(frozen=True)
class _Cell:
    """A run in the figure: its title in lines, and its picture, or the lines of its refusal.

    `height` is the height below the title.
    """

    title: Sequence[str]
    picture: Picture | None
    refused: Sequence[str]
    width: float
    height: float


class RowPicture:
    """The runs of a row, arranged as a view asks, on one sheet."""

    def __init__(
        self, row: Row, scenes: Sequence[Scene], steps: Sequence[int], orientation: str, sheet: Sheet,
        figures: bool,
    ) -> None:  # fmt: skip
        """`scenes` are those of the row as they are shown, at these steps."""
        self.row, self.steps = row, steps
        self.orientation, self.down = orientation, orientation == "down"
        lows, highs = zip(*(scene.extent for scene in scenes), strict=True)
        self.scenes = [scene.over((min(lows), max(highs))) for scene in scenes]
        self.sheet = replace(sheet, legend=False)
        self.size, self.words = (sheet.letters or TITLE), (sheet.letters or WORDS)
        self.gap = GAP_ON_PAPER if sheet.letters else GAP
        self.figures = figures

    def drawn(self) -> Picture:
        """The picture, with the table of figures below it if the view asks for it."""
        across = self._across()
        bands = [self.row.runs[start : start + across] for start in range(0, len(self.row.runs), across)]
        sheets = [sheet for band in bands for sheet in self._sheets(band, across)]
        table = FiguresTable(self.row, self._width(sheets[:across]), self.sheet) if self.figures else None
        cells = list(self._cells(self._drawings(sheets), sheets, table))
        whole = self._placed([cells[start : start + across] for start in range(0, len(cells), across)])
        if table is None:
            return whole
        below = tuple(table.drawn(whole.height))
        return replace(whole, height=whole.height + table.height, around=(*whole.around, *below))

    def _left(self, sheet: Sheet) -> float:
        """The room to the left of the plots on this sheet: as much as the widest name or time needs."""
        return max(margins(arranged(scene), self.down, sheet.room)["l"] for scene in self.scenes)

    def _width(self, sheets: Sequence[Sheet]) -> float:
        """The width of diagrams side by side."""
        return sum(sheet.width for sheet in sheets) + (len(sheets) - 1) * self.gap

    @property
    def _lanes(self) -> int:
        """The lanes of the run with most of them."""
        return max(len(arranged(scene).lanes) for scene in self.scenes)

    @property
    def _bare(self) -> Sheet:
        """The sheet of a diagram beside one that has the times already."""
        return replace(self.sheet, axis=False) if self.down and self.sheet.letters else self.sheet

    def _across(self) -> int:
        """The number of diagrams side by side; on a screen all, on paper as many as have room."""
        count = len(self.row.runs)
        if not self.down or not self.sheet.letters:
            return count if self.down else 1
        least = max(LANE_BESIDE_ON_PAPER * (self._lanes + 0.2) + self._left(self._bare), LEAST_SHARE * self.sheet.width)
        room = self.sheet.width - (self._left(self.sheet) - self._left(self._bare))
        able = max(1, min(count, math.floor((room + self.gap) / (least + self.gap))))
        return math.ceil(count / math.ceil(count / able))

    def _sheets(self, band: Sequence[tuple[str, Scene | str]], across: int) -> Iterator[Sheet]:
        """The sheets of runs side by side. On paper the first diagram of them has the times of all."""
        width, height = self._size(across)
        has_times = False
        for _, own in band:
            sheet = self._bare if has_times or isinstance(own, str) else self.sheet
            has_times = has_times or not isinstance(own, str)
            left = self._left(sheet)
            yield replace(sheet, width=width - self._left(self._bare) + left, height=height, left=left)

    def _size(self, across: int) -> tuple[float, float | None]:
        """The width of a diagram without times, and its height if that is given."""
        many = float(min(LANE * self._lanes, MOST))  # Drawing has no fewer pixels
        if self.sheet.letters and not self.down:
            return self.sheet.width, None
        if self.sheet.letters:
            times = self._left(self.sheet) - self._left(self._bare)
            return max((self.sheet.width - times - (across - 1) * self.gap) / across, many), None
        if self.down:
            wide = max(LEAST_BESIDE, min(LANE_BESIDE * self._lanes + self._left(self.sheet), SCREEN_WIDTH))
            return max(wide, many), SCREEN_HEIGHT
        high = max(LEAST_ABOVE, min(LANE_ABOVE * self._lanes + 44, SCREEN_HEIGHT))
        return SCREEN_WIDTH, max(high, many)

    def _drawings(self, sheets: Sequence[Sheet]) -> list[Drawing]:
        """The diagrams, all as high as the one that needs most."""
        own = [sheet for sheet, (_, scene) in zip(sheets, self.row.runs, strict=True) if not isinstance(scene, str)]
        made = [Drawing(scene, self.orientation, sheet) for scene, sheet in zip(self.scenes, own, strict=True)]
        high = max(drawing.frame.height for drawing in made)
        same = (replace(sheet, height=high) for sheet in own)
        return [Drawing(scene, self.orientation, sheet) for scene, sheet in zip(self.scenes, same, strict=True)]

    def _cells(self, made: Sequence[Drawing], sheets: Sequence[Sheet], table: FiguresTable | None) -> Iterator[_Cell]:
        drawings, steps = iter(made), iter(self.steps)
        high = made[0].frame.height
        for number, ((title, scene), sheet) in enumerate(zip(self.row.runs, sheets, strict=True)):
            head = f"{table.letter(number)} {title}" if table and table.has_letters else title
            lines = wrapped(head, self.size, sheet.width - 2 * INSET, MOST_HEAD)
            if isinstance(scene, str):
                told = wrapped(scene, self.words, sheet.width - 6 * INSET, MOST_LINES)
                yield _Cell(lines, None, told, sheet.width, LEADING * self.words * (len(told) + 1))
                continue
            drawing, step = next(drawings), next(steps)
            nodes = {f"{node_name(title)}-{name}": at for name, at in nodes_of_run(drawing, step).items()}
            yield _Cell(lines, replace(drawing.at(step), nodes=nodes), (), sheet.width, high)

    def _placed(self, bands: Sequence[Sequence[_Cell]]) -> Picture:
        """All cells in their places."""
        heads = [LEADING * self.size * max(len(own.title) for own in band) + self.size / 2 for band in bands]
        highs = [head + max(own.height for own in band) for head, band in zip(heads, bands, strict=True)]
        tops = [0.0, *accumulate(high + self.gap for high in highs)]
        inside: list[Primitive] = []
        around: list[Primitive] = []
        nodes: dict[str, Pixel] = {}
        width = 0.0
        for band, head, top in zip(bands, heads, tops, strict=False):
            left = 0.0
            for cell in band:
                around += self._texts(cell, left, top, head)
                if cell.picture is not None:
                    picture = cell.picture.moved(left, top + head)
                    inside += picture.inside
                    around += picture.around
                    nodes.update(picture.nodes)
                left += cell.width + self.gap
            width = max(width, left - self.gap)
        return Picture(width, tops[-1] - self.gap, None, tuple(inside), tuple(around), nodes=nodes)

    def _texts(self, cell: _Cell, left: float, top: float, head: float) -> Iterator[Text]:
        """The title of a cell above its picture, or above its refusal."""
        for number, line in enumerate(cell.title):
            at = (left + INSET, top + LEADING * self.size * (number + 0.85))
            yield Text(at, line, "start", self.size, "@ink", "bold", sign="title")
        for number, line in enumerate(cell.refused):
            at = (left + INSET, top + head + LEADING * self.words * (number + 1))
            yield Text(at, line, "start", self.words, "@ink", sign="title")
