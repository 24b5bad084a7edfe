"""Another run of the same kind and size: a pure function of the run, the round and the number."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.delays import HOLD, DelayRule
from sim.core.errors import InputError
from sim.core.model import APP, Event
from sim.document import library
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.edit.another_run import ABOUT, CLEAR, SUFFIX, another_run
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from tests.bundled import small
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import edited_by, send, start, system
from tests.tools import examples

WORTH = (
    "barriers_cycle",
    "collected",
    "gupta",
    "lai_yang",
    "lattice",
    "lecture",
    "mattern",
    "overlapping",
    "phantom_deadlock",
    "phones",
    "ring",
    "single_token",
    "star",
    "token_gone",
    "token_lost",
    "tutorial",
    "two_initiators",
)  # others: too few messages, channels that are all empty or none, or faults before the recording


def events_of(execution: Execution) -> list[Event]:
    return [event for own in execution.history.of.values() for event in own]


def is_worth_asking(execution: Execution) -> bool:
    """Something is recorded in a channel, something that carried messages is empty, and processes differ."""
    carried = {flight.channel.name for flight in execution.flights if flight.kind == APP}
    own = execution.history.of
    return all(
        0 < sum(bool(snapshot.recorded_in(name)) for name in carried) < len(carried)
        and sum(0 < inside < len(own[process]) for process, inside in snapshot.frontier.items()) >= 2
        for snapshot in snapshots_of(execution)
    )


@pytest.mark.slow
@examples(4)  # each draws many runs
@given(scenarios(), st.integers(0, 10**6), st.sampled_from(["", "K7QF"]))
def test_it_is_of_the_same_kind_and_size_and_completes(scenario: Scenario, number: int, of_round: str) -> None:
    before = run(scenario)
    try:
        drawn = another_run(before, number, of_round)
    except InputError:
        assume(False)
    validate(drawn)
    assert drawn == another_run(run(scenario), number, of_round)
    assert (drawn.processes, drawn.algorithm, drawn.workload) == (
        scenario.processes, scenario.algorithm, scenario.workload
    )  # fmt: skip
    assert drawn.parameters == scenario.parameters
    assert [channel.name for channel in drawn.channels] == [channel.name for channel in scenario.channels]
    assert [channel.fifo for channel in drawn.channels] == [channel.fifo for channel in scenario.channels]
    after = run(drawn)
    assert {snapshot.status for snapshot in snapshots_of(after)} == {COMPLETE}
    asked, found = (Counter(start.snapshot for start in own.snapshots) for own in (scenario, drawn))
    assert asked == found
    sends, lines = ([line.to is not None for line in own.script] for own in (scenario, drawn))
    assert Counter(sends) == Counter(lines)
    assert abs(len(events_of(after)) - len(events_of(before))) <= max(1, ABOUT * len(events_of(before)))


OTHERS = "each bundled scenario drawn anew six times"
MORE = pytest.param(range(2, 6), marks=pytest.mark.long(OTHERS))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [range(2), MORE])
@each("name", WORTH)
def test_of_some_scenarios_there_are_others_that_are_worth_asking(name: str, numbers: range) -> None:
    assert all(map(is_worth_asking, others(name, numbers)))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [range(1), MORE])
@each("name", lambda: [name for name in small() if name not in WORTH])
def test_of_every_bundled_scenario_there_are_others(name: str, numbers: range) -> None:
    assert others(name, numbers)


def others(name: str, numbers: range) -> list[Execution]:
    """The runs of these numbers, which are other than the scenario's own and each other."""
    execution = run(library.load(name))
    drawn = [another_run(execution, number) for number in numbers]
    assert all(one != other for one, other in pairwise(drawn))
    assert all(one.title == execution.scenario.title + SUFFIX for one in drawn)
    found = [run(one) for one in drawn]
    assert all(one.events != execution.events for one in found)
    return found


@pytest.mark.slow
def test_the_round_and_the_number_both_decide() -> None:
    execution = run(library.load("lecture"))
    drawn = [another_run(execution, number, of_round) for of_round in ("K7QF", "K7QG", "") for number in (0, 1)]
    assert len({one.seed for one in drawn}) == 6


@pytest.mark.slow
def test_a_script_without_bodies_is_given_to_other_processes_and_named_in_order() -> None:
    execution = run(another_run(run(library.load("lecture")), 3))
    own = execution.history.of
    assert "".join(event.label or "" for process in own for event in own[process]) == "ABCDEFGHIJK"
    flights = [flight for flight in execution.flights if flight.kind == APP]
    assert all(flight.receive and flight.body == f"{flight.send.label}->{flight.receive.label}" for flight in flights)
    ways = {(line.process, line.to) for line in library.load("lecture").script}
    drawn = [another_run(run(library.load("lecture")), number) for number in range(5)]
    assert any({(line.process, line.to) for line in one.script} != ways for one in drawn)


def test_what_messages_carry_stays_with_who_sends_it_to_whom() -> None:
    script = library.load("lai_yang").script
    drawn = another_run(run(library.load("lai_yang")), 5).script
    assert [(line.process, line.to, line.body) for line in drawn] == [(one.process, one.to, one.body) for one in script]
    assert [line.at for line in drawn] != [line.at for line in script]


def test_what_was_held_is_drawn_like_the_others() -> None:
    held = edited_by(
        library.load("lecture"),
        {"do": "hold", "message": {"channel": "P1->P2", "kind": "marker", "snapshot": "S1"}},
        0.0,
    )
    assert snapshots_of(run(another_run(run(held), 1)))[0].status == COMPLETE


def test_without_a_snapshot_there_is_nothing_to_ask() -> None:
    scenario = system("P1 P2", script=(send("P1", "P2", 1.0),))
    with pytest.raises(InputError, match="no snapshot in this run"):
        another_run(run(scenario), 1)


def test_chance_chooses_if_a_user_chose_every_step() -> None:
    scenario = system("P1 P2", script=(send("P1", "P2", 1.0),), snapshots=(start("P1", 1.0),))
    by_hand = edited_by(scenario, {"do": "manual", "after": 4}, 0.0)
    assert another_run(run(by_hand), 1).scheduler.kind == "random"


@pytest.mark.slow
@each("name", ["lecture", "gupta", "tutorial", "lai_yang", "two_initiators"])
def test_what_happens_at_a_process_lies_apart_so_that_the_order_can_be_seen(name: str) -> None:
    for number in range(4):
        execution = run(another_run(run(library.load(name)), number))
        least = CLEAR * (execution.times[-1] - execution.times[1])
        for process in execution.scenario.processes:
            times = {event.step: event.time for event in execution.events if event.process == process}.values()
            assert all(after - before >= least for before, after in pairwise(times))


def test_a_link_gives_the_same_run_tomorrow() -> None:
    """If this fails, links to drawn runs lead elsewhere: see VERSION in sim/edit/link.py."""
    drawn = another_run(run(library.load("lecture")), 4711, "K7QF")
    sends = [(line.process, line.to, line.at, line.label, line.receive_label) for line in drawn.script if line.to]
    assert sends == [
        ("P3", "P1", 475.0, "H", "A"),
        ("P3", "P2", 674.0, "I", "F"),
        ("P2", "P3", 552.0, "E", "J"),
        ("P2", "P3", 373.0, "D", "G"),
    ]
    assert [(start.process, start.at) for start in drawn.snapshots] == [("P1", 729.0)]
    assert drawn.seed == 3146954341


def test_a_run_whose_markers_never_come_is_refused() -> None:
    never = DelayRule("fixed", HOLD)
    scenario = system("P1 P2", script=(send("P1", "P2", 1.0),), snapshots=(start("P1", 1.0),), marker_delay=never)
    with pytest.raises(InputError, match="no run drawn like this one completes"):
        another_run(run(scenario), 1)
