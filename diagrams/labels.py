"""The places of small texts: each gets the first of its spots that is clear of lines, dots and other texts.

Computed in pixels of a small projector's picture. On a larger screen texts keep their size and all else spreads out,
so a spot that is clear here is clear there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagrams.canvas import Point
from diagrams.primitives import Box, Pixel
from diagrams.scene import Scene

WIDTH, HEIGHT = 690.0, 450.0
LETTER = 0.58  # the width of a letter, in font sizes
LINE = 1.15  # the height of a line of text, in font sizes
MOST_LINES = 400  # among more lines no spot is clear

Pixels = Callable[[Point], Pixel]


def pixels(scene: Scene, down: bool) -> Pixels:
    """Where a point of a scene lies in that picture."""
    low, high = scene.extent
    lanes = len(scene.lanes) + 0.2

    def pixel(point: Point) -> Pixel:
        across, on = (point[0] + 0.6) / lanes, (point[1] - low) / (high - low)
        return (across * WIDTH, on * HEIGHT) if down else (on * WIDTH, across * HEIGHT)

    return pixel


@dataclass(frozen=True)
class Spot:
    """A place for a text: a point, and on which side of it the text lies ("top right", "middle left")."""

    at: Point
    side: str


class Labels:
    """Finds a spot for one text after the other; each placed text is an obstacle for the next ones."""

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self.lines: list[tuple[Pixel, Pixel, float]] = []
        self.boxes: list[tuple[Box, float]] = []

    def avoid_line(self, points: Sequence[Point], cost: float) -> None:
        """Keep texts off a line; `cost` says how bad it is when one lies on it."""
        pixels = [self.pixels(point) for point in points]
        self.lines += [(start, end, cost) for start, end in pairwise(pixels)]

    def avoid_dot(self, at: Point, radius: float, cost: float) -> None:
        """Keep texts off a dot."""
        x, y = self.pixels(at)
        self.boxes.append((Box(x - radius, y - radius, x + radius, y + radius), cost))

    def place(self, text: str, size: float, spots: Sequence[Spot]) -> Spot:
        """The best of `spots`: the first that is clear, else the one that hides least."""
        if len(self.lines) > MOST_LINES:
            return spots[0]
        best, best_cost, best_box = spots[0], float("inf"), None
        for spot in spots:
            box = self._box(text, size, spot)
            cost = self._cost(box, best_cost)
            if cost < best_cost:
                best, best_cost, best_box = spot, cost, box
            if not cost:
                break
        if best_box:
            self.boxes.append((best_box, 40))
        return best

    def _box(self, text: str, size: float, spot: Spot) -> Box:
        (x, y), (vertical, horizontal) = self.pixels(spot.at), spot.side.split()
        width, height = len(text) * size * LETTER, size * LINE
        left = {"left": x - width, "center": x - width / 2, "right": x}[horizontal]
        top = {"top": y - height, "middle": y - height / 2, "bottom": y}[vertical]
        return Box(left, top, left + width, top + height)

    def _cost(self, box: Box, enough: float) -> float:
        """The cost of a text in this box: what it would hide. Stops counting at `enough`."""
        cost = _outside(box)
        for other, price in self.boxes:
            if box.meets(other):
                cost += price
        for start, end, price in self.lines:
            if cost >= enough:
                break
            if box.is_crossed(start, end):
                cost += price
        return cost


def _outside(box: Box) -> float:
    return 30.0 * (box.left < 0 or box.right > WIDTH or box.top < 0 or box.bottom > HEIGHT)


def along(start: Point, end: Point, shares: Iterable[float], sides: Sequence[str]) -> list[Spot]:
    """Spots along an arrow, at `shares` of its way, on all `sides` at each."""
    points = [(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share) for share in shares]
    return [Spot(point, side) for point in points for side in sides]
