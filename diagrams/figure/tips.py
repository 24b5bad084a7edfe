"""The tips of arrows: off the dot, the ring or the diamond at their ends, so that each is completely visible."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from diagrams.figure.canvas import Canvas, Point
from diagrams.scene.elements import Arrow
from diagrams.shapes import marks, theme
from diagrams.shapes.primitives import Pixel

DOT, RING, DIAMOND, DECISION = 12.0, 23.0, 14.0, 15.0  # pixels: diameters of signs if there is room
RING_WIDTH = 3.0
WIDER_RING = 7.0  # pixels by which the ring of the next snapshot is wider
OFF_LINE = 1.0  # pixels from the middle of a line to a tip
GAP = 0.5  # pixels between a tip and a sign
NEAR = 40.0  # pixels: signs farther from a tip are no obstacles


AT_ITS_END = 1.0  # pixels: an arrow points to a sign this near to its end


class Obstacle(NamedTuple):
    """A dot or another sign on a line: lane, position, first step, symbol, and radius in pixels."""

    lane: int
    position: float
    step: int
    symbol: str
    radius: float


class _OnLine(NamedTuple):
    """An obstacle, and its place along its line, in pixels."""

    on: float
    own: Obstacle


def obstacles_of(canvas: Canvas) -> Iterator[Obstacle]:
    """The dots, rings, diamonds and decisions of the space-time diagram."""
    scene, scale = canvas.scene, canvas.scale
    ranks = {snapshot.id: rank for rank, snapshot in enumerate(scene.snapshots)}
    for dot in scene.dots:
        yield Obstacle(dot.lane, dot.position, 0, "circle", DOT * max(scale, 0.4) / 2)
        for snapshot, step in dot.recorded.items():
            rank = ranks[snapshot]
            radius = ring_size(rank, scale) / 2 + RING_WIDTH * max(scale, 0.5) / 2
            symbol = theme.RING_SYMBOLS[rank % len(theme.RING_SYMBOLS)].removesuffix("-open")
            yield Obstacle(dot.lane, dot.position, step, symbol, radius)
    for snapshot, recordings in scene.recordings.items():
        symbol = theme.RECORD_SYMBOLS[ranks[snapshot] % len(theme.RECORD_SYMBOLS)]
        for own in recordings:
            yield Obstacle(own.lane, own.position, own.step, symbol, DIAMOND * max(scale, 0.45) / 2 + 1)
    for moment in scene.moments:
        symbol = theme.MOMENT_SYMBOLS[moment.kind][not canvas.down]
        yield Obstacle(moment.lane, moment.position, moment.step, symbol, DECISION * max(scale, 0.45) / 2 + 1)
    for decision in scene.decisions:
        symbol = theme.OUTCOME_SYMBOLS[decision.outcome]
        radius = DECISION * max(scale, 0.45) / 2 + 1
        yield Obstacle(decision.lane, decision.position, decision.step, symbol, radius)


def ring_size(rank: int, scale: float) -> float:
    """The diameter in pixels of the rings of the snapshot with this rank."""
    return (RING + WIDER_RING * (rank % 3)) * scale


class Tips:
    """The distances between the tips and the ends of arrows, for the signs on one canvas."""

    def __init__(self, canvas: Canvas, obstacles: Iterable[Obstacle]) -> None:
        """`obstacles` are the signs at which arrows may end."""
        self.canvas = canvas
        found: dict[int, list[_OnLine]] = {}
        for own in obstacles:
            on = canvas.pixels((own.lane, own.position))[1 if canvas.down else 0]
            found.setdefault(own.lane, []).append(_OnLine(on, own))
        self.obstacles = {lane: sorted(near, key=itemgetter(0)) for lane, near in found.items()}

    def stages(self, shaft: Sequence[Point | None], arrow: Arrow) -> Iterator[tuple[int, int | None, float]]:
        """Yield the pixels between tip and end of a received arrow, with the first step and the step after the last."""
        received = arrow.received or 0
        near = self._near(shaft, arrow)
        later = {own.step for _, own in near if own.step > received}
        steps = [received, *sorted(later)]
        offs = [self._off(shaft, arrow, [own for own in near if own.own.step <= step]) for step in steps]
        starts = [place for place, off in enumerate(offs) if not place or off != offs[place - 1]]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            yield steps[start], None if end is None else steps[end], offs[start]

    def off(self, shaft: Sequence[Point | None], arrow: Arrow, step: int) -> float:
        """The pixels between tip and end of an arrow, for the signs at a step."""
        return self._off(shaft, arrow, [own for own in self._near(shaft, arrow) if own.own.step <= step])

    def _off(self, shaft: Sequence[Point | None], arrow: Arrow, near: Sequence[_OnLine]) -> float:
        start, end, *_ = shaft
        if arrow.stub == "target" or not start or not end:
            return 0.0
        (x, y), tip = self.canvas.pixels(start), self.canvas.pixels(end)
        length = math.dist((x, y), tip) or 1.0
        back = ((x - tip[0]) / length, (y - tip[1]) / length)
        off = OFF_LINE * max(self.canvas.scale, 0.4)
        for entered, left in sorted(self._inside(own, tip, back) for own in near):
            off = left if entered < off < left else off
        return round(min(off, length / 2), 2)

    def _near(self, shaft: Sequence[Point | None], arrow: Arrow) -> list[_OnLine]:
        """The obstacles on the line of the receiver that are not far from an arrow's end."""
        end = shaft[1]
        near = self.obstacles.get(arrow.target, [])
        if not end or not near:
            return []
        on = self.canvas.pixels(end)[1 if self.canvas.down else 0]
        return near[bisect_left(near, on - NEAR, key=itemgetter(0)) : bisect_left(near, on + NEAR, key=itemgetter(0))]

    def _inside(self, near: _OnLine, tip: Pixel, back: Pixel) -> tuple[float, float]:
        """The distances from `tip`, in the direction `back`, at which an obstacle begins and ends; (0, 0) for none."""
        aside, own = near.on - tip[1 if self.canvas.down else 0], near.own
        centre = (0.0, aside) if self.canvas.down else (aside, 0.0)
        on_the_way = centre[0] * back[0] + centre[1] * back[1]
        is_own = abs(aside) < AT_ITS_END
        radius = (marks.reach(own.symbol, own.radius, back) if is_own else marks.size(own.symbol, own.radius)) + GAP
        beside = aside * aside - on_the_way * on_the_way
        half = math.sqrt(max(0.0, radius * radius - beside))
        return (on_the_way - half, on_the_way + half) if half else (0.0, 0.0)
