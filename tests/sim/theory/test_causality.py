"""Happened-before, consistency and the lattice, each compared with its definition."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.model import RECEIVE, SEND, Event
from sim.document import library
from sim.document.scenario import Scenario, ScriptLine
from sim.run.execution import run
from sim.theory.causality import Frontier, History
from sim.theory.lattice import consistent_cuts, lattice, linearizations, successors
from sim.theory.positions import Order
from tests.scenarios.tools import frontiers
from tests.sim.strategies import scenarios
from tests.sim.tools import row_of, send, system
from tests.tools import examples

Node = tuple[str, int | None]


def history_of(scenario: Scenario) -> History:
    return History(scenario.processes, run(scenario).events)


def order_of(history: History) -> Order:
    """Every event is a position of its own."""
    return Order(history.processes, history.rows, together=lambda event: event.index)


def events_of(history: History) -> list[Event]:
    return [event for row in history.of.values() for event in row]


def graph_of(history: History) -> nx.DiGraph[Node]:
    """Lamport's definition: an edge to the next event of the process, and from every send to its receive."""
    graph: nx.DiGraph[Node] = nx.DiGraph()
    for row in history.of.values():
        graph.add_nodes_from((e.process, e.index) for e in row)
        graph.add_edges_from(((a.process, a.index), (b.process, b.index)) for a, b in pairwise(row))
    sends = {e.message_id: e for e in events_of(history) if e.kind == SEND}
    for e in events_of(history):
        if e.kind == RECEIVE:
            graph.add_edge((sends[e.message_id].process, sends[e.message_id].index), (e.process, e.index))
    return graph


def is_closed(graph: nx.DiGraph[Node], frontier: Frontier) -> bool:
    """Consistent by definition: every direct cause of an event inside is inside."""
    inside = {node for node in graph if (node[1] or 0) <= frontier.get(node[0], 0)}
    return all(cause in inside for node in inside for cause in graph.predecessors(node))


def draw_frontier(history: History, data: Any) -> dict[str, int]:
    return {name: data.draw(st.integers(0, len(row)), label=name) for name, row in history.of.items()}


@examples(15)
@given(scenarios())
def test_happened_before_is_reachability(scenario: Scenario) -> None:
    history = history_of(scenario)
    graph = graph_of(history)
    for a in events_of(history):
        after = nx.descendants(graph, (a.process, a.index))
        for b in events_of(history):
            assert history.happened_before(a, b) == ((b.process, b.index) in after)


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_consistent_means_closed_and_a_violation_is_a_message_from_the_future(scenario: Scenario, data: Any) -> None:
    history = history_of(scenario)
    frontier = draw_frontier(history, data)
    closed = is_closed(graph_of(history), frontier)
    witness = history.violation(frontier)
    assert history.is_consistent(frontier) == closed == (witness is None)
    if witness is not None:
        sent, received = history.sends[witness], history.receives[witness]
        assert (sent.index or 0) > frontier[sent.process] and (received.index or 0) <= frontier[received.process]


@examples(15)
@given(scenarios(), st.data())
def test_a_cut_finds_what_is_sent_inside_and_not_received_inside(scenario: Scenario, data: Any) -> None:
    """By channel, in the order of receipt; messages never received come last, in the order of sending."""
    history = history_of(scenario)
    frontier = draw_frontier(history, data)
    found = history.in_channels(frontier)
    for channel in scenario.channels:
        sent = [e for e in history.of[channel.source_name] if e.kind == SEND and e.channel == channel.name]
        crossing = [e for e in sent if (e.index or 0) <= frontier[e.process]]
        late = [e for e in crossing if (e.peer_index or 10**9) > frontier[channel.target_name]]
        assert found.get(channel.name, []) == [e.message_id for e in sorted(late, key=lambda e: e.peer_index or 10**9)]
    assert all(found.values())


def number_of_orders(graph: nx.DiGraph[Node]) -> int:
    """Every topological order, counted one by one."""
    return sum(1 for _ in nx.all_topological_sorts(graph))


@examples(15)
@given(scenarios())
def test_the_lattice_holds_every_consistent_cut(scenario: Scenario) -> None:
    history = history_of(scenario)
    everything = frontiers(history) if len(events_of(history)) < 40 else []
    assume(0 < len(everything) <= 3000)
    graph = graph_of(history)
    expected = {tuple(frontier.values()) for frontier in everything if is_closed(graph, frontier)}
    found = lattice(order_of(history))
    assert set(found) == expected
    assert len(found) == consistent_cuts(order_of(history)), "the other way to count them"
    levels = [sum(cut) for cut in found]
    assert levels == sorted(levels), "level by level"


@pytest.mark.slow
@examples(15)
@given(scenarios())
def test_the_lattice_counts_the_linearizations(scenario: Scenario) -> None:
    history = history_of(scenario)
    assume(len(events_of(history)) <= 9)
    assert linearizations(order_of(history)) == number_of_orders(graph_of(history))


@pytest.mark.slow
def test_a_lattice_that_is_too_big_is_given_up_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second level of 60 processes without messages has 1,770 cuts: none of them is kept beyond the limit."""
    names = [f"P{n}" for n in range(60)]
    history = history_of(system(" ".join(names), script=tuple(ScriptLine(name, 1.0) for name in names)))
    seen = []
    monkeypatch.setattr(
        "sim.theory.lattice.successors", lambda order, cut: (seen.append(cut), successors(order, cut))[1]
    )
    with pytest.raises(ValueError, match="more than 100 consistent cuts"):
        lattice(order_of(history), most=100)
    assert len(seen) < 5
    with pytest.raises(ValueError, match="more than 55555 consistent cuts"):
        lattice(order_of(history))


# --------------------------------------------------------------------------- pinned


def coulouris() -> History:
    """Chapter 14: e10, e11 (send m1), e12, e13 (receive m2) and e20 (receive m1), e21, e22 (send m2)."""
    return run(library.load("lattice")).history


def test_the_lattice_of_coulouris_and_its_clocks() -> None:
    history = coulouris()
    assert {event.label: history.clock(event) for event in events_of(history)} == {
        "e10": (1, 0), "e11": (2, 0), "e12": (3, 0), "e13": (4, 3), "e20": (2, 1), "e21": (2, 2), "e22": (2, 3),
    }  # fmt: skip
    cuts = ["00", "10", "20", "30", "21", "31", "22", "32", "23", "33", "43"]
    assert {f"{a}{b}" for a, b in lattice(order_of(history))} == set(cuts) and len(cuts) == 11
    assert lattice(order_of(history))[4, 3] == 4
    assert len(frontiers(history)) == 20, "as the story says"
    assert not history.is_consistent({"p1": 1, "p2": 1}) and history.is_consistent({"p1": 3, "p2": 3})


def test_no_event_happened_before_itself_and_a_frontier_may_leave_processes_out() -> None:
    history = coulouris()
    first = history.of["p1"][0]
    assert not history.happened_before(first, first)
    assert history.is_consistent({}) and history.is_consistent({"p1": 2}) and not history.is_consistent({"p2": 1})
    assert history.violation({"p2": 1}) == 0


def test_a_lattice_too_big_to_look_at_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 10 consistent cuts"):
        lattice(order_of(coulouris()), most=10)


def test_an_execution_without_events_has_one_cut() -> None:
    assert lattice(order_of(history_of(system("P1 P2")))) == {(0, 0): 1}


# --------------------------------------------------------------------------- tables of other systems


def test_a_receive_without_a_logged_send_has_no_cause_at_another_process() -> None:
    events = run(system("P1 P2", script=(send("P1", "P2", 1), send("P2", "P1", 5)))).events
    history = History(("P1", "P2"), [e for e in events if e.kind != SEND])
    assert [history.clock(e) for e in events_of(history)] == [(1, 0), (0, 1)]
    assert history.violation({"P1": 1, "P2": 0}) is None


def test_an_event_with_several_partners_has_a_row_for_each_and_is_one_event() -> None:
    """P1's first event sends to P2 and P3; P3's only event receives from both."""
    rows = [
        row_of(0, "P1", 1, SEND, "P1->P2", 0, peer_index=1),
        row_of(1, "P1", 1, SEND, "P1->P3", 1, peer_index=1),
        row_of(2, "P2", 1, RECEIVE, "P1->P2", 0, peer_index=1),
        row_of(3, "P2", 2, SEND, "P2->P3", 2, peer_index=1),
        row_of(4, "P3", 1, RECEIVE, "P1->P3", 1, peer_index=1),
        row_of(5, "P3", 1, RECEIVE, "P2->P3", 2, peer_index=2),
    ]
    history = History(("P1", "P2", "P3"), rows)
    assert [history.clock(rows[n]) for n in (0, 2, 3, 5)] == [(1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 2, 1)]
    assert set(lattice(order_of(history))) == {(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 2, 1)}
    assert history.violation({"P1": 1, "P2": 1, "P3": 1}) == 2
    assert history.in_channels({"P1": 1, "P2": 0, "P3": 0}) == {"P1->P2": [0], "P1->P3": [1]}
