"""The write-behind registry of a running controller: no change waits for the database.

A change is visible at once, and a thread writes it later (store/writer.py). One controller at a time has a registry
(store/lease.py), so its memory is always up to date. In memory are the snapshots under way, the kept ones, those that
are not written yet, and the last ones. Other snapshots are read from the database, in a thread and with a deadline.
Changes that are not written yet replace what is read.

A snapshot is valid by its manifest, so its row may be late: the next start finds the manifest. Other facts must not be
late. Numbers of snapshots are reserved in blocks. An answer to a request with an Idempotency-Key is given once it is
written. An epoch is in the event log of the controller before any node is in it. The lease has some epochs in reserve
for a start without these logs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from cluster.model import Epoch, Kept, Problem, Snapshot, Status, Superseded, Unavailable
from cluster.stderr import warn
from cluster.store.circuit import Circuit
from cluster.store.registry import Registry
from cluster.store.snapshot_ids import SnapshotIds
from cluster.store.threads import Threads
from cluster.store.writer import Change, Writer

T = TypeVar("T")

READ_S = 4.0  # for an answer of the database
CLOSE_S = 5.0  # for which the end of a cluster waits for the database
MOST_RECENT = 1_000  # snapshots in memory that have ended and are not kept
_TRIES = 5  # to read a page while rows are written


class WriteBehind:
    """A controller's access to a registry whose lease it has taken. Methods may be called in any thread."""

    def __init__(self, registry: Registry) -> None:
        """Renew the lease from now on. Everything else needs `begin`."""
        self._registry = registry
        self._rows: dict[str, Snapshot] = {}
        self._kept: dict[str, None] = {}  # in the order of their commits
        self._last: dict[int, str] = {}  # the snapshot that was committed last, by epoch
        self._recent: dict[str, None] = {}  # what may be forgotten, the oldest first
        self._late: Counter[str] = Counter()  # how many changes of a snapshot are not written yet
        self._noted: set[str] = set()  # snapshots of which a detail will be written with the next change
        self._new: dict[str, None] = {}  # snapshots that the database does not have, the oldest first
        self._new_epochs: dict[int, Epoch] = {}  # likewise
        self._answers: dict[str, Kept] = {}  # likewise, by key
        self._written = 0  # how many new snapshots were written
        self._reads, self._reading = Threads("registry-read", 4), Circuit()
        self._writer = Writer(registry, self._reading.worked)
        self._lock = self._writer.changed
        self._ids = SnapshotIds(registry, self._writer)

    def begin(self, epoch: Epoch) -> None:
        """Begin the first epoch, once the registry agrees with the storage. Raises Unavailable."""
        kept = [*reversed(self._registry.kept())]
        self._rows |= {own.id: own for own in (*self._registry.running(), *kept)}
        self._kept |= dict.fromkeys(own.id for own in kept)
        self._registry.add_epoch(epoch)
        self._writer.epoch = epoch.number
        self._writer.renew()
        self._ids.begin()

    def close(self, seconds: float = CLOSE_S) -> None:
        """Write the changes that wait, for at most `seconds`. The next start finds by itself what is left."""
        self._ids.give_back()
        if (missing := self._writer.close(seconds)) and self._writer.superseded is None:
            what = "the registry does not answer: its last changes are not written"
            warn(f"{what} ({missing}); the next start mends that")

    # ------------------------------------------------------------------ how it is

    @property
    def problem(self) -> str:
        """The reason for which the registry does not answer; empty if it does."""
        return self._writer.problem or self._reading.reason

    @property
    def waiting(self) -> int:
        """The number of changes that are not written yet."""
        return self._writer.waiting

    @property
    def fence(self) -> int:
        """The number of the lease."""
        return self._registry.fence

    def watch(self, on_superseded: Callable[[Superseded], object]) -> None:
        """Call `on_superseded`, in any thread, once another controller has the registry."""
        self._writer.watch(on_superseded)

    async def check_lease(self) -> None:
        """Raise Superseded if another controller has the registry. Call it before a step that no transaction guards.

        This controller may have stood still for long. It goes on if the registry does not answer. A manifest carries
        the number of its lease, so it is void once another controller has begun (control/reconciliation.py).
        """
        if self._writer.superseded is not None:
            raise self._writer.superseded
        if self._writer.has_slept:
            with suppress(Unavailable, TimeoutError):
                await self._reads.within(READ_S, self._writer.renew)

    # ------------------------------------------------------------------ snapshots

    def next_snapshot_id(self) -> str:
        """An id that was never given before, such as snap-0001-abcde. Raises Unavailable if none is in reserve."""
        return self._ids.next(self.problem)

    def put(self, own: Snapshot) -> None:
        """Add a snapshot, or replace the one with its id."""
        with self._lock:
            before = self._rows.get(own.id)
            if before is None:
                self._new[own.id] = None
            if own.status is Status.COMPLETED and (before is None or before.status is not Status.COMPLETED):
                self._last[own.epoch] = own.id
            if own.is_kept:
                self._kept[own.id] = None
            else:
                self._kept.pop(own.id, None)
            self._rows[own.id] = own
            self._noted.discard(own.id)
            self._late[own.id] += 1
            self._writer.add(Change(lambda: self._registry.put(own), lambda: self._settle(own.id)))

    def note(self, own: Snapshot) -> None:
        """Replace a snapshot in memory. The next `put` writes it: after a crash it is not needed."""
        with self._lock:
            self._rows[own.id] = own
            self._noted.add(own.id)

    def _settle(self, snapshot: str) -> None:
        """Note that a change of a snapshot is written."""
        self._late[snapshot] -= 1
        if snapshot in self._new:
            del self._new[snapshot]
            self._written += 1
        if self._late[snapshot]:
            return
        del self._late[snapshot]
        if self._rows[snapshot].status.is_final and snapshot not in self._kept:
            self._recent[snapshot] = None
        while len(self._recent) > MOST_RECENT:
            oldest = next(iter(self._recent))
            del self._recent[oldest]
            if oldest not in self._late and oldest not in self._kept:
                self._rows.pop(oldest, None)

    def row(self, snapshot: str) -> Snapshot | None:
        """The snapshot with an id, if it is in memory."""
        return self._rows.get(snapshot)

    def running(self) -> Sequence[Snapshot]:
        """The snapshots that have not ended."""
        with self._lock:
            return [own for own in self._rows.values() if not own.status.is_final]

    def kept(self) -> Sequence[Snapshot]:
        """The snapshots that the system can go back to, the one committed last first."""
        with self._lock:
            return [self._rows[name] for name in reversed(self._kept)]

    def last_completed(self, epoch: int) -> Snapshot | None:
        """The kept snapshot that was committed last in an epoch; None if there is none."""
        return next((own for own in self.kept() if own.epoch == epoch), None)

    def snapshot(self, snapshot: str) -> Snapshot | None:
        """The snapshot with an id; None if there is none. Raises Unavailable if only the database knows."""
        return self.row(snapshot) or self._read(lambda: self._registry.snapshot(snapshot))

    def page(self, status: Status | None, limit: int, before: str | None = None) -> Sequence[Snapshot]:
        """At most `limit` snapshots, the one added last first: all, or those of a status.

        Only those that were added before the snapshot `before` (None: all). Raises Problem 404 if there is none, and
        Unavailable.
        """
        for _ in range(_TRIES):
            with self._lock:
                written, new, late = self._written, [*reversed(self._new)], {*self._late, *self._noted}
                rows = {name: self._rows[name] for name in late}
            if before in new:
                first, rest = new[new.index(before) + 1 :], None
            else:
                first, rest = [] if before else new, before
            found = self._found([rows[name] for name in first], rest, status, limit, rows, set(new))
            if self._written == written:
                break
        return found

    def _found(
        self, first: Sequence[Snapshot], before: str | None, status: Status | None, limit: int,
        late: dict[str, Snapshot], new: set[str],
    ) -> Sequence[Snapshot]:  # fmt: skip
        """The snapshots of `first`, then those of the database, with the changes in `late`."""
        fitting = [own for own in first if status in (None, own.status)]
        if len(fitting) >= limit and before is None:
            return fitting[:limit]
        most = limit + len(late)
        stored = self._read(lambda: self._registry.page(status, most, before, late))
        known = (late.get(own.id, own) for own in stored if own.id not in new)
        return [*fitting, *(own for own in known if status in (None, own.status))][:limit]

    # ------------------------------------------------------------------ epochs

    def check_epoch(self, number: int) -> None:
        """Raises Unavailable if a start elsewhere could not know of an epoch of that number."""
        if number > (self._writer.epochs or 0):
            raise Unavailable(f"the registry does not answer ({self.problem}), and no epochs are left in reserve")

    def add_epoch(self, epoch: Epoch) -> None:
        """Add an epoch, which has begun."""
        with self._lock:
            self._writer.epoch = epoch.number
            self._new_epochs[epoch.number] = epoch
            forget = lambda: self._new_epochs.pop(epoch.number)  # noqa: E731
            self._writer.add(Change(lambda: self._registry.add_epoch(epoch), forget))

    def epochs(self) -> Sequence[Epoch]:
        """All epochs, the newest first, each with the snapshot that was committed last in it. Raises Unavailable."""
        with self._lock:
            new, last = dict(self._new_epochs), dict(self._last)
        stored = self._read(self._registry.epochs)
        found = {own.number: own for own in chain(stored, new.values())}
        ordered = sorted(found.values(), key=lambda own: -own.number)
        return [replace(own, last=last.get(own.number, own.last)) for own in ordered]

    # ------------------------------------------------------------------ idempotency keys

    def find(self, key: str) -> Kept | None:
        """The answer to the request with this key (None: there was none).

        Raises Unavailable, before anything is done, if an answer could not be kept now.
        """
        if key in self._answers:
            self._wait(key)
        if problem := self._writer.problem:
            raise Unavailable(f"the registry does not answer ({problem}), so no answer can be kept; ask again")
        return self._read(lambda: self._registry.find(key))

    def keep(self, key: str, kept: Kept) -> None:
        """Remember an answer for 24 hours. Raises Unavailable if it is not written in time; it is written later."""
        with self._lock:
            self._answers[key] = kept
            self._writer.add(Change(lambda: self._registry.keep(key, kept), lambda: self._answers.pop(key)))
        self._wait(key)

    def _wait(self, key: str) -> None:
        with self._lock:
            if not self._lock.wait_for(lambda: key not in self._answers, READ_S):
                what = "the request was carried out, and its answer cannot be kept now"
                raise Unavailable(f"Idempotency-Key: {what}; send it again with the same key to have it")

    # ------------------------------------------------------------------ reading

    def _read(self, ask: Callable[[], T]) -> T:
        """The answer of the database to `ask`. Raises Unavailable, at once if it did not answer a moment ago."""
        if pause := self._reading.pause_s:
            raise Unavailable(f"the registry does not answer ({self._reading.reason}); ask again", pause)
        try:
            found = self._reads.wait(READ_S, lambda: _twice(ask))
        except TimeoutError:
            self._reading.failed(f"no answer for {READ_S:g} s")
            raise Unavailable(f"the registry does not answer ({self._reading.reason}); ask again") from None
        except Unavailable as problem:
            self._reading.failed(str(problem))
            raise
        except Problem:
            self._reading.worked()
            raise
        self._reading.worked()
        return found


def _twice(ask: Callable[[], T]) -> T:
    """The answer at the second try at the latest: a connection from before a restart of the server fails once."""
    with suppress(Unavailable):
        return ask()
    return ask()
