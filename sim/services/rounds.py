"""The snapshots of a coordinator: requests that wait, rounds under way, and the one decision on each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sim.core.algorithm import Service
from sim.core.effects import Out
from sim.core.model import Process
from sim.services import storage_words as storage
from sim.services.member import Member
from sim.services.settings import Settings
from sim.services.words import COMPLETE, FAILED, MEMBERSHIP, TOO_MANY

TIMEOUT, PAUSE = "timeout", "pause"


class Request(NamedTuple):
    """A request for a snapshot: its id (None: the next), its initiator (None: any), and the number of tries so far."""

    id: str | None = None
    initiator: str | None = None
    tries: int = 0


class Round(NamedTuple):
    """A snapshot under way: its initiator, its members, the members whose part is done, the number of tries before it.

    `is_written`: all parts are done, and the storage has been asked for the manifest.
    """

    initiator: str
    members: tuple[str, ...]
    done: tuple[str, ...] = ()
    tries: int = 0
    is_written: bool = False


class Notes(NamedTuple):
    """The notes of the coordinator. `number` is that of the last id; `failures` counts failures in a row.

    `expected` holds the processes that a recovery restores and that have not reported yet. `complete` holds the ids of
    complete snapshots that are kept, `forgotten` those of snapshots no longer kept. `ended` holds the ids of snapshots
    that expired or failed.
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


class Rounds(Service):
    """The part of the coordinator that starts snapshots and decides on them."""

    algorithm: Member

    @property
    def settings(self) -> Settings:
        """The settings of the coordinator in the scenario."""
        return self.algorithm.settings

    def notes(self, service: Process) -> Notes:
        """The notes of the coordinator, as they are at first if it has none."""
        own = self.settings
        left = int(own.until / own.interval) if own.interval else 0
        return service.memory or Notes(own.members, own.numbered, left)

    def ask(self, service: Process, request: Request, out: Out) -> None:
        """Queue a request, or end it at once if too many wait."""
        notes, most = self.notes(service), self.settings.most_waiting
        if request.id in known_ids(notes):
            return
        if 0 < most <= len(notes.pending) + len(notes.under_way):
            if request.id is not None:
                service.memory = notes._replace(ended=(*notes.ended, request.id))
                out.decide(request.id, FAILED, TOO_MANY, f"{most} are under way or wait")
            return
        service.memory = notes._replace(pending=(*notes.pending, request))
        self.start_next(service, out)

    def start_next(self, service: Process, out: Out) -> None:
        """Start the requests that wait, as long as one more may be under way."""
        while True:
            notes = self.notes(service)
            initiator = self._initiator(notes)
            is_busy = (
                notes.expected or notes.rests or notes.gives_up or len(notes.under_way) >= self.settings.most_concurrent
            )
            if is_busy or not notes.pending or initiator is None:
                return
            request, *others = notes.pending
            number = notes.number if request.id is not None else notes.number + 1
            name = request.id if request.id is not None else f"S{number}"
            if name in known_ids(notes):
                service.memory = notes._replace(pending=tuple(others))
                continue
            started = Round(initiator, notes.members, (), request.tries)
            under_way = {**notes.under_way, name: started}
            service.memory = notes._replace(pending=tuple(others), under_way=under_way, number=number)
            out.note(name, {"starts": [initiator], "among": list(notes.members)})
            out.set_timer(f"{TIMEOUT} {name}", self.settings.timeout, name)
            out.tell(initiator, {"start": list(notes.members)}, name)

    @staticmethod
    def _initiator(notes: Notes) -> str | None:
        """The process that has to start the first request (None: there is no member)."""
        wanted = notes.pending[0].initiator if notes.pending else None
        return wanted if wanted in notes.members else next(iter(notes.members), None)

    def done(self, service: Process, snapshot: str, source: str, out: Out) -> None:
        """The part of `source` is done: with the last one the snapshot is complete, or the manifest is asked for."""
        notes = self.notes(service)
        own = notes.under_way.get(snapshot)
        if own is None or source not in own.members:
            return
        own = own._replace(done=(*own.done, source))
        is_last = set(own.done) >= set(own.members)
        if is_last and self.algorithm.uploads:
            own = own._replace(is_written=True)
            out.cancel_timer(f"{TIMEOUT} {snapshot}")
            out.tell(storage.NAME, storage.COMMIT, snapshot)
        service.memory = notes._replace(under_way={**notes.under_way, snapshot: own})
        if is_last and not self.algorithm.uploads:
            self.decide(service, snapshot, COMPLETE, "", "", out)

    def stored(self, service: Process, snapshot: str, what: str, out: Out) -> None:
        """The storage has written the manifest of a snapshot, or refuses to."""
        if snapshot not in self.notes(service).under_way:
            return
        if what == storage.VALID:
            self.decide(service, snapshot, COMPLETE, "", "", out)
        else:
            self.decide(service, snapshot, FAILED, "its manifest is not written", "", out)

    def decide(self, service: Process, snapshot: str, outcome: str, reason: str, detail: str, out: Out) -> None:
        """Decide how a snapshot ended, once and for all, tell its members, and start the next one."""
        notes, own = self.notes(service), self.notes(service).under_way[snapshot]
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
        out.cancel_timer(f"{TIMEOUT} {snapshot}")
        out.decide(snapshot, outcome, reason, detail)
        for process in own.members:
            out.tell(process, {"decided": outcome}, snapshot)
        if self.algorithm.uploads and not is_complete:
            out.tell(storage.NAME, storage.DISCARD, snapshot)
        for name in old:
            for process in self.algorithm.graph.processes:
                out.tell(process, {"forget": name}, name)
        if self.settings.minimum_pause > 0:
            out.set_timer(PAUSE, self.settings.minimum_pause)
        else:
            self.start_next(service, out)

    @staticmethod
    def _another(own: Round, members: tuple[str, ...]) -> str | None:
        """The member after the initiator of a round."""
        if own.initiator not in members:
            return None
        return members[(members.index(own.initiator) + 1) % len(members)]


def known_ids(notes: Notes) -> set[str]:
    """Return the ids of all snapshots that were started or have ended."""
    return {*notes.under_way, *notes.complete, *notes.forgotten, *notes.ended}
