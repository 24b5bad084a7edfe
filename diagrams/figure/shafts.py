"""The shafts of arrows: their ends, and arrows of one look on a canvas."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from diagrams.figure.canvas import Canvas, Point, Trace, plain
from diagrams.scene.composition import Scene
from diagrams.scene.elements import ACROSS, Arrow, Span

CLEAR_OF_START = 12  # pixels from an event's centre to the head of an arrow that has just begun
SHORT = 0.26  # lanes: the length of an arrow of which only the arrival is drawn
STUB = 0.3  # of the way of a message: the part on show if its other end is hidden

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


def shaft(scene: Scene, arrow: Arrow) -> list[Point | None]:
    """The points of an arrow: start, end, gap. A message that never arrives or has a hidden end gets a short stub."""
    start: Point = (arrow.source + (arrow.target - arrow.source) * arrow.begins, arrow.start)
    if arrow.end is not None:
        end: Point = (arrow.target, arrow.end)
        if arrow.stub == ACROSS:
            start = (arrow.target + (SHORT if arrow.source > arrow.target else -SHORT), arrow.end)
        elif arrow.stub:
            start, end = (start, _towards(end, start)) if arrow.stub == "target" else (_towards(start, end), end)
        return [start, end, None]
    if arrow.lost is not None:
        share, position = arrow.lost
        return [start, (arrow.source + (arrow.target - arrow.source) * share, position), None]
    low, high = scene.extent
    stop = min(arrow.start + (high - low) * 0.06, high)
    return [start, (start[0] + (arrow.target - start[0]) * 0.4, stop), None]


def _towards(end: Point, other: Point) -> Point:
    """The point near `other` at which a stub that lies towards `end` is cut off."""
    return other[0] + (end[0] - other[0]) * STUB, other[1] + (end[1] - other[1]) * STUB


def add_arrows(
    canvas: Canvas, arrows: Sequence[Arrow], show: Sequence[Span], line: Trace, head: float = 0.0, grow: bool = False,
    is_open: bool = False, meta: Trace | None = None, sign: str = "", off: Sequence[float] = (),
) -> None:  # fmt: skip
    """Add shafts, each with a head of `head` pixels, filled unless `is_open`. One that grows ends at its message.

    `off` gives the pixels between the end and the tip of each (none: 0). A growing shaft lies on a thin arrow of full
    length, which has the hover text. It is always long enough to keep its head clear of the sending event.
    """
    heads = [0, head * max(canvas.scale, 0.55), 0] * len(arrows)
    symbol = {
        "symbol": "arrow", "angleref": "previous", "size": heads, "opacity": 1,
        "line": {"width": 1.6, "color": line["color"]} if is_open else {"width": 0},
        "color": "@paper" if is_open else line["color"],
        "standoff": [gap for place in range(len(arrows)) for gap in (0, off[place] if off else 0, 0)],
    }  # fmt: skip
    ids: Trace = {"messages": [arrow.id for arrow in arrows], **(meta or {})}
    hover: Trace = {}
    if grow:
        ids["grow"] = [[arrow.start, arrow.end, _least_share(canvas, arrow, head * canvas.scale)] for arrow in arrows]
    else:
        texts = [text for arrow in arrows for text in (plain(arrow.text), plain(arrow.text), None)]
        hover = {"hoverinfo": "text", "text": texts}
    mode = {"mode": "lines+markers", "marker": symbol} if head else {"mode": "lines"}
    shafts = [shaft(canvas.scene, arrow) for arrow in arrows]
    canvas.add(shafts, show, sign, line=line, meta=ids, **hover, **mode)


def _least_share(canvas: Canvas, arrow: Arrow, head: float) -> float:
    """The least share of its way at which an arrow is drawn, so that its head is clear of its beginning."""
    start, end = [canvas.pixels(point) for point in shaft(canvas.scene, arrow) if point]
    return round(min(1.0, (head + CLEAR_OF_START) / max(math.dist(start, end), 1.0)), 4)


def grouped(things: Sequence[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """The things with the same key, in their order."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups
