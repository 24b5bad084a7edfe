"""The graph of the states of a small system as a Plotly figure: from left to right, one step more in each column.

A state is a circle; a diamond where a snapshot has just been completed, a cross where a check does not hold. A state's
`customdata` is its number. Colours are tokens of diagrams/theme.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from diagrams.canvas import plain
from diagrams.chart_parts import TYPE, Figure, Trace, axis, frame, hover
from diagrams.lattice_layout import apart
from sim.explore.graph import Edge, Node

SWEEPS = 12  # from left to right and back, to bring states near their neighbours
ROOMY = 45, 22, 10  # states, columns and states in a column: up to so many are drawn large, with their numbers
LARGE, SMALL = 26.0, 6.0  # pixels: a state
LEAST_HEIGHT = 240.0  # pixels that the states of a column share
HOW_TO_READ = (
    "Each column is one step more. ◆: a snapshot has just been completed. ✖: a check fails. Point at a line to read its "
    "step; click a state to see what is in it."
)

Place = tuple[float, float]


class Look(NamedTuple):
    """How states of one kind are drawn."""

    symbol: str
    fill: str
    letters: str
    wider: float = 1.0  # times


PLAIN = Look("circle", "@paper", "@ink")
COMPLETED = Look("diamond", "@s0", "@paper", 1.35)
WRONG = Look("x", "@bad", "@paper", 1.3)


def state_figure(nodes: Sequence[Node], edges: Sequence[Edge], chosen: int | None = None) -> Figure:
    """The figure; a way to the state `chosen` is drawn thick, and the state has a ring."""
    at = places(nodes, edges)
    way = way_to(edges, chosen) if chosen else []
    is_roomy = _is_roomy(nodes)
    size = min(max(LEAST_HEIGHT / max(_columns(nodes)) - 2, SMALL), LARGE)
    kinds = look_of(nodes, edges)
    data = [
        _lines(at, edges, "@line", 1.5),
        _lines(at, way, "@accent", 5.0),
        _middles(at, edges),
        *(_ring(at, chosen, size) if chosen is not None else ()),
        *(
            _states(at, nodes, [own for own, kind in enumerate(kinds) if kind == look], look, size, is_roomy)
            for look in (PLAIN, COMPLETED, WRONG)
        ),
    ]
    deepest = nodes[-1].depth
    few = {"tickvals": [*range(deepest + 1)]} if deepest <= ROOMY[1] else {}
    across = axis("Steps") | few | {"showgrid": False, "range": [-0.5, deepest + 0.5]}
    heights = [height for _, height in at]
    up = axis("") | {"visible": False, "range": [min(heights) - 0.7, max(heights) + 0.7]}
    return frame(data, "The states, and the steps between them", across, up)


def _is_roomy(nodes: Sequence[Node]) -> bool:
    columns = _columns(nodes)
    return len(nodes) <= ROOMY[0] and len(columns) <= ROOMY[1] and max(columns) <= ROOMY[2]


def _columns(nodes: Sequence[Node]) -> list[int]:
    """How many states there are at each depth."""
    return [len(list(own)) for _, own in groupby(nodes, key=lambda node: node.depth)]


def look_of(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Look]:
    """How each state is drawn."""
    completed = {own.target for own in edges if set(nodes[own.target].complete) > set(nodes[own.source].complete)}
    return [
        WRONG if node.wrong else COMPLETED if number in completed else PLAIN for number, node in enumerate(nodes)
    ]


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
    """Where each state lies: (its depth, its height); two of a column at least 1 apart, each near its neighbours."""
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


def _lines(at: Sequence[Place], edges: Sequence[Edge], colour: str, width: float) -> Trace:
    ends = [end for edge in edges for end in (at[edge.source], at[edge.target], (None, None))]
    return {
        "type": "scatter", "mode": "lines", "x": [x for x, _ in ends], "y": [y for _, y in ends], "hoverinfo": "skip",
        "line": {"color": colour, "width": width},
    }  # fmt: skip


def _middles(at: Sequence[Place], edges: Sequence[Edge]) -> Trace:
    """What is pointed at to read which step a line is."""
    ends = [(at[edge.source], at[edge.target]) for edge in edges]
    return {
        "type": "scatter", "mode": "markers", "x": [(a[0] + b[0]) / 2 for a, b in ends],
        "y": [(a[1] + b[1]) / 2 for a, b in ends], "marker": {"size": 16, "color": "@line/0"},
        **hover(plain(edge.words) for edge in edges),
    }  # fmt: skip


def _ring(at: Sequence[Place], chosen: int, size: float) -> list[Trace]:
    x, y = at[chosen]
    marker = {"symbol": "circle-open", "size": size + 14, "color": "@accent", "line": {"width": 3}}
    return [{"type": "scatter", "mode": "markers", "x": [x], "y": [y], "marker": marker, "hoverinfo": "skip"}]


def _states(
    at: Sequence[Place], nodes: Sequence[Node], numbers: Sequence[int], look: Look, size: float, is_roomy: bool
) -> Trace:
    marker = {
        "symbol": look.symbol, "size": size * look.wider, "color": look.fill, "opacity": 1,
        "line": {"color": "@ink", "width": 1.5 if look == PLAIN else 0},
    }  # fmt: skip
    return {
        "type": "scatter", "mode": "markers+text" if is_roomy else "markers", "customdata": list(numbers),
        "x": [at[number][0] for number in numbers], "y": [at[number][1] for number in numbers],
        "text": [str(number) for number in numbers], "textfont": {"size": min(TYPE - 3, size / 2), "color": look.letters},
        "marker": marker, "selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}},
        **hover(_about(number, nodes[number]) for number in numbers),
    }  # fmt: skip


def _about(number: int, node: Node) -> str:
    told = [f"<b>State {number}</b>", *(plain(f"{name}: {own}") for name, own in node.processes.items() if own)]
    told += [plain(f"{name} holds {own}") for name, own in node.channels.items()]
    told += [f"<b>{plain(name)} is complete</b>" for name in node.complete]
    return "<br>".join([*told, *(f"<b>{plain(check)} does not hold</b>" for check in node.wrong)])
