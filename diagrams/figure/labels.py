"""The places of small texts: each gets the first of its spots that is clear of lines, dots and other texts.

Computed in pixels of the room that the figure is laid out for (diagrams/figure/room.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from diagrams.figure.canvas import Point
from diagrams.figure.room import SCREEN, Room
from diagrams.shapes.lettering import width_of
from diagrams.shapes.primitives import Box, Pixel
from sim.core import deadline

LINE = 1.15  # the height of a line of text, in font sizes
OFF = 4  # pixels from a spot to its text (diagrams/drawing/diagram.py writes it there)
BLANK = 0.28  # of the size of letters: the distance from a spot to a text for each blank at its front
NEAR = 14  # pixels: a text this close to a line or dot may be taken for its name
MOST_LINES = 400  # among more lines no spot is clear of them
BEYOND = 30.0  # the cost of a text that reaches out of the plot of a screen


@dataclass(frozen=True)
class Spot:
    """A place for a text: a point, and the side of it on which the text lies ("top right", "middle left")."""

    at: Point
    side: str


class Line(NamedTuple):
    """A line in pixels; the cost of a text on it; half its width if it is a message, else None."""

    start: Pixel
    end: Pixel
    cost: float
    message: float | None


class Labels:
    """A finder of spots for one text after the other; each placed text is an obstacle for the next ones.

    A reader of paper cannot point at things. So on paper no text reaches out of the plot, and none lies on a dot or on
    a message of something else. `left_out` counts the texts without such a spot.
    """

    def __init__(self, pixels: Callable[[Point], Pixel], room: Room = SCREEN) -> None:
        """`pixels` maps a point to the plot of `room`."""
        self.pixels, self.room = pixels, room
        self.left_out = 0
        self.lines: list[Line] = []
        self.dots: list[tuple[Pixel, Box, float]] = []
        self.texts: list[Box] = []

    def avoid_line(self, points: Sequence[Point], cost: float, message: float | None = None) -> None:
        """Keep texts off a line; `cost` is the price of a text on it.

        `message` is half the width in pixels of a message, or of the band below it.
        """
        pixels = [self.pixels(point) for point in points]
        self.lines += [Line(start, end, cost, message) for start, end in pairwise(pixels)]

    def avoid_dot(self, at: Point, radius: float, cost: float) -> None:
        """Keep texts off a dot."""
        x, y = self.pixels(at)
        self.dots.append(((x, y), Box(x - radius, y - radius, x + radius, y + radius), cost))

    def avoid_text(self, text: str, size: float, spot: Spot) -> None:
        """Keep texts off a text that has its place already."""
        self.texts.append(self._box(text, size, spot))

    def place(
        self,
        text: str,
        size: float,
        spots: Sequence[Spot],
        own: Sequence[Point],
        *,
        is_needed: bool = False,
        is_spare: bool = False,
    ) -> Spot | None:
        """The best of `spots`: the first that is clear, else the one that hides least. None if all hide other texts.

        `own` is the place of the text's dot, or the ends of its line; the text may be near to these only. On paper a
        text that `is_needed` may lie on messages if there is no other spot. One that `is_spare` lies on no dot, and is
        left out instead.
        """
        deadline.check()
        ends = [self.pixels(point) for point in own]
        if is_spare:
            spots = [spot for spot in spots if not self._hides_dot(self._box(text, size, spot))]
        found = self._best(text, size, spots, ends, lines=False)
        if found is None and is_needed and self.room.letters:
            found = self._best(text, size, spots, ends, lines=True)
        if found is None:
            self.left_out += 1
            return None
        spot, box = found
        self.texts.append(box)
        return spot

    def _best(
        self, text: str, size: float, spots: Sequence[Spot], ends: Sequence[Pixel], *, lines: bool
    ) -> tuple[Spot, Box] | None:
        """The best spot and its box; on paper one on messages only if `lines`."""
        best, best_cost = None, float("inf")
        for spot in spots:
            box = self._box(text, size, spot)
            if any(map(box.meets, self.texts)) or (self.room.letters and self._misleads(box, ends, lines=lines)):
                continue
            cost = self._cost(box, ends, best_cost) if len(self.lines) <= MOST_LINES else 0.0
            if cost < best_cost:
                best, best_cost = (spot, box), cost
            if not cost:
                break
        return best

    def _hides_dot(self, box: Box) -> bool:
        return any(box.meets(dot) for _, dot, _ in self.dots)

    def _misleads(self, box: Box, own: Sequence[Pixel], *, lines: bool) -> bool:
        """Whether a text in this box reaches out, hides a dot, or lies on another message than its own."""
        if self._reaches_out(box) or self._hides_dot(box):
            return True
        return not lines and any(
            line.message is not None and [line.start, line.end] != own
            and box.grown(line.message).is_crossed(line.start, line.end)
            for line in self.lines
        )  # fmt: skip

    def _box(self, text: str, size: float, spot: Spot) -> Box:
        (x, y), (vertical, horizontal) = self.pixels(spot.at), spot.side.split()
        off, height = float(OFF), size * LINE
        if self.room.letters:  # the blanks of a text keep it off its spot, and hide nothing
            off += (len(text) - len(text.lstrip())) * BLANK * size
            text = text.strip()
        width = width_of(text, size)
        left = {"left": x - width - off, "center": x - width / 2, "right": x + off}[horizontal]
        top = {"top": y - height - OFF, "middle": y - height / 2, "bottom": y + OFF}[vertical]
        return Box(left, top, left + width, top + height)

    def _cost(self, box: Box, own: Sequence[Pixel], enough: float) -> float:
        """The cost of a text in this box: the price of all that it hides, less if only near. Stops at `enough`."""
        around = Box(box.left - NEAR, box.top - NEAR, box.right + NEAR, box.bottom + NEAR)
        cost = BEYOND * self._reaches_out(box)
        for at, dot, price in self.dots:
            if around.meets(dot):
                cost += price if box.meets(dot) else 0.0 if [at] == own else price / 3
        for start, end, price, _ in self.lines:
            if cost >= enough:
                break
            if around.is_crossed(start, end):
                cost += price if box.is_crossed(start, end) else 0.0 if [start, end] == own else price / 2
        return cost

    def _reaches_out(self, box: Box) -> bool:
        return box.left < 0 or box.right > self.room.width or box.top < 0 or box.bottom > self.room.height


def along(start: Point, end: Point, shares: Iterable[float], sides: Sequence[str]) -> list[Spot]:
    """Spots along an arrow, at `shares` of its way, on all `sides` at each."""
    points = [(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share) for share in shares]
    return [Spot(point, side) for point in points for side in sides]
