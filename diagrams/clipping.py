"""The part of a drawing inside a box, for formats that cannot hold points far away from it.

What lies inside altogether stays as it is; a curve that does not becomes a line of SAMPLES straight parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from diagrams.primitives import Area, Arrows, Box, Line, Path, Pixel, Primitive

SAMPLES = 24  # straight parts of a curve


def inside(parts: Iterable[Primitive], box: Box) -> Iterator[Primitive]:
    """The parts of a drawing, cut off at a box where they leave it. Discs and texts are left out or whole."""
    for part in parts:
        match part:
            case Line():
                yield from _cut(part, part.strokes, box)
            case Arrows():
                yield from _arrows(part, box)
            case Area():
                near = [polygon for polygon in part.polygons if _holds(box, polygon)]
                far = [_straightened(polygon, part.curved) for polygon in part.polygons if not _holds(box, polygon)]
                cut = [polygon for whole in far if len(polygon := _polygon(whole, box)) > 2]
                if near:
                    yield replace(part, polygons=tuple(near))
                if cut:
                    yield replace(part, polygons=tuple(cut), curved=False)
            case _:
                if _holds(box, [part.centre if hasattr(part, "centre") else part.at]):
                    yield part


def _holds(box: Box, points: Iterable[Pixel]) -> bool:
    return all(box.left <= x <= box.right and box.top <= y <= box.bottom for x, y in points)


def _cut(line: Line, strokes: Iterable[Path], box: Box) -> Iterator[Line]:
    near = [stroke for stroke in strokes if _holds(box, stroke)]
    far = [_straightened(stroke, line.curved) for stroke in strokes if not _holds(box, stroke)]
    cut = [path for stroke in far for path in _stroke(stroke, box)]
    if near:
        yield replace(line, strokes=tuple(near))
    if cut:
        yield replace(line, strokes=tuple(cut), curved=False)


def _arrows(arrows: Arrows, box: Box) -> Iterator[Arrows]:
    """Arrows with both ends in the box. A head that is cut off lies at its edge."""
    leads = arrows.ends or tuple(tip for _, tip in arrows.ways)
    ways, ends = [], []
    for (start, tip), end in zip(arrows.ways, leads, strict=True):
        part = box.part_of(start, tip)
        if part:
            ways.append(part)
            ends.append(end if part[1] == tip else part[1])
    if ways:
        yield replace(arrows, ways=tuple(ways), ends=tuple(ends))


def _straightened(path: Path, curved: bool) -> Path:
    """A path without curves."""
    if not curved:
        return path
    points = [path[0]]
    for place in range(1, len(path), 3):
        points += [_bezier(path[place - 1 : place + 3], step / SAMPLES) for step in range(1, SAMPLES + 1)]
    return tuple(points)


def _bezier(points: Path, share: float) -> Pixel:
    """The point of a cubic curve at a share, by de Casteljau's construction."""
    while len(points) > 1:
        points = tuple((x + (to_x - x) * share, y + (to_y - y) * share) for (x, y), (to_x, to_y) in pairwise(points))
    return points[0]


def _stroke(stroke: Path, box: Box) -> Iterator[Path]:
    """The parts of a line inside a box."""
    path: list[Pixel] = []
    for start, end in pairwise(stroke):
        part = box.part_of(start, end)
        if path and (part is None or part[0] != path[-1]):
            yield tuple(path)
            path = []
        if part is not None:
            path += part if not path else part[1:]
    if path:
        yield tuple(path)


def _polygon(polygon: Path, box: Box) -> Path:
    """The part of a polygon inside a box, by Sutherland and Hodgman's algorithm: side by side."""
    sides: tuple[tuple[int, float, Callable[[float, float], bool]], ...] = (
        (0, box.left, float.__ge__), (0, box.right, float.__le__),
        (1, box.top, float.__ge__), (1, box.bottom, float.__le__),
    )  # fmt: skip
    for axis, edge, is_inside in sides:
        kept: list[Pixel] = []
        for start, end in zip((*polygon[-1:], *polygon[:-1]), polygon, strict=True):
            enters, stays = is_inside(float(start[axis]), edge), is_inside(float(end[axis]), edge)
            if enters != stays:
                share = (edge - start[axis]) / (end[axis] - start[axis])
                kept.append((start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share))
            if stays:
                kept.append(end)
        polygon = tuple(kept)
    return polygon
