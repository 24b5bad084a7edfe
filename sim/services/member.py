"""What a process does for the coordinator of its snapshots (sim/services/coordinator.py), beside the algorithm's rules.

A process takes part only in what the coordinator starts. It says when its part is done. It discards its part when it
hears that the snapshot is not complete. Where not all processes are members, the coordinator names those who are, and
so does every marker: what comes from others is no part of the snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Message, Process, Timer
from sim.services.settings import STOP, Settings
from sim.services.words import COMPLETE, NAME, CoordinatedWords

ASK, DONE, HERE, BYE, ALIVE, LAST = "ask", "done", "here", "bye", "alive", "last"
NOT_STORED = "not_stored"
FULL, STAND = "full", "stand"  # keys of messages with a value
_BEAT = "heartbeat"


class Part(NamedTuple):
    """What a process remembers for the coordinator.

    `beats` counts the heartbeats that it will send. `among` holds the members of a snapshot, by id; `waits` whether it
    has come back and has not heard from the coordinator yet; `told` the channels of which the senders stand still.
    """

    beats: int = 0
    among: Mapping[str, tuple[str, ...]] = {}  # replaced, never changed
    waits: bool = False
    told: tuple[tuple[str, str], ...] = ()


class Member(CoordinatedWords, SnapshotAlgorithm):
    """The rules of the processes. They come before those of the algorithm, which is a base class as well."""

    settings: Settings
    pauses = True

    # ------------------------------------------------------------------ snapshots

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` asks the coordinator for a snapshot."""
        out.tell(NAME, ASK, snapshot)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """The coordinator says what to do, or another process that this one has to stand still."""
        body, snapshot = message.body, message.snapshot
        if message.channel.source_name != NAME:
            if body == STAND:
                if snapshot not in process.snapshots and snapshot not in process.aborted:
                    out.pause(snapshot)
                return
            super().on_control(process, message, out)
        elif "welcome" in body:
            self._take_part(process, body["welcome"], out)
        elif "start" in body:
            assert snapshot is not None
            if snapshot not in process.aborted:
                self._know(process, snapshot, tuple(body["start"]))
                super().on_initiate(process, snapshot, out)
                self._close_others(process, snapshot, out)
                out.resume(snapshot)
        elif "forget" in body:
            out.forget(body["forget"])
        elif body["decided"] != COMPLETE:
            assert snapshot is not None
            out.abort(snapshot)
            out.resume(snapshot)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """The first marker of a snapshot names its members, if it has not all processes."""
        snapshot = marker.snapshot
        assert snapshot is not None
        is_first = snapshot not in process.snapshots
        if is_first:
            members = tuple(marker.body) if marker.body else self.graph.processes
            if process.name not in members or marker.channel.source_name not in members:
                return
            self._know(process, snapshot, members)
        elif not is_first and marker.channel.source_name not in self._members(process, snapshot):
            return
        super().on_marker(process, marker, out)
        if is_first:
            self._close_others(process, snapshot, out)
            if process.paused and not self._part(process).waits:
                out.resume(snapshot)

    def carried_by_markers(self, process: Process, snapshot: str) -> Any:
        """The members of the snapshot, if they are not all."""
        members = self._members(process, snapshot)
        is_part = len(members) < len(self.graph.processes)
        return list(members) if is_part else super().carried_by_markers(process, snapshot)  # type: ignore[misc]

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is done: the coordinator hears of it."""
        super().on_done(process, snapshot, out)
        if not self.uploads:
            out.tell(NAME, DONE, snapshot)

    def on_stored(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is done and stored: the coordinator hears of it."""
        out.tell(NAME, DONE, snapshot)

    def on_not_stored(self, process: Process, snapshot: str, out: Out) -> None:
        """The storage does not take the part of `process`: the coordinator hears of it."""
        out.abort(snapshot)
        out.tell(NAME, NOT_STORED, snapshot)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """A message that would be one too many for what `process` may hold."""
        super().on_message(process, message, out)
        most = self.settings.most_held
        for snapshot in process.listening.get(message.channel, ()) if most else ():
            part = process.snapshots[snapshot]
            held = sum(len(kept) for channel, kept in part.kept.items() if channel not in part.closed)
            if self.settings.when_held == STOP:
                self._stop_sender(process, message, snapshot, held + 1 >= most, out)
            elif held >= most:
                out.abort(snapshot)
                out.tell(NAME, {FULL: most}, snapshot)

    def _stop_sender(self, process: Process, message: Message, snapshot: str, is_full: bool, out: Out) -> None:
        """The sender of a message has to stand still until it records: what it sends then is not to be held."""
        own = self._part(process)
        key = (message.channel.source_name, snapshot)
        if is_full and key not in own.told:
            process.coordination = own._replace(told=(*own.told, key))
            out.tell(message.channel.source_name, STAND, snapshot)

    def _close_others(self, process: Process, snapshot: str, out: Out) -> None:
        """The channels from processes that do not take part are no part of the snapshot."""
        members = self._members(process, snapshot)
        if len(members) == len(self.graph.processes):
            return
        for channel in process.incoming:
            if channel.source_name not in members:
                out.close(channel, snapshot)

    # ------------------------------------------------------------------ members

    def on_restart(self, process: Process, out: Out) -> None:
        """`process` is here (again): it says so, and waits for the answer where members are found by heartbeats."""
        super().on_restart(process, out)
        out.tell(NAME, HERE)
        if self.settings.heartbeat:
            process.coordination = Part(waits=True)
            out.pause()
            for channel in process.incoming:
                out.block(channel)

    def on_restore(self, process: Process, out: Out) -> None:
        """A recovery has restored `process`: it is here again."""
        super().on_restore(process, out)
        self.on_restart(process, out)

    def on_leave(self, process: Process, out: Out) -> None:
        """`process` leaves: it says so."""
        super().on_leave(process, out)
        out.tell(NAME, BYE)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """It is time for the next heartbeat."""
        if timer.name != _BEAT:
            super().on_timer(process, timer, out)
            return
        own = self._part(process)
        process.coordination = own._replace(beats=own.beats - 1)
        out.tell(NAME, ALIVE if own.beats > 1 else LAST)
        if own.beats > 1:
            out.set_timer(_BEAT, self.settings.heartbeat)

    def _take_part(self, process: Process, ended: list[str], out: Out) -> None:
        """The coordinator has answered. What has ended is over for this process, too."""
        for snapshot in ended:
            out.abort(snapshot)
        own = self._part(process)
        if own.waits:
            out.resume()
            for channel in process.incoming:
                out.unblock(channel)
        beats = self.settings.beats
        process.coordination = own._replace(beats=beats, waits=False)
        if beats:
            out.set_timer(_BEAT, self.settings.heartbeat)

    @staticmethod
    def _part(process: Process) -> Part:
        return process.coordination or Part()

    def _know(self, process: Process, snapshot: str, members: tuple[str, ...]) -> None:
        own = self._part(process)
        process.coordination = own._replace(among={**own.among, snapshot: members})

    def _members(self, process: Process, snapshot: str) -> tuple[str, ...]:
        return self._part(process).among.get(snapshot, self.graph.processes)
