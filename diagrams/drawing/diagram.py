"""Scene -> a drawing: the space-time figure at one step as lines, arrows, areas, discs and texts.

A back end (SVG, TikZ) writes these five and nothing else. Points are from the top left corner, y grows downwards;
colours are tokens of diagrams.shapes.theme ("@ink", "@p0/0.3").
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from typing import Any

from diagrams.drawing.sheet import SCREEN, Sheet
from diagrams.figure.labels import BLANK, OFF
from diagrams.figure.room import Room
from diagrams.figure.spacetime import NAME_SIZE, TICK_SIZE, Figure, arranged, figure, margins
from diagrams.scene.composition import Scene
from diagrams.scene.positions import MOST_TICKS, round_times
from diagrams.shapes import lettering, marks
from diagrams.shapes.primitives import Area, Arrows, Box, Line, Path, Pixel, Primitive, Text, moved, scaled

SKETCH_WIDTH, SKETCH_HEIGHT, SKETCH_SCALE = 240, 150, 0.42
LANE = 5  # pixels of a lane at least, unless the picture would grow beyond MOST; on a page as many as there are
MOST = 8_000
MARGIN = 24  # pixels round a figure without names and times, on a screen
LANE_ON_PAPER, LEAST_LANE_ON_PAPER = 78.0, 7.0  # pixels between lines across the page: with texts, without
SIGN_ON_PAPER = 46.0  # pixels on a line down the page for each sign of it
TALLER = 1.0, 1.25, 1.5  # than the lowest: heights that are tried where texts have no room
LOWEST, HIGHEST, MOST_HIGH = 0.5, 1.35, 800.0  # of the width, of the width, pixels: the height on paper

_DASHES = {"dash": (9.0, 6.0), "dot": (2.0, 5.0), "dashdot": (9.0, 5.0, 2.0, 5.0), "longdash": (14.0, 6.0),
           "longdashdot": (14.0, 5.0, 2.0, 5.0)}  # fmt: skip
_TAGS = re.compile(r"</?[bi]>")

HEAD = math.cos(0.38)  # of a Plotly arrow's size: from its base to its tip

Trace = Mapping[str, Any]
Place = tuple[float, float] | None  # a point of a figure; None: a gap


@dataclass(frozen=True)
class Picture:
    """A drawing: `inside`, cut off at the box `clip` (None: nowhere), then `around` on it.

    Its lengths are in `unit`: "px", or "pt" (1/72 inch) on paper. `nodes` are the points that have a name
    (diagrams/panels/nodes.py).
    """

    width: float
    height: float
    clip: Box | None
    inside: tuple[Primitive, ...]
    around: tuple[Primitive, ...]
    unit: str = "px"
    nodes: Mapping[str, Pixel] = field(default_factory=dict)

    def on(self, sheet: Sheet) -> Picture:
        """The finished picture: on paper in points. Raises InputError where no paper is so large."""
        if sheet.unit is None:
            return self
        sheet.check_size(self.width, self.height)
        return replace(self.scaled(sheet.unit), unit="pt")

    def scaled(self, by: float) -> Picture:
        """The picture with every length `by` times as long."""
        inside, around = (tuple(scaled(part, by) for part in parts) for parts in (self.inside, self.around))
        clip = self.clip and Box(*(side * by for side in astuple(self.clip)))
        nodes = {name: (x * by, y * by) for name, (x, y) in self.nodes.items()}
        return Picture(self.width * by, self.height * by, clip, inside, around, self.unit, nodes)

    def moved(self, right: float, down: float) -> Picture:
        """The picture as a part of a larger one, so far from its top left corner."""
        inside, around = (tuple(moved(part, right, down) for part in parts) for parts in (self.inside, self.around))
        left, top, *ends = astuple(self.clip) if self.clip else (0.0, 0.0, 0.0, 0.0)
        clip = self.clip and Box(left + right, top + down, ends[0] + right, ends[1] + down)
        nodes = {name: (x + right, y + down) for name, (x, y) in self.nodes.items()}
        return replace(self, clip=clip, inside=inside, around=around, nodes=nodes)


@dataclass(frozen=True)
class Frame:
    """A picture's size in pixels, the box of its plot, and the two ranges of the figure that map to that box.

    `down`: whether time runs down the page.
    """

    width: float
    height: float
    plot: Box
    x_range: Sequence[float]
    y_range: Sequence[float]
    down: bool = True

    def pixel(self, x: float, y: float) -> Pixel:
        """Where a point of the figure lies, in pixels."""
        across = (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (y - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return self.plot.left + across * self.plot.width, self.plot.top + (1 - up) * self.plot.height


class Drawing:
    """The space-time diagram of a scene in one orientation: laid out once, drawn at any step."""

    def __init__(
        self, scene: Scene, orientation: str, sheet: Sheet = SCREEN, footroom: float = 0.0,
        make: Callable[[Scene, str, Room], Figure] = figure,
    ) -> None:  # fmt: skip
        """The size of the sheet, more for many lanes where it is no page; `footroom` pixels at the bottom stay free.

        `make` makes the figure in this orientation: the space-time diagram, or another one.
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
        self.frame = _frame(self.layout, *size, self.down)

    def _laid_out(
        self, height: float, margin: Mapping[str, float], footroom: float, make: Callable[[Scene, str, Room], Figure]
    ) -> tuple[tuple[float, float, Box], Figure]:
        """The width, the height and the plot of a picture that is `height` high, and the figure in it."""
        lanes = 0 if self.sheet.is_page else min(LANE * len(self.scene.lanes), MOST)
        width, height = (max(self.sheet.width, lanes), height) if self.down else (self.sheet.width, max(height, lanes))
        box = Box(margin["l"], margin["t"], width - margin["r"], height - margin["b"] - footroom)
        plot = make(self.scene, "down" if self.down else "right", self.sheet.room.size(box.width, box.height))
        return (width, height, box), plot

    def _heights(self, scene: Scene, margin: Mapping[str, float]) -> list[float]:
        """The heights that a picture on paper may have, the lowest first; a taller one has room for more texts.

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
                around += _texts(trace, [point if self._is_inside(point) else None for point in points], self.frame)
        around += [*(self._ticks() if self.sheet.axis else ()), *self._names()]
        clip = None if self.scene.is_whole else self.frame.plot
        return Picture(self.frame.width, self.frame.height, clip, tuple(inside), tuple(around))

    def point(self, lane: float, position: float) -> Pixel:
        """Where a point of the scene lies: of a lane on show, and of the time axis."""
        across, along = self.scene.layout.place(lane), round(position, 4)
        return self.frame.pixel(across, along) if self.down else self.frame.pixel(along, across)

    def _is_inside(self, point: Place) -> bool:
        """Whether a point lies in the plot; of a whole run all do."""
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
            yield _within(Text(at, letters, anchor, size, "@faint", sign="time"), self.frame)

    def _times(self, axis: Mapping[str, Any], size: float, prefix: str) -> list[float]:
        """Round times that have room beside each other."""
        low, high = sorted(axis["range"])
        for most in range(MOST_TICKS, 1, -1):
            times = round_times(low, high, whole=bool(prefix), most=most)
            widest = max((lettering.width_of(f"{prefix}{time:g}", size) for time in times), default=0.0)
            room, needed = (self.frame.plot.height, size) if self.down else (self.frame.plot.width, widest + size / 2)
            if len(times) < 2 or (times[1] - times[0]) / (high - low) * room >= needed:
                break
        return times


def _left_out(plot: Figure) -> int:
    """How many texts found no room."""
    left_out: int = plot["layout"].get("meta", {}).get("left_out", 0)
    return left_out


def still(figure: Mapping[str, Any], step: int, width: float, height: float, margin: float = MARGIN) -> Picture:
    """A figure that has neither names nor times along its sides, as it looks at a step: the lattice."""
    frame = still_frame(figure, width, height, margin)
    parts: list[Primitive] = []
    for trace in figure["data"]:
        points = seen(trace, step, 0.0)
        parts += shapes(trace, points, frame, 1.0)
        if "text" in trace["mode"]:
            parts += _texts(trace, points, frame)
    return Picture(width, height, None, tuple(parts), ())


def still_frame(figure: Mapping[str, Any], width: float, height: float, margin: float = MARGIN) -> Frame:
    """Where the points of such a figure lie."""
    return _frame(figure["layout"], width, height, Box(margin, margin, width - margin, height - margin))


def sketch(scene: Scene) -> Picture:
    """The finished diagram without texts and with thin strokes, small enough for a card."""
    plot = figure(scene, scene.execution.scenario.orientation)
    box = Box(4, 4, SKETCH_WIDTH - 4, SKETCH_HEIGHT - 4)
    down = scene.execution.scenario.orientation == "down"
    frame = _frame(plot["layout"], SKETCH_WIDTH, SKETCH_HEIGHT, box, down)
    parts: list[Primitive] = []
    for trace in plot["data"]:
        if "cursor" not in trace.get("meta", {}):
            parts += shapes(trace, seen(trace, scene.last, scene.positions[-1]), frame, SKETCH_SCALE)
    return Picture(SKETCH_WIDTH, SKETCH_HEIGHT, None, tuple(parts), ())


def _frame(layout: Mapping[str, Any], width: float, height: float, plot: Box, down: bool = True) -> Frame:
    return Frame(width, height, plot, layout["xaxis"]["range"], layout["yaxis"]["range"], down)


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


def _moved(trace: Trace, position: float, is_there: bool) -> Trace:
    """The line of now at `position`; none before all that is drawn, or at the end, where there is no later moment."""
    axis = trace["meta"]["cursor"]
    return {**trace, axis: [position] * len(trace[axis]), "visible": is_there}


def shapes(trace: Trace, points: Sequence[Place], frame: Frame, scale: float) -> Iterator[Primitive]:
    """The areas, lines and marks of a trace, with its `points` (None: not seen) and signs enlarged by `scale`."""
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
    """The arrows of a trace, each with the room that its tip leaves at its end."""
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
    """The path of a cut as Bezier curves (figure/cuts.py, bends). A straight part has its ends as control points."""
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


def _texts(trace: Trace, points: Sequence[Place], frame: Frame) -> Iterator[Text]:
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
        yield _within(Text((x, y), letters, anchor, size, colour, style, sign), frame)


def _within(text: Text, frame: Frame) -> Text:
    """The text, moved so that it is not cut off at the left or right side of the picture."""
    width = lettering.width_of(text.letters, text.size)
    before = {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    x = max(before + 2, min(text.at[0], frame.width - 2 - (width - before)))
    return replace(text, at=(x, text.at[1]))


def _blanks(text: str, side: str) -> int:
    """The blanks that keep a text off its point: at its front, or at its end where it lies on the left."""
    return len(text) - len(text.rstrip() if side == "left" else text.lstrip())


def letters_in(text: str) -> str:
    """A figure's text without our own tags and control characters, Plotly's entities resolved."""
    letters = html.unescape(_TAGS.sub("", text))
    return "".join(letter for letter in letters if letter.isprintable()).strip()
