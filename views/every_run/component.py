"""The component that shows the graph of states, and names the state whose way is to be opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

import streamlit as st

from diagrams.browser.scripts import ASSETS
from diagrams.charts.state_graph import HOW_TO_READ, places, state_svg, way_to
from sim.explore.graph import Edge, Node
from views.every_run import words
from views.every_run.exploration import Result
from views.server.plain_words import sentence

_HTML = f"""<div class="cut-states">
  <div class="cut-graph"></div>
  <p class="cut-how"></p>
  <div class="cut-chosen">
    <label>{words.STATE} <input type="number" min="0" step="1" value="0" /></label>
    <button type="button">{words.OPEN_IN_EXPLORE}</button>
    <div class="cut-state" role="status"></div>
  </div>
</div>"""

_mount = st.components.v2.component(
    "consistent_cut_states", html=_HTML, js=(ASSETS / "every_run" / "state_graph.js").read_text("utf-8"),
    isolate_styles=False,
)  # fmt: skip


def state_graph(found: Result) -> int | None:
    """Show the graph. Returns the number of the state whose way the user opens, if any."""
    nodes, edges = found.nodes, found.edges
    data = {"svg": state_svg(nodes, edges), "states": states_of(found), "how": HOW_TO_READ}
    opened = _mount(key="every-graph", data=data, on_open_change=lambda: None).open
    return opened if isinstance(opened, int) else None


def states_of(graph: Result) -> list[dict[str, Any]]:
    """By state: a description as HTML; the numbers of the steps of a way to it; the targets of the arrow keys."""
    nodes, edges = graph.nodes, graph.edges
    number_of = {edge: number for number, edge in enumerate(edges)}
    neighbours = list(_neighbours(nodes, edges))
    found = []
    for number, node in enumerate(nodes):
        way = way_to(edges, number)
        before = way[-1].source if way else None
        after = next((edge.target for edge in edges if edge.source == number), None)
        above, below = neighbours[number]
        found.append({
            "about": about(node, way, graph.why.get(number, ())), "way": [number_of[edge] for edge in way],
            "before": before, "after": after, "above": above, "below": below,
        })  # fmt: skip
    return found


def _neighbours(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[tuple[int | None, int | None]]:
    """The states above and below each state in its column."""
    at = places(nodes, edges)
    found: dict[int, tuple[int | None, int | None]] = {}
    for _, column in groupby(range(len(nodes)), key=lambda number: nodes[number].depth):
        downwards: list[int | None] = [None, *sorted(column, key=lambda number: -at[number][1]), None]
        for above, own, below in zip(downwards, downwards[1:], downwards[2:], strict=False):
            assert own is not None
            found[own] = above, below
    return (found[number] for number in range(len(nodes)))


def about(node: Node, way: Sequence[Edge], why: Sequence[str]) -> str:
    """The processes and channels in a state, the failed checks, and a shortest way to it, as HTML."""
    facts = [f"<b>{escape(name)}</b> {escape(own)}" for name, own in node.processes.items()]
    facts += [f"<b>{escape(name)}</b> {words.HOLDS} {escape(own)}" for name, own in node.channels.items()]
    facts += [f'<b class="cut-good">{escape(name)} {words.IS_COMPLETE}</b>' for name in node.complete]
    facts += [f'<b class="cut-bad">{escape(sentence(own))}</b>' for own in why]
    lines, steps = ("".join(f"<li>{own}</li>" for own in part) for part in (facts, [escape(own.words) for own in way]))
    how = f"<p>{words.A_SHORTEST_WAY}</p> <ol>{steps}</ol>" if way else f"<p>{words.ALL_BEGIN_HERE}</p>"
    return f"<ul>{lines}</ul>{how}"
