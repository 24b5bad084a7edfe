"""P. Carbone, G. Fóra, S. Ewen, S. Haridi and K. Tzoumas, "Lightweight Asynchronous Snapshots for Distributed
Dataflows", 2015 (arXiv:1506.08603), algorithms 1 and 2: asynchronous barrier snapshotting, as in Apache Flink.

The graph is a dataflow: sources without incoming channels, operators, and sinks without outgoing ones. Channels are
FIFO. Every source starts a snapshot: it records its state and sends a barrier on each outgoing channel.

Algorithm 1, for acyclic graphs. When a process receives the barrier of a snapshot on a channel, it takes nothing more
from that channel: the channel is blocked. When the process has the barrier of every incoming channel, it records its
state, sends a barrier on each outgoing channel, and unblocks. Its state then contains every message sent before a
barrier, and no other: the states of the channels are empty.

Algorithm 2, for graphs with cycles. A process on a cycle would wait for its own barrier. So some channels are *back
edges*: without them the graph has no cycle. A process does not wait for the barriers on its back edges: it records as
soon as it has all others. From then on it records the messages on its back edges, until their barriers arrive.

The paper's coordinator numbers the snapshots, so barriers of two snapshots arrive in the same order everywhere. Here
sources may start them in different orders; then two barriers cross. A process that waited for both, with a channel
blocked for each, would wait for ever. So a process aligns one snapshot at a time. If a barrier of another snapshot
arrives meanwhile, the process records for that one at once. It records its other channels until their barriers
arrive, as in the rules of Chandy and Lamport.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from sim.algorithms.aligned_barriers.cost import cost_of
from sim.algorithms.aligned_barriers.without_alignment import WithoutAlignment
from sim.algorithms.aligned_barriers.words import AlignedWords
from sim.core.algorithm import SOURCES, SnapshotAlgorithm
from sim.core.cost_model import CostModel, Load
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process
from sim.core.parameters import Parameter


class AlignedBarriers(AlignedWords):
    """Channels are blocked from their barrier until the last barrier; back edges are recorded instead."""

    name = "aligned_barriers"
    title = "Aligned barriers"
    source = "Carbone et al. 2015, algorithms 1 and 2"
    initiators = SOURCES
    allows_recovery = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "back_edges": Parameter(
            "texts", (), "the channels that close cycles (default: found by a search from the sources)"
        ),
        "align": Parameter(
            "flag", True, "wait for the last barrier (false: at least once, messages behind a barrier are let through)"
        ),
    }
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"align": WithoutAlignment}

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """The cost model of aligned barriers."""
        return cost_of(load)

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """A source has no barriers to wait for."""
        if snapshot not in process.snapshots:
            self.record(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """A barrier of a snapshot that is recorded already, of the one being aligned, or of another one."""
        channel, snapshot = marker.channel, marker.snapshot
        assert snapshot is not None
        if snapshot in process.snapshots:
            out.close(channel, snapshot)
        elif self.aligns_another(process, snapshot):
            self.record(process, snapshot, out)
            out.close(channel, snapshot)
        else:
            self.wait_for_others(process, channel, snapshot, out)

    def aligns_another(self, process: Process, snapshot: str) -> bool:
        """Whether `process` waits for the barriers of another snapshot."""
        return process.memory is not None and process.memory != snapshot

    def wait_for_others(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        """Block the channel of a barrier, or record if it is the last."""
        come = process.blocked | {channel}
        if self.waits(process, come):
            process.memory = snapshot  # the snapshot for which channels are blocked
            out.block(channel)
            return
        process.memory = None
        self.record(process, snapshot, out)
        in_order = [own for own in process.incoming if own in come]
        for own in in_order:
            out.close(own, snapshot)
        for own in in_order:
            out.unblock(own)

    def waits(self, process: Process, come: Collection[Channel]) -> bool:
        """Whether `process` waits for one more barrier: on a channel that is no back edge."""
        return any(own not in come and own.name not in self.back for own in process.incoming)

    @staticmethod
    def record(process: Process, snapshot: str, out: Out) -> None:
        """Record the state, send the barriers, and record every channel whose barrier is still to come."""
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)
