"""The costs of the snapshots of several runs as a table below their diagrams: figures as rows, algorithms as columns.

If the titles of the algorithms have no room above the columns, letters stand for them, also before the titles of the
diagrams: (a), (b).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from diagrams.drawing.sheet import Sheet
from diagrams.scene.row import Row
from diagrams.shapes.lettering import cropped, width_of, wrapped
from diagrams.shapes.primitives import Line, Primitive, Text
from sim.explain.costs import FIGURES, NONE, Figure, Measured, read
from sim.explain.words import listing

LETTERS = 15.0  # pixels, on a screen
LEADING, PAD = 1.25, 0.35  # in font sizes: between lines; above and below the lines of a row
SIDE = 8.0  # pixels to the left and right
MOST_HEAD, MOST_LINES = 2, 3  # lines of a title of an algorithm, of a figure
MOST_WIDE = 0.45  # of the picture: the titles of figures, unless the columns have room enough
ENOUGH = 110.0  # pixels of a column
WIDEST = 170.0  # pixels, on a screen: of a column


def figures_in_words(row: Row) -> str:
    """The table in words: `End-to-end duration (time units): 514 and 110.`"""
    return " ".join(
        f"{_title(figure)}: {listing([NONE if one is None else read(figure, one) for one in row.measured])}."
        for figure in FIGURES
    )


def _title(figure: Figure) -> str:
    return f"{figure.title} ({figure.unit})" if figure.unit else figure.title


class FiguresTable:
    """The table in a picture so many pixels wide."""

    def __init__(self, row: Row, width: float, sheet: Sheet) -> None:
        self.row = row
        self.size = sheet.letters or LETTERS
        count = len(row.runs)
        titles = max(width_of(_title(figure), self.size) for figure in FIGURES) + 2 * SIDE
        self.first = min(titles, max(MOST_WIDE * width, width - ENOUGH * count))
        rest = (width - self.first) / count
        self.column = rest if sheet.letters else min(rest, max(WIDEST, width / 8))
        self.width = self.first + self.column * count

    @cached_property
    def has_letters(self) -> bool:
        """Whether letters stand for the titles of the algorithms."""
        return any(
            len(wrapped(title, self.size, self._room, MOST_HEAD + 1)) > MOST_HEAD
            or any(width_of(word, self.size) > self._room for word in title.split())
            for title, _ in self.row.runs
        )

    @property
    def _room(self) -> float:
        """Pixels for the text of a column."""
        return self.column - SIDE

    def letter(self, number: int) -> str:
        """The letter for a title."""
        return f"({chr(ord('a') + number)})"

    @cached_property
    def _rows(self) -> list[tuple[list[str], list[list[str]]]]:
        """The lines of the first cell of each row, and of the others; the first row is the head."""
        heads = [
            [self.letter(number)] if self.has_letters else wrapped(title, self.size, self._room, MOST_HEAD)
            for number, (title, _) in enumerate(self.row.runs)
        ]
        found: list[tuple[list[str], list[list[str]]]] = [([], heads)]
        for figure in FIGURES:
            room = self.first - 2 * SIDE
            title = [_title(figure)]
            if width_of(title[0], self.size) > room:
                title = [*wrapped(figure.title, self.size, room, MOST_LINES), f"({figure.unit})"]
            found.append((title, [[self._value(figure, one)] for one in self.row.measured]))
        return found

    def _value(self, figure: Figure, own: Measured | None) -> str:
        """A value, with fewer digits if they have no room."""
        text, value = (NONE, None) if own is None else (read(figure, own), figure.of(own))
        if isinstance(value, float) and width_of(text, self.size) > self._room:
            text = f"{value:.3g}"
        return cropped(text, self.size, self._room)

    def _high(self, row: tuple[list[str], list[list[str]]]) -> float:
        lines = max(len(row[0]), *map(len, row[1]))
        return (LEADING * lines + 2 * PAD) * self.size

    @property
    def height(self) -> float:
        """Of the table, with some room above and below it."""
        return sum(map(self._high, self._rows)) + 1.5 * self.size

    def drawn(self, top: float) -> Iterator[Primitive]:
        """The table below this height."""
        y = top + self.size
        for number, row in enumerate(self._rows):
            high, (first, others) = self._high(row), row
            style = "" if number else "bold"
            yield from self._lines(first, SIDE, "start", y, high, "")
            for place, lines in enumerate(others):
                yield from self._lines(lines, self.first + self.column * (place + 0.5), "middle", y, high, style)
            y += high
            rule = ((0.0, y), (self.width, y))
            yield Line((rule,), "@line/0.5" if number else "@line", 1.0, sign="figure")

    def _lines(self, lines: list[str], x: float, anchor: str, y: float, high: float, style: str) -> Iterator[Text]:
        """The lines of a cell, in the middle of its height."""
        above = (high - LEADING * self.size * len(lines)) / 2
        for number, line in enumerate(lines):
            base = y + above + LEADING * self.size * (number + 0.75)
            yield Text((x, base), line, anchor, self.size, "@ink", style, sign="figure")
