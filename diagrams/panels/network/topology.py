"""Scene -> the network: processes in a circle (a star's hub in the middle), channels between them.

More than MOST_DRAWN processes have no picture, as it would be unreadable; the browser lists the channels of a process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from diagrams.figure.canvas import plain
from diagrams.figure.stops import LOOKS
from diagrams.panels.network.sides import boundaries
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Recording
from diagrams.shapes import theme
from diagrams.shapes.lettering import width_of
from sim.core.model import BLOCKED, CRASH, DOWN, FROZEN, FULL, LEAVE, PAUSED, SNAPSHOT_ABORTED
from sim.run.snapshots import Snapshot
from sim.run.splits import splits_of

MOST_DRAWN = 20  # processes
MOST_CAPTIONS, LONGEST_CAPTION = 12, 10
SIZE, LARGEST = 38, 60  # pixels of a process, and of one with a long name
UNIT = 147  # pixels of the radius of the circle of processes, before the browser enlarges it
LETTERS = 15
RIM = 0.13  # from the middle of a process of SIZE to the ends of its channels
# By kind of stop: for a snapshot in its colour, else in ink or red.
COLOURS = {
    BLOCKED: theme.snapshot_colour(0), PAUSED: theme.snapshot_colour(0), FROZEN: "@ink", FULL: "@ink", CRASH: "@bad",
    DOWN: "@bad", LEAVE: "@bad",
}  # fmt: skip
PAUSE, BELOW = 0.025, 0.06  # half the way between the two bars of a paused process; from its rim to them
Place = tuple[float, float]


def topology(scene: Scene) -> dict[str, Any]:
    """Nodes, edges and a Plotly figure or None; the browser fills the trace `meta.flight` with messages in transit."""
    places = _places(scene)
    rim = RIM * _size(scene.processes) / SIZE
    channels = scene.execution.engine.channels
    ways = [edge(places[channel.source], places[channel.target], rim=rim) for channel in channels]
    edges = [
        {
            "channel": channel.name,
            "caption": scene.captions[channel.name],
            **dict(zip(("x0", "y0", "x1", "y1"), way, strict=True)),
        }
        for channel, way in zip(channels, ways, strict=True)
    ]
    nodes = [
        {"name": name, "x": round(x, 4), "y": round(y, 4)} for name, (x, y) in zip(scene.processes, places, strict=True)
    ]
    drawn = _figure(scene, nodes, edges) if len(nodes) <= MOST_DRAWN else None
    return {"nodes": nodes, "edges": edges, "figure": drawn}


def _places(scene: Scene) -> list[Place]:
    count = len(scene.processes)
    hub = scene.execution.scenario.topology.kind == "star" and count > 2
    around = count - hub
    circle = [
        (math.cos(math.pi / 2 - 2 * math.pi * i / around), math.sin(math.pi / 2 - 2 * math.pi * i / around))
        for i in range(around)
    ]
    return [(0.0, 0.0), *circle] if hub else circle


def edge(start: Place, end: Place, side: float = 0.045, rim: float = RIM) -> tuple[float, float, float, float]:
    """An edge from `rim` to rim, moved a little to the `side`, so that both directions can be seen."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    side_x, side_y = -dy / length * side, dx / length * side
    rim_x, rim_y = dx / length * rim, dy / length * rim
    return (
        round(start[0] + side_x + rim_x, 4), round(start[1] + side_y + rim_y, 4),
        round(end[0] + side_x - rim_x, 4), round(end[1] + side_y - rim_y, 4),
    )  # fmt: skip


def _figure(scene: Scene, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    x = [value for edge in edges for value in (edge["x0"], edge["x1"], None)]
    y = [value for edge in edges for value in (edge["y0"], edge["y1"], None)]
    heads = {"symbol": "arrow", "angleref": "previous", "size": [0, 9, 0] * len(edges), "color": "@line"}
    data: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "hoverinfo": "skip", "marker": heads,
         "line": {"color": "@line", "width": 1.6}},
    ]  # fmt: skip
    if len(edges) <= MOST_CAPTIONS and all(len(edge["caption"]) <= LONGEST_CAPTION for edge in edges):
        at = [_beside(edge) for edge in edges]
        data.append(
            {"type": "scatter", "mode": "text", "x": [p[0] for p in at], "y": [p[1] for p in at], "hoverinfo": "skip",
             "text": [plain(e["caption"]) for e in edges], "textfont": {"size": 12, "color": "@faint"}}
        )  # fmt: skip
    size = _size(scene.processes)
    data += [trace for trace in boundaries(splits_of(scene.execution), nodes, size / UNIT / 2) if trace["x"]]
    data.append(_nodes(nodes, size))
    data += [_recorded(scene, nodes, size, rank) for rank in range(len(scene.snapshots))]
    still = [_striped(scene, edges, kind) for kind in (BLOCKED, FULL, DOWN)]
    still += [_standing(scene, nodes, RIM * size / SIZE + BELOW, kind) for kind in (PAUSED, FROZEN, FULL)]
    still.append(_down(scene, nodes, size))
    data += [trace for trace in still if trace["x"]]
    data.append(
        {"type": "scatter", "mode": "markers", "x": [], "y": [], "meta": {"flight": True}, "hoverinfo": "text",
         "marker": {"size": 14, "line": {"width": 1.5, "color": "@paper"}}}
    )  # fmt: skip
    axis = {"visible": False, "range": [-1.3, 1.3], "fixedrange": True}
    layout = {
        "xaxis": axis, "yaxis": {**axis, "scaleanchor": "x"}, "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "showlegend": False, "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0", "hovermode": "closest",
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _beside(edge: dict[str, Any]) -> Place:
    """The point of an edge's caption: on its outer side, clear of messages."""
    dx, dy = edge["x1"] - edge["x0"], edge["y1"] - edge["y0"]
    length = math.hypot(dx, dy) or 1.0
    return edge["x0"] + dx * 0.62 - dy / length * 0.13, edge["y0"] + dy * 0.62 + dx / length * 0.11


def _size(processes: Sequence[str]) -> float:
    """The size of a process in pixels: its name lies in it, if the circle has room for that size."""
    widest = max(width_of(name, LETTERS) for name in processes)
    apart = 2 * UNIT * math.sin(math.pi / max(len(processes), 2))
    return max(SIZE, min(widest + 8, LARGEST, 0.6 * apart))


def _nodes(nodes: list[dict[str, Any]], size: float) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers+text", "x": [n["x"] for n in nodes],
        "y": [n["y"] for n in nodes], "text": [plain(n["name"]) for n in nodes], "hoverinfo": "text",
        "textfont": {"size": LETTERS, "color": "@ink"},
        "marker": {"size": size, "color": "@paper", "line": {"width": 2, "color": "@ink"}},
    }  # fmt: skip


def _recorded(scene: Scene, nodes: list[dict[str, Any]], size: float, rank: int) -> dict[str, Any]:
    """A ring round each process that has recorded for a snapshot."""
    recordings = scene.recordings.get(scene.snapshots[rank].id, ())
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": [nodes[r.lane]["x"] for r in recordings], "y": [nodes[r.lane]["y"] for r in recordings],
        "marker": {"size": size + 8 + 7 * rank, "symbol": theme.RING_SYMBOLS[rank % 4],
                   "color": theme.snapshot_colour(rank), "line": {"width": 3}},
        "meta": {"stride": 1, "show": [[r.step, _lost_at(scene, scene.snapshots[rank], r)] for r in recordings]},
    }  # fmt: skip


def _lost_at(scene: Scene, snapshot: Snapshot, recording: Recording) -> int | None:
    """The step in which a recording was lost in a crash or thrown away (None: never)."""
    counts = snapshot.local.get(scene.processes[recording.lane])
    if counts is not None and counts.step == recording.step:
        return None
    name = scene.processes[recording.lane]
    for row in scene.execution.events:
        is_its_end = row.kind in (CRASH, LEAVE) or (row.kind, row.snapshot_id) == (SNAPSHOT_ABORTED, snapshot.id)
        if row.process == name and is_its_end and row.step > recording.step:
            return row.step
    return None


def _striped(scene: Scene, edges: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Stripes along each channel while it is blocked, or while it is full, from its sender to its receiver."""
    along = {edge["channel"]: edge for edge in edges}
    own = [own for own in scene.whole_run.intervals if own.kind == kind and own.channel in along]
    _, look = LOOKS[kind]
    ends = [along[interval.channel] for interval in own if interval.channel is not None]
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip",
        "x": [x for edge in ends for x in (edge["x0"], edge["x1"], None)],
        "y": [y for edge in ends for y in (edge["y0"], edge["y1"], None)],
        "line": {"color": f"{COLOURS[kind]}/0.7", "width": 9, "dash": look.stripes},
        "meta": {"stride": 3, "show": [[interval.step, interval.until] for interval in own]},
    }  # fmt: skip


def _standing(scene: Scene, nodes: list[dict[str, Any]], below: float, kind: str) -> dict[str, Any]:
    """Two bars below each process while it is paused, or a channel of it is full; a star while it is frozen."""
    own = [interval for interval in scene.whole_run.intervals if interval.kind == kind]
    sides = (0.0,) if kind == FROZEN else (-PAUSE, PAUSE)
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": [nodes[interval.lane]["x"] + aside for interval in own for aside in sides],
        "y": [nodes[interval.lane]["y"] - below for interval in own for _ in sides],
        "marker": {
            "size": 14, "symbol": "asterisk" if kind == FROZEN else "line-ns",
            "line": {"width": 4 if len(sides) > 1 else 2, "color": COLOURS[kind]},
        },
        "meta": {"stride": len(sides), "show": [[interval.step, interval.until] for interval in own]},
    }  # fmt: skip


def _down(scene: Scene, nodes: list[dict[str, Any]], size: float) -> dict[str, Any]:
    """A cross over each process while it is down or absent."""
    own = [interval for interval in scene.whole_run.intervals if interval.kind in (CRASH, LEAVE)]
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": [nodes[interval.lane]["x"] for interval in own], "y": [nodes[interval.lane]["y"] for interval in own],
        "marker": {"size": size - 8, "symbol": "x-thin", "line": {"width": 4, "color": COLOURS[CRASH]}},
        "meta": {"stride": 1, "show": [[interval.step, interval.until] for interval in own]},
    }  # fmt: skip
