"""A storage of snapshots: a service that takes the parts of a snapshot, and makes it valid by one last write.

1. A process uploads its part. The storage takes uploads in the order in which they come, one after another, at its
   bandwidth. If too many wait already it answers 503, and the process has to try again.
2. When all parts of a snapshot are there, the storage writes its manifest, which names them. From that moment on the
   snapshot is valid, and not before. With a coordinator this is the second phase: it happens when the coordinator asks
   for it, after everybody has said that its part is stored.
3. A crash, a recovery, or a coordinator that gives a snapshot up ends all that is not valid: its parts are deleted. So
   are parts that wait for their manifest too long.
4. Where there are recoveries, nothing becomes valid from a crash to the recovery after it: a process that has started
   again meanwhile has forgotten what it did, and its part would bring that state back.
5. Valid snapshots follow each other: one that is behind a valid one at some process is given up (Flink says that it is
   subsumed). Else a recovery could go back behind what a sink has given to the world outside. A recovery that goes back
   to an older one ends those after it: they belong to a future that is over.
6. Only the newest snapshots are kept. A part may be stored as what has changed since a valid snapshot before; so what
   a newer snapshot is built on is never deleted (sim/services/increments.py). All such parts of a snapshot are built on
   the same one before. A snapshot may be asked for with a type: the storage then has its parts sent whole, or as what
   has changed since the last valid one, if there is one.
7. Copies that nobody coordinates have no manifest: each is valid as soon as it is there. A recovery goes back to their
   recovery line.

P. Carbone et al., "State Management in Apache Flink", PVLDB 10(12), 2017. The storage itself does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from sim.core.algorithm import Service, SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import LocalSnapshot, Message, Process, RecoveryState, Restorable, Timer
from sim.core.recovery import is_taken_back, links
from sim.core.recovery_line import TAKEN_BACK, Receipt, latest_line
from sim.services.increments import FULL, INCREMENTAL, base_for, chain_of, changed_keys, deletable, restored
from sim.services.increments import Storage as Book
from sim.services.increments import Stored as Entry
from sim.services.member import Member
from sim.services.storage_words import DISCARD, NAME, REFUSED, VALID, StoredWords
from sim.services.uploads import BUSY, CHANGED, COMMITTED, DISCARDED, PART, STORED, WHOLE, Part, Uploader
from sim.services.words import NAME as COORDINATOR
from sim.services.words import ROLLED_BACK

_NEXT, _EXPIRES = "next", "expires"
_PRESENT = TAKEN_BACK - 1  # more events than any copy has inside


class Waiting(NamedTuple):
    """What the storage writes next: the `part` of a `process`, or the manifest of a snapshot (None: no process)."""

    snapshot: str
    process: str | None
    part: Part | None
    size: int


class Stored(NamedTuple):
    """A valid snapshot: its parts by process, and the bytes of them all and of the manifest."""

    parts: Mapping[str, Part]
    size: int


class Shelf(NamedTuple):
    """What the storage holds.

    `queue` is what it takes in, the first of it now. `staged` holds parts of snapshots that are not valid, by snapshot
    and process; `valid` the snapshots that are, in the order of their manifests; `deleted` the ids of those that were;
    `ended` those that never will be. `needed` holds parts of deleted snapshots on which others are built. `copies`
    holds copies that nobody coordinates: (snapshot, process, part). `refused` counts the 503s. `has_failed`: a process
    has crashed, and the recovery has not begun.
    """

    queue: tuple[Waiting, ...] = ()
    staged: Mapping[str, Mapping[str, Part]] = {}  # replaced, never changed
    valid: Mapping[str, Stored] = {}  # likewise
    deleted: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    copies: tuple[tuple[str, str, Part], ...] = ()
    refused: int = 0
    needed: Mapping[tuple[str, str], Part] = {}  # by snapshot and process; replaced, never changed
    has_failed: bool = False


class Storage(Service):
    """Takes parts, writes manifests, deletes what is not valid, and gives back what is."""

    name = NAME
    called = "the storage"
    algorithm: Uploader

    # ------------------------------------------------------------------ what comes

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A process uploads its part, or a coordinator asks for a manifest, or gives a snapshot up."""
        shelf, source, snapshot = self._shelf(service), message.channel.source_name, message.snapshot
        assert snapshot is not None
        if source == COORDINATOR:
            self._obey(service, snapshot, message.body, out)
            return
        size, limit = message.body[PART], self.algorithm.storage.limit
        if shelf.has_failed and self.algorithm.coordinated:
            self._end(service, snapshot, "the system is not rolled back yet", out)
        if snapshot in shelf.ended or shelf.has_failed:
            self._answer(source, DISCARDED, snapshot, out)
        elif limit and sum(own.process is not None for own in shelf.queue) >= limit:
            self.refuse(service, source, snapshot, out)
        elif (form := self._other_form(shelf, source, snapshot, message)) is not None:
            out.tell(source, form, snapshot)
        else:
            self._take_in(service, Waiting(snapshot, source, message.stamp, size), out)

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """Something is written, or parts have waited for their manifest too long."""
        if timer.name.startswith(_EXPIRES):
            assert timer.snapshot is not None
            self._end(service, timer.snapshot, "its manifest is missing", out)
            return
        shelf = self._shelf(service)
        first, *others = shelf.queue
        service.memory = shelf._replace(queue=tuple(others))
        self._written(service, first, out)
        self._go_on(service, out)

    def on_crash(self, service: Process, process: str, out: Out) -> None:
        """What the process uploads is lost, and no snapshot that is not valid will be."""
        service.memory = self._shelf(service)._replace(has_failed=self.algorithm.storage.recovers)
        if not self.algorithm.coordinated:
            self._without(service, lambda own: own.process == process, out)
            return
        for snapshot in self._under_way(service):
            self._end(service, snapshot, f"{process} crashed", out)

    def on_recovery(self, service: Process, goal: Restorable, out: Out) -> None:
        """A new life begins: what is not valid belongs to the old one, and so does what came after the goal."""
        for snapshot in self._under_way(service):
            self._end(service, snapshot, ROLLED_BACK, out)
        shelf = self._shelf(service)
        over = [name for name in shelf.valid if name not in goal.valid]
        for name in over:
            out.note(name, {"deletes": [*shelf.valid[name].parts], "reason": ROLLED_BACK})
        service.memory = shelf._replace(
            has_failed=False,
            valid={name: kept for name, kept in shelf.valid.items() if name not in over},
            ended=(*shelf.ended, *over),
        )
        if not self.algorithm.coordinated:
            self._without(service, lambda own: True, out)
            shelf = self._shelf(service)
            inside = {name: part.inside for name, part in goal.parts.items()}
            kept = (own for own in shelf.copies if own[2].local.inside <= inside.get(own[1], 0))
            service.memory = shelf._replace(copies=tuple(kept))

    def goal(self, service: Process, wanted: str | None, recovery: RecoveryState) -> Restorable:
        """The snapshot `wanted` if it is valid, else the last valid one, else the initial state."""
        shelf, names = self._shelf(service), self.algorithm.graph.processes
        if not self.algorithm.coordinated:
            line, keeps = _recovery_line(shelf.copies, names, recovery)
            series = shelf.copies[-1][0] if shelf.copies else None
            return Restorable(series, line, {}, frozenset([series] if series else []), keeps=keeps)
        snapshot = wanted if wanted in shelf.valid else next(reversed([*shelf.valid]), None)
        if snapshot is None:
            return Restorable(None, {}, {})
        known = [*shelf.valid]
        parts, valid = shelf.valid[snapshot].parts, frozenset((*shelf.deleted, *known[: known.index(snapshot) + 1]))
        own = self.algorithm.storage
        sizes = [sum(part.size for part in _chain(shelf, snapshot, name)) for name in parts]
        fetched = accumulate(own.takes(size) for size in sizes)
        takes = {name: 2 * own.latency + time for name, time in zip(parts, fetched, strict=True)}
        return Restorable(snapshot, {name: _whole_part(shelf, snapshot, name) for name in parts}, takes, valid)

    # ------------------------------------------------------------------ what its disk says, and whoever runs it

    def refuse(self, service: Process, process: str, snapshot: str, out: Out) -> None:
        """The storage cannot take an upload now: 503. The process has to try again."""
        shelf = self._shelf(service)
        service.memory = shelf._replace(refused=shelf.refused + 1)
        self._answer(process, BUSY, snapshot, out)

    def give_up(self, service: Process, snapshot: str, reason: str, out: Out) -> None:
        """A snapshot that is not valid will never be, for a reason that is not in these rules."""
        self._end(service, snapshot, reason, out)
        self._tell_coordinator(REFUSED, snapshot, out)

    # ------------------------------------------------------------------ types

    def _other_form(self, shelf: Shelf, process: str, snapshot: str, upload: Message) -> Any:
        """How the storage wants the part of a process sent instead (None: it takes the part as it is)."""
        kind, part = self.algorithm.storage.types.get(snapshot), upload.stamp
        built_on = _base_of(shelf, snapshot)
        if part.base is not None:
            is_good = part.base in shelf.valid and built_on in (None, part.base) and kind != FULL
            return None if is_good else WHOLE
        last = base_for(_book(shelf, process), self.algorithm.storage.chain)
        if kind != INCREMENTAL or CHANGED in upload.body or last is None or last != (built_on or [*shelf.valid][-1]):
            return None
        return {CHANGED: last}

    # ------------------------------------------------------------------ writing

    @staticmethod
    def _shelf(service: Process) -> Shelf:
        return service.memory or Shelf()

    def _answer(self, process: str, what: Any, snapshot: str, out: Out) -> None:
        if self.algorithm.storage.tells:
            out.tell(process, what, snapshot)

    def _take_in(self, service: Process, own: Waiting, out: Out) -> None:
        shelf = self._shelf(service)
        service.memory = shelf._replace(queue=(*shelf.queue, own))
        if not shelf.queue:
            self._go_on(service, out)

    def _go_on(self, service: Process, out: Out) -> None:
        """Write what is first in the queue; what takes no time is written at once."""
        while queue := self._shelf(service).queue:
            takes = self.algorithm.storage.takes(queue[0].size)
            if takes > 0:
                out.set_timer(_NEXT, takes, queue[0].snapshot)
                return
            service.memory = self._shelf(service)._replace(queue=queue[1:])
            self._written(service, queue[0], out)

    def _written(self, service: Process, own: Waiting, out: Out) -> None:
        if own.process is None or own.part is None:
            self._commit(service, own.snapshot, out)
            return
        shelf = self._shelf(service)
        self._answer(own.process, STORED, own.snapshot, out)
        if not self.algorithm.coordinated:
            service.memory = shelf._replace(copies=(*shelf.copies, (own.snapshot, own.process, own.part)))
            return
        parts = {**shelf.staged.get(own.snapshot, {}), own.process: own.part}
        if len(parts) == 1:
            out.set_timer(f"{_EXPIRES} {own.snapshot}", self.algorithm.storage.kept, own.snapshot)
        service.memory = shelf._replace(staged={**shelf.staged, own.snapshot: parts})
        if not self._is_told and set(parts) >= set(self.algorithm.storage.members):
            self._write_manifest(service, own.snapshot, out)

    def _write_manifest(self, service: Process, snapshot: str, out: Out) -> None:
        self._take_in(service, Waiting(snapshot, None, None, self.algorithm.storage.manifest), out)

    def _commit(self, service: Process, snapshot: str, out: Out) -> None:
        """The manifest is written: the snapshot is valid, unless a newer one is."""
        shelf, own = self._shelf(service), self.algorithm.storage
        parts = shelf.staged[snapshot]
        if _is_behind(parts, shelf):
            self._end(service, snapshot, "a newer one is valid", out)
            self._tell_coordinator(REFUSED, snapshot, out)
            return
        stored = Stored(parts, sum(part.size for part in parts.values()) + own.manifest)
        valid = {**shelf.valid, snapshot: stored}
        old = [*valid][: -own.retained] if own.retained else []
        shelf = shelf._replace(
            staged={name: staged for name, staged in shelf.staged.items() if name != snapshot},
            valid={name: kept for name, kept in valid.items() if name not in old},
            deleted=(*shelf.deleted, *old),
            needed={**shelf.needed, **{(name, who): part for name in old for who, part in valid[name].parts.items()}},
        )
        out.cancel_timer(f"{_EXPIRES} {snapshot}")
        body: dict[str, Any] = {"parts": {name: part.size for name, part in parts.items()}, "bytes": stored.size}
        if own.incremental or any(part.base is not None for part in parts.values()):
            body["values"] = sum(changed_keys(part.document) for part in parts.values())
            body["bases"] = {name: part.base for name, part in parts.items()}
        out.manifest(snapshot, body)
        service.memory = self._delete_old(shelf, out)
        for process in parts:
            base = base_for(_book(service.memory, process), own.chain) if own.incremental else None
            self._answer(process, {COMMITTED: base}, snapshot, out)
        self._tell_coordinator(VALID, snapshot, out)

    @staticmethod
    def _delete_old(shelf: Shelf, out: Out) -> Shelf:
        """The shelf without the parts of deleted snapshots on which nothing is built."""
        gone = {process: deletable(_book(shelf, process), 0) for process in {who for _, who in shelf.needed}}
        old: dict[str, list[str]] = {}
        for snapshot, process in shelf.needed:
            if snapshot in gone[process]:
                old.setdefault(snapshot, []).append(process)
        for snapshot, processes in old.items():
            out.note(snapshot, {"deletes": processes, "reason": "newer ones are enough"})
        kept = {own: part for own, part in shelf.needed.items() if own[0] not in gone[own[1]]}
        return shelf._replace(needed=kept)

    # ------------------------------------------------------------------ with a coordinator

    def _obey(self, service: Process, snapshot: str, what: str, out: Out) -> None:
        """A coordinator asks for a manifest, or gives a snapshot up."""
        shelf = self._shelf(service)
        if what == DISCARD:
            self._end(service, snapshot, "it is given up", out)
        elif snapshot in shelf.staged:
            self._write_manifest(service, snapshot, out)
        else:
            out.tell(COORDINATOR, REFUSED, snapshot)

    @property
    def _is_told(self) -> bool:
        """Whether a coordinator says when a manifest is written; an algorithm may have another service of its name."""
        return isinstance(self.algorithm, Member)

    def _tell_coordinator(self, what: str, snapshot: str, out: Out) -> None:
        if self._is_told:
            out.tell(COORDINATOR, what, snapshot)

    # ------------------------------------------------------------------ deleting

    def _under_way(self, service: Process) -> list[str]:
        """The snapshots of which something is there or comes, and that are not valid."""
        shelf = self._shelf(service)
        if not self.algorithm.coordinated:
            return []
        return [*dict.fromkeys((*shelf.staged, *(own.snapshot for own in shelf.queue)))]

    def _end(self, service: Process, snapshot: str, reason: str, out: Out) -> None:
        """A snapshot will never be valid: delete what is there of it."""
        shelf = self._shelf(service)
        if snapshot in shelf.valid or snapshot in shelf.ended:
            return
        parts = shelf.staged.get(snapshot, {})
        is_asked = any(own.snapshot == snapshot and own.process is None for own in shelf.queue)
        service.memory = shelf._replace(
            staged={name: staged for name, staged in shelf.staged.items() if name != snapshot},
            ended=(*shelf.ended, snapshot),
        )
        out.cancel_timer(f"{_EXPIRES} {snapshot}")
        out.note(snapshot, {"deletes": [*parts], "reason": reason})
        self._without(service, lambda own: own.snapshot == snapshot, out)
        if is_asked:
            self._tell_coordinator(REFUSED, snapshot, out)

    def _without(self, service: Process, is_gone: Any, out: Out) -> None:
        """Take uploads out of the queue."""
        shelf = self._shelf(service)
        queue = tuple(own for own in shelf.queue if not is_gone(own))
        service.memory = shelf._replace(queue=queue)
        if shelf.queue and queue[:1] != shelf.queue[:1]:
            out.cancel_timer(_NEXT)
            self._go_on(service, out)


def _is_behind(parts: Mapping[str, Part], shelf: Shelf) -> bool:
    """Whether a process had done less in `parts` than in its part of the last valid snapshot."""
    last = next(reversed([*shelf.valid.values()]), None)
    before = last.parts if last else {}
    return any(part.local.inside < before[name].local.inside for name, part in parts.items() if name in before)


def _base_of(shelf: Shelf, snapshot: str) -> str | None:
    """The snapshot on which the parts of one that is not valid yet are built, as far as they are there."""
    waiting = (own.part for own in shelf.queue if own.snapshot == snapshot and own.part is not None)
    parts = (*shelf.staged.get(snapshot, {}).values(), *waiting)
    return next((part.base for part in parts if part.base is not None), None)


def _parts_of(shelf: Shelf, process: str) -> dict[str, Part]:
    """All that is stored of a process, by snapshot: what is needed still, what is valid, then what is under way."""
    found = {snapshot: part for (snapshot, who), part in shelf.needed.items() if who == process}
    found |= {name: own.parts[process] for name, own in shelf.valid.items() if process in own.parts}
    return found | _under_way_of(shelf, process)


def _under_way_of(shelf: Shelf, process: str) -> dict[str, Part]:
    """The parts of a process that wait for their manifest, or to be written, by snapshot."""
    found = {name: own[process] for name, own in shelf.staged.items() if process in own}
    return found | {own.snapshot: own.part for own in shelf.queue if own.process == process and own.part is not None}


def _book(shelf: Shelf, process: str) -> Book:
    """Which snapshots of a process are stored, and which are built on which."""
    parts = tuple(Entry(snapshot, part.base) for snapshot, part in _parts_of(shelf, process).items())
    valid = tuple(name for name, own in shelf.valid.items() if process in own.parts)
    return Book(parts, valid, tuple(_under_way_of(shelf, process)))


def _chain(shelf: Shelf, snapshot: str, process: str) -> list[Part]:
    """The parts of a process that are needed for its part of a snapshot, the whole one first."""
    parts = _parts_of(shelf, process)
    return [parts[name] for name in reversed(chain_of(_book(shelf, process), snapshot))]


def _whole_part(shelf: Shelf, snapshot: str, process: str) -> LocalSnapshot:
    """What a process had recorded for a snapshot, with its state, which is made from the chain."""
    chain, state = _chain(shelf, snapshot, process), None
    for part in chain:
        state = restored(state, part.document)
    return chain[-1].local._replace(state=state)


def _recovery_line(
    copies: tuple[tuple[str, str, Part], ...], names: tuple[str, ...], recovery: RecoveryState
) -> tuple[dict[str, LocalSnapshot], tuple[str, ...]]:
    """The copies of the recovery line (missing: the initial state), and the processes that keep their present states.

    Those have failed that `recovery` names; if it names none, all processes are rolled back on purpose.
    """
    of: dict[str, dict[int, LocalSnapshot]] = {name: {} for name in names}
    for _, process, part in copies:
        of[process][part.local.inside] = part.local._replace(state=restored(None, part.document))
    present = {name: _PRESENT for name in names if recovery.failed and name not in recovery.failed}
    receipts = (
        Receipt(names[to], index, names[source], TAKEN_BACK if is_taken_back(recovery, source, sent) else sent, 0)
        for to, index, source, sent in links(recovery.receipts)
    )
    found = latest_line(of, present, receipts)
    return {name: of[name][inside] for name, inside in found.line.items() if inside in of[name]}, found.kept


@lru_cache(maxsize=64)
def stored(rules: type[SnapshotAlgorithm]) -> type[Uploader]:
    """A subclass of `rules` whose processes store what they record."""
    parts: dict[str, Any] = {"__module__": rules.__module__, "services": (*rules.services, Storage)}
    parts |= StoredWords.on_top_of(rules)
    return type(rules.__name__, (Uploader, rules), parts)
