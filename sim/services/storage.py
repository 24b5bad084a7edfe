"""A storage of snapshots: a service that takes the parts of a snapshot, and makes it valid by one last write.

1. A process uploads its part. The storage takes uploads in the order of their arrival, one after another, at its
   bandwidth. If too many wait already it answers 503, and the process has to try again.
2. When the storage has all parts of a snapshot, it writes its manifest, which names them. With that the snapshot
   becomes valid. With a coordinator this is the second phase: the coordinator asks for the manifest after every
   process has said that its part is stored.
3. A crash, a recovery, or a coordinator that gives a snapshot up ends every snapshot that is not valid: its parts are
   deleted. Parts that wait for their manifest too long are deleted, too.
4. If the scenario has recoveries, nothing becomes valid from a crash to the recovery after it. A process that has
   started again meanwhile has forgotten its work, and its part would bring that state back.
5. Valid snapshots follow each other: a snapshot in which some process is behind a valid one is given up (Flink calls
   it subsumed). Else a recovery could go back behind the output that a sink has given to the environment. A recovery
   that goes back to an older snapshot ends those after it: they belong to a future that is over.
6. Only the newest snapshots are kept. A part may be stored as its changes since an earlier valid snapshot; the base of
   a newer snapshot is never deleted (sim/services/increments.py). All such parts of a snapshot have the same base. A
   snapshot may be requested with a type. Then the storage has its parts sent in full, or as changes since the last
   valid snapshot, if there is one.
7. Uncoordinated checkpoints have no manifest: each is valid as soon as it is stored. A recovery goes back to their
   recovery line.

P. Carbone et al., "State Management in Apache Flink", PVLDB 10(12), 2017. The storage itself does not fail.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sim.core.algorithm import Service, SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.model import Message, Process, RecoveryState, Restorable, Timer
from sim.services.increments import FULL, INCREMENTAL, base_for, changed_keys
from sim.services.member import Member
from sim.services.shelf import (
    Shelf,
    Stored,
    Waiting,
    base_of,
    index_of,
    is_behind,
    restorable,
    restorable_line,
    without_unneeded,
)
from sim.services.storage_words import DISCARD, NAME, REFUSED, VALID, StoredWords
from sim.services.uploads import BUSY, CHANGED, COMMITTED, DISCARDED, PART, STORED, WHOLE, Uploader
from sim.services.words import NAME as COORDINATOR
from sim.services.words import ROLLED_BACK

_NEXT, _EXPIRES = "next", "expires"


class Storage(Service):
    """The storage: it takes parts, writes manifests, deletes invalid parts, and serves the parts of valid snapshots."""

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
        """A write is done, or parts have waited for their manifest too long."""
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
        """The uploads of the process are lost, and no snapshot under way becomes valid any more."""
        service.memory = self._shelf(service)._replace(has_failed=self.algorithm.storage.recovers)
        if not self.algorithm.coordinated:
            self._without(service, lambda own: own.process == process, out)
            return
        for snapshot in self._under_way(service):
            self._end(service, snapshot, f"{process} crashed", out)

    def on_recovery(self, service: Process, goal: Restorable, out: Out) -> None:
        """A new epoch begins: snapshots that are not valid belong to the old one, and so do those after the goal."""
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
            kept = (own for own in shelf.checkpoints if own[2].local.inside <= inside.get(own[1], 0))
            service.memory = shelf._replace(checkpoints=tuple(kept))

    def goal(self, service: Process, wanted: str | None, recovery: RecoveryState) -> Restorable:
        """Return the snapshot `wanted` if it is valid, else the last valid one, else the initial state."""
        if self.algorithm.coordinated:
            return restorable(self._shelf(service), wanted, self.algorithm.storage)
        return restorable_line(self._shelf(service), self.algorithm.graph.processes, recovery)

    # ------------------------------------------------------------------ calls from outside: its disk, a controller

    def refuse(self, service: Process, process: str, snapshot: str, out: Out) -> None:
        """The storage cannot take an upload now: 503. The process has to try again."""
        shelf = self._shelf(service)
        service.memory = shelf._replace(refused=shelf.refused + 1)
        self._answer(process, BUSY, snapshot, out)

    def give_up(self, service: Process, snapshot: str, reason: str, out: Out) -> None:
        """End a snapshot that is not valid, for a reason outside these rules."""
        self._end(service, snapshot, reason, out)
        self._tell_coordinator(REFUSED, snapshot, out)

    # ------------------------------------------------------------------ types

    def _other_form(self, shelf: Shelf, process: str, snapshot: str, upload: Message) -> Any:
        """The other form in which the storage wants the part of a process (None: it takes the part as it is)."""
        kind, part = self.algorithm.storage.types.get(snapshot), upload.stamp
        built_on = base_of(shelf, snapshot)
        if part.base is not None:
            is_good = part.base in shelf.valid and built_on in (None, part.base) and kind != FULL
            return None if is_good else WHOLE
        last = base_for(index_of(shelf, process), self.algorithm.storage.chain)
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
        """Do the first write of the queue, and at once those that take no time."""
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
            service.memory = shelf._replace(checkpoints=(*shelf.checkpoints, (own.snapshot, own.process, own.part)))
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
        if is_behind(parts, shelf):
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
        service.memory, unneeded = without_unneeded(shelf)
        for old_snapshot, processes in unneeded.items():
            out.note(old_snapshot, {"deletes": processes, "reason": "newer ones are enough"})
        for process in parts:
            base = base_for(index_of(service.memory, process), own.chain) if own.incremental else None
            self._answer(process, {COMMITTED: base}, snapshot, out)
        self._tell_coordinator(VALID, snapshot, out)

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
        """Whether a coordinator asks for manifests; an algorithm may have another service of that name."""
        return isinstance(self.algorithm, Member)

    def _tell_coordinator(self, what: str, snapshot: str, out: Out) -> None:
        if self._is_told:
            out.tell(COORDINATOR, what, snapshot)

    # ------------------------------------------------------------------ deleting

    def _under_way(self, service: Process) -> list[str]:
        """The snapshots that are not valid and of which a part is stored or waits."""
        shelf = self._shelf(service)
        if not self.algorithm.coordinated:
            return []
        return [*dict.fromkeys((*shelf.staged, *(own.snapshot for own in shelf.queue)))]

    def _end(self, service: Process, snapshot: str, reason: str, out: Out) -> None:
        """End a snapshot: it will never be valid, so delete its parts."""
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
        """Take the writes for which `is_gone` is true out of the queue."""
        shelf = self._shelf(service)
        queue = tuple(own for own in shelf.queue if not is_gone(own))
        service.memory = shelf._replace(queue=queue)
        if shelf.queue and queue[:1] != shelf.queue[:1]:
            out.cancel_timer(_NEXT)
            self._go_on(service, out)


@lru_cache(maxsize=64)
def stored(rules: type[SnapshotAlgorithm]) -> type[Uploader]:
    """Return a subclass of `rules` whose processes store their parts."""
    parts: dict[str, Any] = {"__module__": rules.__module__, "services": (*rules.services, Storage)}
    parts |= StoredWords.on_top_of(rules)
    return type(rules.__name__, (Uploader, rules), parts)
