"""The rules by which a process serves its coordinator (sim/services/coordinator.py), beside the algorithm's rules.

A process takes part only in snapshots that the coordinator starts. It reports when its part is done. It discards its
part when it hears that the snapshot is not complete. If not all processes are members, the coordinator names the
members, and so does every marker: messages from other processes are no part of the snapshot.

With heartbeats, a process that has no answer for the time of its lease stands still, and asks whether it is a member.
So does one that has come back, or was frozen: it asks before it sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process, Timer
from sim.services.settings import STOP, Settings
from sim.services.words import COMPLETE, NAME, CoordinatedWords

ASK, DONE, BYE, NOT_STORED, STAND = "ask", "done", "bye", "not_stored", "stand"
# What a process says where members are found by heartbeats, each time with a number, and how many follow it.
HERE, AWAKE, ALIVE, LEFT = "here", "awake", "alive", "left"
WELCOME, LEASE, OUT, TO = "welcome", "lease", "out", "to"  # what the coordinator answers, and to which of these
FULL = "full"
_BEAT, _LEASE = "heartbeat", "lease"


class Part(NamedTuple):
    """The notes of a process for the coordinator.

    `beats` counts the heartbeats that it will send. `among` holds the members of a snapshot, by id, and `told` the
    channels of which the senders stand still. `said` is the number of its last heartbeat or question. `first` is the
    number of the first one that can still be answered or has a lease.
    """

    beats: int = 0
    among: Mapping[str, tuple[str, ...]] = {}  # replaced, never changed
    told: tuple[tuple[str, str], ...] = ()
    said: int = 0
    first: int = 0


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
        elif TO in body or WELCOME in body:
            self._hear(process, body, out)
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
            out.resume(snapshot)

    def carried_by_markers(self, process: Process, snapshot: str) -> Any:
        """The members of the snapshot, if they are not all."""
        members = self._members(process, snapshot)
        is_part = len(members) < len(self.graph.processes)
        return list(members) if is_part else super().carried_by_markers(process, snapshot)  # type: ignore[misc]

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is done: the coordinator hears of it.

        If a member has left, its channel is no longer there. What was in it is missing, so the part is never whole.
        """
        members, closed = self._members(process, snapshot), process.snapshots[snapshot].closed
        if any(own.source_name in members and own not in closed for own in self._to(process)):
            return
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

    def first_timers(self) -> Mapping[str, float]:
        """A process has its first heartbeat before it, and a lease from the beginning of the run."""
        own = self.settings
        return {_BEAT: own.heartbeat, f"{_LEASE} 0": own.lease} if own.beats else {}

    def on_restart(self, process: Process, out: Out) -> None:
        """`process` is here (again): it says so, and waits for the answer where members are found by heartbeats."""
        super().on_restart(process, out)
        process.coordination = Part(self.settings.beats)
        if self.settings.heartbeat:
            self._ask(process, HERE, out)
        else:
            out.tell(NAME, HERE)

    def on_restore(self, process: Process, out: Out) -> None:
        """A recovery has restored `process`: it is here again."""
        super().on_restore(process, out)
        self.on_restart(process, out)

    def on_thaw(self, process: Process, out: Out) -> None:
        """`process` does not know for how long it has stood still: it asks before it does anything."""
        super().on_thaw(process, out)
        if self.settings.heartbeat:
            self._ask(process, AWAKE, out)

    def on_leave(self, process: Process, out: Out) -> None:
        """`process` leaves: it says so."""
        super().on_leave(process, out)
        out.tell(NAME, BYE)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """It is time for the next heartbeat, or a lease has ended."""
        if timer.name == _BEAT:
            self._beat(process, out)
        elif timer.name.startswith(_LEASE):
            self._ask(process, AWAKE, out)
        else:
            super().on_timer(process, timer, out)

    def _beat(self, process: Process, out: Out) -> None:
        """Send a heartbeat. The lease that its answer gives begins now."""
        self._say(process, ALIVE, out)
        if self._part(process).beats:
            out.set_timer(_BEAT, self.settings.heartbeat)

    def _ask(self, process: Process, what: str, out: Out) -> None:
        """`process` stands still until the coordinator has answered this very question."""
        out.cancel_timer(_BEAT)
        self._end_leases(process, self._part(process).said + 1, out)
        self._say(process, what, out)
        out.stand_still()

    def _say(self, process: Process, what: str, out: Out) -> None:
        """A heartbeat or a question, numbered. It begins a lease, unless it is the last that `process` says."""
        own = self._part(process)
        number, left = own.said + 1, max(0, own.beats - 1)
        process.coordination = own._replace(beats=left, said=number)
        out.tell(NAME, {what: [process.incarnation, number], LEFT: left})
        if left:
            out.set_timer(f"{_LEASE} {number}", self.settings.lease)

    def _end_leases(self, process: Process, number: int, out: Out) -> None:
        """The leases of what `process` has said before that number are of no use any more."""
        own = self._part(process)
        for earlier in range(own.first, number):
            out.cancel_timer(f"{_LEASE} {earlier}")
        process.coordination = own._replace(first=max(own.first, number))

    def _hear(self, process: Process, body: Mapping[str, Any], out: Out) -> None:
        """The coordinator has answered. What has ended is over for this process, too.

        An answer to what it said in an earlier incarnation is out of date, and so is one to an earlier question: it may
        have been taken for gone since.
        """
        for snapshot in body.get(WELCOME, ()):
            out.abort(snapshot)
        own, (incarnation, number) = self._part(process), body.get(TO, (process.incarnation, 0))
        if incarnation != process.incarnation or number < own.first:
            return
        if OUT in body:
            self._ask(process, AWAKE, out)
            return
        self._end_leases(process, number, out)
        if WELCOME in body and process.stands:
            out.go_on()
            if own.beats:  # at once, for much of its lease may be over
                self._beat(process, out)

    def _to(self, process: Process) -> Iterator[Channel]:
        """The channels to `process` from all that there may be."""
        return (own for own in self.graph.channels if own.target_name == process.name)

    def _part(self, process: Process) -> Part:
        return process.coordination or Part(self.settings.beats)

    def _know(self, process: Process, snapshot: str, members: tuple[str, ...]) -> None:
        own = self._part(process)
        process.coordination = own._replace(among={**own.among, snapshot: members})

    def _members(self, process: Process, snapshot: str) -> tuple[str, ...]:
        return self._part(process).among.get(snapshot, self.graph.processes)
