"""Scene -> a drawing: the space-time figure at one step as lines, arrows, areas, discs and texts.

A back end (SVG, TikZ) writes these five and nothing else. Points are from the top left corner, y grows downwards;
colours are tokens of diagrams.shapes.theme ("@ink", "@p0/0.3").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from diagrams.drawing.frame import Frame, Picture, frame_of
from diagrams.drawing.sheet import SCREEN, Sheet
from diagrams.drawing.trace_shapes import Place, Trace, letters_in, seen, shapes, texts, within
from diagrams.figure.layout import NAME_SIZE, TICK_SIZE, Figure, margins
from diagrams.figure.room import Room
from diagrams.figure.spacetime import arranged, figure
from diagrams.scene.composition import Scene
from diagrams.scene.positions import MOST_TICKS, round_times
from diagrams.shapes import lettering
from diagrams.shapes.primitives import Box, Line, Pixel, Primitive, Text

SKETCH_WIDTH, SKETCH_HEIGHT, SKETCH_SCALE = 240, 150, 0.42
LANE = 5  # pixels of a lane at least, unless the picture would grow beyond MOST; on a page as many as there are
MOST = 8_000
MARGIN = 24  # pixels round a figure without names and times, on a screen
LANE_ON_PAPER, LEAST_LANE_ON_PAPER = 78.0, 7.0  # pixels between lines across the page: with texts, and without
SIGN_ON_PAPER = 46.0  # pixels on a line down the page for each sign of it
TALLER = 1.0, 1.25, 1.5  # than the lowest: heights to try if texts have no room
LOWEST, HIGHEST, MOST_HIGH = 0.5, 1.35, 800.0  # of the width, of the width, pixels: the height on paper


class Drawing:
    """The space-time diagram of a scene in one orientation: laid out once, drawn at any step."""

    def __init__(
        self, scene: Scene, orientation: str, sheet: Sheet = SCREEN, footroom: float = 0.0,
        make: Callable[[Scene, str, Room], Figure] = figure,
    ) -> None:  # fmt: skip
        """Lay the diagram out in the size of the sheet; `footroom` pixels at the bottom stay free.

        A picture that is no page grows with its lanes. `make` makes the figure: the space-time diagram, or another one.
        """
        self.scene, self.sheet = scene, sheet
        self.down = orientation == "down"
        shown = arranged(scene)
        margin = margins(shown, self.down, sheet.room)
        heights = [sheet.height] if sheet.height else [own + footroom for own in self._heights(shown, margin)]
        tried = []
        for height in heights:
            tried.append(self._laid_out(height, margin, footroom, make))
            if not _left_out(tried[-1][1]):
                break
        size, plot = min(tried, key=lambda own: _left_out(own[1]))  # the lowest of those that leave out least
        self.traces: list[Trace] = plot["data"]
        self.layout: Mapping[str, Any] = plot["layout"]
        self.frame = frame_of(self.layout, *size, self.down)

    def _laid_out(
        self, height: float, margin: Mapping[str, float], footroom: float, make: Callable[[Scene, str, Room], Figure]
    ) -> tuple[tuple[float, float, Box], Figure]:
        """The width, the height and the plot of a picture of this height, and the figure in it."""
        lanes = 0 if self.sheet.is_page else min(LANE * len(self.scene.lanes), MOST)
        width, height = (max(self.sheet.width, lanes), height) if self.down else (self.sheet.width, max(height, lanes))
        box = Box(margin["l"], margin["t"], width - margin["r"], height - margin["b"] - footroom)
        plot = make(self.scene, "down" if self.down else "right", self.sheet.room.size(box.width, box.height))
        return (width, height, box), plot

    def _heights(self, scene: Scene, margin: Mapping[str, float]) -> list[float]:
        """The heights to try for a picture on paper, the lowest first; a taller one has room for more texts.

        The lowest is enough for all lines across the page, or for the signs of the fullest line down it.
        """
        around = margin["t"] + margin["b"]
        if self.down:
            signs = Counter(dot.lane for dot in scene.dots)
            signs.update(own.lane for row in scene.recordings.values() for own in row)
            signs.update(own.lane for own in scene.decisions)
            signs.update(own.lane for own in scene.moments)
            needed = SIGN_ON_PAPER * (max(signs.values(), default=1) + 1)
        else:
            needed = LANE_ON_PAPER * (len(scene.lanes) + 0.2)
        highest = max(min(HIGHEST * self.sheet.width, MOST_HIGH), LEAST_LANE_ON_PAPER * len(scene.lanes))
        lowest = max(LOWEST * self.sheet.width, min(highest, needed))
        return sorted({around + min(max(highest, lowest), lowest * taller) for taller in TALLER})

    def at(self, step: int) -> Picture:
        """The picture after `step`, with the names of the processes and the times."""
        inside: list[Primitive] = []
        around: list[Primitive] = []
        position = self.scene.positions[step]
        for trace in self.traces:
            if "cursor" in trace.get("meta", {}):
                is_there = self.scene.extent[0] <= position and step < self.scene.last
                trace = _moved(trace, position, is_there)
            points = seen(trace, step, position)
            inside += shapes(trace, points, self.frame, 1.0)
            if "text" in trace.get("mode", ""):
                around += texts(trace, [point if self._is_inside(point) else None for point in points], self.frame)
        around += [*(self._ticks() if self.sheet.axis else ()), *self._names()]
        clip = None if self.scene.is_whole else self.frame.plot
        return Picture(self.frame.width, self.frame.height, clip, tuple(inside), tuple(around))

    def point(self, lane: float, position: float) -> Pixel:
        """The pixel of a point of the scene: a lane on show, and a position on the time axis."""
        across, along = self.scene.layout.place(lane), round(position, 4)
        return self.frame.pixel(across, along) if self.down else self.frame.pixel(along, across)

    def _is_inside(self, point: Place) -> bool:
        """Whether a point lies in the plot; all points of a whole run do."""
        if point is None or self.scene.is_whole:
            return point is not None
        (x, y), plot = self.frame.pixel(*point), self.frame.plot
        return plot.left <= x <= plot.right and plot.top <= y <= plot.bottom

    def _names(self) -> Iterator[Text]:
        """The names of the processes: along the top, or down the left side."""
        axis = self.layout["xaxis"] if self.down else self.layout["yaxis"]
        plot, own = self.frame.plot, self.sheet.letters
        named = sum(map(bool, axis["ticktext"]))
        room = plot.width / (named + 0.2) - 6 if self.down else plot.left - 14
        for lane, name in zip(axis["tickvals"], axis["ticktext"], strict=True):
            letters, size = (letters_in(name), own) if own else lettering.fitted(letters_in(name), NAME_SIZE, room)
            x, y = self.frame.pixel(lane, 0) if self.down else self.frame.pixel(0, lane)
            at = (x, plot.top - 10) if self.down else (plot.left - 10, y + size / 3)
            if letters:
                yield Text(at, letters, "middle" if self.down else "end", size, "@ink", sign="process")

    def _ticks(self) -> Iterator[Primitive]:
        """The times: down the left side, or along the bottom."""
        axis = self.layout["yaxis"] if self.down else self.layout["xaxis"]
        plot = self.frame.plot
        prefix = axis.get("tickprefix", "")  # before the first only
        size = self.sheet.letters or TICK_SIZE
        for number, time in enumerate(self._times(axis, size, prefix)):
            x, y = self.frame.pixel(0, time) if self.down else self.frame.pixel(time, 0)
            start, end = ((plot.left - 4, y), (plot.left, y)) if self.down else ((x, plot.bottom), (x, plot.bottom + 4))
            yield Line(((start, end),), "@faint", 1, sign="time")
            at = (plot.left - 7, y + size / 3) if self.down else (x, plot.bottom + size + 5)
            letters, anchor = f"{'' if number else prefix}{time:g}", "end" if self.down else "middle"
            yield within(Text(at, letters, anchor, size, "@faint", sign="time"), self.frame)

    def _times(self, axis: Mapping[str, Any], size: float, prefix: str) -> list[float]:
        """Return round times that have room beside each other."""
        low, high = sorted(axis["range"])
        for most in range(MOST_TICKS, 1, -1):
            times = round_times(low, high, whole=bool(prefix), most=most)
            widest = max((lettering.width_of(f"{prefix}{time:g}", size) for time in times), default=0.0)
            room, needed = (self.frame.plot.height, size) if self.down else (self.frame.plot.width, widest + size / 2)
            if len(times) < 2 or (times[1] - times[0]) / (high - low) * room >= needed:
                break
        return times


def _left_out(plot: Figure) -> int:
    """The number of texts without room."""
    left_out: int = plot["layout"].get("meta", {}).get("left_out", 0)
    return left_out


def still(figure: Mapping[str, Any], step: int, width: float, height: float, margin: float = MARGIN) -> Picture:
    """The picture at a step of a figure without names or times along its sides, such as the lattice."""
    frame = still_frame(figure, width, height, margin)
    parts: list[Primitive] = []
    for trace in figure["data"]:
        points = seen(trace, step, 0.0)
        parts += shapes(trace, points, frame, 1.0)
        if "text" in trace["mode"]:
            parts += texts(trace, points, frame)
    return Picture(width, height, None, tuple(parts), ())


def still_frame(figure: Mapping[str, Any], width: float, height: float, margin: float = MARGIN) -> Frame:
    """The frame of such a figure."""
    return frame_of(figure["layout"], width, height, Box(margin, margin, width - margin, height - margin))


def sketch(scene: Scene) -> Picture:
    """The finished diagram without texts and with thin strokes, small enough for a card."""
    plot = figure(scene, scene.execution.scenario.orientation)
    box = Box(4, 4, SKETCH_WIDTH - 4, SKETCH_HEIGHT - 4)
    down = scene.execution.scenario.orientation == "down"
    frame = frame_of(plot["layout"], SKETCH_WIDTH, SKETCH_HEIGHT, box, down)
    parts: list[Primitive] = []
    for trace in plot["data"]:
        if "cursor" not in trace.get("meta", {}):
            parts += shapes(trace, seen(trace, scene.last, scene.positions[-1]), frame, SKETCH_SCALE)
    return Picture(SKETCH_WIDTH, SKETCH_HEIGHT, None, tuple(parts), ())


def _moved(trace: Trace, position: float, is_there: bool) -> Trace:
    """The trace of the line of now, at `position`; unseen unless `is_there`."""
    axis = trace["meta"]["cursor"]
    return {**trace, axis: [position] * len(trace[axis]), "visible": is_there}
