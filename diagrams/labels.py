"""The places of small texts: each gets the first of its spots that is clear of lines, dots and other texts.

Computed in pixels of the room that the figure is laid out for (diagrams/room.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagrams.canvas import Point
from diagrams.lettering import width_of
from diagrams.primitives import Box, Pixel
from diagrams.room import SCREEN, Room
from sim.core import deadline

LINE = 1.15  # the height of a line of text, in font sizes
OFF = 4  # pixels from a spot to its text (diagrams/drawing.py writes it there)
NEAR = 14  # pixels from a text to what somebody may take it for the name of
MOST_LINES = 400  # among more lines no spot is clear of them
BEYOND = 30.0  # the cost of a text that reaches out of the plot of a screen


@dataclass(frozen=True)
class Spot:
    """A place for a text: a point, and on which side of it the text lies ("top right", "middle left")."""

    at: Point
    side: str


class Labels:
    """Finds a spot for one text after the other; each placed text is an obstacle for the next ones.

    On paper no text reaches out of the plot.
    """

    def __init__(self, pixels: Callable[[Point], Pixel], room: Room = SCREEN) -> None:
        """`pixels` says where a point lies in the plot of `room`."""
        self.pixels, self.room = pixels, room
        self.lines: list[tuple[Pixel, Pixel, float]] = []
        self.dots: list[tuple[Pixel, Box, float]] = []
        self.texts: list[Box] = []

    def avoid_line(self, points: Sequence[Point], cost: float) -> None:
        """Keep texts off a line; `cost` says how bad it is when one lies on it."""
        pixels = [self.pixels(point) for point in points]
        self.lines += [(start, end, cost) for start, end in pairwise(pixels)]

    def avoid_dot(self, at: Point, radius: float, cost: float) -> None:
        """Keep texts off a dot."""
        x, y = self.pixels(at)
        self.dots.append(((x, y), Box(x - radius, y - radius, x + radius, y + radius), cost))

    def avoid_text(self, text: str, size: float, spot: Spot) -> None:
        """Keep texts off one that has its place already."""
        self.texts.append(self._box(text, size, spot))

    def place(self, text: str, size: float, spots: Sequence[Spot], own: Sequence[Point]) -> Spot | None:
        """The best of `spots`: the first that is clear, else the one that hides least. None if all hide other texts.

        `own` is what the text belongs to, the place of a dot or the ends of a line: it may be near to this alone.
        """
        deadline.check()
        ends = [self.pixels(point) for point in own]
        best, best_cost, best_box = None, float("inf"), None
        for spot in spots:
            box = self._box(text, size, spot)
            if any(map(box.meets, self.texts)) or (self.room.letters and self._reaches_out(box)):
                continue
            cost = self._cost(box, ends, best_cost) if len(self.lines) <= MOST_LINES else 0.0
            if cost < best_cost:
                best, best_cost, best_box = spot, cost, box
            if not cost:
                break
        if best_box:
            self.texts.append(best_box)
        return best

    def _box(self, text: str, size: float, spot: Spot) -> Box:
        (x, y), (vertical, horizontal) = self.pixels(spot.at), spot.side.split()
        width, height = width_of(text, size), size * LINE
        left = {"left": x - width - OFF, "center": x - width / 2, "right": x + OFF}[horizontal]
        top = {"top": y - height - OFF, "middle": y - height / 2, "bottom": y + OFF}[vertical]
        return Box(left, top, left + width, top + height)

    def _cost(self, box: Box, own: Sequence[Pixel], enough: float) -> float:
        """The cost of a text in this box: what it would hide, and less for what is near. Stops at `enough`."""
        around = Box(box.left - NEAR, box.top - NEAR, box.right + NEAR, box.bottom + NEAR)
        cost = BEYOND * self._reaches_out(box)
        for at, dot, price in self.dots:
            if around.meets(dot):
                cost += price if box.meets(dot) else 0.0 if [at] == own else price / 3
        for start, end, price in self.lines:
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
