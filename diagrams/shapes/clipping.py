"""Primitives cut off at a box, for formats that cannot clip, or that hold no points far away.

A primitive that lies inside stays as it is. A curve that reaches out becomes PARTS straight lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Path, Pixel, Primitive, Text

PARTS = 24


def clipped(part: Primitive, box: Box) -> Iterator[Primitive]:
    """Yield the parts of a primitive that lie in the box; discs and texts lie where their points do.

    An arrow whose tip lies outside becomes a line up to the side of the box.
    """
    match part:
        case Line():
            near, far = _sorted(part.strokes, part.curved, box)
            cut = tuple(piece for stroke in far for piece in _pieces(stroke, box))
            yield from [replace(part, strokes=near)] if near else []
            yield from [replace(part, strokes=cut, curved=False)] if cut else []
        case Arrows():
            yield from _arrows(part, box)
        case Area():
            near, far = _sorted(part.polygons, part.curved, box)
            cut = tuple(polygon for whole in far if len(polygon := _polygon(whole, box)) > 2)
            yield from [replace(part, polygons=near)] if near else []
            yield from [replace(part, polygons=cut, curved=False)] if cut else []
        case Disc() | Text():
            if _holds(box, [part.centre if isinstance(part, Disc) else part.at]):
                yield part


def _holds(box: Box, points: Iterable[Pixel]) -> bool:
    return all(box.left <= x <= box.right and box.top <= y <= box.bottom for x, y in points)


def _sorted(paths: Iterable[Path], curved: bool, box: Box) -> tuple[tuple[Path, ...], list[Path]]:
    """The paths inside the box, and the others without curves."""
    near, far = [], []
    for path in paths:
        if _holds(box, path):
            near.append(path)
        else:
            far.append(_straightened(path) if curved else path)
    return tuple(near), far


def _straightened(path: Path) -> Path:
    points = [path[0]]
    for place in range(1, len(path), 3):
        points += [_bezier(path[place - 1 : place + 3], part / PARTS) for part in range(1, PARTS + 1)]
    return tuple(points)


def _bezier(points: Path, share: float) -> Pixel:
    """The point of a cubic curve at a share of it, by de Casteljau's construction."""
    while len(points) > 1:
        points = tuple((x + (to_x - x) * share, y + (to_y - y) * share) for (x, y), (to_x, to_y) in pairwise(points))
    return points[0]


def _arrows(arrows: Arrows, box: Box) -> Iterator[Arrows | Line]:
    leads = arrows.ends or tuple(tip for _, tip in arrows.ways)
    ways, ends, lines = [], [], []
    for way, end in zip(arrows.ways, leads, strict=True):
        piece = box.part_of(*way)
        if piece and piece[1] == way[1]:
            ways.append(piece)
            ends.append(end)
        elif piece:
            lines.append(piece)
    if ways:
        yield replace(arrows, ways=tuple(ways), ends=tuple(ends))
    if lines:
        yield Line(tuple(lines), arrows.colour, arrows.width, arrows.dash, sign=arrows.sign)


def _pieces(stroke: Path, box: Box) -> Iterator[Path]:
    """The parts of a line in the box."""
    path: Path = ()
    for start, end in pairwise(stroke):
        piece = box.part_of(start, end)
        if path and (piece is None or piece[0] != path[-1]):
            yield path
            path = ()
        if piece is not None:
            path = (*path, piece[1]) if path else piece
    if path:
        yield path


def _polygon(polygon: Path, box: Box) -> Path:
    """A polygon, cut off at one side of the box after the other (Sutherland and Hodgman)."""
    for axis, limit, sign in ((0, box.left, 1), (0, -box.right, -1), (1, box.top, 1), (1, -box.bottom, -1)):
        kept: list[Pixel] = []
        for here, there in pairwise((*polygon, *polygon[:1])):
            before, after = sign * here[axis] - limit, sign * there[axis] - limit
            if before >= 0:
                kept.append(here)
            if before * after < 0:
                share = before / (before - after)
                kept.append((here[0] + (there[0] - here[0]) * share, here[1] + (there[1] - here[1]) * share))
        polygon = tuple(kept)
    return polygon
