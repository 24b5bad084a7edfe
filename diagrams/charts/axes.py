"""The axes of a chart as a still picture: their spans, their ticks, and the labels that have room.

All letters have one size. Labels without room beside each other are broken into lines. If that does not help, letters
stand for them, which the key below the chart explains. Labels that follow a rule, as on a scale or for P1, P2, P3, and
very many labels have no key: only those with room are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from diagrams.charts.parts import number
from diagrams.drawing.trace_shapes import letters_in
from diagrams.scene.positions import MOST_TICKS, round_values
from diagrams.shapes.lettering import cropped, width_of
from diagrams.shapes.primitives import Box

Axis = Mapping[str, Any]  # of a figure: see diagrams/charts/parts.py
Lines = tuple[str, ...]

PAD = 0.05  # of the values: the room beside the outermost ones
LEADING = 1.2  # from a line of text to the next one, in letters
GAP = 0.6  # between two labels, in letters
MOST_LINES = 3  # of a label below its tick
LETTERS = "abcdefghijklmnopqrstuvwxyz"  # of a key
MOST_IN_A_KEY = 20
MOST_ASIDE = 0.3  # of the picture's width: the labels on the left

_PIECES = re.compile(r"\S+?(?:(?<=\w)-(?=\w)|\s+|$)")


class Tick(NamedTuple):
    """A place on an axis with its label, which is empty if it has no room."""

    value: float
    lines: Lines = ()


class Ticks(NamedTuple):
    """The ticks of an axis, and its key: the labels for which letters stand."""

    ticks: Sequence[Tick]
    key: Sequence[str] = ()


def span_of(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest value of an axis on which `values` are drawn."""
    if "range" in axis:
        low, high = axis["range"]
        return low, high
    low, high = min(values, default=0.0), max(values, default=1.0)
    from_zero = axis["rangemode"] == "tozero"
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    pad = PAD * ((high - low) or 1.0)
    return low if from_zero and low == 0 else low - pad, high + pad


def below(axis: Axis, span: tuple[float, float], plot: Box, size: float, width: float) -> Ticks:
    """The ticks of the axis below a plot, in a picture of this `width`, in letters of `size` pixels."""
    scale = plot.width / (span[1] - span[0])
    for most in range(MOST_TICKS, 0, -1):
        values, labels = _named(axis, span, most)
        places = [plot.left + (value - span[0]) * scale for value in values]
        if "tickvals" in axis or _are_apart(places, labels, size, width):
            break
    if _are_apart(places, labels, size, width):
        return _whole(values, labels)
    slot = min((b - a for a, b in pairwise(places)), default=plot.width) - GAP * size
    broken = [_broken(label, size, slot) for label in labels]
    if all(lines and len(lines) <= MOST_LINES for lines in broken):
        return Ticks([Tick(value, lines) for value, lines in zip(values, broken, strict=True)])
    key = _key(axis, labels)
    shown = list(LETTERS[: len(key)]) or labels
    kept = _with_room(places, shown, size, width)
    return Ticks([Tick(value, (shown[at],) if at in kept else ()) for at, value in enumerate(values)], key)


def beside(axis: Axis, span: tuple[float, float], height: float, size: float, width: float) -> Ticks:
    """The ticks of the axis on the left of a plot that is `height` pixels high; see `below`."""
    values, labels = _named(axis, span, max(2, min(MOST_TICKS, int(height / (2 * LEADING * size)))))
    gaps = [b - a for a, b in pairwise(values)]
    row = min(gaps, default=span[1] - span[0]) * height / (span[1] - span[0])
    broken = [_broken(label, size, MOST_ASIDE * width) for label in labels]
    if all(lines and len(lines) * LEADING * size <= row for lines in broken):
        return Ticks([Tick(value, lines) for value, lines in zip(values, broken, strict=True)])
    key = _key(axis, labels) if row >= LEADING * size else []
    if key:
        return Ticks(_whole(values, LETTERS.upper()[: len(key)]).ticks, key)
    every = -int(-LEADING * size // row)
    shown = [cropped(label, size, MOST_ASIDE * width) for label in labels]
    return Ticks([Tick(value, (shown[at],) if at % every == 0 else ()) for at, value in enumerate(values)])


def explained(below_it: Ticks, beside_it: Ticks) -> Iterator[str]:
    """The entries of a chart's key: small letters for the labels below it, capital ones for those beside it."""
    for letters, key in ((LETTERS, below_it.key), (LETTERS.upper(), beside_it.key)):
        yield from (f"{letter}: {label}" for letter, label in zip(letters, key, strict=False))


def _named(axis: Axis, span: tuple[float, float], most: int) -> tuple[list[float], list[str]]:
    """The values of an axis that have ticks, with their labels: its own, or at most `most` round values."""
    if "tickvals" in axis:
        return list(axis["tickvals"]), [letters_in(label) for label in axis["ticktext"]]
    values = round_values(*span, most=most)
    return values, [number(value) for value in values]


def _whole(values: Sequence[float], labels: Sequence[str]) -> Ticks:
    return Ticks([Tick(value, (label,)) for value, label in zip(values, labels, strict=True)])


def _are_apart(places: Sequence[float], labels: Sequence[str], size: float, width: float) -> bool:
    """Whether each label has room, centred on its place."""
    return len(_with_room(places, labels, size, width)) == len(labels)


def _with_room(places: Sequence[float], labels: Sequence[str], size: float, width: float) -> list[int]:
    """The labels that are written, from the left: those that neither meet the last one nor leave the picture."""
    kept, end = [], 0.0
    for rank, (place, label) in enumerate(zip(places, labels, strict=True)):
        half = width_of(label, size) / 2
        if place - half >= end and place + half <= width:
            kept.append(rank)
            end = place + half + GAP * size
    return kept


def _broken(text: str, size: float, room: float) -> Lines:
    """A text as lines of at most `room` pixels, broken at blanks and behind hyphens; none if a piece is longer."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and width_of((lines[-1] + piece).rstrip(), size) > room:
            lines.append("")
        lines[-1] += piece
    told = tuple(line.rstrip() for line in lines)
    return told if all(width_of(line, size) <= room for line in told) else ()


def _key(axis: Axis, labels: Sequence[str]) -> list[str]:
    """The labels of values side by side for which letters stand; none if they follow a rule, or if there are many."""
    is_side_by_side = "tickvals" in axis and "range" in axis
    return [] if not is_side_by_side or len(labels) > MOST_IN_A_KEY or _are_counted(labels) else list(labels)


def _are_counted(labels: Sequence[str]) -> bool:
    """Whether labels are numbers in even steps, behind the same few letters if any, such as P1, P2, P3."""
    found = [re.fullmatch(r"(\D{0,3})(\d[\d,]*)", label) for label in labels]
    parts = [(match[1], int(match[2].replace(",", ""))) for match in found if match]
    steps = {(other[0] == one[0], other[1] - one[1]) for one, other in pairwise(parts)}
    return len(parts) == len(labels) and len(steps) <= 1 and all(is_same for is_same, _ in steps)
