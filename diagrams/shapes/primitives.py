"""The primitives of a drawing: lines, arrows, areas, discs and texts, with colours as tokens of diagrams.shapes.theme.

Lengths are in the unit of their picture: pixels, or points on paper. `sign` names the meaning of a primitive by a word
of SIGN_WORDS ("": none), so that an author can change the look of all primitives with that word.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

Pixel = tuple[float, float]  # (x, y) from the top left corner, y grows downwards
Path = tuple[Pixel, ...]
SIGN_WORDS = frozenset({
    # of a run, and of one beside others
    "title", "figure",
    "process", "process line", "event", "event ahead", "internal events", "internal events ahead", "ahead", "message",
    "message on its way", "message not received", "open message", "open message on its way", "full message",
    "full message on its way", "before the edits", "now", "time", "label", "legend",
    # of its snapshots
    "marker", "marker on its way", "control message", "control message on its way", "recording", "recorded event",
    "band", "blocked channel", "full channel", "paused process", "cut", "past", "future", "speaks against the cut",
    "lost message", "process that is down", "process that is not there",
    "severed channel", "slow process", "frozen process", "complete snapshot", "expired snapshot", "failed snapshot",
    # of stored snapshots and recoveries
    "valid snapshot", "recovery", "restored process", "output", "line gone back to", "abandoned event",
    "abandoned message", "abandoned recording", "message put back", "message put back on its way", "fenced off",
    # of a cut that the user has chosen
    "held cut", "offending message",
    # of the lattice
    "edge", "consistent cut", "cut at which it holds", "states of the run", "way that avoids it", "state at the step",
    "outer state", "recorded state", "leader",
    # of Dijkstra's page
    "white action", "red action", "white message", "red message", "turn", "state",
})  # fmt: skip
HALF_WIDTH = 0.4  # of an arrow's head, in its lengths


@dataclass(frozen=True)
class Box:
    """A rectangle of a picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From the left side to the right one."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the top to the bottom."""
        return self.bottom - self.top

    @property
    def corners(self) -> Path:
        """The corners, from the top left one on to the top right one."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)

    def wider(self, by: float) -> Box:
        """The rectangle with every side `by` farther out."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def grown(self, by: float) -> Box:
        """A box larger on each side."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def is_crossed(self, start: Pixel, end: Pixel) -> bool:
        """Whether a straight line from `start` to `end` passes through."""
        return self.part_of(start, end) is not None

    def part_of(self, start: Pixel, end: Pixel) -> tuple[Pixel, Pixel] | None:
        """The part of a straight line from `start` to `end` in the rectangle, if any (Liang and Barsky's clipping)."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        enter, leave = 0.0, 1.0
        sides = ((-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y))
        for slope, distance in sides:
            if slope == 0:
                if distance < 0:
                    return None
            elif slope < 0:
                enter = max(enter, distance / slope)
            else:
                leave = min(leave, distance / slope)
        if enter >= leave:
            return None
        first = start if enter == 0 else (x + dx * enter, y + dy * enter)
        return first, end if leave == 1 else (x + dx * leave, y + dy * leave)


@dataclass(frozen=True)
class Line:
    """Lines of one look, `width` wide, each through its points.

    `dash` holds lengths on and off (none: unbroken). A `curved` path has a first point. Two control points and the end
    of a cubic Bezier curve follow for each part of the way.
    """

    strokes: tuple[Path, ...]
    colour: str
    width: float
    dash: tuple[float, ...] = ()
    curved: bool = False
    sign: str = ""


@dataclass(frozen=True)
class Arrows:
    """Straight arrows of one look, each from its start to its tip, with a head of `head` from its base to the tip.

    The shaft, `width` wide, ends where the head begins; an arrow no longer than its head has no shaft. `fill` is the
    head's inside; its outline has the arrow's `colour` and is `outline` wide (0: none). `ends` are the points to which
    the arrows lead, beyond the tips if a sign is drawn there (none: the tips).
    """

    ways: tuple[tuple[Pixel, Pixel], ...]
    colour: str
    width: float
    dash: tuple[float, ...]
    head: float
    fill: str
    outline: float = 0.0
    sign: str = ""
    ends: Path = ()

    def shaft(self, way: tuple[Pixel, Pixel]) -> tuple[Pixel, Pixel] | None:
        """The two ends of a shaft; None if the arrow has none."""
        start, tip = way
        length = math.dist(start, tip)
        return None if length <= self.head else (start, _towards(tip, start, self.head / length))

    def corners(self, way: tuple[Pixel, Pixel]) -> Path:
        """The corners of a head, its tip first."""
        start, tip = way
        length = math.dist(start, tip) or 1.0
        base = _towards(tip, start, min(1.0, self.head / length))
        aside = math.dist(base, tip) * HALF_WIDTH
        across = (aside * (tip[1] - start[1]) / length, aside * (start[0] - tip[0]) / length)
        return tip, (base[0] - across[0], base[1] - across[1]), (base[0] + across[0], base[1] + across[1])


def _towards(start: Pixel, end: Pixel, share: float) -> Pixel:
    """The point at a share of the way."""
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


@dataclass(frozen=True)
class Area:
    """Filled polygons of one look with an outline `width` wide (0: none); `fill` may be "" for none.

    `curved` polygons have paths as those of a Line.
    """

    polygons: tuple[Path, ...]
    fill: str
    outline: str = ""
    width: float = 0.0
    curved: bool = False
    sign: str = ""


@dataclass(frozen=True)
class Disc:
    """A filled circle with an outline `width` wide (0: none); `fill` may be "" for none."""

    centre: Pixel
    radius: float
    fill: str
    outline: str = ""
    width: float = 0.0
    sign: str = ""


@dataclass(frozen=True)
class Text:
    """One line of text whose base line starts, has its middle or ends (`anchor`) at a point.

    `size` is that of its letters; `style` is "", "bold" or "italic". A `halo` in the paper's colour surrounds the text.
    """

    at: Pixel
    letters: str
    anchor: str
    size: float
    colour: str
    style: str = ""
    sign: str = ""
    halo: bool = True


Primitive = Line | Arrows | Area | Disc | Text


def scaled(part: Primitive, by: float) -> Primitive:
    """A primitive with every length `by` times as long."""
    match part:
        case Text():
            part = replace(part, size=part.size * by)
        case Disc():
            part = replace(part, radius=part.radius * by, width=part.width * by)
        case Area():
            part = replace(part, width=part.width * by)
        case Line():
            part = replace(part, width=part.width * by, dash=tuple(length * by for length in part.dash))
        case Arrows():
            dash = tuple(length * by for length in part.dash)
            width, head, outline = part.width * by, part.head * by, part.outline * by
            part = replace(part, width=width, dash=dash, head=head, outline=outline)
    return _at(part, lambda point: (point[0] * by, point[1] * by))


def moved(part: Primitive, right: float, down: float) -> Primitive:
    """A primitive, moved to the right and down."""
    return _at(part, lambda point: (point[0] + right, point[1] + down))


def _at(part: Primitive, place: Callable[[Pixel], Pixel]) -> Primitive:
    """A primitive whose points are where `place` puts them."""
    match part:
        case Line():
            return replace(part, strokes=tuple(tuple(map(place, stroke)) for stroke in part.strokes))
        case Arrows():
            ways = tuple((place(start), place(tip)) for start, tip in part.ways)
            return replace(part, ways=ways, ends=tuple(map(place, part.ends)))
        case Area():
            return replace(part, polygons=tuple(tuple(map(place, polygon)) for polygon in part.polygons))
        case Disc():
            return replace(part, centre=place(part.centre))
        case Text():
            return replace(part, at=place(part.at))
