"""The canvas that all parts of the space-time diagram draw on."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from diagrams.figure.room import SCREEN, Room
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Span
from sim.core import deadline

Trace = dict[str, Any]
Point = tuple[float, float]  # (lane, position)


def plain(text: str) -> str:
    """A user's text, escaped: Plotly reads tags such as <b> in every text."""
    return html.escape(text, quote=False)


class Canvas:
    """The traces of a diagram, with the direction of time and the room."""

    def __init__(self, scene: Scene, orientation: str, room: Room = SCREEN) -> None:
        self.scene = scene
        self.down = orientation == "down"
        self.room = room
        self.traces: list[Trace] = []
        self.left_out = 0  # texts for which there is no room
        self.pixels = room.pixels(scene, self.down)
        self.scale = room.scale(len(scene.lanes), len(scene.dots), self.down)

    def of(self, *snapshots: str | None) -> Trace:
        """The meta of a trace that belongs to these snapshots; it is dimmed while another one is chosen."""
        known = [snapshot for snapshot in snapshots if snapshot is not None]
        return {"snapshots": known} if known else {}

    def letters(self, size: float) -> float:
        """The size of letters that are `size` pixels high if there is room."""
        return self.room.letters_of(size, self.scale)

    def add(
        self, points: Sequence[Sequence[Point | None]], show: Sequence[Span] | None = None, sign: str = "", **look: Any
    ) -> Trace:
        """Add a trace of elements, each a list of points (None: a gap); nothing if there are no elements.

        `sign` names them by a word of SIGN_WORDS (diagrams/shapes/primitives.py).
        """
        deadline.check()
        flat = [point for element in points for point in element]
        lanes = [self.scene.layout.place(point[0]) if point else None for point in flat]
        positions = [round(point[1], 4) if point else None for point in flat]
        trace: Trace = {"type": "scatter", "showlegend": False, "hoverinfo": "skip"}
        trace |= {"x": lanes, "y": positions} if self.down else {"x": positions, "y": lanes}
        trace |= look
        if show is not None:
            trace["meta"] = {
                "stride": len(points[0]) if points else 1,
                "show": [list(span) for span in show],
                **trace.pop("meta", {}),
            }
        if sign:
            trace["meta"] = {**trace.get("meta", {}), "sign": sign}
        if points:
            self.traces.append(trace)
        return trace


def write(
    canvas: Canvas, points: Sequence[Point], texts: Sequence[str], position: str | list[str], colour: str, size: int,
    show: Sequence[Span] | None, sign: str = "label", **look: Any,
) -> Trace:  # fmt: skip
    """Add a trace of texts at points; with `show` None they are seen at every step."""
    font = {"color": colour, "size": canvas.letters(size)}
    spans = show if show is not None else [(0, None)] * len(points)
    return canvas.add(
        [[point] for point in points], spans, mode="text", text=list(texts), textposition=position, textfont=font,
        cliponaxis=not canvas.scene.is_whole, sign=sign, **look,
    )  # fmt: skip
