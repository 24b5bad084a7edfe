"""Collection at the initiator: the lecture example with reports (oracle 16), and what each rule is for.

In the lecture example P1 is done at 972, P2 at 967 and P3 at 1006. A report takes 170, so those of P2 and P3 are at P1
at 1137 and 1176; then P1 has the whole snapshot.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from pipeline.compiled.listed import is_listed
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.collection import Collection
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import COLLECTED, CONTROL, CONTROL_RECEIVE, CONTROL_SEND, MessageReference, Process
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.explain.narration import narrate, sentences
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.sim.conftest import Register
from tests.sim.strategies import has_holds, scenarios
from tests.sim.tools import failing, only_snapshot, rows_of, start, system
from tests.tools import check_none, examples

COLLECTING = {"collect": True}


def collected() -> Scenario:
    return library.load("collected")


def times(execution: Execution, *kinds: str) -> list[tuple[float, str]]:
    return [(row.time, row.process) for row in rows_of(execution, *kinds)]


def test_two_reports_reach_the_initiator_and_then_it_has_the_whole_snapshot() -> None:
    execution = run(collected())
    assert times(execution, CONTROL_SEND) == [(967, "P2"), (1006, "P3")]
    assert times(execution, CONTROL_RECEIVE) == [(1137, "P1"), (1176, "P1")]
    assert times(execution, COLLECTED) == [(1176, "P1")]
    snapshot = only_snapshot(execution)
    assert (execution.times[snapshot.completed or 0], execution.times[snapshot.collected or 0]) == (1006, 1176)
    assert failing(execution) == {}


def test_what_comes_together_at_the_initiator_is_what_was_recorded() -> None:
    execution = run(collected())
    (p1, *_) = execution.final.processes
    parts = p1.memory["collection"]["S1"].parts
    channels = {name: kept for part in parts.values() for name, kept in part["channels"].items()}
    snapshot = only_snapshot(execution)
    assert {name: part["state"] for name, part in parts.items()} == {
        name: own.state for name, own in snapshot.local.items()
    }
    assert channels == {name: [message.body for message in kept] for name, kept in snapshot.channels.items()}
    assert channels["P2->P1"] == ["H->D"]


def test_all_else_is_as_without_collection() -> None:
    """The same rows in the same order, but for the reports and the event at the initiator."""
    with_reports, without = run(collected()), run(replace(collected(), algorithm_parameters={}))
    own = (CONTROL_SEND, CONTROL_RECEIVE, COLLECTED)
    kept = [(row.time, row.process, row.kind, row.channel) for row in with_reports.events if row.kind not in own]
    assert kept == [(row.time, row.process, row.kind, row.channel) for row in without.events]


def test_the_cost_of_a_snapshot_includes_the_reports() -> None:
    execution, plain = run(collected()), run(library.load("lecture"))
    assert (only_snapshot(execution).markers, only_snapshot(execution).controls) == (6, 2)
    assert (only_snapshot(plain).markers, only_snapshot(plain).controls) == (6, 0)
    assert (execution.engine.algorithm.messages(), plain.engine.algorithm.messages()) == (8, 6)


def test_the_event_has_a_sentence_of_its_own() -> None:
    told = narrate(run(collected()))
    assert [text.sentence for text in told[-2:]] == [
        "P2 reports its recorded state and those of its incoming channels to P1: P1 keeps the report and waits for the "
        "others.",
        "P3 reports its recorded state and those of its incoming channels to P1: P1 has every part, and knows that S1 "
        "is complete.",
    ]
    assert {text.badge for text in told[-2:]} == {"Reports"}


def test_an_initiator_that_is_done_last_knows_it_at_once() -> None:
    """P2's marker comes last, after the report of P2 itself."""
    slow = {MessageReference(None, "P2->P1", "marker", "S1", 1): 900.0}
    execution = run(replace(collected(), delays={**collected().delays, **slow}))
    assert times(execution, COLLECTED)[0][0] == only_time_of_completion(execution)
    assert sentences(execution)[-1].endswith(
        "has done its part, and has every part, and knows that S1 is complete. Every process is done: S1 is complete."
    )


def only_time_of_completion(execution: Execution) -> float:
    return execution.times[only_snapshot(execution).completed or 0]


# --------------------------------------------------------------------------- an option, off unless it is asked for


def test_without_the_option_the_rule_book_is_that_of_chandy_and_lamport() -> None:
    """Not a subclass, no hook more: what ran before runs as before."""
    for parameters in ({}, {"collect": False}):
        scenario = replace(library.load("lecture"), algorithm_parameters=parameters)
        assert type(scenario.rule_book()) is ChandyLamport and not scenario.rule_book().uses_control
        assert run(scenario).events == run(library.load("lecture")).events
    assert [rule.title for rule in ChandyLamport.rules] == ["Marker-sending rule", "Marker-receiving rule"]


def test_the_compiled_kernel_does_not_take_runs_with_the_option() -> None:
    plain = system("P1 P2", workload="bank", parameters={"transfers": 5}, snapshots=(start("P1", 2),))
    assert is_listed(plain) and not is_listed(replace(plain, algorithm_parameters=COLLECTING))


def test_it_is_written_and_read_and_nothing_but_true_or_false() -> None:
    assert parse_toml(dumps(collected()), "collected") == collected()
    with pytest.raises(InputError, match="expected true or false, not 'yes'"):
        parse_toml(dumps(collected()).replace("collect = true", 'collect = "yes"'), "collected")


def test_a_snapshot_that_is_collected_has_one_initiator() -> None:
    two = replace(collected(), snapshots=(*collected().snapshots, start("P3", 495)))
    with pytest.raises(InputError, match="so P1 and P3 cannot both start S1; leave one of them out"):
        validate(two)
    validate(replace(two, algorithm_parameters={}))


# --------------------------------------------------------------------------- what each rule is for


class Silent(Collection):
    """A process whose part is complete tells nobody."""

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        if process.name == self._gathered(process, snapshot).initiator:
            super().on_done(process, snapshot, out)


class Anonymous(Collection):
    """Markers name the process that sends them, not the one that started the snapshot."""

    def carried_by_markers(self, process: Process, snapshot: str) -> Any:
        return process.name


class Counting(Collection):
    """The initiator believes that it has everything at the first report."""

    def _add(self, process: Process, snapshot: str, source: str, part: Any, out: Out) -> None:
        if source != process.name:
            out.collected(snapshot)


def with_option(option: type[Collection]) -> type[SnapshotAlgorithm]:
    return type("Changed", (ChandyLamport,), {"name": "test_changed", "options": {"collect": option}})


def is_whole_when_known(execution: Execution) -> bool:
    """Whether the initiator knows, once, that the snapshot is complete, and has got a report of every other by then."""
    known = rows_of(execution, COLLECTED)
    got = {
        (row.channel or "").split("->")[0] for row in rows_of(execution, CONTROL_RECEIVE)
        if known and row.row < known[0].row and row.process == known[0].process
    }  # fmt: skip
    return len(known) == 1 and got | {known[0].process} == set(execution.scenario.processes)


@pytest.mark.parametrize("option", [Silent, Anonymous, Counting])
def test_the_initiator_does_not_get_the_whole_without_a_rule(register: Register, option: type[Collection]) -> None:
    assert is_whole_when_known(run(collected()))
    changed = replace(collected(), algorithm=register(with_option(option)))
    assert not is_whole_when_known(run(changed))


def test_a_report_that_never_comes_leaves_the_snapshot_uncollected() -> None:
    held = {MessageReference(None, "P3->P1", CONTROL, "S1", 1): HOLD}
    execution = run(replace(collected(), delays={**collected().delays, **held}))
    assert only_snapshot(execution).status == "complete" and only_snapshot(execution).collected is None


# --------------------------------------------------------------------------- in any system


def one_initiator(scenario: Scenario) -> Scenario:
    """The scenario with collection, and of each snapshot only the initiator from which it reaches every process."""
    first = {own.snapshot: own for own in reversed(scenario.snapshots)}
    scenario = replace(scenario, snapshots=tuple(reversed(first.values())), algorithm_parameters=COLLECTING)
    missing = [("P1", name) for name in scenario.processes[1:]] + [(name, "P1") for name in scenario.processes[1:]]
    edges = dict.fromkeys((*scenario.topology.channels, *missing))
    return replace(scenario, topology=replace(scenario.topology, channels=tuple(edges)))


@examples(17)
@given(scenarios())
def test_the_initiator_of_every_snapshot_of_any_run_gets_all_parts(scenario: Scenario) -> None:
    scenario = one_initiator(scenario)
    validate(scenario)
    execution = run(scenario)
    assert run(scenario, copied=True).events == execution.events
    assert all(text.endswith(".") for text in sentences(execution))
    for snapshot in snapshots_of(execution):
        assert snapshot.collected is not None or has_holds(scenario)
        if snapshot.collected is not None:
            assert snapshot.status == "complete" and (snapshot.completed or 0) <= snapshot.collected
            assert snapshot.controls == len(scenario.processes) - 1
    verdicts = (verdict for own in verdicts_of(execution).values() for verdict in own)
    assert has_holds(scenario) or all(verdict.holds for verdict in verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "states", "transitions"), [(2, 105, 193), (3, 39_637, 144_147)])
def test_in_every_run_every_check_holds(processes: int, states: int, transitions: int) -> None:
    done = exploration(replace(complete_graph(processes, 1), algorithm_parameters=COLLECTING))
    assert (done.found.states, done.found.transitions, done.found.complete) == (states, transitions, True)
    assert done.shortest() == []


def test_on_channels_that_are_not_fifo_it_goes_wrong_as_without_collection() -> None:
    """In 4 actions, as plain Chandy-Lamport does (oracle 17)."""
    broken = changed(complete_graph(2, 1), None, not_fifo=True)
    done = exploration(replace(broken, algorithm_parameters=COLLECTING))
    assert done.shortest() == exploration(broken).shortest() == [("channel_states", 4), ("consistency", 5)]


def test_reports_are_chosen_by_hand_too() -> None:
    """Without time, a report is a choice like any other."""
    scenario = system(
        "P1 P2", algorithm_parameters=COLLECTING, snapshots=(start("P1", 0),), scheduler=SchedulerChoice("random"),
        delay=DelayRule("fixed", 1.0),
    )  # fmt: skip
    by_hand = SchedulerChoice(
        "manual", order=("initiate S1 at P1", "deliver P1->P2", "control P2->P1", "deliver P2->P1")
    )
    execution = run(replace(scenario, scheduler=by_hand))
    assert [row.step for row in rows_of(execution, COLLECTED)] == [4]
    assert [row.process for row in rows_of(run(scenario), COLLECTED)] == ["P1"]


def test_every_row_of_a_report_says_what_it_carries() -> None:
    check_none(
        row for row in rows_of(run(collected()), CONTROL_SEND)
        if set(json.loads(row.body or "")) != {"state", "channels"}
    )  # fmt: skip
