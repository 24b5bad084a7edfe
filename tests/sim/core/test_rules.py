"""What one action does to one process, without an engine, and with the algorithms in tests/sim/py."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.algorithms.lai_yang import LaiYang
from sim.core.algorithm import Graph, SnapshotAlgorithm
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import (
    APP,
    BLOCKED,
    CHANNEL_CLOSED,
    CONTROL,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    MARKER,
    MARKER_RECEIVE,
    MARKER_SEND,
    PAUSED,
    RECEIVE,
    RECORD,
    RECORDED,
    RESUMED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    TIMER,
    UNBLOCKED,
    Action,
    Channel,
    Event,
    Fire,
    Message,
    MessageReference,
    Process,
    Send,
)
from sim.core.rules import Row, Rules
from sim.core.workload import WORKLOADS
from sim.document.files import parse_toml
from sim.document.scenario import SchedulerChoice
from sim.document.writing import dumps
from sim.explain.narration import sentences
from sim.run.execution import run
from sim.run.snapshots import snapshots_in, snapshots_of
from sim.workloads.bank import Bank
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.rule_books import (
    Aligned,
    Barrier,
    Collecting,
    Commanded,
    Everybody,
    FirstOnly,
    Impatient,
    Patient,
    commanded,
    two,
)
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system, verdicts

# --------------------------------------------------------------------------- one process, and no engine


class Wire:
    """The world of one process, which notes what the process transmits, emits and schedules."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.sent: list[tuple[str, str, Any, str | None]] = []
        self.rows: list[Row] = []
        self.timers: list[tuple[str, float | None]] = []

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None, *rest: Any
    ) -> int:
        self.sent.append((channel.name, kind, body, snapshot))
        return len(self.sent) - 1

    def control_channel(self, source: int, target: str) -> Channel:
        return Channel(99, source, 7, f"{self.process.name}->{target}")

    def channel_to(self, source: int, target: str) -> Channel:
        return next(channel for channel in self.process.outgoing if channel.target_name == target)

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        self.timers.append((name, after))


def alone(algorithm: type[SnapshotAlgorithm], **parameters: Any) -> tuple[Rules, Process, Wire]:
    """P1, with 100, of two processes. P2 is not simulated."""
    there, back = Channel(0, 0, 1, "P1->P2"), Channel(1, 1, 0, "P2->P1")
    process = Process("P1", 0, 100)
    process.outgoing, process.incoming = (there,), (back,)
    wire = Wire(process)
    rule_book = algorithm(Graph(("P1", "P2"), (there, back)), **parameters)
    rules = Rules(Bank(("P1", "P2"), 0), rule_book, {}, wire)
    rules.emit = wire.rows.append
    return rules, process, wire


def coming(process: Process, kind: str, body: Any = None, number: int = 50, stamp: Any = None) -> Message:
    """A message from P2 to P1."""
    snapshot = None if kind == APP else "S1"
    return Message(number, process.incoming[0], kind, body, snapshot, stamp, 1, None, None)


def kinds(wire: Wire) -> list[str]:
    return [row[2] for row in wire.rows]


def test_one_process_takes_its_part_in_a_snapshot_without_any_engine() -> None:
    """It sends, initiates a snapshot, records a message, and completes at the marker."""
    rules, process, wire = alone(ChandyLamport)
    rules.send(process, process.outgoing[0], 30)
    rules.initiate(process, "S1")
    rules.receive(process, coming(process, APP, 5))
    rules.receive_marker(process, coming(process, MARKER))
    assert process.state == 75
    assert wire.sent == [("P1->P2", APP, 30, None), ("P1->P2", MARKER, None, "S1")]
    assert kinds(wire) == [
        SEND, RECORD, MARKER_SEND, RECORDED, RECEIVE, MARKER_RECEIVE, CHANNEL_CLOSED, SNAPSHOT_COMPLETE,
    ]  # fmt: skip
    local = process.snapshots["S1"]
    assert (local.state, local.inside, local.done) == (70, 1, True)
    assert [[message.body for message in kept] for kept in local.kept.values()] == [[5]]


def test_a_late_marker_of_a_finished_snapshot_changes_nothing() -> None:
    rules, process, wire = alone(ChandyLamport)
    rules.initiate(process, "S1")
    rules.receive_marker(process, coming(process, MARKER))
    before = process.snapshots
    rules.receive(process, coming(process, APP, 5))
    rules.receive_marker(process, coming(process, MARKER, number=51))
    assert process.snapshots is before and kinds(wire)[-1] == MARKER_RECEIVE


def test_a_marker_may_carry_something(register: Register) -> None:
    class Announcing(ChandyLamport):
        name = "test_announcing"
        title = "Announcing"

        def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
            out.record(snapshot)
            for channel in process.outgoing:
                out.send_marker(channel, snapshot, f"from {process.name}")

        def on_marker(self, process: Process, marker: Message, out: Out) -> None:
            super().on_marker(process, marker, out)
            process.memory = marker.body

    execution = run(two(register(Announcing)))
    assert [process.memory for process in execution.final.processes] == ["from P2", "from P1"]


def test_a_workload_may_answer_its_own_internal_event() -> None:
    class Ticking(Bank):
        def after_internal(self, process: Process, body: Any, out: Out) -> int:
            out.send("P2", body)
            return int(process.state) + 1

    rules, process, wire = alone(ChandyLamport)
    rules.workload = Ticking(("P1", "P2"), 0)
    rules.internal(process, 10, "tick")
    assert [(row[1], row[2]) for row in wire.rows] == [(1, "internal"), (2, SEND)]
    assert process.state == 91


class Restless(Bank):
    """Without time, a process may twice send 1 or 2 to its neighbour."""

    name = "test_restless"

    def options(self, process: Process) -> list[Action]:
        done = process.turn >= 2 or not process.outgoing
        return [] if done else [Send(process.outgoing[0], amount) for amount in (1, 2)]


def test_without_time_a_workload_may_do_any_of_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand each has a name; at random each happens; with time there is only `turn`, which is None here."""
    monkeypatch.setitem(WORKLOADS._found, Restless.name, Restless)
    by_hand = SchedulerChoice("manual", order=("turn P1 #2", "turn P1", "deliver P1->P2"))
    scenario = system("P1 P2", "P1->P2", workload=Restless.name, scheduler=by_hand)
    assert [row.body for row in rows_of(run(scenario), SEND, RECEIVE)] == ["2", "1", "2"]
    wild = [replace(scenario, scheduler=SchedulerChoice("random"), seed=seed) for seed in range(20)]
    sent = {tuple(row.body for row in rows_of(run(one), SEND)) for one in wild}
    assert sent == {("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")}
    assert run(replace(scenario, scheduler=SchedulerChoice("timed"))).steps == 0


def test_an_effect_may_lead_to_more_until_none_remain() -> None:
    """The control message of `on_done` follows the effects of the rule."""
    rules, process, wire = alone(Collecting, collector="P2")
    rules.initiate(process, "S1")
    rules.receive_marker(process, coming(process, MARKER))
    assert kinds(wire)[-2:] == [SNAPSHOT_COMPLETE, CONTROL_SEND]
    assert wire.sent[-1] == ("P1->P2", CONTROL, 100, "S1")


def test_a_rule_that_keeps_a_message_before_recording_is_an_error() -> None:
    class Careless(ChandyLamport):
        def on_message(self, process: Process, message: Message, out: Out) -> None:
            out.keep(message, "S9")

    rules, process, _ = alone(Careless)
    with pytest.raises(TypeError, match="keeps a message, but P1 has not recorded"):
        rules.receive(process, coming(process, APP, 5))


# --------------------------------------------------------------------------- keep and start_recording


def test_a_message_that_is_kept_is_recorded_once_and_nothing_that_follows(register: Register) -> None:
    """Two messages are on their way, and the rule keeps the first: [1], not [1, 1, 2]."""
    execution = run(two(register(FirstOnly)))
    assert bodies(only_snapshot(execution)) == {"P2->P1": [1]}
    assert [(row.process, row.channel, row.body, row.snapshot_id) for row in rows_of(execution, RECORDED)] == [
        ("P1", "P2->P1", "1", "S1")
    ]
    assert failing(execution) == {
        "S1:channel_states": "C21 recorded [1], but [1,2] crosses the cut",
        "S1:conservation": "198 money recorded of 200",
    }


def test_every_message_that_is_recorded_has_a_row_of_its_own_per_snapshot() -> None:
    execution = run(two("chandy_lamport", snapshots=(start("P1", 2), start("P1", 2.5, "S2"))))
    found = [(row.snapshot_id, row.body) for row in rows_of(execution, RECORDED)]
    assert found == [("S1", "1"), ("S2", "1"), ("S1", "2"), ("S2", "2")]
    assert all(row.index is None and row.epoch == 0 for row in rows_of(execution, RECORDED))


# --------------------------------------------------------------------------- parameters, the graph, on_done, control


def test_parameters_and_the_graph_reach_the_algorithm_and_the_file(register: Register) -> None:
    name = register(Collecting)
    text = f"""
        processes = ["P1", "P2"]
        algorithm = {{ kind = "{name}", collector = "P2", patience = 2 }}
        control_delay = {{ value = 4 }}
        snapshots = [{{ id = "S1", process = "P1", at = 1 }}]
    """
    scenario = parse_toml(text, "own")
    rule_book = scenario.rule_book()
    assert (rule_book.collector, rule_book.patience) == ("P2", 2.0)  # type: ignore[attr-defined]
    assert rule_book.graph.processes == ("P1", "P2")
    assert parse_toml(dumps(scenario), "own") == scenario
    arrived = rows_of(run(scenario), CONTROL_RECEIVE)
    assert [(row.process, row.channel, row.time) for row in arrived] == [("P2", "P1->P2", 7)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('collector = "P9"', ["algorithm.collector", "'P9' is no process; name one of P1, P2"]),
        ("patience = 0.1", ["algorithm.patience", "at least 0.5"]),
        ("patients = 1", ["algorithm.patients", "did you mean 'patience'"]),
    ],
)
def test_a_bad_parameter_of_an_algorithm_is_refused_like_one_of_a_workload(
    register: Register, given: str, words: list[str]
) -> None:
    text = f'processes = 2\n[algorithm]\nkind = "{register(Collecting)}"\n{given}'
    with pytest.raises(InputError) as refusal:
        parse_toml(text, "own")
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_reports_reach_the_collector_and_belong_to_no_channel(register: Register) -> None:
    """P2 and P3 report to P1, which initiated the snapshot. The reports are in no cut."""
    name = register(Collecting)
    execution = run(system("P1 P2 P3", algorithm=name, snapshots=(start("P1", 1),)))
    assert [source for source, _ in execution.final.processes[0].memory] == ["P2", "P3"]
    assert failing(execution) == {} and bodies(only_snapshot(execution)) == {}
    assert only_snapshot(execution).controls == 2
    texts = [text for text in sentences(execution) if "tells P1" in text]
    assert texts and all("its state" in text for text in texts)


def test_a_control_message_has_a_delay_of_its_own_and_can_be_addressed(register: Register) -> None:
    name = register(Collecting)
    late = MessageReference(None, "P2->P1", CONTROL, "S1")
    scenario = system(
        "P1 P2", algorithm=name, snapshots=(start("P1", 1),), control_delay=DelayRule("fixed", 3.0), delays={late: 7.0}
    )
    (arrived,) = rows_of(run(scenario), CONTROL_RECEIVE)
    (sent,) = rows_of(run(scenario), CONTROL_SEND)
    assert arrived.time - sent.time == 7
    held = system("P1 P2", algorithm=name, snapshots=(start("P1", 1),), delays={late: HOLD})
    assert rows_of(run(held), CONTROL_RECEIVE) == []
    assert parse_toml(dumps(scenario), "test").delays == scenario.delays


# --------------------------------------------------------------------------- services, timers, abort


def test_a_service_initiates_and_is_in_no_cut(register: Register) -> None:
    execution = run(commanded(register(Commanded)))
    snapshot = only_snapshot(execution)
    assert (snapshot.status, snapshot.initiators, list(snapshot.local)) == ("complete", ("boss",), ["P1", "P2", "P3"])
    assert rows_of(execution, TIMER) == [], "all have answered, so the timer was taken away"
    assert {row.process for row in rows_of(execution, CONTROL_SEND)} == {"boss", "P1", "P2", "P3"}
    assert [row.kind for row in rows_of(execution, PAUSED, RECORD, RESUMED) if row.process == "P2"] == [
        PAUSED, RECORD, RESUMED,
    ]  # fmt: skip
    assert failing(execution) == {}
    texts = sentences(execution)
    (start,) = [text for text in texts if "starts snapshot" in text]
    assert start == "boss starts snapshot S1: it tells P1, P2 and P3 “record”."
    assert any(text.startswith("boss tells P2 “record”: P2 pauses, records its state") for text in texts)


def test_timers_go_off_and_a_snapshot_that_fails_is_aborted_and_undecided(register: Register) -> None:
    """P3 receives nothing: the service asks again at 6 and gives the snapshot up at 11."""
    silent = {MessageReference(None, "boss->P3", CONTROL, "S1", ordinal): HOLD for ordinal in (1, 2, 3)}
    execution = run(commanded(register(Commanded), delays=silent))
    assert [(row.time, row.process, row.label) for row in rows_of(execution, TIMER)] == [
        (6, "boss", "again"), (11, "boss", "too late"),
    ]  # fmt: skip
    assert "The timer again of boss goes off: boss tells P3 “record”." in sentences(execution)
    only = only_snapshot(execution)
    assert only.status == "recording", "only P3 is told to abort, and it receives nothing"
    assert only.initiators == ("boss",)


def test_a_timer_that_is_set_anew_does_not_go_off_twice(register: Register) -> None:
    scenario = system(
        "P1 P2", "P2->P1 P1->P2", algorithm=register(Patient), workload="bank",
        snapshots=(start("P1", 1), start("P2", 1)),
        script=tuple(send("P2", "P1", at, at, label=f"m{at}") for at in (1, 2, 3, 9)),
    )  # fmt: skip
    execution = run(scenario)
    assert [(row.process, row.time) for row in rows_of(execution, TIMER)] == [("P2", 4), ("P1", 7)]
    assert bodies(only_snapshot(execution)) == {"P2->P1": [1, 2, 3]}


def test_without_time_any_timer_that_is_set_may_go_off(register: Register) -> None:
    name = register(Commanded)
    engine = commanded(name).engine()
    state = engine.initial()
    for _ in range(3):  # the service starts, P1 sends, the service initiates
        state, _ = engine.step(state, engine.enabled(state)[0])
    assert [action.timer.name for action in engine.enabled(state) if isinstance(action, Fire)] == ["again"]
    wild = [run(commanded(name, scheduler=SchedulerChoice("random"), seed=seed)) for seed in range(30)]
    assert {only_snapshot(execution).status for execution in wild} >= {"complete", "aborted"}


def test_a_late_marker_does_not_revive_an_aborted_snapshot(register: Register) -> None:
    """A late marker used to revive it, and it ended as complete."""
    execution = run(two(register(Impatient)))
    snapshot = only_snapshot(execution)
    assert (snapshot.status, snapshot.aborted is not None) == ("aborted", True)
    assert "P1" not in snapshot.local and snapshot.recorded_messages == []
    assert execution.final.processes[0].aborted == frozenset({"S1"})
    assert execution.final.processes[0].memory == ("S1",)
    assert {verdict.holds for verdict in verdicts(execution)["S1"]} == {None}, "undecided, not failed, on both paths"
    assert [row.process for row in rows_of(execution, SNAPSHOT_ABORTED)] == ["P1"]
    late = next(text for text in sentences(execution) if "has ended here" in text)
    assert late == "P1 receives a marker of S1 from P2, but that snapshot has ended here: it changes nothing."
    again = run(two(Impatient.name, snapshots=(start("P1", 2), start("P2", 30))))
    assert only_snapshot(again).status == "aborted"


# --------------------------------------------------------------------------- who may initiate, blocking, overtaking


@pytest.mark.parametrize(
    ("rule", "snapshots", "words"),
    [
        (Aligned, (start("P2", 1),), "by sources, which have no incoming channel (here P1), not by P2"),
        (Everybody, (start("P1", 1),), "Everybody needs every process to initiate S1; add one at P2"),
        (Commanded, (start("P1", 1),), "initiated by its boss, not by P1"),
    ],
)  # fmt: skip
def test_who_may_initiate_is_checked(register: Register, rule: Any, snapshots: Any, words: str) -> None:
    with pytest.raises(InputError) as refusal:
        system("P1 P2", "P1->P2", algorithm=register(rule), snapshots=snapshots)
    assert words in str(refusal.value)


def test_a_process_must_not_be_called_as_a_service_is(register: Register) -> None:
    with pytest.raises(InputError, match="'boss' is a service of Commanded"):
        system("P1 boss", algorithm=register(Commanded))


def test_the_tick_scheduler_refuses_what_it_cannot_do(register: Register) -> None:
    with pytest.raises(InputError, match=r"scheduler\.kind: the tick scheduler .* the barriers of Barriers overtake"):
        system("P1 P2", "P1->P2", algorithm=register(Barrier), scheduler=SchedulerChoice("tick"))


def test_control_messages_and_timers_work_under_ticks(register: Register) -> None:
    ticked = commanded(register(Commanded), scheduler=SchedulerChoice("tick"))
    assert only_snapshot(run(ticked)).status == "complete"


def test_blocking_leaves_rows_from_which_its_time_can_be_read(register: Register) -> None:
    execution = run(
        system(
            "P1 P2 P3", "P1->P3 P2->P3 P1->P2", algorithm=register(Aligned), snapshots=(start("P1", 1),),
            script=(send("P1", "P3", 1.5, label="m"),),
            delays={MessageReference(None, "P1->P2", MARKER, "S1"): 5.0},
        )
    )  # fmt: skip
    blocked = [(row.kind, row.channel, row.time, row.snapshot_id) for row in rows_of(execution, BLOCKED, UNBLOCKED)]
    assert blocked == [
        (BLOCKED, "P1->P3", 2, "S1"), (BLOCKED, "P1->P2", 6, "S1"), (UNBLOCKED, "P1->P2", 6, "S1"),
        (BLOCKED, "P2->P3", 7, "S1"), (UNBLOCKED, "P1->P3", 7, "S1"), (UNBLOCKED, "P2->P3", 7, "S1"),
    ]  # fmt: skip
    assert [row.time for row in rows_of(execution, RECEIVE)] == [7], "m waited while its channel was blocked"
    assert any("takes nothing more from C13" in text for text in sentences(execution))


# --------------------------------------------------------------------------- snapshots from rows


@pytest.mark.parametrize("algorithm", ["chandy_lamport", "lai_yang"])
def test_a_snapshot_is_reconstructed_from_a_table_that_was_json(algorithm: str) -> None:
    """From rows alone, which went through JSON."""
    scenario = two(algorithm, snapshots=(start("P1", 2), start("P2", 2.5, "S2")))
    execution = run(scenario)
    written = json.loads(json.dumps([event._asdict() for event in execution.events]))
    table = [Event(**row) for row in written]
    channels = [channel.name for channel in scenario.channels]
    assert snapshots_in(table, scenario.processes, channels) == snapshots_of(execution)
    assert len(snapshots_of(execution)) == 2 and failing(execution) == {}


def test_a_snapshot_needs_nothing_that_processes_remember() -> None:
    execution = run(two("chandy_lamport"))
    before = snapshots_of(run(two("chandy_lamport")))
    for process in execution.final.processes:
        process.snapshots, process.listening = {}, {}
    assert snapshots_of(execution) == before


@pytest.mark.slow
@each("kind", ["timed", "random"])
@each("seed", range(20))
def test_lai_yang_is_right_on_random_traffic_that_overtakes(kind: str, seed: int) -> None:
    """Two snapshots overlap and one has two initiators; both complete."""
    ring = "P1->P2 P2->P3 P3->P1 P2->P1"
    scenario = system(
        "P1 P2 P3", ring, algorithm=LaiYang.name, not_fifo=tuple(ring.split()), workload="bank", seed=seed,
        parameters={"transfers": 6, "pace": 2.0}, delay=DelayRule("exponential", 6.0),
        control_delay=DelayRule("uniform", 0.0, 9.0), scheduler=SchedulerChoice(kind),
        snapshots=(start("P1", 4), start("P3", 6, "S2"), start("P2", 4)),
    )  # fmt: skip
    execution = run(scenario)
    assert [snapshot.status for snapshot in snapshots_of(execution)] == ["complete", "complete"]
    assert failing(execution) == {}
    assert run(scenario, copied=True).events == execution.events
