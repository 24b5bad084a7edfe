"""The traces of a chart as primitives: lines, bands, symbols, error bars, bars, violins with their boxes, fields.

A trace is a plain dict for Plotly (diagrams/charts/figures.py). Its primitives look as the page shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import stdev
from typing import Any

from diagrams.drawing.frame import Frame
from diagrams.drawing.trace_shapes import Place, shapes
from diagrams.shapes.lettering import width_of
from diagrams.shapes.primitives import Area, Line, Pixel, Primitive, Text

Trace = Mapping[str, Any]

BAR = 0.8  # of the gap between two bars: the width of one
LIFT = 4.0  # pixels from a bar to its number
SIDES = 80  # the points along the side of a violin
LEAST_BOX = 6.0  # pixels: the width of a violin's box
ROOM = 6.0  # pixels that the number in a field leaves free


def drawn(trace: Trace, frame: Frame, size: float) -> Iterator[Primitive]:
    """The primitives of a trace in letters of `size` pixels."""
    yield from _KINDS[trace["type"]](trace, frame, size)


def _scatter(trace: Trace, frame: Frame, size: float) -> Iterator[Primitive]:
    places = [_place(x, y, frame) for x, y in zip(trace["x"], trace["y"], strict=True)]
    if "error_y" in trace:
        yield from _errors(trace, places, frame)
    if trace.get("marker", {}).get("opacity") != 0:  # else only chosen points are seen
        yield from shapes(trace, places, frame, 1.0)
    if "text" in trace["mode"]:
        yield from _numbers(trace, places, frame, size)


def _place(x: float | None, y: float | None, frame: Frame) -> Place:
    """A point; None if nothing is drawn there, or if it lies beyond the axes."""
    if x is None or y is None:
        return None
    (left, right), (low, high) = frame.x_range, frame.y_range
    return (x, y) if left <= x <= right and low <= y <= high else None


def _errors(trace: Trace, places: Sequence[Place], frame: Frame) -> Iterator[Line]:
    look = trace["error_y"]
    strokes = [
        (frame.pixel(place[0], place[1] - down), frame.pixel(place[0], place[1] + up))
        for place, up, down in zip(places, look["array"], look["arrayminus"], strict=True)
        if place
    ]
    if strokes:
        yield Line(tuple(strokes), look["color"], look["thickness"])


def _numbers(trace: Trace, places: Sequence[Place], frame: Frame, size: float) -> Iterator[Text]:
    """The numbers in the fields of a heat map, if all of them have room."""
    (left, low), (right, high) = frame.pixel(0, 0), frame.pixel(1, 1)
    widest = max((width_of(text, size) for text in trace["text"]), default=0.0)
    if widest + ROOM > right - left or size + ROOM > low - high:
        return
    for place, text in zip(places, trace["text"], strict=True):
        if place:
            x, y = frame.pixel(*place)
            yield Text((x, y + 0.35 * size), text, "middle", size, trace["textfont"]["color"], sign="label")


def _bars(trace: Trace, frame: Frame, size: float) -> Iterator[Primitive]:
    spots = list(zip(trace["x"], trace["y"], strict=True))
    yield Area(tuple(_rectangle(x - BAR / 2, 0, x + BAR / 2, y, frame) for x, y in spots), trace["marker"]["color"])
    room = frame.pixel(1, 0)[0] - frame.pixel(0, 0)[0]
    if all(width_of(text, size) < room for text in trace["text"]):
        for (x, y), text in zip(spots, trace["text"], strict=True):
            across, top = frame.pixel(x, y)
            yield Text((across, top - LIFT), text, "middle", size, trace["textfont"]["color"], sign="label")


def _rectangle(left: float, low: float, right: float, high: float, frame: Frame) -> tuple[Pixel, ...]:
    return tuple(frame.pixel(x, y) for x, y in ((left, low), (right, low), (right, high), (left, high)))


def _violin(trace: Trace, frame: Frame, size: float) -> Iterator[Primitive]:
    """The density of the values to the right of their place, and a box from quartile to quartile with the median."""
    values = sorted(trace["y"])
    if not values:
        return
    at, reach, look = trace["x"][0], trace["width"] / 2, trace["line"]
    side = [frame.pixel(at + reach * share, value) for value, share in density(values)]
    outline = (frame.pixel(at, values[0]), *side, frame.pixel(at, values[-1]))
    yield Area((outline,), trace["fillcolor"], look["color"], look["width"])
    quartiles = [quantile(values, share) for share in (0.25, 0.5, 0.75)]
    (left, low), (_, middle), (_, high) = (frame.pixel(at, value) for value in quartiles)
    unit = frame.pixel(1, 0)[0] - frame.pixel(0, 0)[0]
    right = left + max(LEAST_BOX, trace["box"]["width"] * reach * unit)
    yield Area((((left, low), (right, low), (right, high), (left, high)),), "@paper", look["color"], look["width"])
    yield Line((((left, middle), (right, middle)),), look["color"], look["width"] * 1.5)


def density(values: Sequence[float]) -> list[tuple[float, float]]:
    """The density of sorted values from the least to the greatest one: (value, share of the greatest density).

    Kernels are Gaussian with Silverman's bandwidth, as Plotly draws them.
    """
    wide = _bandwidth(values)
    if not wide:
        return [(values[0], 1.0)]
    step = (values[-1] - values[0]) / SIDES
    heights = [values[0] + step * rank for rank in range(SIDES + 1)]
    sums = [sum(math.exp(-(((height - value) / wide) ** 2) / 2) for value in values) for height in heights]
    most = max(sums)
    return [(height, total / most) for height, total in zip(heights, sums, strict=True)]


def _bandwidth(values: Sequence[float]) -> float:
    """The bandwidth by Silverman's rule of thumb; 0 if all values are the same."""
    if values[0] == values[-1]:
        return 0.0
    deviation, half = stdev(values), (quantile(values, 0.75) - quantile(values, 0.25)) / 1.349
    least = (values[-1] - values[0]) / 100
    return max(least, 1.059 * min(deviation, half) / math.pow(len(values), 0.2))


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of sorted values: each stands for the middle of its part, and between two it is interpolated."""
    place = min(max(len(values) * share - 0.5, 0.0), len(values) - 1.0)
    first = math.floor(place)
    last = min(first + 1, len(values) - 1)
    return values[first] + (values[last] - values[first]) * (place - first)


def _fields(trace: Trace, frame: Frame, size: float) -> Iterator[Primitive]:
    """The fields of a heat map; cells without a measurement have none."""
    across, up = trace["xgap"] / 2, trace["ygap"] / 2
    for y, row in enumerate(trace["z"]):
        for x, value in enumerate(row):
            if value is not None:
                (left, low), (right, high) = frame.pixel(x - 0.5, y - 0.5), frame.pixel(x + 0.5, y + 0.5)
                left, low, right, high = left + across, low - up, right - across, high + up
                yield Area((((left, low), (right, low), (right, high), (left, high)),), field_colour(trace, value))


def field_colour(trace: Trace, value: float) -> str:
    """The colour of a value in a heat map, whose scale goes from one opacity to another."""
    low, high = trace["zmin"], trace["zmax"]
    (_, first), (_, last) = trace["colorscale"]
    name, _, least = first.partition("/")
    most = last.partition("/")[2]
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{name}/{float(least) + share * (float(most) - float(least)):.3f}"


def extent(trace: Trace) -> tuple[list[float], list[float]]:
    """The values of a trace on both axes."""
    x, y = list(trace.get("x", ())), [value for value in trace.get("y", ()) if value is not None]
    if "error_y" in trace:
        ends = zip(trace["y"], trace["error_y"]["array"], trace["error_y"]["arrayminus"], strict=True)
        y += [end for middle, up, down in ends for end in (middle + up, middle - down)]
    return x, y


_KINDS: Mapping[str, Callable[[Trace, Frame, float], Iterator[Primitive]]] = {
    "scatter": _scatter, "bar": _bars, "violin": _violin, "heatmap": _fields,
}  # fmt: skip
