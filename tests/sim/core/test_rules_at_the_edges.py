"""Cases that were wrong once: starts, refusals, ticks, overtaking markers, sentences and reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from diagrams.export import exporter
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from sim.algorithms.broken.records_twice import RecordsTwice
from sim.algorithms.broken.rule_book import record_and_tell
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.model import (
    CONTROL_SEND,
    MARKER,
    MARKER_RECEIVE,
    RECORDED,
    Internal,
    Message,
    MessageReference,
    Process,
    Start,
)
from sim.core.workload import WORKLOADS, Refused
from sim.document.scenario import SchedulerChoice
from sim.edit.words import describe_edit
from sim.explain.narration import sentences
from sim.explain.reasons import explain
from sim.run.execution import run
from sim.run.fifo import due, earliest_arrival, held, waits_behind
from sim.run.snapshots import snapshots_of
from sim.workloads.bank import Bank
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.rule_books import Barrier, Collecting, Commanded, two
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system, verdicts


@each("kind", ["timed", "random", "tick"])
@each("seed", range(5))
def test_a_service_starts_before_anything_else(register: Register, kind: str, seed: int) -> None:
    """Also before an initiation and a script line at time 0."""
    scenario = system(
        "P1 P2", "P1->P2", algorithm=register(Commanded), snapshots=(start("boss", 0),), seed=seed,
        script=(send("P1", "P2", 0),), scheduler=SchedulerChoice(kind),
    )  # fmt: skip
    assert isinstance(next(run(scenario).replay()).action, Start)


class Nervous(Bank):
    """Asks for a send, and then refuses."""

    name = "test_nervous"

    def after_internal(self, process: Process, body: Any, out: Out) -> int:
        out.send("P2", 1)
        raise Refused("too nervous")


def test_the_effects_of_a_refused_action_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS._found, Nervous.name, Nervous)
    engine = system("P1 P2", workload=Nervous.name, snapshots=(start("P2", 1),)).engine()
    state = engine.initial()
    with pytest.raises(Refused):
        engine.step(state, Internal(0))
    initiation = engine.agenda[0].action
    successor, _ = engine.step(state, initiation)
    assert [message.kind for queue in successor.queues for message in queue] == [MARKER], "and nothing of P1's"


class KeepsAndListens(ChandyLamport):
    """Keeps a message twice that is recorded already."""

    name = "test_keeps_and_listens"
    title = "Keeps and listens"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot in process.listening.get(message.channel, ()):
            out.keep(message, snapshot)
            out.keep(message, snapshot)


def test_a_message_is_recorded_once_however_often_a_rule_says_so(register: Register) -> None:
    execution = run(two(register(KeepsAndListens)))
    assert bodies(only_snapshot(execution)) == {"P2->P1": [1, 2]} and failing(execution) == {}
    assert len(rows_of(execution, RECORDED)) == 2


class KeepsLate(KeepsAndListens):
    name = "test_keeps_late"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot, local in process.snapshots.items():
            if message.channel in local.closed:
                out.keep(message, snapshot)


class TellsItself(ChandyLamport):
    name = "test_tells_itself"
    title = "Tells itself"
    target: ClassVar[str] = "P1"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        out.tell(self.target, "hello")


class SetsBack(ChandyLamport):
    name = "test_sets_back"
    title = "Sets back"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        out.set_timer("earlier", -5)


class TellsTheDeaf(TellsItself):
    name = "test_tells_the_deaf"
    target = "P2"


class TellsNobody(TellsItself):
    name = "test_tells_nobody"
    target = "P9"


@each("rule, words", [
        (KeepsLate, "keeps a message of P2->P1, which is closed"),
        (TellsItself, "P1 tells 'P1' something"),
        (TellsNobody, "P1 tells 'P9' something"),
        (TellsTheDeaf, "tells others something, but it has neither on_control"),
        (SetsBack, "sets a timer -5 time units ahead"),
    ])  # fmt: skip
def test_an_effect_that_cannot_be_carried_out_is_an_error(register: Register, rule: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        run(two(register(rule), script=(send("P2", "P1", 20, 1),)))


def test_control_messages_keep_to_no_ticks(register: Register) -> None:
    """Their delay counts from their send."""
    execution = run(
        two(register(Collecting), scheduler=SchedulerChoice("tick"), control_delay=DelayRule("fixed", 0.25))
    )
    (report,) = [flight for flight in execution.flights if flight.is_control]
    assert report.receive is not None and earliest_arrival(execution, report) == report.send.time
    assert due(execution, report) == report.receive.time == report.send.time + 0.25


def test_messages_sent_after_an_overtaking_marker_wait_behind_it(register: Register) -> None:
    barrier = MessageReference(None, "P1->P2", MARKER, "S1")
    scenario = system(
        "P1 P2", "P1->P2", algorithm=register(Barrier), snapshots=(start("P1", 2),),
        script=tuple(send("P1", "P2", at, label=name) for name, at in (("a", 1), ("b", 3), ("c", 4))),
    )  # fmt: skip
    for delay in (HOLD, 20.0):
        execution = run(replace(scenario, delays={barrier: delay}))
        ids = {flight.send.label: flight.id for flight in execution.flights if not flight.is_marker}
        (marker,) = [flight.id for flight in execution.flights if flight.is_marker]
        assert waits_behind(execution) == {ids["b"]: marker, ids["c"]: marker}
        assert (marker in held(execution)) == (delay == HOLD)


def test_an_overtaken_message_that_never_arrives_can_be_exported_in_a_window(register: Register) -> None:
    scenario = system(
        "P1 P2", "P1->P2", algorithm=register(Barrier), snapshots=(start("P1", 3),), workload="bank",
        script=(send("P1", "P2", 1, 5, label="a"), send("P1", "P2", 5, 6)), delays={MessageReference(label="a"): HOLD},
    )  # fmt: skip
    execution = run(scenario)
    assert bodies(only_snapshot(execution)) == {"P1->P2": [5]} and failing(execution) == {}
    assert "and still on its way when C12 was closed" in explain(execution, only_snapshot(execution), 0)
    scene = compose(execution).window(2, 4)
    for form in ("mermaid", "plantuml"):
        assert exporter(form).export(scene, View.of(scene))


class Answers(Commanded):
    """A process answers every marker, also when it has recorded."""

    name = "test_answers"
    initiators = "any"
    services = ()
    pauses = False

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            record_and_tell(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        self.on_initiate(process, marker.snapshot or "", out)
        out.tell(marker.channel.source_name, "seen", marker.snapshot)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        pass


def test_where_nothing_closes_channels_a_marker_is_never_late(register: Register) -> None:
    execution = run(two(register(Answers)))
    assert len(rows_of(execution, MARKER_RECEIVE)) == len(rows_of(execution, CONTROL_SEND)) == 2
    assert not any("has ended here" in text for text in sentences(execution))


class Later(ChandyLamport):
    """Records only when its timer goes off."""

    name = "test_later"
    title = "Later"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        out.set_timer("now", 3, snapshot)

    def on_timer(self, process: Process, timer: Any, out: Out) -> None:
        super().on_initiate(process, timer.snapshot, out)


def test_an_initiation_without_rows_has_a_sentence(register: Register) -> None:
    texts = sentences(run(two(register(Later), snapshots=(start("P1", 2), start("P2", 20)))))
    assert "P1 is asked to start S1; nothing can be seen of it yet." in texts
    assert any(text.startswith("The timer now of P1 goes off: P1 records its state") for text in texts)
    again = sentences(run(two("chandy_lamport", snapshots=(start("P1", 2), start("P2", 20)))))
    assert "P2 is asked to start S1, but it has already recorded for it, so nothing happens." in again


def test_recording_again_discards_the_first_recording_everywhere(register: Register) -> None:
    execution = run(two(register(RecordsTwice)))
    (snapshot,) = snapshots_of(execution)
    assert bodies(snapshot) == {}
    texts = [explain(execution, snapshot, flight.id) for flight in execution.flights if not flight.is_marker]
    assert not any("holds" in text for text in texts)
    verdicts(execution)  # the same on both paths


def test_edits_call_markers_what_the_algorithm_calls_them(register: Register) -> None:
    execution = run(system("P1 P2", "P1->P2", algorithm=register(Barrier), snapshots=(start("P1", 3),), script=()))
    edit = {"do": "hold", "message": MessageReference(None, "P1->P2", MARKER, "S1")._asdict()}
    assert describe_edit(execution, edit) == "hold the barrier of S1 on C12"


def test_a_copy_has_every_field() -> None:
    """Copies are made field by field."""
    process = run(two("lai_yang")).final.processes[0]
    twin = process.copy()
    assert all(getattr(twin, field) is getattr(process, field) for field in Process.__slots__)
    state = run(two("lai_yang")).final
    copied = state.copy_for(state.processes[0], state.processes[0].incoming)
    assert all(hasattr(copied, field) for field in type(state).__slots__)
