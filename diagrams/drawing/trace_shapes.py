"""The traces of a figure as primitives: areas, lines, arrows, symbols and texts, as they look at a step."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from typing import Any

from diagrams.drawing.frame import Frame
from diagrams.figure.labels import BLANK, OFF
from diagrams.shapes import lettering, marks
from diagrams.shapes.primitives import Area, Arrows, Line, Path, Pixel, Primitive, Text

_DASHES = {"dash": (9.0, 6.0), "dot": (2.0, 5.0), "dashdot": (9.0, 5.0, 2.0, 5.0), "longdash": (14.0, 6.0),
           "longdashdot": (14.0, 5.0, 2.0, 5.0)}  # fmt: skip
_TAGS = re.compile(r"</?[bi]>")
HEAD = math.cos(0.38)  # of a Plotly arrow's size: from its base to its tip

Trace = Mapping[str, Any]
Place = tuple[float, float] | None  # a point of a figure; None: a gap


def seen(trace: Trace, step: int, position: float) -> list[Place]:
    """The points of a trace at a step that lies at `position` on the time axis; None for points that are not seen.

    A growing arrow ends where its message is, as in the browser (assets/explore/run/timeline.js, Mask.at).
    """
    if trace.get("visible") is False:
        return []
    points: list[Place] = [None if x is None else (x, y) for x, y in zip(trace["x"], trace["y"], strict=True)]
    meta = trace.get("meta", {})
    stride = meta.get("stride", 1)
    for element, (start, until) in enumerate(meta.get("show", ())):
        first = element * stride
        if not (start <= step and (until is None or step < until)):
            points[first : first + stride] = [None] * stride
        elif "grow" in meta:
            sent, received, least = meta["grow"][element]
            share = (position - sent) / (received - sent) if received > sent else 1.0
            points[first + 1] = _on_the_way(points[first], points[first + 1], max(least, share))
    return points


def _on_the_way(start: Place, end: Place, share: float) -> Place:
    """A point at a `share` of the way."""
    if start is None or end is None:
        return end
    share = min(1.0, share)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def shapes(trace: Trace, points: Sequence[Place], frame: Frame, scale: float) -> Iterator[Primitive]:
    """Yield the areas, lines and marks of a trace at its `points` (None: not seen), with signs enlarged by `scale`."""
    mode, meta = trace.get("mode", "none"), trace.get("meta", {})
    sign, marker = meta.get("sign", ""), trace.get("marker", {})
    if marker.get("symbol") == "arrow":
        yield from _arrows(trace, points, frame, scale)
        return
    paths, is_curved = tuple(_paths(points, frame)), "bends" in meta
    if is_curved:
        paths = tuple(_curved(path, meta["bends"], frame.down) for path in paths)
    if paths and trace.get("fill"):
        yield Area(paths, trace["fillcolor"], curved=is_curved, sign=sign)
    if paths and "lines" in mode and trace["line"]["width"]:
        look = trace["line"]
        width, dash = max(look["width"] * scale, 0.5), dash_of(look.get("dash", ""))
        yield Line(paths, look["color"], width, dash, is_curved, sign)
    if "markers" in mode:
        pixels = [frame.pixel(*point) if point else None for point in points]
        yield from (replace(part, sign=sign) for part in marks.marks(marker, pixels, scale))


def _arrows(trace: Trace, points: Sequence[Place], frame: Frame, scale: float) -> Iterator[Primitive]:
    """Yield the arrows of a trace, each with the distance of its tip from its end."""
    look, marker = trace["line"], trace["marker"]
    ways, ends = [], []
    for place in range(0, len(points) - 1, 3):
        start, end = points[place], points[place + 1]
        if start is not None and end is not None:
            ends.append(frame.pixel(*end))
            ways.append(_up_to(frame.pixel(*start), ends[-1], marker["standoff"][place + 1] * scale))
    if ways:
        width, head = max(look["width"] * scale, 0.5), max(marker["size"]) * HEAD * scale
        outline, dash = marker["line"]["width"] * scale, dash_of(look.get("dash", ""))
        sign = trace["meta"].get("sign", "")
        yield Arrows(tuple(ways), look["color"], width, dash, head, marker["color"], outline, sign, tuple(ends))


def _up_to(start: Pixel, end: Pixel, off: float) -> tuple[Pixel, Pixel]:
    """An arrow whose tip lies `off` before its end."""
    share = max(0.0, 1 - off / (math.dist(start, end) or 1.0))
    return start, (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)


def _curved(path: Path, bends: Sequence[int], down: bool) -> Path:
    """The path of a cut as Bezier curves (figure/cuts.py, bends); a straight part has its ends as control points."""
    ends = [path[place] for place in accumulate(bends, initial=0)]
    points = [ends[0]]
    for (start, end), count in zip(pairwise(ends), bends, strict=True):
        (x, y), third = start, ((end[0] - start[0]) / 3, (end[1] - start[1]) / 3)
        if count == 1:
            points += [start, end, end]
        elif down:
            points += [(x + third[0], y), (x + 2 * third[0], end[1]), end]
        else:
            points += [(x, y + third[1]), (end[0], y + 2 * third[1]), end]
    return tuple(points)


def dash_of(name: str) -> tuple[float, ...]:
    """Lengths on and off, in pixels, of a dash: Plotly's word for it, or its list of pixels."""
    lengths = tuple(float(part.removesuffix("px")) for part in name.split(",")) if "px" in name else ()
    return lengths or _DASHES.get(name, ())


def _paths(points: Sequence[Place], frame: Frame) -> Iterator[Path]:
    """The points in pixels, as lists without gaps."""
    for is_seen, run in groupby(points, key=lambda point: point is not None):
        if is_seen:
            yield tuple(frame.pixel(*point) for point in run if point)


def texts(trace: Trace, points: Sequence[Place], frame: Frame) -> Iterator[Text]:
    """The texts of a trace at its `points` (None: not seen), none cut off at a side of the picture."""
    size, colour = trace["textfont"]["size"], trace["textfont"]["color"]
    for index, point in enumerate(points):
        if point is None or not trace["text"][index]:
            continue
        x, y = frame.pixel(*point)
        marked, letters = trace["text"][index], letters_in(trace["text"][index])
        vertical, horizontal = marks.each(trace["textposition"], index).split()
        aside = OFF + _blanks(marked, horizontal) * size * BLANK
        aside += marks.each(trace["marker"]["size"], index) / 2 + 2 if "marker" in trace else 0
        x += {"left": -aside, "right": aside, "center": 0}[horizontal]
        y += {"top": -OFF - size * 0.2, "middle": size * 0.35, "bottom": OFF + size * 0.9}[vertical]
        anchor = {"left": "end", "right": "start", "center": "middle"}[horizontal]
        style = "bold" if "<b>" in marked else "italic" if "<i>" in marked else ""
        sign = trace.get("meta", {}).get("sign", "")
        yield within(Text((x, y), letters, anchor, size, colour, style, sign), frame)


def within(text: Text, frame: Frame) -> Text:
    """The text, moved so that it is not cut off at the left or right side of the picture."""
    width = lettering.width_of(text.letters, text.size)
    before = {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    x = max(before + 2, min(text.at[0], frame.width - 2 - (width - before)))
    return replace(text, at=(x, text.at[1]))


def _blanks(text: str, side: str) -> int:
    """The number of blanks that keep a text off its point: at its front, or at its end if it lies on the left."""
    return len(text) - len(text.rstrip() if side == "left" else text.lstrip())


def letters_in(text: str) -> str:
    """A figure's text without our own tags and control characters, Plotly's entities resolved."""
    letters = html.unescape(_TAGS.sub("", text))
    return "".join(letter for letter in letters if letter.isprintable()).strip()
