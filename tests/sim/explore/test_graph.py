"""The graph of states: the same nodes and actions as the engine finds, and what is wrong in each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagrams.charts.state_graph import way_to
from sim.core.scheduler import choice_name
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.scenario import Scenario
from sim.explore.graph import MOST_NODES, state_graph
from sim.explore.replay import by_hand
from sim.explore.report import changed, complete_graph, exploration
from sim.explore.world import MayHappen
from sim.run.execution import run
from tests.sim.core import test_every_interleaving
from tests.sim.explore.comparison import plain_system

SYSTEMS: dict[str, Scenario] = {
    "a complete graph": complete_graph(2, 1),
    "control messages": changed(complete_graph(2, 1), "lai_yang", not_fifo=True),
    "two banks": library.load("two_banks"),
    **{name: own.scenario for name, own in test_every_interleaving.SYSTEMS.items() if own.states <= MOST_NODES},
}


@pytest.mark.parametrize("own_order", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_nodes_and_edges_are_the_states_and_the_actions_of_the_engine(name, own_order):
    """Both are walked through together: actions of one state have different names."""
    scenario = SYSTEMS[name]
    found = exploration(scenario, own_order=own_order).found
    nodes, edges = state_graph(found)
    assert (len(nodes), len(edges)) == (found.states, found.transitions)
    leaving: dict[int, dict[str, int]] = {number: {} for number in range(len(nodes))}
    for edge in edges:
        leaving[edge.source][edge.action] = edge.target
    system = plain_system(scenario, own_order=own_order)
    engine, left = system.engine, system.left
    first = engine.initial()
    states, keys = {0: first}, {0: system.holds(first, left)}
    for number in range(len(nodes)):  # each is met before its turn, for levels come in order
        state = states[number]
        enabled = {choice_name(engine, state, own): own for own in system.actions(state, left)}
        assert set(enabled) == set(leaving[number])
        for action, target in leaving[number].items():
            after, _ = engine.step(state, enabled[action])
            assert keys.setdefault(target, system.holds(after, left)) == system.holds(after, left)
            assert nodes[target].depth == nodes[number].depth + 1
            states.setdefault(target, after)
    assert len(set(keys.values())) == len(nodes)


def test_nodes_say_what_is_complete_and_what_is_wrong_in_them():
    """Plain markers on channels that are not FIFO: the first such nodes are as deep as the shortest wrong runs."""
    done = exploration(changed(complete_graph(2, 1), None, not_fifo=True))
    nodes, _ = state_graph(done.found)
    shallowest = {check: min(own.depth for own in nodes if check in own.wrong) for check, _ in done.shortest()}
    assert shallowest == {"channel_states": 4, "consistency": 5}
    assert all(node.complete == ("S1",) for node in nodes if node.wrong)
    right, _ = state_graph(exploration(complete_graph(2, 1)).found)
    assert not any(node.wrong for node in right) and right[-1].complete == ("S1",)


def test_ends_in_which_a_snapshot_is_not_complete_are_wrong():
    nodes, edges = state_graph(exploration(changed(complete_graph(2, 0), "lost_marker", not_fifo=False)).found)
    ends = set(range(len(nodes))) - {edge.source for edge in edges}
    assert {number for number, node in enumerate(nodes) if "completion" in node.wrong} == ends


def test_nodes_in_words():
    nodes, edges = state_graph(exploration(SYSTEMS["two processes, a send each, one initiator"]).found)
    assert nodes[0].in_words() == "P1 100; P2 100"
    assert [edge.action for edge in edges if edge.source == 0] == ["act P1"]
    sent = next(node for node in nodes if "C12" in node.channels and "C21" in node.channels)
    assert sent.in_words() == "P1 93; P2 91; C12: 7; C21: 9"
    marker = next(node for node in nodes if "marker" in node.channels.get("C12", ""))
    assert marker.processes["P1"].endswith(", has recorded for S1: 93, records C21")
    assert "marker of S1" in marker.channels["C12"]
    kept = next(node for node in nodes if "C21: 9" in node.processes["P1"])
    assert "for S1: 93, C21: 9" in kept.processes["P1"]
    lecture = exploration(library.load("lattice")).found
    assert "of" in state_graph(lecture)[0][0].in_words()


def test_nodes_after_crashes_say_what_outlives_them():
    """A part that is done outlives a crash, so a snapshot stays complete; a part that is not done is lost for good."""
    scenario, may = complete_graph(2, 0), MayHappen(crashes=1, restarts=True)
    nodes, edges = state_graph(exploration(scenario, may=may).found)
    for number, node in enumerate(nodes):
        way = way_to(edges, number)
        assert run(by_hand(scenario, tuple(own.action for own in way))).steps == len(way) == node.depth
        assert not any("S1" in nodes[own.source].complete and "S1" not in nodes[own.target].complete for own in way)
    told = "P1 received nothing, has recorded for S1: received nothing; "
    stored = next(node for node in nodes if node.processes["P2"].startswith("is down, its part") and node.complete)
    assert stored.in_words() == f"{told}P2 is down, its part of S1 outlives its crash: received nothing"
    lost = [node for node in nodes if any("has lost its part of S1" in own for own in node.processes.values())]
    assert lost and not any(node.complete for node in lost)
    assert {"crash P1", "restart P2"} <= {edge.action for edge in edges}


def test_ways_with_drawn_faults_run():
    """What rates have drawn is no line of the scenario, but planned nevertheless."""
    rates = FaultRates(crash=0.3, restart=0.1, until=30)
    scenario = replace(complete_graph(2, 0), fault_rates=rates)
    nodes, edges = state_graph(exploration(scenario).found)
    assert any(edge.action == "crash P2 #2" for edge in edges)
    for number, node in enumerate(nodes):
        way = way_to(edges, number)
        assert run(by_hand(scenario, tuple(own.action for own in way))).steps == node.depth


def test_what_was_not_explored_has_no_steps_and_large_graphs_are_refused():
    part = exploration(complete_graph(2, 3), most_states=100).found
    nodes, edges = state_graph(part)
    assert max(node.depth for node in nodes) == len(part.levels) - 1
    assert max(nodes[edge.source].depth for edge in edges) == len(part.levels) - 2
    for found in (exploration(complete_graph(2, 3)).found, exploration(complete_graph(2, 1), symmetry=True).found):
        with pytest.raises(ValueError, match="at most 300 are drawn"):
            state_graph(found)
