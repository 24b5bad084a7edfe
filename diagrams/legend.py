"""The legend of a still picture: the signs that are seen in it, with their words, in rows below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagrams.drawing import Picture
from diagrams.lettering import width_of
from diagrams.primitives import Primitive, Text, moved, scaled
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.signs import ALWAYS, HIGH, RUN, Sign, signs_of

LETTERS = 14.0  # pixels, on a screen
BESIDE = 0.4  # of the size of letters: between an icon and its word
APART = 1.3  # of the same: between two signs
ROW = 1.6  # of the same: the height of a row
MARGIN = 0.5  # of the same: around the legend


def with_legend(picture: Picture, scene: Scene, drawn: str, sheet: Sheet) -> Picture:
    """The picture with a legend below it. `drawn` is the kind of drawing, as Sign says it."""
    kinds = (RUN, ALWAYS) if drawn == RUN else (drawn,)
    seen = {part.sign for part in (*picture.inside, *picture.around)}
    signs = [sign for sign in signs_of(scene) if sign.drawn in kinds and seen.intersection(sign.explains)]
    size = sheet.letters or LETTERS
    rows = list(_rows(signs, size, picture.width))
    margin = MARGIN * size
    top = picture.height + margin
    parts = [part for number, row in enumerate(rows) for part in _row(row, size, top + ROW * size * number)]
    height = top + ROW * size * len(rows) + margin
    return replace(picture, height=height, around=(*picture.around, *parts))


def _width(sign: Sign, size: float) -> float:
    """The width of a sign with its word, and of the gap after it."""
    return sign.icon.width * size / HIGH + (BESIDE + APART) * size + width_of(sign.label, size)


def _rows(signs: Sequence[Sign], size: float, width: float) -> Iterator[list[Sign]]:
    """The signs in rows that are no wider than the picture."""
    row: list[Sign] = []
    for sign in signs:
        if row and sum(_width(own, size) for own in (*row, sign)) - APART * size > width - 2 * MARGIN * size:
            yield row
            row = []
        row.append(sign)
    if row:
        yield row


def _row(signs: Sequence[Sign], size: float, top: float) -> Iterator[Primitive]:
    """The icons and words of a row whose upper side is at `top`."""
    left, by = MARGIN * size, size / HIGH
    for sign in signs:
        for shape in sign.icon.shapes:
            yield replace(moved(scaled(shape, by), left, top + (ROW - 1) * size / 2), sign="legend")
        at = (left + sign.icon.width * by + BESIDE * size, top + ROW * size / 2 + 0.35 * size)
        yield Text(at, sign.label, "start", size, "@ink", sign="legend")
        left += _width(sign, size)
