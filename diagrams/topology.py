"""Scene -> the network: processes in a circle (a star's hub in the middle), channels between them.

Of more than MOST_DRAWN processes there is no picture: nobody could read it, and the browser lists a process's channels.
"""

from __future__ import annotations

import math
from typing import Any

from diagrams import theme
from diagrams.canvas import plain
from diagrams.scene import Scene

MOST_DRAWN = 20  # processes
MOST_CAPTIONS, LONGEST_CAPTION = 12, 10
SIZE = 38  # pixels of a process
Place = tuple[float, float]


def topology(scene: Scene) -> dict[str, Any]:
    """Nodes, edges and a Plotly figure or None; the browser fills the trace `meta.flight` with messages in transit."""
    places = _places(scene)
    edges = [
        {
            "channel": channel.name,
            "caption": scene.captions[channel.name],
            **dict(zip(("x0", "y0", "x1", "y1"), edge(places[channel.source], places[channel.target]), strict=True)),
        }
        for channel in scene.execution.engine.channels
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


def edge(start: Place, end: Place, side: float = 0.045, rim: float = 0.13) -> tuple[float, float, float, float]:
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
    data.append(_nodes(nodes))
    data += [_recorded(scene, nodes, rank) for rank in range(len(scene.snapshots))]
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
    """The point of an edge's caption: on its outer side, where no message covers it."""
    dx, dy = edge["x1"] - edge["x0"], edge["y1"] - edge["y0"]
    length = math.hypot(dx, dy) or 1.0
    return edge["x0"] + dx * 0.62 - dy / length * 0.13, edge["y0"] + dy * 0.62 + dx / length * 0.11


def _nodes(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers+text", "x": [n["x"] for n in nodes],
        "y": [n["y"] for n in nodes], "text": [plain(n["name"]) for n in nodes], "hoverinfo": "text",
        "textfont": {"size": 15, "color": "@ink"},
        "marker": {"size": SIZE, "color": "@paper", "line": {"width": 2, "color": "@ink"}},
    }  # fmt: skip


def _recorded(scene: Scene, nodes: list[dict[str, Any]], rank: int) -> dict[str, Any]:
    """A ring round each process that has recorded for a snapshot."""
    recordings = scene.recordings.get(scene.snapshots[rank].id, ())
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": [nodes[r.lane]["x"] for r in recordings], "y": [nodes[r.lane]["y"] for r in recordings],
        "marker": {"size": SIZE + 8 + 7 * rank, "symbol": theme.RING_SYMBOLS[rank % 4],
                   "color": theme.snapshot_colour(rank), "line": {"width": 3}},
        "meta": {"stride": 1, "show": [[r.step, None] for r in recordings]},
    }  # fmt: skip
