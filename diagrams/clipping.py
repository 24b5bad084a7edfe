"""Primitives cut off at a box, for formats that cannot do it themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from diagrams.primitives import Area, Arrows, Box, Disc, Line, Path, Pixel, Primitive, Text

PARTS = 12  # straight ones of a curve that is cut off

Crossing = Callable[[Pixel, Pixel], Pixel]


def clipped(part: Primitive, box: Box) -> Iterator[Primitive]:
    """What of a primitive lies in the box; discs and texts lie where their points do.

    An arrow whose tip lies outside is a line up to the side of the box.
    """
    match part:
        case Line():
            strokes = (_flat(stroke) if part.curved else stroke for stroke in part.strokes)
            inside = tuple(piece for stroke in strokes for piece in _pieces(stroke, box))
            if all(_holds(box, point) for stroke in part.strokes for point in stroke):
                yield part
            elif inside:
                yield replace(part, strokes=inside, curved=False)
        case Arrows():
            seen = [(way, piece) for way in part.ways if (piece := _within(*way, box))]
            there = tuple(piece for (_, tip), piece in seen if piece[1] == tip)
            cut = tuple(piece for (_, tip), piece in seen if piece[1] != tip)
            if there:
                yield replace(part, ways=there)
            if cut:
                yield Line(cut, part.colour, part.width, part.dash, sign=part.sign)
        case Area():
            if all(_holds(box, point) for polygon in part.polygons for point in polygon):
                yield part
            else:
                flat = (_flat(polygon) if part.curved else polygon for polygon in part.polygons)
                polygons = tuple(own for polygon in flat if len(own := _cut(polygon, box)) > 2)
                yield from [replace(part, polygons=polygons, curved=False)] if polygons else []
        case Disc() | Text():
            if _holds(box, part.centre if isinstance(part, Disc) else part.at):
                yield part


def _holds(box: Box, point: Pixel) -> bool:
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


def _flat(path: Path) -> Path:
    """A path of Bezier curves as straight lines."""
    points = [path[0]]
    for place in range(1, len(path), 3):
        start, one, other, end = path[place - 1 : place + 3]
        shares = (part / PARTS for part in range(1, PARTS + 1))
        points += [_bezier(start, one, other, end, share) for share in shares]
    return tuple(points)


def _bezier(start: Pixel, one: Pixel, other: Pixel, end: Pixel, share: float) -> Pixel:
    rest = 1 - share
    weights = (rest**3, 3 * rest * rest * share, 3 * rest * share * share, share**3)
    points = (start, one, other, end)
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, points, strict=True)) for axis in (0, 1))
    return x, y


def _pieces(stroke: Path, box: Box) -> list[Path]:
    """What of a line lies in the box; it may come back."""
    pieces: list[Path] = []
    for start, end in pairwise(stroke):
        inside = _within(start, end, box)
        if inside and pieces and pieces[-1][-1] == inside[0]:
            pieces[-1] = (*pieces[-1], inside[1])
        elif inside:
            pieces.append(inside)
    return pieces


def _within(start: Pixel, end: Pixel, box: Box) -> tuple[Pixel, Pixel] | None:
    """The part of a line in the box (Liang and Barsky); None where there is none."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    enter, leave = 0.0, 1.0
    for slope, distance in ((-dx, x - box.left), (dx, box.right - x), (-dy, y - box.top), (dy, box.bottom - y)):
        if slope < 0:
            enter = max(enter, distance / slope)
        elif slope > 0:
            leave = min(leave, distance / slope)
        elif distance < 0:
            return None
    if enter >= leave:
        return None
    first = (x + dx * enter, y + dy * enter) if enter > 0 else start
    return first, ((x + dx * leave, y + dy * leave) if leave < 1 else end)


def _cut(polygon: Path, box: Box) -> Path:
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
