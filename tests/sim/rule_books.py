"""Tiny algorithms for tests, one for each effect or declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALL, BY_NOTHING, COORDINATOR, SOURCES, Service, SnapshotAlgorithm
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Message, Process, Timer
from sim.core.parameters import Parameter


class FirstOnly(ChandyLamport):
    """Keeps only the first message on each channel after recording."""

    name = "test_first_only"
    title = "First only"

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot, local in process.snapshots.items():
            if message.channel not in local.kept and message.channel not in local.closed:
                out.keep(message, snapshot)


class Collecting(ChandyLamport):
    """A process that has completed the snapshot reports its state to the process named by a parameter."""

    name = "test_collecting"
    title = "Collecting"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "collector": Parameter("text", "", "who gets the reports (default: the first process)"),
        "patience": Parameter("number", 5.0, "time units between two reminders", least=0.5),
    }
    collector: str
    patience: float
    control_message = "report"

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.collector and self.collector not in self.graph.processes:
            yield "collector", f"{self.collector!r} is no process; name one of {', '.join(self.graph.processes)}"

    @property
    def _target(self) -> str:
        return self.collector or self.graph.processes[0]

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        if process.name != self._target:
            out.tell(self._target, process.snapshots[snapshot].state, snapshot)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        process.memory = (*(process.memory or ()), (message.channel.source_name, message.body))

    def control_words(self, body: Any, channel: str) -> str:
        return f"its state, {body}"


class Boss(Service):
    """Tells every process to record; after 5 tells the missing ones again; after 5 more tells them to abort."""

    name = "boss"

    def on_start(self, service: Process, out: Out) -> None:
        service.memory = ()

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        self._ask(service, snapshot, out)
        out.set_timer("again", 5, snapshot)

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        service.memory = (*(service.memory or ()), message.channel.source_name)
        if len(service.memory) == len(self.algorithm.graph.processes):
            out.cancel_timer("again")

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        assert timer.snapshot is not None
        if timer.name == "again":
            self._ask(service, timer.snapshot, out)
            out.set_timer("too late", 5, timer.snapshot)
        else:
            self._tell(service, "abort", timer.snapshot, out)

    def _ask(self, service: Process, snapshot: str, out: Out) -> None:
        self._tell(service, "record", snapshot, out)

    def _tell(self, service: Process, what: str, snapshot: str, out: Out) -> None:
        for name in self.algorithm.graph.processes:
            if name not in (service.memory or ()):
                out.tell(name, what, snapshot)


class Commanded(SnapshotAlgorithm):
    """A coordinator asks; every process pauses, records, answers and resumes."""

    name = "test_commanded"
    title = "Commanded"
    initiators = COORDINATOR
    closes_by = BY_NOTHING
    pauses = True
    needs_fifo = False
    services: ClassVar[tuple[type[Service], ...]] = (Boss,)
    checks: ClassVar[tuple[str, ...]] = ("completion", "consistency")
    captions: ClassVar[Mapping[str, Caption]] = {
        "control_records": Caption("Obey", "{source} tells {process} {content}: {process} {clauses}.")
    }

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        assert message.snapshot is not None
        if message.body == "abort":
            out.abort(message.snapshot)
        elif message.snapshot not in process.snapshots:
            out.pause()
            out.record(message.snapshot)
            out.tell("boss", "done", message.snapshot)
            out.resume()

    def on_abort(self, process: Process, snapshot: str, out: Out) -> None:
        out.tell("boss", "gave up", snapshot)

    def control_words(self, body: Any, channel: str) -> str:
        return f"“{body}”"


class Barrier(ChandyLamport):
    """Barriers from the sources overtake messages, which are recorded."""

    name = "test_barrier"
    title = "Barriers"
    marker = "barrier"
    captions: ClassVar[Mapping[str, Caption]] = {}  # the default captions
    overtakes = True
    initiators = SOURCES

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot or "", out)
        out.keep_overtaken(marker)
        out.close(marker.channel, marker.snapshot or "")


class Everybody(ChandyLamport):
    """Every process must initiate."""

    name = "test_everybody"
    title = "Everybody"
    initiators = ALL


class Patient(SnapshotAlgorithm):
    """A process records when it initiates, and its channels until no message has come for 3 time units."""

    name = "test_patient"
    title = "Patient"
    closes_by = "count"
    checks: ClassVar[tuple[str, ...]] = ("completion",)

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)
        out.set_timer("quiet", 3, snapshot)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot, local in process.snapshots.items():
            if not local.done:
                out.set_timer("quiet", 3, snapshot)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        for channel in process.incoming:
            out.close(channel, timer.snapshot or "")


class Blocking(ChandyLamport):
    """A channel is blocked from its marker to the last marker."""

    name = "test_blocking"
    title = "Blocking"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        super().on_marker(process, marker, out)
        out.block(marker.channel)

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        for channel in process.incoming:
            out.unblock(channel)
