"""A coordinator of snapshots: a service that says when one starts, and decides, once and for all, how it ended.

The rules of a snapshot algorithm say nothing of what fails. A process may crash, and a marker may never come. If each
process gave up by itself, one could end with its part of a snapshot and another without. So one service decides:

1. A snapshot is asked for by the scenario, by a process, or every so often. The coordinator gives it an id, higher than
   all before, and tells one process to start it. At most so many are under way at a time, with a pause after each. Of
   those that wait there may be a bound as well: one more has failed at once.
2. A process whose part is done tells the coordinator. When all have, the snapshot is complete.
3. A snapshot that is not complete when its time is over has expired. It has failed if a process says that it cannot
   hold more messages, if one has started again without its part, or if the membership changes.
4. The decision is told to everybody. A process discards its part of a snapshot that is not complete, and takes no more
   notice of it: later markers of it change nothing.
5. What has expired or failed is tried again under a new id, by another initiator.
6. Where there is a storage, a process says that its part is done when it is stored. When all have, the coordinator asks
   the storage for the manifest, and the snapshot is complete when that is written.
7. A recovery ends what is under way. Nothing starts before every process that is restored has said that it is here.
8. Processes send heartbeats. One from which none came for long is no member any more; who joins or comes back says so.
   A process that comes back stands still until the coordinator has answered: it takes nothing from its channels and
   begins nothing, so it cannot come between the others while they take a snapshot without it.
9. The coordinator answers heartbeats. An answer gives its process a lease, counted from when it sent that heartbeat. A
   process whose lease has ended stands still as well, and asks; and so does one that was frozen and goes on, for its
   timers have stood still with it. The lease is shorter than the silence after which the coordinator takes a process
   for gone, and begins no later. So a process stands still before it is gone, and is never half a member: who is still
   a member goes on with its parts of what is under way; who is not becomes one anew, with all that it holds but its
   parts of what has failed meanwhile. A question has a lease, too: only the answer to the last one counts, and none
   that is for an earlier incarnation.

Point 9 counts on clocks that run equally fast, and on nothing else: control messages may take as long as they like
(C. G. Gray and D. R. Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency",
SOSP 1989). If timers go off in any order, as in an order that a user chooses, the coordinator can take a process for
gone that goes on all the same. Then each snapshot is still decided once, and all members agree on it, but its cut need
not be consistent.

The checkpoint coordinator of Apache Flink works much like this: P. Carbone et al., "State Management in Apache Flink",
PVLDB 10(12), 2017.
Control messages travel outside the channels and are never lost but at a process that is down. The coordinator itself
does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sim.core.algorithm import Service, SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Message, Process, Restorable, Timer
from sim.services import storage_words as storage
from sim.services.member import (
    ALIVE,
    AWAKE,
    BYE,
    DONE,
    FULL,
    HERE,
    LEASE,
    LEFT,
    NOT_STORED,
    OUT,
    TO,
    WELCOME,
    Member,
)
from sim.services.settings import Settings
from sim.services.words import (
    CANCELLED,
    COMPLETE,
    EXPIRED,
    FAILED,
    MEMBERSHIP,
    NAME,
    ROLLED_BACK,
    TOO_MANY,
    CoordinatedWords,
    listing,
)

_TIMEOUT, _WATCH, _PAUSE, _INTERVAL = "timeout", "silence", "pause", "interval"


class Request(NamedTuple):
    """A snapshot to be started: its id (None: the next), by whom (None: anybody), and how often it was tried."""

    id: str | None = None
    initiator: str | None = None
    tries: int = 0


class Round(NamedTuple):
    """A snapshot under way: who started it, who takes part, whose part is done, how often it was tried before.

    `is_written`: all parts are done, and the storage has been asked for the manifest.
    """

    initiator: str
    members: tuple[str, ...]
    done: tuple[str, ...] = ()
    tries: int = 0
    is_written: bool = False


class Notes(NamedTuple):
    """What the coordinator knows. `number` is that of the last id, `failures` counts those in a row.

    `expected` holds the processes that a recovery restores, and that are not here yet. `complete` holds the ids of
    complete snapshots that are kept, `forgotten` of those that no longer are, and `ended` of those that are not
    complete.
    """

    members: tuple[str, ...]
    number: int
    left: int  # snapshots that it starts by itself
    pending: tuple[Request, ...] = ()
    under_way: Mapping[str, Round] = {}  # by id; replaced, never changed
    complete: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    rests: bool = False
    failures: int = 0
    gives_up: bool = False
    expected: tuple[str, ...] = ()


def silent_in(timer: str) -> str | None:
    """The process whose silence a timer of the coordinator ends (None: it is another timer)."""
    return timer.removeprefix(f"{_WATCH} of ") if timer.startswith(f"{_WATCH} of ") else None


class Coordinator(Service):
    """Starts snapshots, and decides how each ended."""

    name = NAME
    called = "the coordinator"
    algorithm: Member

    @property
    def settings(self) -> Settings:
        """What the scenario says of it."""
        return self.algorithm.settings

    # ------------------------------------------------------------------ what comes

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """The scenario asks for a snapshot, by whom does not matter."""
        self._ask(service, Request(snapshot), out)

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A process asks for a snapshot, or says how it is or how its part is."""
        source, snapshot, body = message.channel.source_name, message.snapshot, message.body
        notes = self._notes(service)
        if source == storage.NAME:
            self._stored(service, snapshot or "", body, out)
        elif body == BYE:
            self._gone(service, source, "left", out)
        elif snapshot is None:
            self._hear(service, source, {HERE: None} if body == HERE else body, out)
        elif body == DONE:
            self._done(service, snapshot, source, out)
        elif body == NOT_STORED:
            if snapshot in notes.under_way:
                self._decide(service, snapshot, FAILED, f"the part of {source} could not be stored", "", out)
        elif isinstance(body, Mapping) and FULL in body:
            if snapshot in notes.under_way:
                self._decide(service, snapshot, FAILED, f"{source} would hold more than {body[FULL]} messages", "", out)
        else:
            self._ask(service, Request(snapshot, source), out)

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """A snapshot's time is over, a process is silent, a pause is over, or it is time for the next snapshot."""
        kind, _, who = timer.name.partition(" ")
        notes = self._notes(service)
        if kind == _TIMEOUT:
            missing = [name for name in notes.under_way[who].members if name not in notes.under_way[who].done]
            reason = f"no word from {listing(missing)} within {self.settings.timeout:g}"
            self._decide(service, who, EXPIRED, reason, "", out)
        elif kind == _WATCH:
            self._gone(service, who.removeprefix("of "), f"has sent no heartbeat for {self.settings.silence:g}", out)
        elif kind == _PAUSE:
            service.memory = notes._replace(rests=False)
            self._start_next(service, out)
        else:
            service.memory = notes._replace(left=notes.left - 1)
            if notes.left > 1:
                out.set_timer(_INTERVAL, self.settings.interval)
            if not notes.pending:
                self._ask(service, Request(), out)

    def cancel(self, service: Process, snapshot: str, out: Out) -> None:
        """Somebody who runs the system gives a snapshot up, under way or not begun. It is not tried again.

        Nothing happens once the storage has been asked for the manifest: the snapshot may be valid.
        """
        notes = self._notes(service)
        notes = notes._replace(pending=tuple(own for own in notes.pending if own.id != snapshot))
        own = notes.under_way.get(snapshot)
        if own is not None and not own.is_written:
            last = own._replace(tries=self.settings.retries)
            service.memory = notes._replace(under_way={**notes.under_way, snapshot: last})
            self._decide(service, snapshot, FAILED, CANCELLED, "", out)
        elif own is None and snapshot not in {*notes.complete, *notes.forgotten, *notes.ended}:
            service.memory = notes._replace(ended=(*notes.ended, snapshot))  # also if it is asked for only now

    def begin_among(self, service: Process, members: tuple[str, ...]) -> None:
        """The run begins with other members than the scenario has at first."""
        service.memory = self._notes(service)._replace(members=members)

    # ------------------------------------------------------------------ snapshots

    def _notes(self, service: Process) -> Notes:
        own = self.settings
        left = int(own.until / own.interval) if own.interval else 0
        return service.memory or Notes(own.members, own.numbered, left)

    def _ask(self, service: Process, request: Request, out: Out) -> None:
        notes, most = self._notes(service), self.settings.most_waiting
        if request.id in _known(notes):
            return
        if 0 < most <= len(notes.pending) + len(notes.under_way):
            if request.id is not None:
                service.memory = notes._replace(ended=(*notes.ended, request.id))
                out.decide(request.id, FAILED, TOO_MANY, f"{most} are under way or wait")
            return
        service.memory = notes._replace(pending=(*notes.pending, request))
        self._start_next(service, out)

    def _start_next(self, service: Process, out: Out) -> None:
        """Start what was asked for, as long as there may be one more under way."""
        while True:
            notes = self._notes(service)
            initiator = self._initiator(notes)
            is_busy = (
                notes.expected or notes.rests or notes.gives_up or len(notes.under_way) >= self.settings.most_concurrent
            )
            if is_busy or not notes.pending or initiator is None:
                return
            request, *others = notes.pending
            number = notes.number if request.id is not None else notes.number + 1
            name = request.id if request.id is not None else f"S{number}"
            if name in _known(notes):
                service.memory = notes._replace(pending=tuple(others))
                continue
            started = Round(initiator, notes.members, (), request.tries)
            under_way = {**notes.under_way, name: started}
            service.memory = notes._replace(pending=tuple(others), under_way=under_way, number=number)
            out.note(name, {"starts": [initiator], "among": list(notes.members)})
            out.set_timer(f"{_TIMEOUT} {name}", self.settings.timeout, name)
            out.tell(initiator, {"start": list(notes.members)}, name)

    @staticmethod
    def _initiator(notes: Notes) -> str | None:
        """Who is to start the first snapshot that was asked for (None: there is no member)."""
        wanted = notes.pending[0].initiator if notes.pending else None
        return wanted if wanted in notes.members else next(iter(notes.members), None)

    def _done(self, service: Process, snapshot: str, source: str, out: Out) -> None:
        notes = self._notes(service)
        own = notes.under_way.get(snapshot)
        if own is None or source not in own.members:
            return
        own = own._replace(done=(*own.done, source))
        is_last = set(own.done) >= set(own.members)
        if is_last and self.algorithm.uploads:
            own = own._replace(is_written=True)
            out.cancel_timer(f"{_TIMEOUT} {snapshot}")
            out.tell(storage.NAME, storage.COMMIT, snapshot)
        service.memory = notes._replace(under_way={**notes.under_way, snapshot: own})
        if is_last and not self.algorithm.uploads:
            self._decide(service, snapshot, COMPLETE, "", "", out)

    def _stored(self, service: Process, snapshot: str, what: str, out: Out) -> None:
        """The storage has written the manifest of a snapshot, or will not."""
        if snapshot not in self._notes(service).under_way:
            return
        if what == storage.VALID:
            self._decide(service, snapshot, COMPLETE, "", "", out)
        else:
            self._decide(service, snapshot, FAILED, "its manifest is not written", "", out)

    def on_recovery(self, service: Process, goal: Restorable, out: Out) -> None:
        """The system is rolled back: what is under way belongs to the old life."""
        notes = self._notes(service)
        service.memory = notes._replace(expected=goal.restores)
        for process in goal.restores:  # it says that it is here as soon as it is restored, however long that takes
            out.cancel_timer(f"{_WATCH} of {process}")
        for name in notes.under_way:
            is_valid = name in goal.valid
            self._decide(
                service,
                name,
                COMPLETE if is_valid else FAILED,
                "" if is_valid else ROLLED_BACK,
                "",
                out,
            )

    def _decide(self, service: Process, snapshot: str, outcome: str, reason: str, detail: str, out: Out) -> None:
        """The one decision on a snapshot. It is told to all, and what follows from it begins."""
        notes, own = self._notes(service), self._notes(service).under_way[snapshot]
        is_complete = outcome == COMPLETE
        complete = (*notes.complete, snapshot) if is_complete else notes.complete
        kept = complete[-self.settings.retained :] if self.settings.retained else complete
        old = complete[: len(complete) - len(kept)]
        failures = 0 if is_complete else notes.failures + 1
        pending = notes.pending
        if reason == MEMBERSHIP:
            pending = (Request(None, own.initiator, own.tries), *pending)
        elif not is_complete and own.tries < self.settings.retries:
            pending = (Request(None, self._another(own, notes.members), own.tries + 1), *pending)
        service.memory = notes._replace(
            under_way={name: other for name, other in notes.under_way.items() if name != snapshot},
            complete=kept, forgotten=(*notes.forgotten, *old),
            ended=notes.ended if is_complete else (*notes.ended, snapshot),
            failures=failures, gives_up=failures > self.settings.tolerable_failures, pending=pending,
            rests=self.settings.minimum_pause > 0,
        )  # fmt: skip
        out.cancel_timer(f"{_TIMEOUT} {snapshot}")
        out.decide(snapshot, outcome, reason, detail)
        for process in own.members:
            out.tell(process, {"decided": outcome}, snapshot)
        if self.algorithm.uploads and not is_complete:
            out.tell(storage.NAME, storage.DISCARD, snapshot)
        for name in old:
            for process in self.algorithm.graph.processes:
                out.tell(process, {"forget": name}, name)
        if self.settings.minimum_pause > 0:
            out.set_timer(_PAUSE, self.settings.minimum_pause)
        else:
            self._start_next(service, out)

    @staticmethod
    def _another(own: Round, members: tuple[str, ...]) -> str | None:
        """The member after the initiator of a round."""
        if own.initiator not in members:
            return None
        return members[(members.index(own.initiator) + 1) % len(members)]

    # ------------------------------------------------------------------ members

    def _hear(self, service: Process, source: str, body: Mapping[str, Any], out: Out) -> None:
        """A heartbeat, or the question of a process that has come back, or stands still and does not know for how long.

        Each is answered, and begins the silence anew. A heartbeat makes nobody a member: who is out hears so, and asks.
        """
        answer: dict[str, Any]
        if ALIVE in body:
            is_member = source in self._notes(service).members
            answer = {LEASE: self.settings.lease} if is_member else {OUT: True}
        else:
            self._admit(service, source, out, is_new=HERE in body)
            answer = {WELCOME: list(self._notes(service).ended)}
        to = next((body[word] for word in (ALIVE, HERE, AWAKE) if body.get(word)), None)
        out.tell(source, answer if to is None else {**answer, TO: to})
        if OUT not in answer and to is not None:
            self._watch(source, body[LEFT], out)
        self._start_next(service, out)

    def _watch(self, process: str, left: int, out: Out) -> None:
        """Wait for the next heartbeat of a process that will send so many more."""
        if left:
            out.set_timer(f"{_WATCH} of {process}", self.settings.silence)
        else:
            out.cancel_timer(f"{_WATCH} of {process}")

    def _admit(self, service: Process, source: str, out: Out, *, is_new: bool) -> None:
        """A process is here: it is a member, or becomes one. One that begins anew has no part of what is under way."""
        notes = self._notes(service)
        notes = notes._replace(expected=tuple(name for name in notes.expected if name != source))
        service.memory = notes
        if source not in notes.members:
            order = self.algorithm.graph.processes
            members = tuple(name for name in order if name in notes.members or name == source)
            self._change(service, members, f"{source} joined", out)
            return
        for name, own in notes.under_way.items() if is_new else ():
            if source in own.members and source not in own.done:
                self._decide(service, name, FAILED, f"{source} started again", "", out)

    def _gone(self, service: Process, source: str, how: str, out: Out) -> None:
        out.cancel_timer(f"{_WATCH} of {source}")
        notes = self._notes(service)
        notes = notes._replace(expected=tuple(name for name in notes.expected if name != source))
        service.memory = notes
        if source in notes.members:
            self._change(service, tuple(name for name in notes.members if name != source), f"{source} {how}", out)

    def _change(self, service: Process, members: tuple[str, ...], detail: str, out: Out) -> None:
        """Other members: all that is under way fails, and the next begins among those present."""
        notes = self._notes(service)
        under_way = tuple(notes.under_way)
        service.memory = notes._replace(members=members)
        for name in under_way:
            if not notes.under_way[name].is_written:
                self._decide(service, name, FAILED, MEMBERSHIP, detail, out)
        self._start_next(service, out)


def _known(notes: Notes) -> set[str]:
    """The ids of all snapshots that have been started, or have ended."""
    return {*notes.under_way, *notes.complete, *notes.forgotten, *notes.ended}


class EagerCoordinator(Coordinator):
    """A coordinator with work of its own: it begins at time 0."""

    def on_start(self, service: Process, out: Out) -> None:
        """The run begins: from now on every process sends heartbeats."""
        notes = self._notes(service)
        service.memory = notes
        if self.settings.beats:
            for process in notes.members:
                self._watch(process, self.settings.beats, out)
        if notes.left:
            out.set_timer(_INTERVAL, self.settings.interval)


@lru_cache(maxsize=64)
def coordinated(rules: type[SnapshotAlgorithm], *, is_eager: bool) -> type[Member]:
    """A subclass of `rules` whose snapshots a coordinator starts and decides on.

    `is_eager`: the coordinator has work of its own, which it begins with the run.
    """
    service = EagerCoordinator if is_eager else Coordinator
    parts: dict[str, Any] = {"__module__": rules.__module__, "services": (*rules.services, service)}
    parts |= CoordinatedWords.on_top_of(rules)
    return type(rules.__name__, (Member, rules), parts)
