"""Scene -> SVG, of any step: the traces of the space-time figure, drawn without a browser.

It knows what those traces use and no more: lines, fills, a few symbols, arrow heads, text.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from diagrams import theme
from diagrams.scene import Scene
from diagrams.spacetime import figure

Point = tuple[float, float]
Trace = Mapping[str, Any]

DASHES = {"dash": "9 6", "dot": "2 5", "dashdot": "9 5 2 5", "longdash": "14 6"}
_TAGS = re.compile(r"</?[bi]>")


@dataclass(frozen=True)
class Frame:
    """A drawing area in pixels, and the two ranges that map to it."""

    width: float
    height: float
    margin: Mapping[str, float]
    x_range: Sequence[float]
    y_range: Sequence[float]

    def pixel(self, x: float, y: float) -> Point:
        """Where a point of the figure lies, in pixels from the top left corner."""
        inner_width = self.width - self.margin["l"] - self.margin["r"]
        inner_height = self.height - self.margin["t"] - self.margin["b"]
        across = (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (y - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return self.margin["l"] + across * inner_width, self.margin["t"] + (1 - up) * inner_height


def export(
    scene: Scene,
    step: int | None = None,
    orientation: str | None = None,
    palette: dict[str, str] = theme.LIGHT,
    width: int = 900,
    height: int = 640,
) -> str:
    """The diagram after `step` (default: the last) as an SVG document of width x height pixels."""
    plot = figure(scene, orientation or scene.execution.scenario.orientation)
    layout = plot["layout"]
    frame = Frame(width, height, layout["margin"], layout["xaxis"]["range"], layout["yaxis"]["range"])
    parts = [*_traces(plot["data"], frame, scene.last if step is None else step, 1.0, True), *_lanes(layout, frame)]
    return _document(parts, palette, width, height, background=True)


def thumbnail(scene: Scene, palette: dict[str, str] = theme.LIGHT, width: int = 240, height: int = 150) -> str:
    """A small picture of the finished diagram, without text, on no background."""
    plot = figure(scene, scene.execution.scenario.orientation)
    layout = plot["layout"]
    frame = Frame(width, height, dict.fromkeys("lrtb", 4), layout["xaxis"]["range"], layout["yaxis"]["range"])
    return _document(_traces(plot["data"], frame, scene.last, 0.42, False), palette, width, height, background=False)


def _document(parts: Any, palette: dict[str, str], width: int, height: int, *, background: bool) -> str:
    body = "\n".join(_coloured(part, palette) for part in parts)
    paper = f'<rect width="{width}" height="{height}" fill="{palette["paper"]}"/>\n' if background else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="DejaVu Sans, Arial, sans-serif">\n{paper}{body}\n</svg>\n'
    )


def _coloured(part: str, palette: dict[str, str]) -> str:
    """Only attributes can match: a quote in a text is written as an entity."""
    return re.sub(r'="(@[a-z0-9/.]+)"', lambda match: f'="{theme.colour(match[1], palette)}"', part)


def _seen(trace: Trace, step: int) -> Iterator[int]:
    """The indices of the points that are visible at `step`."""
    meta = trace.get("meta", {})
    if "cursor" in meta or trace.get("visible") is False:
        return
    stride, show = meta.get("stride", 1), meta.get("show")
    for index in range(len(trace["x"])):
        if show is None or _within(show[index // stride], step):
            yield index


def _within(span: Sequence[int | None], step: int) -> bool:
    start, until = span
    return (start or 0) <= step and (until is None or step < until)


def _traces(traces: Sequence[Trace], frame: Frame, step: int, scale: float, text: bool) -> Iterator[str]:
    for trace in traces:
        seen = list(_seen(trace, step))
        mode = trace.get("mode", "none")
        if trace.get("fill") and seen:
            yield _fill(trace, frame, seen)
        if "lines" in mode:
            yield from _lines(trace, frame, seen, scale)
        if "markers" in mode:
            yield from _markers(trace, frame, seen, scale)
        if "text" in mode and text:
            yield from _texts(trace, frame, seen)


def _runs(trace: Trace, frame: Frame, seen: Sequence[int]) -> Iterator[list[Point]]:
    """Stretches of points without a gap, in pixels."""
    visible = set(seen)
    run: list[Point] = []
    for index in range(len(trace["x"])):
        if index in visible and trace["x"][index] is not None:
            run.append(frame.pixel(trace["x"][index], trace["y"][index]))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _fill(trace: Trace, frame: Frame, seen: Sequence[int]) -> str:
    points = next(_runs(trace, frame, seen))
    return f'<path d="{_path(points)}Z" fill="{trace["fillcolor"]}"/>'


def _lines(trace: Trace, frame: Frame, seen: Sequence[int], scale: float) -> Iterator[str]:
    line = trace["line"]
    dash = DASHES.get(line.get("dash", ""))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    for run in _runs(trace, frame, seen):
        yield (
            f'<path d="{_path(run)}" fill="none" stroke="{line["color"]}" '
            f'stroke-width="{max(line["width"] * scale, 0.5):.2f}"{dashes}/>'
        )


def _at(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, list) else value


def _markers(trace: Trace, frame: Frame, seen: Sequence[int], scale: float) -> Iterator[str]:
    marker = trace["marker"]
    for index in seen:
        size = _at(marker["size"], index) * scale
        if trace["x"][index] is None or not size:
            continue
        point = frame.pixel(trace["x"][index], trace["y"][index])
        if marker.get("symbol") == "arrow":
            before = frame.pixel(trace["x"][index - 1], trace["y"][index - 1])
            yield _arrow_head(before, point, size, _at(marker["standoff"], index) * scale, marker["color"])
        else:
            yield _symbol(marker, point, size, scale)


def _arrow_head(before: Point, tip: Point, size: float, standoff: float, colour: str) -> str:
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    x, y = tip[0] - standoff * math.cos(angle), tip[1] - standoff * math.sin(angle)
    corners = [(x, y)]
    for side in (-0.38, 0.38):
        corners.append((x - size * math.cos(angle + side), y - size * math.sin(angle + side)))
    return f'<path d="{_path(corners)}Z" fill="{colour}"/>'


_CORNERS: dict[str, list[Point]] = {
    "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "hexagon": [(math.sin(math.pi / 3 * i), -math.cos(math.pi / 3 * i)) for i in range(6)],
}


def _symbol(marker: Mapping[str, Any], at: Point, size: float, scale: float) -> str:
    shape, _, is_open = marker.get("symbol", "circle").partition("-")
    outline = marker.get("line", {})
    stroke = marker["color"] if is_open else outline.get("color", "none")
    fill = "none" if is_open else marker["color"]
    look = f'fill="{fill}" stroke="{stroke}" stroke-width="{outline.get("width", 0) * scale:.2f}"'
    x, y, radius = at[0], at[1], size / 2
    if shape == "x":
        strokes = f"M{x - radius:.1f},{y - radius:.1f}L{x + radius:.1f},{y + radius:.1f}"
        strokes += f"M{x - radius:.1f},{y + radius:.1f}L{x + radius:.1f},{y - radius:.1f}"
        return f'<path d="{strokes}" {look}/>'
    if shape in _CORNERS:
        corners = [(x + dx * radius, y + dy * radius) for dx, dy in _CORNERS[shape]]
        return f'<path d="{_path(corners)}Z" {look}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.2f}" {look}/>'


def _texts(trace: Trace, frame: Frame, seen: Sequence[int]) -> Iterator[str]:
    font = trace["textfont"]
    for index in seen:
        if trace["x"][index] is None:
            continue
        x, y = frame.pixel(trace["x"][index], trace["y"][index])
        vertical, horizontal = _at(trace["textposition"], index).split()
        anchor = {"left": "end", "right": "start", "center": "middle"}[horizontal]
        text = trace["text"][index]
        radius = _at(trace["marker"]["size"], index) / 2 if "marker" in trace else 0
        aside = 6 + radius + _blanks(text) * font["size"] * 0.28
        x += {"left": -aside, "right": aside, "center": 0}[horizontal]
        y += {"top": -8, "middle": font["size"] * 0.35, "bottom": font["size"] + 5}[vertical]
        yield _label(text, x, y, anchor, font["size"], font["color"])


def _blanks(text: str) -> int:
    """The blanks in front of a text: they keep it off its point."""
    return len(text) - len(text.lstrip())


def _label(text: str, x: float, y: float, anchor: str, size: float, colour: str) -> str:
    weight = ' font-weight="bold"' if "<b>" in text else ' font-style="italic"' if "<i>" in text else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'stroke="@paper" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"{weight}>'
        f"{_escaped(_TAGS.sub('', text).strip())}</text>"
    )


def _escaped(text: str) -> str:
    """A figure's text (Plotly's entities, our own tags gone) as XML, without what XML cannot hold."""
    letters = "".join(letter for letter in html.unescape(text) if letter.isprintable())
    return escape(letters, {'"': "&quot;"})


def _lanes(layout: Mapping[str, Any], frame: Frame) -> Iterator[str]:
    """The names of the processes: along the top, or down the left side."""
    down = "ticktext" in layout["xaxis"]
    axis = layout["xaxis"] if down else layout["yaxis"]
    for lane, name in zip(axis["tickvals"], axis["ticktext"], strict=True):
        if down:
            x, _ = frame.pixel(lane, 0)
            yield _label(name, x, frame.margin["t"] - 10, "middle", 18, "@ink")
        else:
            _, y = frame.pixel(0, lane)
            yield _label(name, frame.margin["l"] - 10, y + 6, "end", 18, "@ink")
