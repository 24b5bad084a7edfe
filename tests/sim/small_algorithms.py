"""Small algorithms for tests, which use every hook and every capability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process

Counts = dict[Channel, int]


class Notes(NamedTuple):
    """What a process of `Stamps` remembers, by channel or by (snapshot, channel). Never mutated.

    `sent` and `received` count application messages. By snapshot, `before` is `received` at the recording, `announced`
    the number of messages that the sender had sent before it recorded, and `kept` the messages received in between.
    """

    sent: Counts = {}  # noqa: RUF012  # replaced, never changed
    received: Counts = {}  # noqa: RUF012
    before: dict[str, Counts] = {}  # noqa: RUF012
    announced: dict[tuple[str, Channel], int] = {}  # noqa: RUF012
    kept: dict[tuple[str, Channel], tuple[Message, ...]] = {}  # noqa: RUF012


class Stamps(SnapshotAlgorithm):
    """After Lai & Yang 1987, for channels that are not FIFO.

    Every message is stamped with the snapshots for which its sender has recorded. A process records for a snapshot
    before it receives a message with that stamp. Messages that it receives later without the stamp belong to the state
    of their channel. A marker carries the number of messages sent without the stamp, so it may arrive at any time.
    """

    name = "test_stamps"
    title = "Stamps"
    needs_fifo = False

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            self._record(process, snapshot, out)

    def on_send(self, process: Process, channel: Channel, out: Out) -> tuple[str, ...]:
        notes = process.memory or Notes()
        process.memory = notes._replace(sent={**notes.sent, channel: notes.sent.get(channel, 0) + 1})
        return tuple(sorted(process.snapshots))

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        late = [snapshot for snapshot in process.snapshots if snapshot not in message.stamp]
        for snapshot in message.stamp:
            if snapshot not in process.snapshots:
                self._record(process, snapshot, out)
        notes = process.memory or Notes()
        channel = message.channel
        kept = {**notes.kept}
        for snapshot in late:
            kept[snapshot, channel] = (*kept.get((snapshot, channel), ()), message)
        received = {**notes.received, channel: notes.received.get(channel, 0) + 1}
        process.memory = notes._replace(received=received, kept=kept)
        self._close_what_is_complete(process, channel, late, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self._record(process, marker.snapshot, out)
        notes = process.memory
        announced = {**notes.announced, (marker.snapshot, marker.channel): marker.body}
        process.memory = notes._replace(announced=announced)
        self._close_what_is_complete(process, marker.channel, [marker.snapshot], out)

    def _record(self, process: Process, snapshot: str, out: Out) -> None:
        notes = process.memory or Notes()
        process.memory = notes._replace(before={**notes.before, snapshot: notes.received})
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot, notes.sent.get(channel, 0))

    @staticmethod
    def _close_what_is_complete(process: Process, channel: Channel, snapshots: Iterable[str], out: Out) -> None:
        """Close a channel when as many messages have been received as were announced."""
        notes = process.memory
        for snapshot in snapshots:
            kept = notes.kept.get((snapshot, channel), ())
            have = notes.before[snapshot].get(channel, 0) + len(kept)
            if notes.announced.get((snapshot, channel)) == have:
                for message in kept:
                    out.keep(message, snapshot)
                out.close(channel, snapshot)


class Unaligned(Stamps):
    """After Flink's unaligned checkpoints: a marker overtakes messages, which are then recorded."""

    name = "test_unaligned"
    title = "Unaligned barriers"
    needs_fifo = True
    overtakes = True


class Aligned(SnapshotAlgorithm):
    """After Carbone et al. 2015, for acyclic graphs: a channel is blocked from its barrier to the last one."""

    name = "test_aligned"
    title = "Aligned barriers"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            self._record(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        here: tuple[Channel, ...] = (*(process.memory or ()), marker.channel)
        if len(here) < len(process.incoming):
            process.memory = here
            out.block(marker.channel)
            return
        process.memory = ()
        self._record(process, marker.snapshot, out)
        for channel in here:
            out.close(channel, marker.snapshot)
            out.unblock(channel)

    @staticmethod
    def _record(process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)


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
    """Aborts a snapshot at the first recorded message, unless the name of the snapshot begins with "keep"."""

    name = "test_impatient"
    title = "Impatient"
    patient: ClassVar[str] = "keep"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in self._given_up(process):
            super().on_initiate(process, snapshot, out)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        for snapshot in process.listening.get(message.channel, ()):
            if not snapshot.startswith(self.patient):
                process.memory = self._given_up(process) | {snapshot}
                out.abort(snapshot)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if marker.snapshot not in self._given_up(process):
            super().on_marker(process, marker, out)

    @staticmethod
    def _given_up(process: Process) -> Any:
        return process.memory or frozenset()
