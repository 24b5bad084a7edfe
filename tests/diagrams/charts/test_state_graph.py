"""The graph of states: where they lie, how they are drawn, and the counts per depth as a chart."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import plotly.graph_objs as go
import pytest

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.state_graph import COMPLETED, PLAIN, WRONG, look_of, places, state_svg, way_to
from diagrams.shapes import theme
from sim.document import library
from sim.explore.graph import state_graph
from sim.explore.report import changed, complete_graph, exploration

SYSTEMS = {
    "two banks": library.load("two_banks"),
    "termination": library.load("termination"),
    "not FIFO": changed(complete_graph(2, 1), None, not_fifo=True),
}


@pytest.fixture(params=SYSTEMS, scope="module")
def graph(request):
    return state_graph(exploration(SYSTEMS[request.param]).found)


def test_states_of_a_column_are_apart(graph):
    nodes, edges = graph
    at = places(nodes, edges)
    assert [x for x, _ in at] == [node.depth for node in nodes]
    for depth in {node.depth for node in nodes}:
        heights = sorted(up for x, up in at if x == depth)
        assert all(above - below >= 0.99 for below, above in pairwise(heights))


def test_each_step_and_each_state_is_drawn_once(graph):
    nodes, edges = graph
    root = ElementTree.fromstring(state_svg(nodes, edges))
    groups = list(root.iter("g"))
    assert [int(own.attrib["data-edge"]) for own in groups if "data-edge" in own.attrib] == list(range(len(edges)))
    states = [own for own in groups if "data-state" in own.attrib]
    assert [int(own.attrib["data-state"]) for own in states] == list(range(len(nodes)))
    assert [own.attrib["class"] for own in states] == [look.name for look in look_of(nodes)]
    assert [own.attrib["tabindex"] for own in states].count("0") == 1


def test_a_way_is_a_shortest_one(graph):
    nodes, edges = graph
    for number, node in enumerate(nodes):
        way = way_to(edges, number)
        assert len(way) == node.depth
        assert all(before.target == after.source for before, after in pairwise(way))


def test_a_state_that_is_wrong_has_a_shape_of_its_own():
    nodes, _ = state_graph(exploration(SYSTEMS["not FIFO"]).found)
    looks = look_of(nodes)
    assert {look for look, node in zip(looks, nodes, strict=True) if node.wrong} == {WRONG}
    assert looks[0] == PLAIN
    complete = {look for look, node in zip(looks, nodes, strict=True) if node.complete}
    assert complete == {WRONG, COMPLETED} and complete.isdisjoint(
        look for look, node in zip(looks, nodes, strict=True) if not (node.complete or node.wrong)
    )
    assert COMPLETED in looks
    assert len({look.path for look in (PLAIN, COMPLETED, WRONG)}) == 3


def test_counts_per_depth_are_bars_and_diamonds_where_snapshots_complete():
    counts = [(1, False), (3, False), (2, True)]
    figure = charts.depths(counts)
    go.Figure(theme.resolve(figure, theme.LIGHT))
    bars, diamonds = figure["data"]
    assert bars["y"] == [1, 3, 2]
    assert diamonds["x"] == [2]
    assert chart_rows.depths(counts).decode() == "steps,states,completes\n0,1,false\n1,3,false\n2,2,true\n"
