"""The events of the space-time diagram: dots, bars for long rows of internal events, and rings of recorded ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, Point, plain, write
from diagrams.figure.sign import ALWAYS, Sign
from diagrams.figure.tips import DOT, RING_WIDTH, ring_size
from diagrams.scene.elements import Dot
from diagrams.shapes import theme


def dots(canvas: Canvas) -> None:
    """The events: hollow while ahead, filled once they have happened; a long row of internal events is one bar."""
    single = [dot for dot in canvas.scene.dots if dot.count == 1]
    size = (DOT - 1) * max(canvas.scale, 0.4)
    points = [[(dot.lane, dot.position)] for dot in single]
    hover: Any = {"text": [plain(dot.text) for dot in single], "hoverinfo": "text", "mode": "markers"}
    hollow = {"size": size, "color": "@paper", "line": {"color": "@faint", "width": 1.5}}
    canvas.add(points, [(0, dot.step) for dot in single], "event ahead", marker=hollow, **hover)
    filled = {"size": size + 1, "color": "@ink", "line": {"color": "@paper", "width": 1}}
    canvas.add(points, [(dot.step, dot.gone) for dot in single], "event", marker=filled, **hover)
    gone = [dot for dot in single if dot.gone is not None]
    faded = {"size": size * 0.7, "color": "@line", "line": {"color": "@paper", "width": 1}}
    hover["text"] = [plain(f"{dot.text}; abandoned") for dot in gone]
    places = [[(dot.lane, dot.position)] for dot in gone]
    canvas.add(places, [(dot.gone or 0, None) for dot in gone], "abandoned event", marker=faded, **hover)
    _bars(canvas, [dot for dot in canvas.scene.dots if dot.count > 1], size)


def _bars(canvas: Canvas, runs: Sequence[Dot], size: float) -> None:
    bars: list[list[Point | None]] = [[(run.lane, run.position), (run.lane, run.until), None] for run in runs]
    hover: Any = {
        "text": [text for run in runs for text in (plain(run.text), plain(run.text), None)],
        "hoverinfo": "text",
    }
    ahead = {"color": "@faint/0.5", "width": size * 0.8}
    canvas.add(bars, [(0, run.step) for run in runs], "internal events ahead", mode="lines", line=ahead, **hover)
    there = {"color": "@ink", "width": size * 0.8}
    canvas.add(bars, [(run.step, run.gone) for run in runs], "internal events", mode="lines", line=there, **hover)
    for bar, run in zip(bars, runs, strict=True):
        faded = {"color": "@line", "width": size * 0.5}
        show = [(run.gone, None)] if run.gone is not None else []
        canvas.add([bar] if show else [], show, "abandoned event", mode="lines", line=faded)
    middles = [(run.lane, (run.position + run.until) / 2) for run in runs]
    counts = [f"\u00a0\u00a0×{run.count}" for run in runs]
    write(canvas, middles, counts, "middle right" if canvas.down else "top center", "@ink", 13, None)


def rings(canvas: Canvas) -> None:
    """The rings of recorded events, in the symbol and colour of each snapshot."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        dots = [dot for dot in canvas.scene.dots if snapshot.id in dot.recorded]
        size = ring_size(rank, canvas.scale)
        symbol = theme.RING_SYMBOLS[rank % len(theme.RING_SYMBOLS)]
        colour = theme.snapshot_colour(rank)
        ring = {"symbol": symbol, "size": size, "color": colour, "line": {"width": RING_WIDTH * max(canvas.scale, 0.5)}}
        points = [[(dot.lane, dot.position)] for dot in dots]
        show = [(dot.recorded[snapshot.id], dot.gone) for dot in dots]
        canvas.add(points, show, "recorded event", mode="markers", marker=ring, meta=canvas.of(snapshot.id))


EVENT_SIGNS = (
    Sign(
        "event", "event",
        "A dot is an event of a process: hollow before it happens, filled afterwards.",
        icons.icon(12, icons.disc(6, 5, "@ink")), drawn=ALWAYS,
        explains=("event", "event ahead"),
    ),
)  # fmt: skip

RING_SIGNS = (
    Sign(
        "in-process", "recorded event",
        "A ring marks an event in the recorded state of its process.",
        icons.icon(18, icons.ring(9, 6.5, icons.SNAPSHOT, 2.4), icons.disc(9, 3, "@ink")), of_snapshots=True,
        as_drawn=True, explains=("recorded event",),
    ),
)  # fmt: skip
