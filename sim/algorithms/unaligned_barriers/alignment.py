"""Rules 4 and 5 of unaligned barriers: with an `alignment_timeout` a process first waits for aligned barriers.

The option in Flink is execution.checkpointing.aligned-checkpoint-timeout; with `inf` the wait has no end. A snapshot
begins with aligned barriers, which overtake nothing:

4. A process that gets its first barrier takes nothing more from that channel: it aligns. If barriers come on all its
   other channels before the timeout is over, it records its state, and no channel has a state. It sends its own
   barriers in their turn, behind the messages that were sent before.
5. If the timeout is over before all barriers have come, the process records its state and sends its barriers ahead of
   all messages. It takes from all channels again, and records each channel whose barrier is missing until it comes. A
   barrier that has been sent ahead makes its receiver do so without a wait.

The graph may have cycles: a process that waits on a cycle for its own barrier stops waiting at its timeout. Snapshots
may overlap: a process aligns for one at a time, and a barrier of another one ends the wait.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from sim.algorithms.unaligned_barriers.recording import record
from sim.algorithms.unaligned_barriers.timeout_words import TimeoutWords
from sim.core.effects import Out
from sim.core.model import CHANNEL_CLOSED, MARKER_SEND, RECORDED, UNBLOCKED, Channel, Event, Message, Process, Timer

TIMER = "alignment"


class Waits(NamedTuple):
    """The notes of a process that aligns: the snapshot, and the channels on which its barrier has come."""

    snapshot: str
    channels: tuple[Channel, ...]


class Alignment(TimeoutWords):
    """The rules that an alignment timeout adds: 4 and 5."""

    alignment_timeout: float

    def problems(self) -> Iterator[tuple[str, str]]:
        """Only a wait that ends needs no order among the processes."""
        cycle = _cycle(self.graph.channels) if self.alignment_timeout == math.inf else ()
        if cycle:
            advice = "give a number of time units after which they stop waiting"
            yield "alignment_timeout", f"{' -> '.join(cycle)} wait for each other's barriers in a cycle; {advice}"

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


def _cycle(channels: Collection[Channel]) -> tuple[str, ...]:
    """Processes that the channels join in a cycle, the first again at the end; empty if there is no cycle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for channel in channels:
        sorter.add(channel.target_name, channel.source_name)
    try:
        sorter.prepare()
    except CycleError as found:
        return tuple(found.args[1])
    return ()
