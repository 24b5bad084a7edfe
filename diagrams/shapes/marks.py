"""The symbols of a figure (Plotly calls them markers) as primitives: discs and polygons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from diagrams.shapes.primitives import Area, Disc, Line, Pixel, Primitive

Style = Mapping[str, Any]

_ARM, _HALF = 1.2, 0.4  # of a plus: how long and half as wide as its bars are
_PLUS: list[Pixel] = [
    (_HALF, -_ARM), (_HALF, -_HALF), (_ARM, -_HALF), (_ARM, _HALF), (_HALF, _HALF), (_HALF, _ARM), (-_HALF, _ARM),
    (-_HALF, _HALF), (-_ARM, _HALF), (-_ARM, -_HALF), (-_HALF, -_HALF), (-_HALF, -_ARM),
]  # fmt: skip
_CORNERS: dict[str, list[Pixel]] = {
    "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "hourglass": [(-1, -1), (1, -1), (0.15, 0), (1, 1), (-1, 1), (-0.15, 0)],
    "diamond-tall": [(0, -1.4), (0.7, 0), (0, 1.4), (-0.7, 0)],
    "diamond-wide": [(0, -0.7), (1.4, 0), (0, 0.7), (-1.4, 0)],
    "star-diamond": [
        (1.4 * math.sin(turn) * reach, -1.4 * math.cos(turn) * reach)
        for turn, reach in ((math.pi / 4 * i, 1 if i % 2 == 0 else 0.46) for i in range(8))
    ],
    "triangle-up": [(0, -1), (math.sqrt(0.75), 0.5), (-math.sqrt(0.75), 0.5)],
    "triangle-left": [(-1, 0), (0.5, math.sqrt(0.75)), (0.5, -math.sqrt(0.75))],
    "star": [
        (1.4 * math.sin(turn) * reach, -1.4 * math.cos(turn) * reach)
        for turn, reach in ((math.pi / 5 * i, 1 if i % 2 == 0 else 0.38) for i in range(10))
    ],
    "cross": _PLUS,
    "x": [((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in _PLUS],
    "hexagon": [(math.sin(math.pi / 3 * i), -math.cos(math.pi / 3 * i)) for i in range(6)],
}


def each(value: Any, index: int) -> Any:
    """The value of a property for element `index`; the property is a list, or one value for all."""
    return value[index] if isinstance(value, list) else value


def marks(style: Style, points: Sequence[Pixel | None], scale: float) -> Iterator[Primitive]:
    """The symbols of a trace at its points (pixels; None: not seen), enlarged by `scale`."""
    for index, point in enumerate(points):
        if point is not None:
            own = {name: each(value, index) for name, value in style.items()}
            yield from _symbol(own, point, own["size"] * scale / 2, scale)


def _symbol(style: Style, at: Pixel, radius: float, scale: float) -> Iterator[Primitive]:
    symbol = style.get("symbol", "circle")
    shape, is_open = symbol.removesuffix("-open"), symbol.endswith("-open")
    outline = style.get("line", {})
    width = outline.get("width", 0) * scale
    colour = faded(style["color"], style.get("opacity", 1))
    stroke = colour if is_open else outline.get("color", "")
    fill = "" if is_open else colour
    x, y = at
    if shape == "x-thin":
        cross = tuple(((x - radius, y - slope), (x + radius, y + slope)) for slope in (radius, -radius))
        yield Line(cross, stroke, width)
    elif shape == "hash":
        ends = [(at * radius / 2, radius) for at in (-1, 1)]
        bars = [((x + aside, y - along), (x + aside, y + along)) for aside, along in ends]
        bars += [((x - along, y + aside), (x + along, y + aside)) for aside, along in ends]
        yield Line(tuple(bars), colour, width)
    elif shape in _CORNERS:
        corners = tuple((x + dx * radius, y + dy * radius) for dx, dy in _CORNERS[shape])
        yield Area((corners,), fill, stroke, width)
    else:
        yield Disc(at, radius, fill, stroke, width)


def faded(token: str, opacity: float) -> str:
    """A colour with this opacity; `token` has none of its own."""
    return token if opacity == 1 else f"{token}/{opacity:g}"


def reach(symbol: str, radius: float, direction: Pixel) -> float:
    """The reach of a symbol of this radius from its centre in a direction (of length 1), in the unit of the radius."""
    corners = _CORNERS.get(symbol)
    if corners is None:
        return radius
    return max(
        (radius * _hit(direction, one, other) for one, other in pairwise([*corners, corners[0]])), default=radius
    )


def _hit(direction: Pixel, one: Pixel, other: Pixel) -> float:
    """The distance at which a ray from the origin meets the line between two points; 0 if it misses."""
    (dx, dy), (ex, ey) = direction, (other[0] - one[0], other[1] - one[1])
    across = dx * ey - dy * ex
    if abs(across) < 1e-12:
        return 0.0
    share = (one[0] * dy - one[1] * dx) / across
    distance = (one[0] * ey - one[1] * ex) / across
    return distance if -1e-9 <= share <= 1 + 1e-9 and distance > 0 else 0.0


def size(symbol: str, radius: float) -> float:
    """The distance of the farthest corner of a symbol of this radius from its centre."""
    return radius * max((math.hypot(*corner) for corner in _CORNERS.get(symbol, ())), default=1.0)
