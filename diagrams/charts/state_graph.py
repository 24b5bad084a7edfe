"""The graph of the states of a small system as SVG: from left to right, one step more in each column.

A state is a circle; a diamond if a snapshot is complete, a cross if a check fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from diagrams.charts.parts import TYPE
from diagrams.panels.lattice.layout import apart
from sim.explore.graph import Edge, Node

SWEEPS = 12  # from left to right and back, to bring states near their neighbours
ROOMY = 45, 22, 10  # states, columns and states in a column: up to so many are drawn large, with their numbers
LARGE, SMALL = 26.0, 6.0  # pixels: a state
AXIS = 9.0  # percent of the height: the numbers of the columns
LEAST_HEIGHT = 240.0  # pixels that the states of a column share
HOW_TO_READ = (
    "Each column is one step more. ◆: a snapshot is complete. ✖: a check fails. Point at a line to read "
    "its step. Click a state to see its contents."
)

Place = tuple[float, float]


class Look(NamedTuple):
    """The look of states of one kind: a path of radius 1, its factor `wider`, and the words for a screen reader."""

    name: str
    path: str
    spoken: str = ""
    wider: float = 1.0


PLAIN = Look("cut-plain", "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z")
COMPLETED = Look("cut-completed", "M0 -1L1 0L0 1L-1 0Z", ": a snapshot is complete", 1.35)
WRONG = Look(
    "cut-wrong", "M-1 -.55L-.55 -1L0 -.45L.55 -1L1 -.55L.45 0L1 .55L.55 1L0 .45L-.55 1L-1 .55L-.45 0Z",
    ": a check fails", 1.2,
)  # fmt: skip


def state_svg(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """The graph as SVG, with places in percent of the picture, sizes in pixels, and the colours of the page.

    A step is a `g` with its number in `data-edge`, a state one with its number in `data-state`.
    """
    size = min(max(LEAST_HEIGHT / max(_columns(nodes)) - 2, SMALL), LARGE)
    at, looks, is_roomy = _in_parts(nodes, edges), look_of(nodes), _is_roomy(nodes)
    parts = [_column_numbers(nodes[-1].depth), *(_step(at, number, edge) for number, edge in enumerate(edges))]
    for number, look in enumerate(looks):
        parts.append(_state(at[number], number, look, size / 2 * look.wider, is_written=is_roomy))
    return f'<svg role="group" aria-label="The states, and the steps between them">{"".join(parts)}</svg>'


def _in_parts(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Place]:
    """The places in percent of the width and height of the picture."""
    found = places(nodes, edges)
    low, high, columns = min(up for _, up in found), max(up for _, up in found), nodes[-1].depth + 1
    room = 100 - AXIS
    return [(100 * (x + 0.5) / columns, room * (high - up + 0.6) / (high - low + 1.2)) for x, up in found]


def _column_numbers(deepest: int) -> str:
    every = 1 if deepest <= ROOMY[1] else 5
    told = (
        f'<text class="cut-column" x="{100 * (depth + 0.5) / (deepest + 1):.2f}%" y="98%">{depth}</text>'
        for depth in range(0, deepest + 1, every)
    )
    return "".join(told)


def _step(at: Sequence[Place], number: int, edge: Edge) -> str:
    (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
    ends = f'x1="{x1:.2f}%" y1="{y1:.2f}%" x2="{x2:.2f}%" y2="{y2:.2f}%"'
    told = f"<title>{escape(edge.words)}</title>"
    return f'<g data-edge="{number}">{told}<line class="cut-near" {ends}/><line {ends}/></g>'


def _state(at: Place, number: int, look: Look, radius: float, *, is_written: bool) -> str:
    name = f'role="button" tabindex="{0 if number == 0 else -1}" aria-label="State {number}{look.spoken}"'
    ring = f'<circle class="cut-ring" r="{radius + 7:.1f}"/>'
    written = f'<text dy="0.35em" font-size="{min(TYPE - 3, radius):.1f}">{number}</text>' if is_written else ""
    shape = f'<path d="{look.path}" transform="scale({radius:.1f})"/>'
    drawn = f'<g data-state="{number}" class="{look.name}" {name}>{ring}{shape}{written}</g>'
    return f'<svg x="{at[0]:.2f}%" y="{at[1]:.2f}%" overflow="visible">{drawn}</svg>'


def _is_roomy(nodes: Sequence[Node]) -> bool:
    columns = _columns(nodes)
    return len(nodes) <= ROOMY[0] and len(columns) <= ROOMY[1] and max(columns) <= ROOMY[2]


def _columns(nodes: Sequence[Node]) -> list[int]:
    """The number of states at each depth."""
    return [len(list(own)) for _, own in groupby(nodes, key=lambda node: node.depth)]


def look_of(nodes: Sequence[Node]) -> list[Look]:
    """The look of each state."""
    return [WRONG if node.wrong else COMPLETED if node.complete else PLAIN for node in nodes]


def way_to(edges: Sequence[Edge], number: int) -> list[Edge]:
    """The steps of a shortest run to a state, the first one first."""
    first: dict[int, Edge] = {}
    for edge in edges:  # level by level: the first edge to a state is one from the level before
        if edge.target:
            first.setdefault(edge.target, edge)
    way = []
    while number in first:
        way.append(first[number])
        number = first[number].source
    return way[::-1]


def places(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Place]:
    """The place of each state: (its depth, its height); two of a column at least 1 apart, each near its neighbours."""
    columns = [list(own) for _, own in groupby(range(len(nodes)), key=lambda number: nodes[number].depth)]
    before: dict[int, list[int]] = {number: [] for number in range(len(nodes))}
    after: dict[int, list[int]] = {number: [] for number in range(len(nodes))}
    for edge in edges:
        if nodes[edge.source].depth < nodes[edge.target].depth:
            before[edge.target].append(edge.source)
            after[edge.source].append(edge.target)
    height = {own: rank - (len(column) - 1) / 2 for column in columns for rank, own in enumerate(column)}
    for sweep in range(SWEEPS):
        near = after if sweep % 2 else before
        for column in columns[::-1] if sweep % 2 else columns:
            _bring_near(column, near, height)
    return [(float(node.depth), round(height[number], 3)) for number, node in enumerate(nodes)]


def _bring_near(column: Collection[int], near: Mapping[int, Sequence[int]], height: dict[int, float]) -> None:
    """Give the states of a column the heights nearest to the means of their neighbours'."""
    wished = sorted(
        (sum(height[other] for other in near[own]) / len(near[own]) if near[own] else height[own], own)
        for own in column
    )
    for (_, own), found in zip(wished, apart([wish for wish, _ in wished]), strict=True):
        height[own] = found
