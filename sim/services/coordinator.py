"""A coordinator of snapshots: a service that says when one starts, and decides, once and for all, how it ended.

The rules of a snapshot algorithm do not cover failures. A process may crash, and a marker may never arrive. If each
process gave up by itself, one could keep its part of a snapshot and another could lose it. So one service decides:

1. The scenario, a process or a timer asks for a snapshot. The coordinator gives it an id, higher than all before, and
   tells one process to start it. A setting bounds the number of snapshots under way; a pause follows each. Another
   may bound those that wait: one more fails at once.
2. A process whose part is done tells the coordinator. When all have done so, the snapshot is complete.
3. A snapshot that is not complete when its time is over has expired. It has failed if a process cannot hold more
   messages, if one has started again without its part, or if the membership changes.
4. The coordinator tells its decision to every member. A process discards its part of a snapshot that is not complete,
   and ignores that snapshot from then on: later markers of it change nothing.
5. A snapshot that has expired or failed is tried again under a new id, by another initiator.
6. With a storage, a process reports that its part is done when it is stored. When all have reported, the coordinator
   asks the storage for the manifest, and the snapshot is complete when the manifest is written.
7. A recovery ends every snapshot under way. None starts before every restored process has reported.
8. Processes send heartbeats. A process whose heartbeats have been missing for long is no member any more. A process
   that joins or comes back reports itself. It stands still until the coordinator has answered: it takes nothing from
   its channels and begins nothing, so it cannot interfere while the others take a snapshot without it.
9. The coordinator answers heartbeats. An answer gives its process a lease, counted from the sending of that heartbeat.
   A process whose lease has ended stands still as well, and asks. So does a process that was frozen and goes on,
   because its timers have stood still with it. The lease is shorter than the silence after which the coordinator takes
   a process for gone, and begins no later. So a process stands still before it is gone, and is never half a member. A
   process that is still a member goes on with its parts of the snapshots under way. One that is not becomes a member
   anew, and loses its parts of the snapshots that have failed meanwhile. A question has a lease, too: only the answer
   to the last question counts, and no answer to an earlier incarnation.

Point 9 needs clocks that run equally fast, and nothing else: control messages may take any time (C. G. Gray and D. R.
Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency", SOSP 1989). If a user
chooses the order in which timers go off, the coordinator can take a process for gone that goes on all the same. Then
each snapshot is still decided once, and all members agree on it, but its cut need not be consistent.

The checkpoint coordinator of Apache Flink works much like this: P. Carbone et al., "State Management in Apache Flink",
PVLDB 10(12), 2017.
Control messages travel outside the channels and are never lost but at a process that is down. The coordinator itself
does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Message, Process, Restorable, Timer
from sim.services import storage_words as storage
from sim.services.member import BYE, DONE, FULL, HERE, NOT_STORED, Member
from sim.services.membership import WATCH, Membership
from sim.services.rounds import PAUSE, TIMEOUT, Request
from sim.services.words import CANCELLED, COMPLETE, EXPIRED, FAILED, NAME, ROLLED_BACK, CoordinatedWords, listing

INTERVAL = "interval"


class Coordinator(Membership):
    """The coordinator: it starts snapshots, and decides how each ended."""

    name = NAME
    called = "the coordinator"

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """The scenario asks for a snapshot; it does not matter which process starts it."""
        self.ask(service, Request(snapshot), out)

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A process asks for a snapshot, reports itself, or reports its part; or the storage reports a manifest."""
        source, snapshot, body = message.channel.source_name, message.snapshot, message.body
        notes = self.notes(service)
        if source == storage.NAME:
            self.stored(service, snapshot or "", body, out)
        elif body == BYE:
            self.gone(service, source, "left", out)
        elif snapshot is None:
            self.hear(service, source, {HERE: None} if body == HERE else body, out)
        elif body == DONE:
            self.done(service, snapshot, source, out)
        elif body == NOT_STORED:
            if snapshot in notes.under_way:
                self.decide(service, snapshot, FAILED, f"the part of {source} could not be stored", "", out)
        elif isinstance(body, Mapping) and FULL in body:
            if snapshot in notes.under_way:
                self.decide(service, snapshot, FAILED, f"{source} would hold more than {body[FULL]} messages", "", out)
        else:
            self.ask(service, Request(snapshot, source), out)

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """A snapshot has run out of time, a process is silent, a pause is over, or the next snapshot is due."""
        kind, _, who = timer.name.partition(" ")
        notes = self.notes(service)
        if kind == TIMEOUT:
            missing = [name for name in notes.under_way[who].members if name not in notes.under_way[who].done]
            reason = f"no word from {listing(missing)} within {self.settings.timeout:g}"
            self.decide(service, who, EXPIRED, reason, "", out)
        elif kind == WATCH:
            self.gone(service, who.removeprefix("of "), f"has sent no heartbeat for {self.settings.silence:g}", out)
        elif kind == PAUSE:
            service.memory = notes._replace(rests=False)
            self.start_next(service, out)
        else:
            service.memory = notes._replace(left=notes.left - 1)
            if notes.left > 1:
                out.set_timer(INTERVAL, self.settings.interval)
            if not notes.pending:
                self.ask(service, Request(), out)

    def cancel(self, service: Process, snapshot: str, out: Out) -> None:
        """Give up a snapshot, under way or not begun, as a controller asks. It is not tried again.

        Nothing happens once the storage has been asked for the manifest: the snapshot may be valid.
        """
        notes = self.notes(service)
        notes = notes._replace(pending=tuple(own for own in notes.pending if own.id != snapshot))
        own = notes.under_way.get(snapshot)
        if own is not None and not own.is_written:
            last = own._replace(tries=self.settings.retries)
            service.memory = notes._replace(under_way={**notes.under_way, snapshot: last})
            self.decide(service, snapshot, FAILED, CANCELLED, "", out)
        elif own is None and snapshot not in {*notes.complete, *notes.forgotten, *notes.ended}:
            service.memory = notes._replace(ended=(*notes.ended, snapshot))  # so a later request for it is refused

    def begin_among(self, service: Process, members: tuple[str, ...]) -> None:
        """Begin the run with other members than the scenario has at first."""
        service.memory = self.notes(service)._replace(members=members)

    def on_recovery(self, service: Process, goal: Restorable, out: Out) -> None:
        """The system is rolled back: snapshots under way belong to the old epoch."""
        notes = self.notes(service)
        service.memory = notes._replace(expected=goal.restores)
        for process in goal.restores:  # each reports as soon as it is restored, however late
            out.cancel_timer(f"{WATCH} of {process}")
        for name in notes.under_way:
            is_valid = name in goal.valid
            self.decide(
                service,
                name,
                COMPLETE if is_valid else FAILED,
                "" if is_valid else ROLLED_BACK,
                "",
                out,
            )


class EagerCoordinator(Coordinator):
    """A coordinator with work of its own: it begins at time 0."""

    def on_start(self, service: Process, out: Out) -> None:
        """The run begins: from now on every process sends heartbeats."""
        notes = self.notes(service)
        service.memory = notes
        if self.settings.beats:
            for process in notes.members:
                self.watch(process, self.settings.beats, out)
        if notes.left:
            out.set_timer(INTERVAL, self.settings.interval)


@lru_cache(maxsize=64)
def coordinated(rules: type[SnapshotAlgorithm], *, is_eager: bool) -> type[Member]:
    """Return a subclass of `rules` whose snapshots a coordinator starts and decides on.

    `is_eager`: the coordinator has work of its own, which it begins with the run.
    """
    service = EagerCoordinator if is_eager else Coordinator
    parts: dict[str, Any] = {"__module__": rules.__module__, "services": (*rules.services, service)}
    parts |= CoordinatedWords.on_top_of(rules)
    return type(rules.__name__, (Member, rules), parts)
