"""Stop-the-world: the times and states of the bundled run, and what goes wrong without each of its rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import compose
from sim.algorithms.stop_the_world import Coordinator, Notes, StopTheWorld
from sim.core.algorithm import Graph, Service
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.model import (
    CONTROL,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    INTERNAL,
    PAUSED,
    RECEIVE,
    RECORD,
    RESUMED,
    SEND,
    Message,
    MessageReference,
    Process,
)
from sim.core.workload import WORKLOADS, Workload
from sim.document import library
from sim.document.scenario import Scenario, SchedulerChoice
from sim.explain.narration import sentences
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.strategies import scenarios
from tests.sim.tools import bodies, edited_by, failing, only_snapshot, rows_of, send, start, system
from tests.tools import check_none, examples

NAME = StopTheWorld.name


def bundled() -> Execution:
    return run(library.load(NAME))


def test_both_banks_record_when_nothing_is_on_its_way() -> None:
    """800 - 30 + 20 and 200 - 20 + 30: both messages were sent before PAUSE came, and received before RECORD."""
    execution = bundled()
    snapshot = only_snapshot(execution)
    assert {name: local.state for name, local in snapshot.local.items()} == {"P1": 790, "P2": 210}
    assert bodies(snapshot) == {} and set(snapshot.channels) == {"P1->P2", "P2->P1"}
    assert failing(execution) == {}


def test_when_it_happens() -> None:
    """PAUSE leaves at 2. P1 receives 20 at 5 and reports, there at 6. RECORD comes at 7, DONE at 8, RESUME at 9."""
    execution = bundled()

    def when(*kinds: str) -> list[tuple[str, float]]:
        return [(row.process, row.time) for row in rows_of(execution, *kinds)]

    assert when(PAUSED) == [("P1", 3), ("P2", 3)]
    assert when(RECORD) == [("P1", 7), ("P2", 7)]
    assert when(RESUMED) == [("P1", 9), ("P2", 9)]
    told = [(row.time, row.channel, row.body) for row in rows_of(execution, CONTROL_RECEIVE)]
    reports = [(time, channel) for time, channel, body in told if "sent" in (body or "")]
    assert reports == [
        (4, "P1->coordinator"), (4, "P2->coordinator"), (5, "P2->coordinator"), (6, "P1->coordinator")
    ]  # fmt: skip
    assert [(time, channel) for time, channel, body in told if body == '"DONE"'] == [
        (8, "P1->coordinator"), (8, "P2->coordinator")
    ]  # fmt: skip


def test_how_long_each_process_stood_still_is_told() -> None:
    execution = bundled()
    told = sentences(execution)
    for process in ("P1", "P2"):
        assert (
            f"The coordinator tells {process} to go on: {process} goes on, after it stood still from 3 to 9 "
            "(6 time units)." in told
        )
    (record,) = record_of(compose(execution))
    assert record["facts"].endswith("0 recorded messages, P1 and P2 stood still for 6 time units")


def test_a_snapshot_is_under_way_from_the_first_order_on() -> None:
    """Nobody records before step 12; and the last process goes on at step 17, after the snapshot is complete."""
    (record,) = record_of(compose(bundled()))
    assert record["starts"] == "The coordinator starts S1."
    assert record["status"][:2] == [[0, "has not begun"], [3, "under way: no process has recorded yet"]]
    assert [record[key] for key in ("asked", "began", "completed", "settled")] == [3, 12, 13, 17]
    assert record["truth"]["start_steps"] == {}


def test_what_a_paused_process_wants_to_send_waits() -> None:
    later = edited_by(library.load(NAME), {"do": "send", "process": "P1", "to": "P2", "body": "5", "at": 5}, 5)
    sent = [(row.process, row.time, row.body) for row in rows_of(run(later), SEND)]
    assert sent == [("P1", 1, "30"), ("P2", 2, "20"), ("P1", 9, "5"), ("P1", 10, "10")]


def test_a_message_that_never_comes_stops_the_world_for_good() -> None:
    scenario = replace(library.load(NAME), delays={MessageReference(label="m1"): HOLD}, expect={})
    execution = run(scenario)
    assert failing(execution) == {"S1:completion": "P1 has not recorded"}
    assert rows_of(execution, RESUMED) == [] and len(rows_of(execution, SEND)) == 2
    (record,) = record_of(compose(execution))
    assert record["facts"].endswith("P1 and P2 stand still to the end")


# --------------------------------------------------------------------------- without a rule


class NoWaiting(Coordinator):
    """Has everybody record as soon as all have reported, whatever their counts."""

    def are_empty(self, reports: Mapping[str, Any]) -> bool:
        return len(reports) == len(self.algorithm.graph.processes)


class Hasty(StopTheWorld):
    """Does not wait until the channels are empty."""

    name = "test_hasty"
    services: ClassVar[tuple[type[Service], ...]] = (NoWaiting,)


def test_without_waiting_for_the_counts_what_is_on_its_way_is_lost(register: Register) -> None:
    """All have reported at 4, and RECORD comes at 5: m1 has come at 4, and m2 comes at 5, before RECORD."""
    slower = {MessageReference(label="m1"): 10.0}
    scenario = replace(library.load(NAME), delays=slower, expect={})
    assert failing(run(scenario)) == {}
    assert failing(run(replace(scenario, algorithm=register(Hasty)))) == {
        "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
        "S1:conservation": "970 money recorded of 1000",
    }


class SumsOnly(Coordinator):
    """Compares the sum of all that was sent with the sum of all that was received."""

    def are_empty(self, reports: Mapping[str, Any]) -> bool:
        sums = [sum(sum(report[what].values()) for report in reports.values()) for what in ("sent", "received")]
        return len(reports) == len(self.algorithm.graph.processes) and sums[0] == sums[1]


class Summing(StopTheWorld):
    """Counts, but not each channel."""

    name = "test_summing"
    services: ClassVar[tuple[type[Service], ...]] = (SumsOnly,)


class Sharing(Workload):
    """A process that receives some money shares it with the others at once: each gets a third of it."""

    name = "test_sharing"
    title = "Sharing"

    def initial(self, process: str) -> int:
        return 90

    def after_send(self, process: Process, body: Any) -> int:
        own: int = process.state
        return own - int(body)

    def after_receive(self, process: Process, message: Message, out: Out) -> int:
        own: int = process.state
        if message.body >= 3:
            for channel in process.outgoing:
                out.send(channel.target_name, message.body // 3)
        return own + int(message.body)

    def measure(self, state: int) -> dict[str, int]:
        return {"money": state}

    def measure_body(self, body: Any) -> dict[str, int]:
        return {"money": body}


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(WORKLOADS._found, Sharing.name, Sharing)
    return Sharing.name


def shared(algorithm: str, workload: str) -> Scenario:
    """A pays P 6; P, which is paused, answers with 2 to Q, which come at once, and 2 to R, which are long on their way.

    Q reports that it has received something before P's second report comes. So the sum of all that is reported sent is
    1, what A sent, and the sum of all that is reported received is 1 too, what Q received.
    """
    return system(
        "A P Q R", "A->P P->Q P->R", algorithm=algorithm, workload=workload, script=(send("A", "P", 1, 6, label="x"),),
        snapshots=(start("coordinator", 1.5),), control_delay=DelayRule("fixed", 1.0),
        delays={
            MessageReference(label="x"): 4.0,
            MessageReference(None, "P->R", ordinal=1): 50.0,
            MessageReference(None, "P->coordinator", CONTROL, "S1", 2): 20.0,
        },
    )  # fmt: skip


def test_the_sums_may_agree_while_something_is_on_its_way(register: Register, sharing: str) -> None:
    """So the counts of each channel have to: P answers what it receives, also while it is paused."""
    assert failing(run(shared(NAME, sharing))) == {}
    assert failing(run(shared(register(Summing), sharing))) == {
        "S1:channel_states": "P->R recorded [], but [2] crosses the cut",
        "S1:conservation": "358 money recorded of 360",
    }


def test_a_report_counts_what_was_answered_in_the_same_step(sharing: str) -> None:
    """P receives 6 and answers twice in one step: one report, with all three."""
    execution = run(shared(NAME, sharing))
    (receipt,) = [row for row in rows_of(execution, RECEIVE) if row.process == "P"]
    (report,) = [row for row in rows_of(execution, CONTROL_SEND) if row.step == receipt.step]
    assert json.loads(report.body or "") == {"sent": {"P->Q": 1, "P->R": 1}, "received": {"A->P": 1}}
    assert [row.kind for row in execution.events if row.step == receipt.step] == [RECEIVE, SEND, SEND, CONTROL_SEND]


class Unpaused(StopTheWorld):
    """Reports, but goes on working."""

    name = "test_unpaused"

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        super().on_control(process, message, out)
        out.effects = [effect for effect in out.effects if type(effect).__name__ != "Pause"]


def test_without_a_pause_something_is_sent_in_between(register: Register) -> None:
    """P1 sends m3 when it has told its counts, and m3 crosses the cut."""
    scenario = replace(library.load(NAME), expect={})
    line = replace(scenario.script[2], at=6.4)
    scenario = replace(scenario, script=(*scenario.script[:2], line))
    assert failing(run(scenario)) == {}
    assert "S1:conservation" in failing(run(replace(scenario, algorithm=register(Unpaused))))


class Dropped(StopTheWorld):
    """Does not count what P2 receives."""

    name = "test_dropped"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        if process.name == "P2":
            process.memory = process.memory or Notes()
        else:
            super().on_message(process, message, out)


def test_with_a_count_dropped_the_world_stands_still_for_good(register: Register) -> None:
    scenario = replace(library.load(NAME), algorithm=register(Dropped), expect={})
    assert failing(run(scenario)) == {"S1:completion": "P1 has not recorded"}


# --------------------------------------------------------------------------- always


def acts_of_their_own(execution: Execution) -> Iterator[str]:
    """What processes begin while they are paused; an answer in the step of a receipt is none."""
    paused: set[str] = set()
    received = {row.step for row in rows_of(execution, RECEIVE)}
    for row in execution.events:
        if row.kind == PAUSED:
            paused.add(row.process)
        elif row.kind == RESUMED:
            paused.discard(row.process)
        elif row.process in paused and row.kind in (INTERNAL, SEND) and row.step not in received:
            yield f"{row.process} at {row.time}: {row.kind}"


WORK: tuple[tuple[str, dict[str, Any]], ...] = (
    ("bank", {"transfers": 5, "pace": 3.0}),
    ("requests", {"requests": 3, "greed": 0, "pace": 4.0}),  # managers answer
    ("requests", {"requests": 3, "greed": 70, "pace": 4.0}),  # until there is a deadlock
    ("diffusing", {"acts": 6, "pace": 3.0}),
    ("token_ring", {"rounds": 3, "hold": 2.0}),
    (Sharing.name, {}),
)


@pytest.mark.slow
@each("kind", ["timed", "random", "tick"])
@each("number", range(len(WORK)))
def test_overlapping_snapshots_of_any_work_in_any_order(sharing: str, number: int, kind: str) -> None:
    """Channels that keep no order, control messages that take their time, three snapshots of which two overlap."""
    workload, parameters = WORK[number]
    some = DelayRule("whole", 0.0, 9.0)
    payments = (send("P1", "P2", 5, 27), send("P3", "P1", 9, 27)) if workload == Sharing.name else ()
    scenario = system(
        "P1 P2 P3", workload=workload, parameters=parameters, algorithm=NAME, scheduler=SchedulerChoice(kind),
        delay=some, control_delay=some, not_fifo=() if kind == "tick" else ("all",), script=payments,
        snapshots=(start("coordinator", 8), start("coordinator", 12, "S2"), start("coordinator", 40, "S3")),
    )  # fmt: skip
    for seed in range(12):
        execution = run(replace(scenario, seed=seed))
        check_none(acts_of_their_own(execution))
        assert failing(execution) == {}, seed
        assert [bodies(own) for own in snapshots_of(execution)] == [{}, {}, {}]
        assert not any(process.paused for process in execution.final.processes)
        assert run(replace(scenario, seed=seed), copied=True).events == execution.events


@pytest.mark.slow
@examples(20)
@given(scenarios(holds=False), st.booleans())
def test_it_can_run_wherever_another_algorithm_does(scenario: Scenario, loses_order: bool) -> None:
    plain = replace(scenario, not_fifo=("all",) if loses_order and scenario.scheduler.kind != "tick" else ())
    execution = run(changed(replace(plain, delays={}), NAME, not_fifo=False))
    assert failing(execution) == {}
    assert {snapshot.status for snapshot in snapshots_of(execution)} == {"complete"}
    check_none(acts_of_their_own(execution))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "sends", "states", "transitions"), [(2, 1, 230, 425), (2, 2, 1_113, 2_752), (3, 1, 14_277, 39_203)]
)
def test_every_run_of_a_small_system(processes: int, sends: int, states: int, transitions: int) -> None:
    """Counted once; no run breaks a check, and no recorded channel holds anything."""
    done = exploration(changed(complete_graph(processes, sends), NAME, not_fifo=True))
    assert (done.found.states, done.found.transitions, done.shortest()) == (states, transitions, [])


def test_the_shortest_run_in_which_haste_does_harm(register: Register) -> None:
    """PAUSE, PAUSE, both report, RECORD, RECORD: six control messages, a send before them, and who initiates."""
    done = exploration(changed(complete_graph(2, 1), register(Hasty), not_fifo=False))
    assert done.shortest() == [("channel_states", 8)]
    assert failing(run(done.runs["channel_states"]))


def test_counts_in_words() -> None:
    report = {"sent": {"P1->P2": 2, "P1->P3": 1}, "received": {}}
    words = StopTheWorld(Graph((), ())).control_words(report, "")
    assert words == "that it has sent 3 messages (2 to P2, 1 to P3) and received none"
