"""The symbols of a figure (Plotly calls them markers) as primitives: discs, polygons, heads of arrows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diagrams.primitives import Area, Disc, Line, Path, Pixel, Primitive

Style = Mapping[str, Any]

_CORNERS: dict[str, list[Pixel]] = {
    "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond-tall": [(0, -1.4), (0.7, 0), (0, 1.4), (-0.7, 0)],
    "diamond-wide": [(0, -0.7), (1.4, 0), (0, 0.7), (-1.4, 0)],
    "star-diamond": [
        (1.4 * math.sin(turn) * reach, -1.4 * math.cos(turn) * reach)
        for turn, reach in ((math.pi / 4 * i, 1 if i % 2 == 0 else 0.46) for i in range(8))
    ],
    "hexagon": [(math.sin(math.pi / 3 * i), -math.cos(math.pi / 3 * i)) for i in range(6)],
}


def each(value: Any, index: int) -> Any:
    """The value of a property for element `index`; the property is a list, or one value for all."""
    return value[index] if isinstance(value, list) else value


def marks(style: Style, points: Sequence[Pixel | None], scale: float) -> Iterator[Primitive]:
    """The symbols of a trace at its points (pixels; None: not seen), enlarged by `scale`."""
    if style.get("symbol") == "arrow":
        yield from _arrow_heads(style, points, scale)
        return
    for index, point in enumerate(points):
        if point is not None:
            yield from _symbol(style, point, each(style["size"], index) * scale / 2, scale)


def _arrow_heads(style: Style, points: Sequence[Pixel | None], scale: float) -> Iterator[Area]:
    """Heads at those points that have a size, each pointing away from the point before it."""
    heads = []
    for index, tip in enumerate(points):
        size = each(style["size"], index) * scale
        before = points[index - 1] if index else None
        if size and tip is not None and before is not None:
            heads.append(arrow_head(before, tip, size, each(style["standoff"], index) * scale))
    outline = style.get("line", {})
    if heads:
        yield Area(tuple(heads), style["color"], outline.get("color", ""), outline.get("width", 0) * scale)


def arrow_head(before: Pixel, tip: Pixel, size: float, standoff: float) -> Path:
    """The corners of a head on the way from `before` to `tip`, `standoff` pixels off its end.

    It is `size` pixels long, but never longer than the way.
    """
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    size = min(size, math.dist(before, tip))
    x, y = tip[0] - standoff * math.cos(angle), tip[1] - standoff * math.sin(angle)
    sides = [(x - size * math.cos(angle + side), y - size * math.sin(angle + side)) for side in (-0.38, 0.38)]
    return ((x, y), *sides)


def _symbol(style: Style, at: Pixel, radius: float, scale: float) -> Iterator[Primitive]:
    symbol = style.get("symbol", "circle")
    shape, is_open = symbol.removesuffix("-open"), symbol.endswith("-open")
    outline = style.get("line", {})
    width = outline.get("width", 0) * scale
    stroke = style["color"] if is_open else outline.get("color", "")
    fill = "" if is_open else style["color"]
    x, y = at
    if shape == "x-thin":
        cross = tuple(((x - radius, y - slope), (x + radius, y + slope)) for slope in (radius, -radius))
        yield Line(cross, stroke, width)
    elif shape in _CORNERS:
        corners = tuple((x + dx * radius, y + dy * radius) for dx, dy in _CORNERS[shape])
        yield Area((corners,), fill, stroke, width)
    else:
        yield Disc(at, radius, fill, stroke, width)
