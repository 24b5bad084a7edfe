"""The wait-for graph: an arrow from each waiting process to the one it waits for, with nodes in a circle.

All graphs of a property have the same nodes at the same places, so that you can compare them at a glance. An arrow has
one of three kinds. A `known` one follows from the process states alone, a `channel` one only from a channel. The
process states alone would show a `gone` one, but the channels show that the wait is over. More than MOST_DRAWN
processes have no picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx

from diagrams.panels.network.topology import Place, edge
from sim.core.detector import Finding

KNOWN, CHANNEL, GONE = "known", "channel", "gone"
MOST_DRAWN = 16  # processes
RIM, SIDE = 0.27, 0.07  # of a node, and of an arrow beside the one that goes back; the circle has radius 1


def places(findings: Iterable[Finding], processes: Iterable[str]) -> dict[str, Place]:
    """The place, (across, up), of each process that waits or is waited for in some finding; clockwise from the top."""
    graph: nx.Graph[str] = nx.Graph(waits for finding in findings for waits in finding.waits)
    names = [name for name in processes if name in graph]
    if len(names) > MOST_DRAWN:
        return {}
    around = nx.circular_layout(names) if len(names) > 1 else dict.fromkeys(names, (0.0, 0.0))
    return {name: (round(float(up), 3), round(float(across), 3)) for name, (across, up) in around.items()}


def waiting(whole: Finding, alone: Finding, at: Mapping[str, Place]) -> dict[str, Any] | None:
    """The graph of a finding as nodes, edges and words; `alone` is the finding from the process states.

    An edge of the circle in which processes wait for each other is `in_circle`. None if nothing is drawn.
    """
    if not at:
        return None
    circle = set(zip(whole.circle, (*whole.circle[1:], *whole.circle[:1]), strict=True))
    kinds = {own: KNOWN if own in alone.waits else CHANNEL for own in whole.waits}
    kinds |= {own: GONE for own in alone.waits if own not in kinds}
    ends = ("x0", "y0", "x1", "y1")
    edges = [
        {
            "kind": kind,
            "in_circle": (who, whom) in circle,
            **dict(zip(ends, edge(at[who], at[whom], SIDE, RIM), strict=True)),
        }
        for (who, whom), kind in sorted(kinds.items())
    ]
    nodes = [{"name": name, "x": x, "y": y, "in_circle": name in whole.circle} for name, (x, y) in at.items()]
    return {"nodes": nodes, "edges": edges, "told": _told(whole)}


def _told(finding: Finding) -> str:
    """The graph in words, for users who cannot see it."""
    waits = ", ".join(f"{who} waits for {whom}" for who, whom in finding.waits) or "no process waits"
    circle = f" A circle: {', '.join(finding.circle)}." if finding.circle else " There is no circle."
    return f"Wait-for graph: {waits}.{circle}"
