"""K. M. Chandy and L. Lamport, "Distributed Snapshots: Determining Global States of Distributed Systems",
ACM Transactions on Computer Systems 3(1), 1985, section 3.2.

Marker-sending rule for a process p. p records its state; then, for each outgoing channel c, p sends
one marker along c before it sends anything else along c.

Marker-receiving rule for a process q. On receiving a marker along a channel c: if q has not recorded its state, q
records its state (following the marker-sending rule) and records the state of c as the empty sequence. Otherwise q
records the state of c: the messages received along c after q's state was recorded and before q received the marker
along c.

Any number of processes may initiate a snapshot, also at the same time; every process must be reachable from one of
them. Channels are FIFO. A process has completed its part when a marker has come on every incoming channel. Every marker
carries the id of its snapshot, so snapshots may overlap.

The paper leaves open how the recorded parts are brought together; the parameter `collect` adds rules for that. The
parameter `piggyback` adds rules for markers that ride on messages (sim/core/piggybacking.py). The parameter
`time_to_live` adds rules by which each process gives up by itself (sim/core/time_to_live.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.collection import COLLECT, Collection
from sim.core.cost_model import IN_CHANNELS, CostModel, Formula, Load
from sim.core.effects import Out
from sim.core.model import Message, Process
from sim.core.parameters import Parameter
from sim.core.piggybacking import PIGGYBACK, Piggybacking
from sim.core.time_to_live import TIME_TO_LIVE, TimeToLive

SENDING = RuleClause(
    "Marker-sending rule",
    "A process that has not recorded may start a snapshot at any moment. It records its own state. Before it sends "
    "anything else, it sends one marker on each outgoing channel. From now on it records what comes on its incoming "
    "channels.",
)
FIRST = RuleClause(
    "Marker-receiving rule, first marker",
    "A marker is a message that means “record now”. At its first marker a process records its state, notes that "
    "channel as empty, and sends markers on all its channels.",
)
MESSAGE = RuleClause(
    "Marker-receiving rule, message before the marker",
    "A message comes on a channel that the process is recording: the message is part of the state of that channel.",
)
NOT_FIRST = RuleClause(
    "Marker-receiving rule, not the first marker",
    "A marker comes to a process that has already recorded: the process stops recording that channel. The state of the "
    "channel is the messages that came on it after the process recorded and before this marker.",
)
PAPER = (
    "K. M. Chandy and L. Lamport, Distributed Snapshots: Determining Global States of Distributed Systems, ACM "
    "Transactions on Computer Systems 3(1), 1985, section 3.2"
)


RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the shortest way from the initiator × D, where D = max(S, d)",
    "the rules of Chandy and Lamport, 1985: the first marker makes a process record; on a FIFO channel a marker "
    "overtakes no message, so it takes at least d (up to a message's gap less, if S < d)",
)

FIRST_IS_EMPTY = Formula(
    "Recorded on the channel of its first marker",
    "0",
    "the rules of Chandy and Lamport, 1985: “records the state of c as the empty sequence”",
)


class ChandyLamport(SnapshotAlgorithm):
    """The marker-sending rule and the marker-receiving rule."""

    name = "chandy_lamport"
    title = "Chandy-Lamport"
    allows_crashes = True
    allows_recovery = True
    allows_coordinator = True
    source = "Chandy & Lamport 1985, section 3.2"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "collect": COLLECT, "piggyback": PIGGYBACK, "time_to_live": TIME_TO_LIVE,
    }  # fmt: skip
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {
        "collect": Collection, "piggyback": Piggybacking, "time_to_live": TimeToLive,
    }  # fmt: skip
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Marker-sending rule", (SENDING,), PAPER),
        Rule("Marker-receiving rule", (FIRST, MESSAGE, NOT_FIRST), PAPER),
    )
    captions: ClassVar[Mapping[str, Caption]] = {  # all but one with the sentences of every algorithm
        "initiates": CAPTIONS["initiates"]._replace(rule=SENDING.name),
        "marker_records": CAPTIONS["marker_records"]._replace(rule=FIRST.name),
        "marker": Caption(
            NOT_FIRST.name, "{process} receives the {marker}{of} from {source}, not its first: it {clauses}."
        ),
        "marker_late": CAPTIONS["marker_late"]._replace(rule=NOT_FIRST.name),
        "kept": CAPTIONS["kept"]._replace(rule=MESSAGE.name),
    }

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """The first marker comes on the shortest way; on a FIFO channel it stays behind the messages before it."""
        hop, told = load.behind, (RECORDS_AT, FIRST_IS_EMPTY, IN_CHANNELS)
        return CostModel(lambda place: place.nearest * hop, told, first_is_empty=True, closes_after=load.latest)

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Record the state, send a marker on every outgoing channel, and start recording the incoming channels."""
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot, self.carried_by_markers(process, snapshot))
        for channel in process.incoming:
            out.start_recording(channel, snapshot)

    def carried_by_markers(self, process: Process, snapshot: str) -> Any:
        """The load of the markers of `process` besides the snapshot's id: nothing, but options may add to it."""
        return None

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """A process that has not recorded may spontaneously follow the marker-sending rule."""
        if snapshot not in process.snapshots:
            self.marker_sending_rule(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Marker-receiving rule. The channel of a first marker is closed at once, so it is recorded as empty."""
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot, out)
        out.close(marker.channel, marker.snapshot)
