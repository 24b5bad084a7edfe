"""A table on a page: cells in rows, each with one line of text, as primitives or as the table of a slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from diagrams.shapes.primitives import Area, Box, Line, Primitive, Text

PAD = 8.0  # pixels left and right of the text of a cell
HEIGHT = 1.45  # of a row, in font sizes
BASE = 1.05  # from the top of a row to the base line of its text, in font sizes


@dataclass(frozen=True)
class Cell:
    """A text in a style ("", "bold" or "italic"), in a colour, on a colour ("": the paper); both are tokens."""

    text: str
    style: str = ""
    colour: str = "@ink"
    fill: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells from a top left corner on, in columns of these widths, with letters of `size`; all in pixels."""

    left: float
    top: float
    widths: tuple[float, ...]
    size: float
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def row(self) -> float:
        """The height of a row."""
        return HEIGHT * self.size

    @property
    def box(self) -> Box:
        """The box of the table."""
        return Box(self.left, self.top, self.left + sum(self.widths), self.top + self.row * len(self.rows))

    def drawn(self) -> Iterator[Primitive]:
        """The fills of the cells, a rule below each row, and the texts."""
        lefts = [self.left, *accumulate(self.widths, initial=self.left)][1:]
        for number, row in enumerate(self.rows):
            top = self.top + self.row * number
            for left, width, cell in zip(lefts, self.widths, row, strict=False):
                if cell.fill:
                    yield Area((Box(left, top, left + width, top + self.row).corners,), cell.fill)
        rules = (self.top + self.row * number for number in range(1, len(self.rows) + 1))
        yield Line(tuple(((self.left, y), (self.box.right, y)) for y in rules), "@line/0.5", 1.0)
        for number, row in enumerate(self.rows):
            base = self.top + self.row * number + BASE * self.size
            for left, cell in zip(lefts, row, strict=False):
                if cell.text:
                    yield Text((left + PAD, base), cell.text, "start", self.size, cell.colour, cell.style, halo=False)
