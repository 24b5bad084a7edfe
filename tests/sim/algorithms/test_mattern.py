"""Mattern's counters: the run of lecture-examples.md, section 6, worked out by hand, and what each rule is for.

P1=800, P2=200; m1 20 (sent by P1 at 1, received at 2), m2 30 (2, 6), m3 10 (3, 5), m4 30 (sent by P2 at 4, received at
6), m5 20 (7, 8). P1 records at 2.5: it has sent two messages and received none, so its counter is +2. Its state is
800 - 20 - 30. m3 is red: P2 records at 5, when it has sent m4 and received m1, so its counter is 0. Its state is
200 + 20 - 30. Control messages take 1, so the counter of P2 is at P1 at 6. m2 comes to P2 at 6, and P1 knows at 7; m4
comes to P1 itself at 6. So the sum is +2, +2 + 0 - 1 at 6, and 0 at 7.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sim.algorithms.mattern import LATE, Mattern, Notes
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import COLLECTED, CONTROL, CONTROL_SEND, NOTED, Channel, Message, MessageReference, Process
from sim.document import library
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.edit.another_algorithm import with_algorithm
from sim.explain.narration import sentences
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.snapshots import Snapshot, snapshots_of
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system


def oracle(**changes: Any) -> Scenario:
    """The run as the oracle has it: every control message takes 1."""
    return replace(library.load("mattern"), **{"delays": by_label(library.load("mattern")), **changes})


def by_label(scenario: Scenario) -> dict[MessageReference, float]:
    """The delays of messages of the script only."""
    return {reference: delay for reference, delay in scenario.delays.items() if reference.kind != CONTROL}


def told(execution: Execution) -> list[tuple[float, str, Any]]:
    """Every control message: when it was sent, by whom, and what it says."""
    return [(row.time, row.process, json.loads(row.body or "")) for row in rows_of(execution, CONTROL_SEND)]


def time_of(execution: Execution, step: int | None) -> float | None:
    return None if step is None else execution.times[step]


def notes_at(execution: Execution, time: float) -> dict[str, Notes]:
    """What each process remembers after all that happens until `time`."""
    processes = execution.engine.initial().processes
    for step in execution.replay():
        if step.time > time:
            break
        processes = step.state.processes
    return {process.name: process.memory or Notes() for process in processes}


def test_states_channels_and_counters_are_those_of_the_oracle() -> None:
    snapshot = only_snapshot(execution := run(oracle()))
    assert {name: (own.state, time_of(execution, own.step)) for name, own in snapshot.local.items()} == {
        "P1": (750, 2.5), "P2": (190, 5),
    }  # fmt: skip
    assert bodies(snapshot) == {"P1->P2": [30], "P2->P1": [30]}
    assert notes_at(execution, 2.5)["P1"].sums == {"S1": +2}
    assert told(execution) == [(5, "P2", 0), (6, "P2", LATE), (7, "P1", "over")]
    assert failing(execution) == {}


def test_it_is_known_to_be_complete_at_7_when_all_have_reported_and_the_sum_is_zero() -> None:
    snapshot = only_snapshot(execution := run(oracle()))
    assert [(row.time, row.process) for row in rows_of(execution, COLLECTED)] == [(7, "P1")]
    assert time_of(execution, snapshot.collected) == 7
    assert [notes_at(execution, time)["P1"].sums.get("S1") for time in (2.5, 5.9, 6.9, 7)] == [2, 2, 1, None]
    assert time_of(execution, snapshot.completed) == 8, "P2 is told, and closes C12"


def test_the_scenario_is_that_run_but_for_one_report() -> None:
    """The counter of P2 takes 1.4, so that its arrival is apart from that of m4."""
    shown, exact = run(library.load("mattern")), run(oracle())
    assert told(shown) == told(exact)
    assert [row.time for row in rows_of(shown, COLLECTED)] == [7]
    assert [(row.time, row.body) for row in rows_of(shown, NOTED)] == [(2.5, "2"), (6, "1"), (6.4, "1"), (7, "0")]
    assert sentences(shown)[12] == (
        "P2 tells P1 that a white message has come to it: P1 sets the sum to 0, knows that nothing of S1 is missing, "
        "as all have reported, closes C21, whose state is <30>, tells P2 that no white message is on its way, and has "
        "done its part."
    )


# --------------------------------------------------------------------------- announcements


def silent(**changes: Any) -> Scenario:
    """P3 hears nothing from anybody, and reports to P1, to which it has no channel."""
    fields: dict[str, Any] = {
        "algorithm": "mattern", "workload": "bank", "snapshots": (start("P1", 2),),
        "delay": DelayRule("fixed", 3.0, 3.0), "script": (send("P1", "P2", 1, 5), send("P3", "P2", 1.5, 7)), **changes,
    }  # fmt: skip
    return system("P1 P2 P3", "P1->P2 P2->P3 P3->P2", **fields)


def test_an_announcement_reaches_who_gets_no_red_message_and_the_initiator_need_not_be_a_neighbour() -> None:
    """At 3 all are red. P1 and P3 have sent one message each, which come to P2 at 4 and 4.5."""
    snapshot = only_snapshot(execution := run(silent()))
    assert [(time, who, says) for time, who, says in told(execution) if says != "over"] == [
        (2, "P1", "begins"), (2, "P1", "begins"), (3, "P2", 0), (3, "P3", 1), (4, "P2", LATE), (4.5, "P2", LATE),
    ]  # fmt: skip
    assert bodies(snapshot) == {"P1->P2": [5], "P3->P2": [7]}
    assert time_of(execution, snapshot.collected) == 5.5
    assert failing(execution) == {}


def test_without_announcements_a_process_on_silent_channels_never_records() -> None:
    execution = run(silent(algorithm_parameters={"announce": False}))
    assert failing(execution) == {"S1:completion": "P2 has not recorded"}
    assert only_snapshot(execution).collected is None


# --------------------------------------------------------------------------- what each rule is for


class Unsummed(Mattern):
    """Ends when all have reported, whatever the sum."""

    name = "test_unsummed"
    title = "Unsummed"

    def _add(self, process: Process, snapshot: str, count: int, source: str, out: Out) -> None:
        notes = process.memory
        if snapshot in notes.sums:
            process.memory = notes._replace(sums={**notes.sums, snapshot: 0})
            super()._add(process, snapshot, 0, source, out)


class Hasty(Mattern):
    """Ends when the sum is zero, whoever has reported."""

    name = "test_hasty"
    title = "Hasty"

    def _look_at_sum(self, process: Process, snapshot: str, out: Out) -> None:
        everybody = frozenset(self.graph.processes)
        process.memory = process.memory._replace(reported={**process.memory.reported, snapshot: everybody})
        super()._look_at_sum(process, snapshot, out)


class Deaf(Mattern):
    """Drops a count: white messages that come to a red process are not reported."""

    name = "test_deaf"
    title = "Deaf"

    def _report_late(self, process: Process, snapshot: str, out: Out) -> None:
        pass


class Miscounting(Mattern):
    """A process does not count what it sends."""

    name = "test_miscounting"
    title = "Miscounting"

    def on_send(self, process: Process, channel: Channel, out: Out) -> Any:
        stamp = super().on_send(process, channel, out)
        process.memory = process.memory._replace(counter=process.memory.counter - 1)
        return stamp


class Late(Mattern):
    """Takes in a red message first, and records afterwards: the message is counted before the recording."""

    name = "test_late"
    title = "Late"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        super().on_message(process, replaced(message), out)


def replaced(message: Message) -> Message:
    """The message without its stamp."""
    return Message(
        message.id, message.channel, message.kind, message.body, message.snapshot, (), message.sent_index,
        message.label, message.receive_label,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "fails"),
    [
        (Deaf, {"S1:completion": "C12 is not closed"}),  # the sum stays +2
        (Miscounting, {"S1:completion": "C12 is not closed"}),  # the sum is 0 - 1 and falls to -3
    ],
)
def test_the_oracle_fails_without_a_rule(register: Register, rules: type[Mattern], fails: dict[str, str]) -> None:
    execution = run(oracle(algorithm=register(rules)))
    assert failing(execution) == fails
    assert rows_of(execution, COLLECTED) == []


def test_a_sum_that_nobody_looks_at_loses_what_is_still_on_its_way(register: Register) -> None:
    """m2 takes 9, so it comes at 11, long after P1 and P2 have ended the snapshot."""
    delays = {**by_label(library.load("mattern")), MessageReference(label="m2"): 9.0}
    fine, wrong = (run(oracle(algorithm=name, delays=delays)) for name in ("mattern", register(Unsummed)))
    assert failing(fine) == {}
    assert set(failing(wrong)) == {"S1:channel_states", "S1:conservation"}


def test_a_sum_of_zero_says_nothing_before_all_have_reported(register: Register) -> None:
    """P1 has sent nothing: its own counter is zero when it starts. Nobody else has recorded yet."""
    scenario = silent(script=(send("P2", "P3", 1, 7), send("P3", "P2", 1.5, 9)))
    assert failing(run(scenario)) == {}
    with pytest.raises(TypeError, match="P2 has not recorded"):
        run(replace(scenario, algorithm=register(Hasty), algorithm_parameters={"announce": False}))


def test_a_red_message_taken_in_by_a_white_process_makes_the_cut_inconsistent(register: Register) -> None:
    """P2 takes m3 in at 5, before it records at 12, when the announcement comes."""
    slow = {"control_delay": DelayRule("fixed", 9.5, 9.5), "algorithm_parameters": {"announce": True}}
    assert failing(run(oracle(**slow))) == {}
    wrong = failing(run(oracle(algorithm=register(Late), **slow)))
    assert "S1:consistency" in wrong


# --------------------------------------------------------------------------- every run of a small system


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "states", "transitions"), [(2, 140, 243), (3, 14_181, 41_269)])
@pytest.mark.parametrize("not_fifo", [True, False])
def test_in_every_run_every_check_holds(processes: int, states: int, transitions: int, not_fifo: bool) -> None:
    """With one message of each process nothing can be overtaken, so FIFO or not, the runs are the same."""
    done = exploration(changed(complete_graph(processes, 1), "mattern", not_fifo=not_fifo))
    assert (done.found.states, done.found.transitions, done.found.complete) == (states, transitions, True)
    assert done.shortest() == []


@pytest.mark.parametrize(
    ("rules", "shortest"),
    [
        (Unsummed, [("channel_states", 5)]),  # P2 sends, P1 announces, P2 records and reports: P1 ends without it
        (Deaf, [("completion", 7)]),
        (Miscounting, [("channel_states", 5), ("completion", 7)]),
        (Late, [("channel_states", 6), ("consistency", 7), ("completion", 7)]),
    ],
)
def test_the_shortest_wrong_run_without_a_rule(
    register: Register, rules: type[Mattern], shortest: list[tuple[str, int]]
) -> None:
    done = exploration(changed(complete_graph(2, 1), register(rules), not_fifo=True))
    assert done.shortest() == shortest


# --------------------------------------------------------------------------- in any system


def test_a_snapshot_has_one_initiator() -> None:
    scenario = replace(silent(), snapshots=(start("P1", 2), start("P3", 2)))
    with pytest.raises(InputError) as refused:
        validate(scenario)
    assert str(refused.value) == (
        "snapshots[1]: with Mattern's counters a snapshot comes together at the process that starts it, so P1 and P3 "
        "cannot both start S1; leave one of them out"
    )


@pytest.mark.slow
@each("scheduler", ["timed", "random", "tick"])
@each("seed", range(8))
def test_overlapping_snapshots_of_a_busy_bank_are_whole_without_fifo(scheduler: str, seed: int) -> None:
    """Each snapshot is known to be complete at its initiator, and copied runs are those in place."""
    scenario = system(
        "P1 P2 P3 P4", algorithm="mattern", workload="bank", parameters={"transfers": 12, "pace": 2.0}, seed=seed,
        scheduler=SchedulerChoice(scheduler), not_fifo=() if scheduler == "tick" else ("all",),
        delay=DelayRule("uniform", 1.0, 9.0), control_delay=DelayRule("uniform", 1.0, 9.0),
        snapshots=(start("P1", 5, "S1"), start("P3", 6, "S2"), start("P2", 14, "S3")),
    )  # fmt: skip
    execution = run(scenario)
    assert failing(execution) == {}
    assert run(scenario, copied=True).events == execution.events
    assert {row.snapshot_id: row.process for row in rows_of(execution, COLLECTED)} == {
        "S1": "P1", "S2": "P3", "S3": "P2",
    }  # fmt: skip
    assert all(known_in_time(execution, snapshot) for snapshot in snapshots_of(execution))


def known_in_time(execution: Execution, snapshot: Snapshot) -> bool:
    """Whether every message had been recorded when the initiator knew that the snapshot was complete."""
    assert snapshot.collected is not None and snapshot.completed is not None
    return all(message.step <= snapshot.collected for message in snapshot.recorded_messages) and (
        snapshot.collected <= snapshot.completed
    )


def test_a_snapshot_costs_what_is_said_and_a_notice_for_each_late_white_message() -> None:
    snapshot = only_snapshot(execution := run(silent()))
    assert snapshot.controls == execution.engine.algorithm.messages() + 2
    assert run(silent(algorithm_parameters={"announce": False})).engine.algorithm.messages() == 4


def test_a_notice_that_never_comes_leaves_the_snapshot_open() -> None:
    held = {MessageReference(None, "P2->P1", CONTROL, "S1", 2): HOLD}
    execution = run(oracle(delays={**by_label(library.load("mattern")), **held}))
    assert failing(execution) == {"S1:completion": "C12 is not closed"}


def test_announcements_reach_those_to_whom_no_channel_leads() -> None:
    one_way = system(
        "P1 P2 P3", "P2->P1 P3->P1", algorithm="mattern", script=(send("P2", "P1", 1),), snapshots=(start("P1", 1.5),)
    )
    execution = run(one_way)
    assert failing(execution) == {} and only_snapshot(execution).status == "complete"
    quiet = replace(one_way, algorithm_parameters={"announce": False})
    with pytest.raises(InputError, match=r"S1 cannot reach P2 from P1; add a channel$"):
        validate(quiet)


def test_with_another_algorithm_the_initiator_stays_who_reaches_all_by_announcements() -> None:
    scenario = system("P1 P2", "P1->P2", snapshots=(start("P1", 1),))
    changed_to = with_algorithm(replace(scenario, snapshots=(start("P2", 1),)), "mattern")
    assert [own.process for own in changed_to.snapshots] == ["P2"]
    assert failing(run(changed_to)) == {}
