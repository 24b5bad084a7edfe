"""A chart -> a still picture: a figure of charts/figures.py, laid out for a sheet, as lines, areas, discs and texts.

From the top: the title, the legend, the name of the upward axis, the plot, and the labels below it. Then come the name
of that axis, and the key of labels without room. All texts are horizontal; on paper all letters have one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagrams.charts import traces
from diagrams.charts.axes import LEADING, Ticks, below, beside, explained, span_of
from diagrams.charts.parts import TYPE, number
from diagrams.drawing.frame import Frame, Picture
from diagrams.drawing.sheet import SCREEN, Sheet
from diagrams.drawing.trace_shapes import dash_of, letters_in
from diagrams.shapes.lettering import width_of, wrapped
from diagrams.shapes.marks import marks
from diagrams.shapes.primitives import Area, Box, Line, Primitive, Text

HEIGHT = 0.56  # of the width: the plot
MARGIN = 6.0  # pixels around the picture
SAMPLE = 36.0  # pixels: a line of the legend
FIELDS, LEAST_FIELD = 5, 8.0  # of the legend of a heat map: how many, and pixels of one
TICK = 4.0  # pixels
MOST_LINES = 4  # of a title, or of an entry of the legend or the key

Figure = Mapping[str, Any]
Trace = Mapping[str, Any]


def chart_picture(figure: Figure, sheet: Sheet = SCREEN) -> Picture:
    """The picture of a chart, as high as it needs, in pixels; `Picture.on(sheet)` brings it to paper."""
    letters = sheet.letters or TYPE
    layout, page = figure["layout"], _Page(sheet.width, letters)
    page.write(layout["title"]["text"], "bold")
    if sheet.legend:
        page.flow(list(_legend(figure, letters, page.room)))
    page.at += 0.4 * letters if layout["yaxis"]["title"]["text"] else 0.0
    page.write(layout["yaxis"]["title"]["text"])
    frame, upward, across = _laid_out(figure, page)
    page.parts += _grid(frame, layout, upward, across, letters)
    inside = [part for trace in figure["data"] for part in traces.drawn(trace, frame, letters)]
    page.at = frame.plot.bottom + TICK + max((len(tick.lines) for tick in across.ticks), default=0) * page.leading
    page.write(layout["xaxis"]["title"]["text"], centre=(frame.plot.left + frame.plot.right) / 2)
    page.flow([_entry(told, letters, page.room) for told in explained(across, upward)])
    height = page.at + MARGIN + 0.3 * letters
    return Picture(sheet.width, height, None, (*page.parts, *inside), ())


@dataclass(frozen=True)
class _Entry:
    """An entry of a legend: its width and height in pixels, and its primitives at a place (its left end, its line)."""

    width: float
    draw: Callable[[float, float], Iterator[Primitive]]
    lines: int = 1


class _Page:
    """The lines of text of a picture, from the top down; `at` is the height reached so far, in pixels."""

    def __init__(self, width: float, letters: float) -> None:
        self.width, self.letters = width, letters
        self.leading, self.room = LEADING * letters, width - 2 * MARGIN
        self.at = MARGIN
        self.parts: list[Primitive] = []

    def write(self, text: str, style: str = "", centre: float | None = None) -> None:
        """Add lines of text, from the left, or centred at a place as far as the picture's edges allow."""
        for line in wrapped(letters_in(text), self.letters, self.room, MOST_LINES):
            self.at += self.leading
            half = width_of(line, self.letters) / 2
            x = MARGIN if centre is None else min(max(centre, MARGIN + half), self.width - MARGIN - half)
            anchor = "start" if centre is None else "middle"
            self.parts.append(Text((x, self.at), line, anchor, self.letters, "@ink", style, "label"))

    def flow(self, entries: Sequence[_Entry]) -> None:
        """Add entries beside each other, in as many rows as they need."""
        x, tall = MARGIN, 0
        for entry in entries:
            if not tall or x + entry.width > self.width - MARGIN:
                self.at += max(tall, 1) * self.leading + 0.15 * self.letters
                x, tall = MARGIN, 0
            self.parts += entry.draw(x, self.at)
            x, tall = x + entry.width + self.letters, max(tall, entry.lines)
        self.at += max(tall - 1, 0) * self.leading


def _laid_out(figure: Figure, page: _Page) -> tuple[Frame, Ticks, Ticks]:
    """The plot below what has been written, and the ticks on its left and below it."""
    layout, letters = figure["layout"], page.letters
    extents = [traces.extent(trace) for trace in figure["data"]]
    spans = [
        span_of(layout[axis], [value for extent in extents for value in extent[rank]])
        for rank, axis in enumerate(("xaxis", "yaxis"))
    ]
    height = HEIGHT * page.width
    upward = beside(layout["yaxis"], spans[1], height, letters, page.width)
    widest = max((width_of(line, letters) for tick in upward.ticks for line in tick.lines), default=0.0)
    top = page.at + letters
    plot = Box(MARGIN + widest + TICK + 4, top, page.width - MARGIN - letters / 2, top + height)
    across = below(layout["xaxis"], spans[0], plot, letters, page.width)
    return Frame(page.width, plot.bottom, plot, spans[0], spans[1]), upward, across


def _grid(frame: Frame, layout: Figure, upward: Ticks, across: Ticks, letters: float) -> Iterator[Primitive]:
    """The lines of the grid, the two axes, their ticks and labels."""
    plot, (x, y) = frame.plot, (layout["xaxis"], layout["yaxis"])
    at = [frame.pixel(tick.value, frame.y_range[0])[0] for tick in across.ticks]
    up = [frame.pixel(frame.x_range[0], tick.value)[1] for tick in upward.ticks]
    if x.get("showgrid", True) and at:
        yield Line(tuple(((each, plot.top), (each, plot.bottom)) for each in at), x["gridcolor"], 1)
    if y.get("showgrid", True) and up:
        yield Line(tuple(((plot.left, each), (plot.right, each)) for each in up), y["gridcolor"], 1)
    yield Line((((plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)),), x["linecolor"], 1)
    ticks = [((each, plot.bottom), (each, plot.bottom + TICK)) for each in at]
    ticks += [((plot.left - TICK, each), (plot.left, each)) for each in up]
    if ticks:
        yield Line(tuple(ticks), x["linecolor"], 1)
    for tick, each in zip(across.ticks, at, strict=True):
        for rank, line in enumerate(tick.lines, start=1):
            yield Text((each, plot.bottom + TICK + LEADING * letters * rank), line, "middle", letters, x["color"])
    for tick, each in zip(upward.ticks, up, strict=True):
        first = each + 0.35 * letters - LEADING * letters * (len(tick.lines) - 1) / 2
        for rank, line in enumerate(tick.lines):
            yield Text((plot.left - TICK - 4, first + LEADING * letters * rank), line, "end", letters, y["color"])


# ------------------------------------------------------------------ the legend


def _legend(figure: Figure, letters: float, room: float) -> Iterator[_Entry]:
    """The entries of the legend: its title and the named lines, or the fields of a heat map."""
    layout = figure["layout"]
    for trace in figure["data"]:
        if trace["type"] == "heatmap" and trace["zmin"] < trace["zmax"]:
            yield from _fields(trace, letters, room)
    if layout["showlegend"]:
        title = letters_in(layout["legend"]["title"]["text"])
        if title:
            yield _entry(title, letters, room)
        for trace in figure["data"]:
            if "name" in trace:
                yield _entry(letters_in(trace["name"]), letters, room, trace)


def _entry(text: str, letters: float, room: float, trace: Trace | None = None) -> _Entry:
    """A text of at most `room` pixels, behind a sample of a trace."""
    before = SAMPLE + 0.4 * letters if trace else 0.0
    lines = wrapped(text, letters, room - before, MOST_LINES)

    def draw(x: float, y: float) -> Iterator[Primitive]:
        if trace:
            yield from _sample(trace, x, y - 0.35 * letters)
        for rank, line in enumerate(lines):
            yield Text((x + before, y + LEADING * letters * rank), line, "start", letters, "@ink", sign="label")

    return _Entry(before + max((width_of(line, letters) for line in lines), default=0.0), draw, len(lines))


def _sample(trace: Trace, x: float, y: float) -> Iterator[Primitive]:
    """A piece of a line, with its symbol."""
    if "lines" in trace["mode"]:
        look = trace["line"]
        yield Line((((x, y), (x + SAMPLE, y)),), look["color"], look["width"], dash_of(look["dash"]))
    if "markers" in trace["mode"]:
        yield from marks(trace["marker"], [(x + SAMPLE / 2, y)], 1.0)


def _fields(trace: Trace, letters: float, room: float) -> Iterator[_Entry]:
    """The scale of a heat map, if there is room for it: fields from its lowest value to its highest."""
    low, high = number(trace["zmin"]), number(trace["zmax"])
    start, end = (width_of(label, letters) + 0.4 * letters for label in (low, high))
    field, step = min(SAMPLE, (room - start - end) / FIELDS), (trace["zmax"] - trace["zmin"]) / (FIELDS - 1)
    if field < LEAST_FIELD:
        return

    def draw(x: float, y: float) -> Iterator[Primitive]:
        yield Text((x, y), low, "start", letters, "@ink", sign="label")
        for rank in range(FIELDS):
            left, top = x + start + field * rank + 1, y - 0.8 * letters
            box = Box(left, top, left + field - 2, y + 0.1 * letters)
            yield Area((box.corners,), traces.field_colour(trace, trace["zmin"] + step * rank))
        yield Text((x + start + FIELDS * field + 0.4 * letters, y), high, "start", letters, "@ink", sign="label")

    yield _Entry(start + FIELDS * field + end, draw)
