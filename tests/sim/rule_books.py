"""Tiny algorithms for tests, one for each effect or declaration, and tiny systems for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sim.algorithms.broken.rule_book import record_and_tell
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALL, BY_NOTHING, COORDINATOR, SOURCES, Service, SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule
from sim.core.delays import DelayRule
from sim.core.effects import Out
from sim.core.model import Message, Process, Timer
from sim.core.parameters import Parameter
from sim.document.scenario import Scenario
from tests.sim.tools import send, start, system


class FirstOnly(ChandyLamport):
    """Keeps only the first message on each channel after recording."""

    name = "test_first_only"
    title = "First only"

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        record_and_tell(process, snapshot, out)

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
    """After Flink's unaligned checkpoints: barriers overtake messages, which are recorded."""

    name = "test_barrier"
    title = "Barriers"
    marker = "barrier"
    parameters: ClassVar[Mapping[str, Parameter]] = {}  # nor those for markers
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {}
    rules: ClassVar[tuple[Rule, ...]] = ()  # not those of markers
    captions: ClassVar[Mapping[str, Caption]] = {}  # the default captions
    overtakes = True

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
    allows_crashes = True
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


class Aligned(SnapshotAlgorithm):
    """After Carbone et al. 2015, for acyclic graphs: a channel is blocked from its barrier to the last one."""

    name = "test_aligned"
    title = "Aligned barriers"
    initiators = SOURCES

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            record_and_tell(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        out.block(marker.channel)
        process.memory = (*(process.memory or ()), marker.channel)
        if len(process.memory) == len(process.incoming):
            record_and_tell(process, marker.snapshot, out)
            for channel in process.memory:
                out.close(channel, marker.snapshot)
            process.memory = ()

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        for channel in process.incoming:
            out.unblock(channel)


class StopTheWorld(ChandyLamport):
    """Chandy-Lamport, but a process pauses until it has completed the snapshot."""

    name = "test_stop_the_world"
    title = "Stop the world"
    pauses = True

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        fresh = snapshot not in process.snapshots
        super().on_initiate(process, snapshot, out)
        if fresh and process.incoming:
            out.pause()

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        out.pause()
        super().on_marker(process, marker, out)
        local = process.snapshots.get(marker.snapshot or "")
        if 1 + len(local.closed if local else ()) == len(process.incoming):
            out.resume()


class Impatient(ChandyLamport):
    """Aborts a snapshot at the first message that it records, unless the name of the snapshot begins with "keep".

    `on_abort` notes the snapshot.
    """

    name = "test_impatient"
    title = "Impatient"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot in process.listening.get(message.channel, ()):
            if not snapshot.startswith("keep"):
                out.abort(snapshot)

    def on_abort(self, process: Process, snapshot: str, out: Out) -> None:
        process.memory = (*(process.memory or ()), snapshot)


# --------------------------------------------------------------------------- tiny systems for them


def two(algorithm: str, **changes: Any) -> Scenario:
    """Two banks, and a snapshot that P1 initiates at 2."""
    fields: dict[str, Any] = {
        "algorithm": algorithm, "workload": "bank", "snapshots": (start("P1", 2),),
        "script": (send("P2", "P1", 1, 1, label="a"), send("P2", "P1", 1.5, 2, label="b")),
        "delay": DelayRule("fixed", 2.0), **changes,
    }  # fmt: skip
    return system("P1 P2", **fields)


def commanded(algorithm: str, **changes: Any) -> Scenario:
    """Three banks, and a snapshot that the service of `Commanded` initiates at 1."""
    fields: dict[str, Any] = {
        "algorithm": algorithm, "snapshots": (start("boss", 1),), "workload": "bank",
        "script": (send("P1", "P2", 0.5, 5),), **changes,
    }  # fmt: skip
    return system("P1 P2 P3", "P1->P2", **fields)
