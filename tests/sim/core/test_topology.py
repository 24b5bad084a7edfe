"""The shapes of graphs, and reachability."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from sim.core.topology import KINDS, Topology, unreachable
from tests.cases import each

NAMES = ("P1", "P2", "P3", "P4")
SHAPES = {
    "ring": "12 23 34 41",
    "line": "12 21 23 32 34 43",
    "star": "12 13 14 21 31 41",
    "dag": "12 13 14 23 24 34",
    "complete": "12 13 14 21 23 24 31 32 34 41 42 43",
}


@each("kind", SHAPES)
def test_a_shape(kind: str) -> None:
    assert ["".join((a[1], b[1])) for a, b in Topology(kind).edges(NAMES, 0)] == SHAPES[kind].split()


def test_listed_channels_keep_their_order() -> None:
    listed = (("P2", "P1"), ("P1", "P2"))
    assert Topology("listed", channels=listed).edges(NAMES, 0) == list(listed)


@each("kind", KINDS)
@each("count", [1, 2])
def test_few_processes(kind: str, count: int) -> None:
    edges = Topology(kind, extra=5).edges(NAMES[:count], 3)
    every = count * (count - 1)
    assert len(edges) == {"listed": 0, "dag": every // 2}.get(kind, every)


@given(st.integers(2, 12), st.integers(0, 30), st.integers(0, 99))
def test_a_random_graph_lets_everyone_reach_everyone(count: int, extra: int, seed: int) -> None:
    names = tuple(f"N{n}" for n in range(count))
    edges = Topology("random", extra=extra).edges(names, seed)
    assert len(edges) == len(set(edges)) == min(count + extra, count * (count - 1))
    assert all(a != b for a, b in edges)
    assert nx.is_strongly_connected(nx.DiGraph(edges))
    assert edges == Topology("random", extra=extra).edges(names, seed)


def test_random_graphs_depend_on_the_seed() -> None:
    names = tuple(f"N{n}" for n in range(8))
    assert len({tuple(Topology("random", extra=4).edges(names, seed)) for seed in range(10)}) == 10


def test_who_cannot_be_reached() -> None:
    edges = [("P1", "P2"), ("P2", "P1"), ("P3", "P4")]
    assert unreachable(NAMES, edges, ["P1"]) == ["P3", "P4"]
    assert unreachable(NAMES, edges, ["P2", "P4"]) == ["P3"]
    assert unreachable(NAMES, edges, ["P1", "P3"]) == []
    assert unreachable(NAMES, [("P1", "P2"), ("P2", "P3"), ("P3", "P4")], ["P1"]) == [], "by way of the others"
    assert unreachable(NAMES, [], []) == list(NAMES)
