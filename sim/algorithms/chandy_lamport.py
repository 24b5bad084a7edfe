"""K. M. Chandy and L. Lamport, "Distributed Snapshots: Determining Global States of Distributed Systems",
ACM Transactions on Computer Systems 3(1), 1985, section 3.1.

Marker-sending rule for a process p. p records its state; then, for each outgoing channel c, p sends
one marker along c before it sends anything else along c.

Marker-receiving rule for a process q. On receiving a marker along a channel c: if q has not recorded
its state, q records its state (following the marker-sending rule) and records the state of c as the
empty sequence; otherwise q records the state of c as the sequence of messages received along c after
q's state was recorded and before q received the marker along c.

Any number of processes may initiate a snapshot, also at the same time; every process must be reachable from one of
them. Channels are FIFO. A process has completed its part when a marker has come on every incoming channel. Every marker
carries the id of its snapshot, so snapshots may overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption
from sim.core.effects import Out
from sim.core.model import Message, Process


class ChandyLamport(SnapshotAlgorithm):
    """The marker-sending rule and the marker-receiving rule."""

    name = "chandy_lamport"
    title = "Chandy-Lamport"
    source = "Chandy & Lamport 1985, section 3.1"
    captions: ClassVar[Mapping[str, Caption]] = {  # the first two with the sentences of every algorithm
        "initiates": CAPTIONS["initiates"]._replace(rule="Marker-sending rule"),
        "marker_records": CAPTIONS["marker_records"]._replace(rule="Marker-receiving rule, first marker"),
        "marker": Caption(
            "Marker-receiving rule, not the first marker",
            "{process} receives the {marker}{of} from {source}, not its first: it {clauses}.",
        ),
    }

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Record the state, send a marker on every outgoing channel, and start recording the incoming channels."""
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)

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
