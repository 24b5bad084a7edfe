"""Scene -> a drawing: the space-time figure at one step as lines, areas, discs and texts in pixels.

A back end (SVG, TikZ) writes these four and nothing else. Points are in pixels from the top left corner, y
grows downwards; colours are tokens of diagrams.theme ("@ink", "@p0/0.3").
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from diagrams import lettering, marks
from diagrams.positions import round_times
from diagrams.primitives import Area, Box, Line, Path, Pixel, Primitive, Text
from diagrams.scene import Scene
from diagrams.spacetime import Figure, figure

WIDTH, HEIGHT = 900, 640
SKETCH_WIDTH, SKETCH_HEIGHT, SKETCH_SCALE = 240, 150, 0.42
LANE = 5  # pixels of a lane at least, unless the picture would grow beyond MOST
MOST = 8_000
NAME_SIZE, TICK_SIZE = 18.0, 11.0
MARGIN = 24  # pixels round a figure without names and times

_DASHES = {"dash": (9.0, 6.0), "dot": (2.0, 5.0), "dashdot": (9.0, 5.0, 2.0, 5.0), "longdash": (14.0, 6.0),
           "longdashdot": (14.0, 5.0, 2.0, 5.0)}  # fmt: skip
_TAGS = re.compile(r"</?[bi]>")

Trace = Mapping[str, Any]
Place = tuple[float, float] | None  # a point of a figure; None: a gap


@dataclass(frozen=True)
class Picture:
    """A drawing of width x height pixels: `inside`, cut off at the box `clip` (None: nowhere), then `around` on it."""

    width: int
    height: int
    clip: Box | None
    inside: tuple[Primitive, ...]
    around: tuple[Primitive, ...]


@dataclass(frozen=True)
class Frame:
    """A picture's size in pixels, the box of its plot, and the two ranges of the figure that map to that box."""

    width: int
    height: int
    plot: Box
    x_range: Sequence[float]
    y_range: Sequence[float]

    def pixel(self, x: float, y: float) -> Pixel:
        """Where a point of the figure lies, in pixels."""
        across = (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (y - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return self.plot.left + across * self.plot.width, self.plot.top + (1 - up) * self.plot.height


class Drawing:
    """The space-time diagram of a scene in one orientation: laid out once, drawn at any step."""

    def __init__(
        self, scene: Scene, orientation: str, width: int = WIDTH, height: int = HEIGHT, headroom: float = 0.0,
        footroom: float = 0.0, plot: Figure | None = None,
    ) -> None:  # fmt: skip
        """Width x height pixels, more for many lanes; `headroom` pixels at the top stay free, `footroom` at the bottom.

        `plot` is another figure of the scene in this orientation (None: the space-time diagram).
        """
        self.scene = scene
        self.down = orientation == "down"
        plot = figure(scene, orientation) if plot is None else plot
        self.traces: list[Trace] = plot["data"]
        self.layout: Mapping[str, Any] = plot["layout"]
        margin = self.layout["margin"]
        lanes = min(LANE * len(scene.lanes), MOST)
        width, height = (max(width, lanes), height) if self.down else (width, max(height, lanes))
        box = Box(margin["l"], margin["t"] + headroom, width - margin["r"], height - margin["b"] - footroom)
        self.frame = _frame(self.layout, width, height, box)

    def at(self, step: int) -> Picture:
        """The picture after `step`, with the names of the processes and the times."""
        inside: list[Primitive] = []
        around: list[Primitive] = []
        for trace in self.traces:
            parts = inside if trace.get("cliponaxis", True) else around
            parts += self._trace(trace, step)
        around += [*self._ticks(), *self._names()]
        clip = None if self.scene.is_whole else self.frame.plot
        return Picture(self.frame.width, self.frame.height, clip, tuple(inside), tuple(around))

    def _trace(self, trace: Trace, step: int) -> Iterator[Primitive]:
        position = self.scene.positions[step]
        if "cursor" in trace.get("meta", {}):
            trace = _moved(trace, position, step == self.scene.last)
        points = seen(trace, step, position)
        yield from _shapes(trace, points, self.frame, 1.0)
        if "text" in trace.get("mode", ""):
            yield from _texts(trace, points, self.frame)

    def _names(self) -> Iterator[Text]:
        """The names of the processes: along the top, or down the left side."""
        axis = self.layout["xaxis"] if self.down else self.layout["yaxis"]
        plot = self.frame.plot
        named = sum(map(bool, axis["ticktext"]))
        room = plot.width / (named + 0.2) - 6 if self.down else plot.left - 14
        for lane, name in zip(axis["tickvals"], axis["ticktext"], strict=True):
            letters, size = lettering.fitted(_plain(name), NAME_SIZE, room)
            x, y = self.frame.pixel(lane, 0) if self.down else self.frame.pixel(0, lane)
            at = (x, plot.top - 10) if self.down else (plot.left - 10, y + size / 3)
            if letters:
                yield Text(at, letters, "middle" if self.down else "end", size, "@ink")

    def _ticks(self) -> Iterator[Primitive]:
        """The times: down the left side, or along the bottom."""
        axis = self.layout["yaxis"] if self.down else self.layout["xaxis"]
        plot = self.frame.plot
        prefix = axis.get("tickprefix", "")  # before the first only
        for number, time in enumerate(round_times(*sorted(axis["range"]), whole=bool(prefix))):
            x, y = self.frame.pixel(0, time) if self.down else self.frame.pixel(time, 0)
            start, end = ((plot.left - 4, y), (plot.left, y)) if self.down else ((x, plot.bottom), (x, plot.bottom + 4))
            yield Line(((start, end),), "@faint", 1)
            at = (plot.left - 7, y + TICK_SIZE / 3) if self.down else (x, plot.bottom + 16)
            yield Text(at, f"{'' if number else prefix}{time:g}", "end" if self.down else "middle", TICK_SIZE, "@faint")


def still(figure: Mapping[str, Any], step: int, width: int = WIDTH, height: int = HEIGHT) -> Picture:
    """A figure that has neither names nor times along its sides, as it looks at a step: the lattice."""
    box = Box(MARGIN, MARGIN, width - MARGIN, height - MARGIN)
    frame = _frame(figure["layout"], width, height, box)
    parts: list[Primitive] = []
    for trace in figure["data"]:
        points = seen(trace, step, 0.0)
        parts += _shapes(trace, points, frame, 1.0)
        if "text" in trace["mode"]:
            parts += _texts(trace, points, frame)
    return Picture(width, height, None, tuple(parts), ())


def sketch(scene: Scene) -> Picture:
    """The finished diagram without texts and with thin strokes, small enough for a card."""
    plot = figure(scene, scene.execution.scenario.orientation)
    box = Box(4, 4, SKETCH_WIDTH - 4, SKETCH_HEIGHT - 4)
    frame = _frame(plot["layout"], SKETCH_WIDTH, SKETCH_HEIGHT, box)
    parts: list[Primitive] = []
    for trace in plot["data"]:
        if "cursor" not in trace.get("meta", {}):
            parts += _shapes(trace, seen(trace, scene.last, scene.positions[-1]), frame, SKETCH_SCALE)
    return Picture(SKETCH_WIDTH, SKETCH_HEIGHT, None, tuple(parts), ())


def _frame(layout: Mapping[str, Any], width: int, height: int, plot: Box) -> Frame:
    return Frame(width, height, plot, layout["xaxis"]["range"], layout["yaxis"]["range"])


def seen(trace: Trace, step: int, position: float) -> list[Place]:
    """The points of a trace at a step that lies at `position` on the time axis; None where nothing is seen.

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


def _moved(trace: Trace, position: float, hidden: bool) -> Trace:
    """The line of now at `position`; no line at the end of the run, where there is no later moment."""
    axis = trace["meta"]["cursor"]
    return {**trace, axis: [position] * len(trace[axis]), "visible": not hidden}


def _shapes(trace: Trace, points: Sequence[Place], frame: Frame, scale: float) -> Iterator[Primitive]:
    mode = trace.get("mode", "none")
    paths = tuple(_paths(points, frame))
    if paths and trace.get("fill"):
        yield Area(paths, trace["fillcolor"])
    if paths and "lines" in mode:
        look = trace["line"]
        yield Line(paths, look["color"], max(look["width"] * scale, 0.5), _dash(look.get("dash", "")))
    if "markers" in mode:
        pixels = [frame.pixel(*point) if point else None for point in points]
        yield from marks.marks(trace["marker"], pixels, scale)


def _dash(name: str) -> tuple[float, ...]:
    """Lengths on and off, in pixels, of a dash: Plotly's word for it, or its list of pixels."""
    lengths = tuple(float(part.removesuffix("px")) for part in name.split(",")) if "px" in name else ()
    return lengths or _DASHES.get(name, ())


def _paths(points: Sequence[Place], frame: Frame) -> Iterator[Path]:
    """The points in pixels, as lists without gaps."""
    for is_seen, run in groupby(points, key=lambda point: point is not None):
        if is_seen:
            yield tuple(frame.pixel(*point) for point in run if point)


def _texts(trace: Trace, points: Sequence[Place], frame: Frame) -> Iterator[Text]:
    size, colour = trace["textfont"]["size"], trace["textfont"]["color"]
    for index, point in enumerate(points):
        if point is None:
            continue
        x, y = frame.pixel(*point)
        marked, letters = trace["text"][index], _plain(trace["text"][index])
        vertical, horizontal = marks.each(trace["textposition"], index).split()
        radius = marks.each(trace["marker"]["size"], index) / 2 if "marker" in trace else 0
        aside = 6 + radius + _blanks(marked) * size * 0.28
        x += {"left": -aside, "right": aside, "center": 0}[horizontal]
        y += {"top": -8, "middle": size * 0.35, "bottom": size + 5}[vertical]
        anchor = {"left": "end", "right": "start", "center": "middle"}[horizontal]
        style = "bold" if "<b>" in marked else "italic" if "<i>" in marked else ""
        yield _within(Text((x, y), letters, anchor, size, colour, style), frame)


def _within(text: Text, frame: Frame) -> Text:
    """The text, moved so that it is not cut off at the left or right side of the picture."""
    width = lettering.width_of(text.letters, text.size)
    before = {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    x = max(before + 2, min(text.at[0], frame.width - 2 - (width - before)))
    return Text((x, text.at[1]), text.letters, text.anchor, text.size, text.colour, text.style)


def _blanks(text: str) -> int:
    """The blanks at the front of a text, which keep it off its point."""
    return len(text) - len(text.lstrip())


def _plain(text: str) -> str:
    """A figure's text without our own tags and control characters, Plotly's entities resolved."""
    letters = html.unescape(_TAGS.sub("", text))
    return "".join(letter for letter in letters if letter.isprintable()).strip()
