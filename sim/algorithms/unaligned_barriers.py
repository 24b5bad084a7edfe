"""Unaligned barriers: Apache Flink's FLIP-76, "Unaligned Checkpoints" (2020). Barriers overtake messages.

An operator works on what its input channels bring and sends on what comes of it. A barrier belongs to a snapshot, and
tells on its channel what was sent before it from what was sent after.

1. A process that starts a snapshot records its state and sends a barrier on each outgoing channel. The barrier goes
   ahead of all messages that are on their way there.
2. A process that gets its first barrier of a snapshot does the same at once. From then on it records what comes on its
   incoming channels.
3. A barrier closes its channel. The messages that it has overtaken are part of the state of the channel. They are
   delivered later as well.

FLIP-76 persists the messages in an operator's input buffers and in its output buffers. Here a channel is both: the
output buffer of its sender, the wire, and the input buffer of its receiver. The messages on a channel when a barrier
enters it are its output buffer, so the receiver persists them when the barrier has overtaken them.

With an `alignment_timeout` (Flink: execution.checkpointing.aligned-checkpoint-timeout; `inf`: it is never over) a
snapshot begins with aligned barriers, which overtake nothing:

4. A process that gets its first barrier takes nothing more from that channel: it aligns. If barriers come on all its
   other channels before the timeout is over, it records its state, and no channel has a state. It sends its own
   barriers in their turn, behind the messages that were sent before.
5. If the timeout is over before all barriers have come, the process records its state, sends its barriers ahead of all
   messages, takes from all channels again, and records each channel whose barrier is missing until it comes. A barrier
   that has been sent ahead makes its receiver do so without a wait.

Any process may start a snapshot, also several at the same time; every process must be reachable from one of them.
Messages on a channel keep their order. The graph may have circles: a process that waits on a circle for its own barrier
stops waiting when its timeout is over. Snapshots may overlap: a process aligns for one at a time, and a barrier of
another one ends the wait.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar, NamedTuple

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.cost_model import IN_CHANNELS, CostModel, Formula, Load
from sim.core.effects import Out
from sim.core.model import CHANNEL_CLOSED, MARKER_SEND, RECORDED, UNBLOCKED, Channel, Event, Message, Process, Timer
from sim.core.parameters import Parameter

AHEAD = "ahead"  # the body of a barrier that may overtake
TIMER = "alignment"


class Waits(NamedTuple):
    """What a process remembers while it aligns: the snapshot, and the channels on which its barrier has come."""

    snapshot: str
    channels: tuple[Channel, ...]


STARTS = RuleClause(
    "Barriers go ahead",
    "A process that has not recorded may start a snapshot: it records its state and sends a barrier on each outgoing "
    "channel, ahead of all messages that are on their way there.",
)
FIRST = RuleClause(
    "The first barrier comes",
    "The process records its state and sends a barrier ahead on each outgoing channel. From now on it records what "
    "comes on its incoming channels.",
)
OVERTAKEN = RuleClause(
    "A barrier closes its channel",
    "The messages that the barrier has overtaken are persisted: they are part of the state of the channel. They are "
    "delivered later as well.",
)
IN_BETWEEN = RuleClause(
    "A message comes before its barrier",
    "The process has recorded, and the barrier of the channel has not come: the message is part of the state of the "
    "channel.",
)
TURN = RuleClause(
    "A snapshot begins aligned",
    "A process that starts a snapshot records its state and sends its barriers in their turn: they overtake nothing.",
)
ALIGNS = RuleClause(
    "Barriers are aligned",
    "A process that has not recorded takes nothing more from a channel whose barrier has "
    "come. When barriers have come on all its channels, it records its state, sends its own barriers in their turn and "
    "takes from all channels again. If it has recorded already, or if the barrier was sent ahead, it does not wait.",
)
TOO_LONG = RuleClause(
    "Alignment takes too long",
    "The alignment timeout is over and a barrier is still missing: the process records its state, sends its barriers "
    "ahead of all messages, and takes from all channels again. It records what comes on a channel until the barrier of "
    "that channel comes.",
)
FLIP = "Apache Flink, FLIP-76: Unaligned Checkpoints, 2020"
TIMEOUT = "Apache Flink, FLIP-76, and the option execution.checkpointing.aligned-checkpoint-timeout"


def record(process: Process, snapshot: str, came: Collection[Channel], out: Out, *, ahead: bool) -> None:
    """The state, a barrier on each outgoing channel, and the incoming channels, but for those whose barrier `came`."""
    out.record(snapshot)
    for channel in process.outgoing:
        out.send_marker(channel, snapshot, AHEAD if ahead else None)
    for channel in process.incoming:
        if channel in came:
            out.close(channel, snapshot)
        else:
            out.start_recording(channel, snapshot)


RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the shortest way from the initiator × S",
    "FLIP-76, 2020: the first barrier makes a process record, and it overtakes the messages before it",
)


class Alignment(SnapshotAlgorithm):
    """Rules 4 and 5: what an alignment timeout adds."""

    alignment_timeout: float

    def problems(self) -> Iterator[tuple[str, str]]:
        """Only a wait that ends needs no order among the processes."""
        circle = _circle(self.graph.channels) if self.alignment_timeout == math.inf else ()
        if circle:
            advice = "give a number of time units after which they stop waiting"
            yield "alignment_timeout", f"{' -> '.join(circle)} wait for each other's barriers in a circle; {advice}"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Barriers in their turn. A process that was aligning for the snapshot waits no more."""
        if snapshot in process.snapshots:
            return
        if self._aligned(process, snapshot):
            self._wait_no_more(process, out)
        else:
            record(process, snapshot, (), out, ahead=False)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Rule 4. A barrier that was sent ahead, or comes to a process that has recorded, is treated by rules 2 and 3.

        But if the process was aligning for that snapshot, it does not take anything more from its blocked channels
        before it has recorded: rule 5.
        """
        snapshot = marker.snapshot
        assert snapshot is not None
        if snapshot in process.snapshots or (self.goes_ahead(marker.body) and not self._aligned(process, snapshot)):
            super().on_marker(process, marker, out)
        elif self.goes_ahead(marker.body):
            self._wait_no_more(process, out)
            out.keep_overtaken(marker)
            out.close(marker.channel, snapshot)
        else:
            self._align(process, marker.channel, snapshot, out)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """Rule 5."""
        self._wait_no_more(process, out)

    def messages(self) -> int:
        """One timer more at each process."""
        return super().messages() + len(self.graph.processes)

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """A barrier that finds its process recorded closes its channel; one that was sent ahead is not waited for."""
        if key == "marker" and any(row.kind == CHANNEL_CLOSED for row in rows):
            return "marker_closes"
        waited = any(row.kind == UNBLOCKED for row in rows)
        return "marker_ahead_records" if key == "marker_records" and not waited and self._came_ahead(rows) else key

    def _came_ahead(self, rows: Sequence[Event]) -> bool:
        """Whether what a barrier makes a process do shows that it was sent ahead."""
        sent = [row for row in rows if row.kind == MARKER_SEND]
        is_passed_on = any(self.goes_ahead(json.loads(row.body or "null")) for row in sent)
        return is_passed_on or any(row.kind == RECORDED for row in rows)

    def _align(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        """A barrier has come in its turn. A wait for another snapshot ends first, or both might wait forever."""
        came = (*self._aligned(process, snapshot), channel)
        if len(came) == 1 and process.memory is not None:
            self._wait_no_more(process, out)
        if len(came) < len(process.incoming):
            process.memory = Waits(snapshot, came)
            out.block(channel, snapshot)
            if len(came) == 1 and self.alignment_timeout < math.inf:
                out.set_timer(TIMER, self.alignment_timeout, snapshot)
            return
        record(process, snapshot, came, out, ahead=False)
        process.memory = None
        if len(came) > 1:
            self._unblock(came[:-1], snapshot, out)

    @staticmethod
    def _aligned(process: Process, snapshot: str) -> tuple[Channel, ...]:
        """The channels that wait for the other barriers of `snapshot`."""
        memory: Waits | None = process.memory
        return memory.channels if memory is not None and memory.snapshot == snapshot else ()

    def _wait_no_more(self, process: Process, out: Out) -> None:
        """Rule 5: record although barriers are missing."""
        snapshot, came = process.memory
        process.memory = None
        record(process, snapshot, came, out, ahead=True)
        self._unblock(came, snapshot, out)

    @staticmethod
    def _unblock(channels: Iterable[Channel], snapshot: str, out: Out) -> None:
        for channel in channels:
            out.unblock(channel, snapshot)
        out.cancel_timer(TIMER)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (Rule("Barriers that wait first", (TURN, ALIGNS, TOO_LONG), TIMEOUT),)
    situations = ("marker_ahead_records", "marker_closes")
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=TURN.name),
        "marker_ahead_records": CAPTIONS["marker_records"]._replace(rule=FIRST.name),
        "marker_closes": CAPTIONS["marker"]._replace(rule=OVERTAKEN.name),
        "marker_records": Caption(ALIGNS.name, "{process} receives the {marker}{of} from {source}: it {clauses}."),
        "marker": CAPTIONS["marker"]._replace(rule=ALIGNS.name),
        "timer_records": Caption(
            TOO_LONG.name, "{process} has waited long enough for the missing {marker}s{per}: it {clauses}."
        ),
        "own": Caption(ALIGNS.name, "{process} waits no longer for the {marker}s of {snapshot}: it {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "block": "takes nothing more from {channels} until the other {marker}s come",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "by_marker": "The {marker} of {snapshot} came from {source} on {channel} at step {step}, and {process} had to "
        "wait for no other: it recorded.",
        "by_rule": "{process} recorded at step {step}, before all {marker}s had come: it had waited long enough, or "
        "a {marker} of another snapshot came.",
        "marker_records": "This {marker} of {snapshot} came, and {target} had to wait for no other: it recorded its "
        "state (step {second}). A {marker} is not a message of the program, so it is in no recorded state.",
        "marker_noted": "{target} received this {marker} of {snapshot} at step {second}, and took nothing more from "
        "{channel} until it recorded. A {marker} is in no recorded state.",
        "empty_at_once": "{channel} is empty: its {marker} had come, and all that was sent before it, when {target} "
        "recorded (step {second}).",
        "recorded_until": "{target} recorded at step {first}, and by step {second} the {marker} of {channel} had come. "
        "In between came, or was overtaken: {held}.",
    }


class UnalignedBarriers(SnapshotAlgorithm):
    """Barriers that overtake messages, which are persisted; at once, or after a timeout."""

    name = "unaligned_barriers"
    title = "Unaligned barriers"
    source = "Apache Flink, FLIP-76, 2020"
    overtakes = True
    allows_recovery = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alignment_timeout": Parameter(
            "number", 0.0, "time units that a process aligns barriers (0: not at all)", infinite=True
        ),
    }
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"alignment_timeout": Alignment}

    # ------------------------------------------------------------------ rules

    def goes_ahead(self, body: Any) -> bool:
        """Whether a barrier may overtake: it says so itself."""
        return bool(body == AHEAD)

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """A barrier takes its own delay: it waits for no message."""
        hop = load.marker_delay
        return CostModel(lambda place: place.nearest * hop, (RECORDS_AT, IN_CHANNELS), closes_after=hop)

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 1."""
        if snapshot not in process.snapshots:
            record(process, snapshot, (), out, ahead=True)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Rules 2 and 3."""
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            record(process, marker.snapshot, (), out, ahead=True)
        out.keep_overtaken(marker)
        out.close(marker.channel, marker.snapshot)

    # ------------------------------------------------------------------ words

    marker = "barrier"
    channel_state: ClassVar[tuple[str, str]] = (
        "persisted",
        "A broad band: the barrier has overtaken this message, or it came in between the recording and the barrier. It "
        "is persisted in the state of its channel.",
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Barriers that overtake", (STARTS, FIRST, OVERTAKEN, IN_BETWEEN), FLIP),
    )  # fmt: skip
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=STARTS.name),
        "marker_records": CAPTIONS["marker_records"]._replace(rule=FIRST.name),
        "marker": CAPTIONS["marker"]._replace(rule=OVERTAKEN.name),
        "kept": Caption(
            IN_BETWEEN.name,
            "The {marker} of {channel} has not come for {snapshots}, so this message is persisted in the channel's "
            "state.",
        ),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "overtaken": "persists what the {marker} has overtaken: {messages}",
        "close": "closes {channel}, whose state is {contents}",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "channel": "{channel} holds {message}: sent {send}, before {source} recorded; received {receive}, after "
        "{target} recorded (step {first}) and before the {marker} of {channel} came (step {second}).",
        "passed": "{message} was overtaken by the {marker}, and persisted: it was sent {send}, before {source} "
        "recorded, and was still on its way in {channel} when the {marker} came (step {first}).",
        "marker_closes": "This {marker} of {snapshot} closed {channel} (step {second}), which {target} had recorded "
        "since step {first}. What it had overtaken was persisted. A {marker} is in no recorded state.",
        "recorded_until": "{channel} holds {held}. Persisted is what comes after {target} records (step {first}), and "
        "what the {marker} of the channel has overtaken when it comes (step {second}).",
    }


def _circle(channels: Collection[Channel]) -> tuple[str, ...]:
    """Processes that the channels join in a circle, the first again at the end; empty if there is no circle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for channel in channels:
        sorter.add(channel.target_name, channel.source_name)
    try:
        sorter.prepare()
    except CycleError as found:
        return tuple(found.args[1])
    return ()
