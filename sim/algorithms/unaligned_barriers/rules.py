"""Unaligned barriers: Apache Flink's FLIP-76, "Unaligned Checkpoints" (2020). Barriers overtake messages.

An operator processes the messages of its input channels and sends its results. A barrier belongs to a snapshot, and
separates the messages sent on its channel before it from those sent after it.

1. A process that starts a snapshot records its state and sends a barrier on each outgoing channel. The barrier goes
   ahead of all messages that are on their way there.
2. A process that gets its first barrier of a snapshot does the same at once. From then on it records the messages on
   its incoming channels.
3. A barrier closes its channel. The messages that it has overtaken are part of the state of the channel. They are
   delivered later as well.

FLIP-76 persists the messages in an operator's input buffers and in its output buffers. Here a channel is both: the
output buffer of its sender, the wire, and the input buffer of its receiver. The messages on a channel when a barrier
enters it are its output buffer, so the receiver persists them when the barrier has overtaken them.

Any process may start a snapshot, also several at the same time; every process must be reachable from one of them.
Messages on a channel keep their order, the graph may have cycles, and snapshots may overlap. alignment.py has rules 4
and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.algorithms.unaligned_barriers.alignment import Alignment
from sim.algorithms.unaligned_barriers.cost import cost_of
from sim.algorithms.unaligned_barriers.recording import AHEAD, record
from sim.algorithms.unaligned_barriers.words import UnalignedWords
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.cost_model import CostModel, Load
from sim.core.effects import Out
from sim.core.model import Message, Process
from sim.core.parameters import Parameter


class UnalignedBarriers(UnalignedWords):
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

    def goes_ahead(self, body: Any) -> bool:
        """Whether a barrier may overtake: it says so itself."""
        return bool(body == AHEAD)

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """The cost model of unaligned barriers."""
        return cost_of(load)

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
