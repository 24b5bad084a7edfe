"""Collection at the initiator: rules that an algorithm may add to its own, as an option.

When a snapshot is complete, each process has its own part of it, and no process has all parts. K. M. Chandy and L.
Lamport ("Distributed Snapshots", 1985) name this as a task of its own. Here the parts come together at the initiator,
which need not be a neighbour of any other process:

1. Every marker names the process that started the snapshot.
2. A process whose part is complete reports it, in a control message, to the process that its first marker named.
3. When the initiator's own part is complete and a report of every other process has come, it knows that the snapshot is
   complete. This is an event of its own.

With several initiators no process would get all the reports, so a snapshot that is collected has one initiator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.effects import Out
from sim.core.model import Message, Process
from sim.core.parameters import Parameter

COLLECT = Parameter("flag", False, "every process reports its part to the process that started the snapshot")

NAMES = RuleClause("Markers name the initiator", "Every marker says which process started the snapshot.")
REPORT = RuleClause(
    "Reports",
    "A process whose part is complete reports it to the process that started the snapshot. When that process has its "
    "own part and the reports of all others, it knows that the snapshot is complete.",
)


class Gathered(NamedTuple):
    """The notes of a process on a collected snapshot: its initiator, and at the initiator the parts that have come."""

    initiator: str
    parts: Mapping[str, Any] = {}  # replaced, never changed


class Collection(SnapshotAlgorithm):
    """The rules of the option. Among the notes of a process, those of this class are `memory["collection"]`."""

    one_initiator = True
    allows_crashes = False
    allows_coordinator = False
    allows_recovery = False

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """The initiator names itself."""
        if snapshot not in process.snapshots:
            self._note(process, snapshot, Gathered(process.name))
        super().on_initiate(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """The first marker names the initiator."""
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self._note(process, marker.snapshot, Gathered(marker.body))
        super().on_marker(process, marker, out)

    def carried_by_markers(self, process: Process, snapshot: str) -> Any:
        """The name of the initiator."""
        return self._gathered(process, snapshot).initiator

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is complete: a report, or what the initiator has of its own."""
        initiator = self._gathered(process, snapshot).initiator
        if process.name == initiator:
            self._add(process, snapshot, process.name, self.part(process, snapshot), out)
        else:
            out.tell(initiator, self.part(process, snapshot), snapshot)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """A report comes to the initiator."""
        assert message.snapshot is not None
        self._add(process, message.snapshot, message.channel.source_name, message.body, out)

    @staticmethod
    def part(process: Process, snapshot: str) -> dict[str, Any]:
        """The recording of `process`: its state, and the messages of each incoming channel."""
        own = process.snapshots[snapshot]
        kept = {channel.name: [message.body for message in own.kept.get(channel, ())] for channel in process.incoming}
        return {"state": own.state, "channels": kept}

    def messages(self) -> int:
        """One report more for each process but the initiator."""
        return super().messages() + len(self.graph.processes) - 1

    def _add(self, process: Process, snapshot: str, source: str, part: Any, out: Out) -> None:
        gathered = self._gathered(process, snapshot)
        parts = {**gathered.parts, source: part}
        self._note(process, snapshot, gathered._replace(parts=parts))
        if len(parts) == len(self.graph.processes):
            out.collected(snapshot)

    @staticmethod
    def _gathered(process: Process, snapshot: str) -> Gathered:
        found: Gathered = process.memory["collection"][snapshot]
        return found

    @staticmethod
    def _note(process: Process, snapshot: str, gathered: Gathered) -> None:
        notes = process.memory or {}
        process.memory = {**notes, "collection": {**notes.get("collection", {}), snapshot: gathered}}

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Collection at the initiator", (NAMES, REPORT), "One way to do what Chandy & Lamport 1985 leave open"),
    )
    control_message = "report"
    captions: ClassVar[Mapping[str, Caption]] = {
        "control": Caption(REPORT.name, "{source} reports {content}{per} to {process}: {process} {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "tells": "reports {content} to {targets}",
        "nothing": "keeps the report and waits for the others",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "control_noted": "With this report {target} got the part of {source} (step {second}). It travels outside all "
        "channels, so it is in no recorded state.",
        "control_held": "This report has not come to {target}, which does not have the part of {source}.",
    }

    def control_words(self, body: Any, channel: str) -> str:
        """A report in words."""
        return "its recorded state and those of its incoming channels"
