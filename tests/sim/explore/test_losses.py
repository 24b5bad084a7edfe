"""Every run in which messages are lost: what the engine alone reaches, and what checks of a replayed run say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagrams.charts.state_graph import way_to
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.core.topology import EVERY_CHANNEL, Topology
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine
from sim.document.writing import dumps
from sim.explore.graph import state_graph
from sim.explore.replay import by_hand
from sim.explore.report import changed, complete_graph, exploration
from sim.explore.world import NO_FAULTS, MayHappen
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.explore.comparison import differences
from tests.sim.tools import failing
from tests.tools import check_none

ONE_LOSS, AND_A_CRASH = MayHappen(losses=1), MayHappen(crashes=1, losses=1)
AND_BACK = MayHappen(crashes=1, restarts=True, losses=1)
OVERTAKING = changed(complete_graph(2, 1), "unaligned_barriers", not_fifo=False)
LOSE = FaultLine("lose", message=MessageReference("P1.1"))
LOST_IN_BETWEEN = ("turn P1", "initiate S1 at P1", "deliver P1->P2 #2", "lose P1.1", "deliver P2->P1")
SLOW = (FaultLine("slow", "S1", at=1, factor=4.0), FaultLine("slow", "S1", at=20, factor=1.0))


@pytest.mark.slow
@each(
    "sends, may, states, transitions",
    [
        (1, ONE_LOSS, 125, 244),
        (1, MayHappen(losses=2), 144, 297),
        (2, ONE_LOSS, 932, 2_508),
        (1, AND_A_CRASH, 331, 876),
        (1, AND_BACK, 734, 1_846),
    ],
)
def test_two_processes(sends, may, states, transitions):
    """Whatever is lost: every complete snapshot is right, and one whose marker is lost is never complete."""
    done = exploration(complete_graph(2, sends), may=may)
    assert (done.found.states, done.found.transitions, done.found.complete) == (states, transitions, True)
    assert done.shortest() == []


def test_a_snapshot_whose_marker_is_lost_is_never_complete_and_that_is_no_violation():
    done = exploration(complete_graph(2, 0), may=ONE_LOSS)
    assert (done.found.states, done.shortest()) == (6, [])
    nodes, edges = state_graph(done.found)
    lost = {edge.target for edge in edges if edge.action.startswith("lose ")}
    assert lost and not any(nodes[number].complete for number in lost)
    assert "a snapshot whose marker is lost is never complete: that is no violation" in done.in_words()


PLAIN = {
    "one loss": (complete_graph(2, 1), ONE_LOSS),
    "two losses": (complete_graph(2, 1), MayHappen(losses=2)),
    "two messages each": (complete_graph(2, 2), ONE_LOSS),
    "a crash and a loss": (complete_graph(2, 1), AND_A_CRASH),
    "who crashes may start again": (complete_graph(2, 1), AND_BACK),
    "three processes, no messages": (complete_graph(3, 0), ONE_LOSS),
    "messages overtake each other": (changed(complete_graph(2, 1), None, not_fifo=True), ONE_LOSS),
    "markers overtake messages": (OVERTAKING, ONE_LOSS),
    "two markers of a snapshot": (changed(complete_graph(2, 1), "two_markers", not_fifo=False), ONE_LOSS),
    "Lai-Yang": (changed(complete_graph(2, 1), "lai_yang", not_fifo=False), ONE_LOSS),
    "Mattern": (changed(complete_graph(2, 1), "mattern", not_fifo=False), ONE_LOSS),
    "control messages": (changed(complete_graph(2, 1), "stop_the_world", not_fifo=False), ONE_LOSS),
    "full channels": (
        replace(complete_graph(2, 2), topology=Topology("complete", capacity=((EVERY_CHANNEL, 1),))),
        ONE_LOSS,
    ),
    "a script": (library.load("two_banks"), MayHappen(losses=2)),
    "severed channels": (library.load("partition"), ONE_LOSS),
}


LARGE = ("who crashes may start again", "two messages each")
LONG = [pytest.param(name, marks=pytest.mark.long("losses in every run of larger systems")) for name in LARGE]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*(name for name in PLAIN if name not in LARGE), *LONG])
def test_the_plain_explorer_finds_the_same(name):
    check_none(differences(*PLAIN[name]))


def test_where_processes_do_not_wait_for_each_other_it_is_the_same():
    check_none(differences(library.load("two_banks"), ONE_LOSS, own_order=True))


@pytest.mark.parametrize("may", [ONE_LOSS, AND_A_CRASH])
def test_one_state_stands_for_those_that_differ_in_names_with_losses_too(may):
    every, some = (exploration(complete_graph(3, 0), symmetry=own, may=may).found for own in (False, True))
    assert some.pairs < every.pairs
    assert (some.states, some.transitions, some.snapshots) == (every.states, every.transitions, every.snapshots)


@each("algorithm", ["lai_yang", "mattern", "stop_the_world", "aligned_barriers"])
def test_other_rules_are_right_or_never_complete(algorithm):
    done = exploration(changed(complete_graph(2, 1), algorithm, not_fifo=False), may=ONE_LOSS)
    assert done.found.complete and done.shortest() == []


def test_a_message_that_was_recorded_may_be_lost_before_or_after_the_snapshot_is_complete():
    """A barrier overtakes a message, so the process behind it records it: it was there. Then the message is lost."""
    assert exploration(OVERTAKING, may=ONE_LOSS).shortest() == exploration(OVERTAKING).shortest() == []
    lost = run(parse_toml(dumps(by_hand(OVERTAKING, LOST_IN_BETWEEN)), "lost"))
    assert lost.scenario.network.is_raw and failing(lost) == {}
    assert len(snapshots_of(lost)[0].recorded_messages) == 1


WAYS = {
    "a rule is broken": (changed(complete_graph(2, 1), "deaf_initiator", not_fifo=False), ONE_LOSS),
    "messages overtake each other": (changed(complete_graph(2, 1), "fifo", not_fifo=False), ONE_LOSS),
    "two markers are lost": (changed(complete_graph(2, 0), "two_markers", not_fifo=False), MayHappen(losses=2)),
    "a crash": (complete_graph(2, 0), AND_BACK),
    "a script": (library.load("two_banks"), ONE_LOSS),
    "faults of the scenario": (library.load("partition"), ONE_LOSS),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_the_way_to_each_state_runs_and_shows_what_is_wrong(name):
    scenario, may = WAYS[name]
    nodes, edges = state_graph(exploration(scenario, may=may).found)
    for number, node in enumerate(nodes):
        way = tuple(own.action for own in way_to(edges, number))
        execution = run(parse_toml(dumps(by_hand(scenario, way)), "way"))
        assert execution.steps == node.depth
        shown = {own.partition(":")[2] for own in failing(execution)}
        assert set(node.wrong) - {"conservation"} <= shown
    assert any(edge.action.startswith("lose ") for edge in edges)


def test_a_second_marker_of_the_same_name_has_a_number():
    order = ("initiate S1 at P1", "lose P1->P2 S1", "lose P1->P2 S1")
    scenario = by_hand(changed(complete_graph(2, 0), "two_markers", not_fifo=False), order)
    assert scenario.scheduler.order[1:] == ("lose P1->P2 S1", "lose P1->P2 S1 #2")
    assert run(scenario).final.queues == [[], []]


def test_a_run_without_a_loss_stays_as_it_is():
    scenario = by_hand(complete_graph(2, 0), ("initiate S1 at P1", "crash P2"))
    assert not scenario.network.is_raw and scenario.breaks == ()


@pytest.mark.parametrize("own_order", [False, True])
def test_processes_that_are_slow_change_nothing_but_the_worlds_own_line(own_order):
    scenario = replace(library.load("two_banks"), faults=SLOW)
    check_none(differences(scenario, own_order=own_order))
    found = exploration(scenario, own_order=own_order).found
    assert set(found.snapshots) == set(exploration(library.load("two_banks"), own_order=own_order).found.snapshots)
    check_none(differences(scenario, ONE_LOSS))


@each(
    "scenario, may, complaint",
    [
        (complete_graph(2, 1), MayHappen(losses=-1), "--losses -1: give a number of losses, 0 or more"),
        (replace(complete_graph(2, 1), faults=(LOSE,)), NO_FAULTS, "faults: exploration does not support messages"),
        (
            replace(complete_graph(2, 1), faults=(replace(LOSE, kind="copy"),)),
            ONE_LOSS,
            "faults: exploration does not support messages",
        ),
        (
            replace(complete_graph(2, 1), fault_rates=FaultRates(copy=0.1)),
            NO_FAULTS,
            "fault_rates: exploration does not support messages",
        ),
    ],
)
def test_bad_input_gets_one_sentence(scenario, may, complaint):
    with pytest.raises(InputError) as problem:
        exploration(scenario, may=may)
    assert str(problem.value).startswith(complaint) and "." not in str(problem.value)
