"""The registry of a cluster: its snapshots and epochs, in SQLite, or in PostgreSQL.

Every change is one transaction, and is durable when the method returns (SQLite: write-ahead log, synced at each
commit). All methods block, each transaction for a few seconds at most. A running controller uses WriteBehind.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import URL, ColumnElement, Connection, Row, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from cluster.model import Answer, Epoch, Kept, Problem, Snapshot, Status
from cluster.store.checkpoints import NAME
from cluster.store.fenced_database import FencedDatabase
from cluster.store.schema import CLUSTER, COMMITTED, COUNTERS, EPOCHS, KEYS, NUMBER, SEQUENCE, SNAPSHOTS

FILE = "registry.sqlite"
KEPT_KEYS = timedelta(hours=24)  # for which an idempotency key is remembered
_NUMBERED = re.compile(r"snap-([0-9]{1,15})-[a-z]+")
_FIELDS = tuple(SNAPSHOTS.c[field.name] for field in fields(Snapshot))


@dataclass(frozen=True)
class Cluster:
    """The cluster that owns a registry. `scenario` is the name or fingerprint of the scenario that it runs."""

    id: str
    scenario: str
    created_at: datetime


def _now() -> datetime:
    return datetime.now(UTC)


class Registry(FencedDatabase):
    """The snapshots and epochs of a cluster, and the answers that it remembers."""

    def __init__(self, url: str | URL, clock: Callable[[], datetime] = _now) -> None:
        """Like FencedDatabase. `clock` says the time at which answers are kept and forgotten."""
        super().__init__(url)
        self._clock = clock

    @classmethod
    def open_folder(cls, folder: Path) -> Registry:
        """The registry in a cluster's folder."""
        return cls(URL.create("sqlite", database=str(folder / FILE)))

    # ------------------------------------------------------------------ the cluster

    def cluster(self) -> Cluster | None:
        """The cluster that owns the registry; None for a new one."""
        with self._reading() as connection:
            row = connection.execute(select(CLUSTER.c.id, CLUSTER.c.scenario, CLUSTER.c.created_at)).first()
        return None if row is None else Cluster(*row)

    def establish(self, cluster: Cluster) -> None:
        """Set the owner of the registry, once for all. Raises ValueError if it has an owner."""
        try:
            with self._changing() as connection:
                connection.execute(insert(CLUSTER).values(row=1, **asdict(cluster)))
        except IntegrityError:
            raise ValueError("the registry belongs to a cluster already") from None

    # ------------------------------------------------------------------ snapshots

    def reserve(self, count: int) -> range:
        """Reserve `count` numbers of snapshots. No number is ever reserved twice."""
        with self._changing() as connection:
            change = update(COUNTERS).where(COUNTERS.c.name == NUMBER).values(value=COUNTERS.c.value + count)
            last = int(connection.execute(change.returning(COUNTERS.c.value)).scalar_one())
        return range(last - count + 1, last + 1)

    def give_back(self, numbers: range) -> None:
        """Free numbers that were reserved and not used, if they are the last ones."""
        own = COUNTERS.c.name == NUMBER, COUNTERS.c.value == numbers.stop - 1
        with self._changing() as connection:
            connection.execute(update(COUNTERS).where(*own).values(value=numbers.start - 1))

    def put(self, snapshot: Snapshot) -> None:
        """Add a snapshot, or replace the one with its id. Its epoch has been added before.

        Raises ValueError for a snapshot that is kept and not COMPLETED.
        """
        if snapshot.is_kept and snapshot.status is not Status.COMPLETED:
            raise ValueError(f"{snapshot.id} is kept, and {snapshot.status}")
        values = {**asdict(snapshot), "status": snapshot.status.value}
        own = SNAPSHOTS.c.id == snapshot.id
        with self._changing() as connection:
            old = connection.execute(select(SNAPSHOTS.c.committed).where(own)).first()
            committed = old.committed if old else None
            if committed is None and snapshot.status is Status.COMPLETED:
                committed = _next(connection, COMMITTED)
            if old:
                connection.execute(update(SNAPSHOTS).where(own).values(**values, committed=committed))
            else:
                sequence = _next(connection, SEQUENCE)
                connection.execute(insert(SNAPSHOTS).values(**values, sequence=sequence, committed=committed))
                _give_away(connection, snapshot.id)

    def snapshot(self, snapshot: str) -> Snapshot | None:
        """The snapshot with an id; None if there is none."""
        found = self._snapshots(SNAPSHOTS.c.id == snapshot) if NAME.fullmatch(snapshot) else []
        return found[0] if found else None

    def page(
        self, status: Status | None, limit: int, before: str | None = None, also: Collection[str] = ()
    ) -> Sequence[Snapshot]:
        """At most `limit` snapshots, the one added last first: all, or those of a status, and those in `also`.

        Only those that were added before the snapshot `before` (None: all). Raises Problem 404 if there is none.
        """
        conditions = [] if status is None else [or_(SNAPSHOTS.c.status == status, SNAPSHOTS.c.id.in_(also))]
        if before is not None:
            if self.snapshot(before) is None:
                raise Problem(404, "there is no such snapshot to list those before it; name the last one of a page")
            reached = select(SNAPSHOTS.c.sequence).where(SNAPSHOTS.c.id == before).scalar_subquery()
            conditions.append(SNAPSHOTS.c.sequence < reached)
        return self._snapshots(*conditions, limit=limit)

    def running(self) -> Sequence[Snapshot]:
        """The snapshots that have not ended, the newest first."""
        return self._snapshots(SNAPSHOTS.c.status.in_([status for status in Status if not status.is_final]))

    def kept(self) -> Sequence[Snapshot]:
        """The snapshots that the system can go back to, the one committed last first."""
        return self._snapshots(SNAPSHOTS.c.is_kept, order=SNAPSHOTS.c.committed)

    def last_completed(self, epoch: int | None = None) -> Snapshot | None:
        """The kept snapshot that was committed last, of all or of an epoch; None if there is none."""
        conditions = [SNAPSHOTS.c.is_kept] + ([] if epoch is None else [SNAPSHOTS.c.epoch == epoch])
        found = self._snapshots(*conditions, limit=1, order=SNAPSHOTS.c.committed)
        return found[0] if found else None

    def _snapshots(
        self,
        *conditions: ColumnElement[bool],
        limit: int | None = None,
        order: ColumnElement[int] = SNAPSHOTS.c.sequence,
    ) -> Sequence[Snapshot]:
        query = select(*_FIELDS).where(*conditions).order_by(order.desc()).limit(limit)
        with self._reading() as connection:
            return [_snapshot(row) for row in connection.execute(query)]

    # ------------------------------------------------------------------ epochs

    def add_epoch(self, epoch: Epoch) -> None:
        """Add an epoch, unless it is there. Its `last` is not stored: see `epochs`.

        Raises ValueError if another one has its number.
        """
        values = {name: value for name, value in asdict(epoch).items() if name != "last"}
        with self._changing() as connection:
            query = select(*(EPOCHS.c[name] for name in values)).where(EPOCHS.c.number == epoch.number)
            known = connection.execute(query).mappings().first()
            if known is None:
                connection.execute(insert(EPOCHS).values(values))
            elif dict(known) != values:
                raise ValueError(f"there is an epoch {epoch.number} already")

    def epochs(self) -> Sequence[Epoch]:
        """All epochs, the newest first, each with the snapshot that was committed last in it."""
        return self._epochs()

    def last_epoch(self) -> Epoch | None:
        """The newest epoch; None if there is none."""
        found = self._epochs(limit=1)
        return found[0] if found else None

    def _epochs(self, limit: int | None = None) -> Sequence[Epoch]:
        last = (
            select(SNAPSHOTS.c.id)
            .where(SNAPSHOTS.c.epoch == EPOCHS.c.number, SNAPSHOTS.c.status == Status.COMPLETED)
            .order_by(SNAPSHOTS.c.committed.desc())
            .limit(1)
            .scalar_subquery()
        )
        columns = (EPOCHS.c.number, EPOCHS.c.began_at, EPOCHS.c.reason, EPOCHS.c.snapshot)
        with self._reading() as connection:
            rows = connection.execute(select(*columns, last).order_by(EPOCHS.c.number.desc()).limit(limit))
            return [Epoch(*row) for row in rows]

    # ------------------------------------------------------------------ idempotency keys

    def find(self, key: str) -> Kept | None:
        """The answer to the request with this key in the last 24 hours (None: there was none)."""
        known = KEYS.c.sha256 == _sha256(key), KEYS.c.created_at > self._clock() - KEPT_KEYS
        with self._reading() as connection:
            row = connection.execute(select(KEYS).where(*known)).first()
        return None if row is None else Kept(row.digest, Answer(row.status, row.body, json.loads(row.headers)))

    def keep(self, key: str, kept: Kept) -> None:
        """Remember an answer for 24 hours. Raises ValueError if the key has another one."""
        now, answer = self._clock(), kept.answer
        values = {
            "sha256": _sha256(key), "digest": kept.digest, "status": answer.status, "body": answer.body,
            "headers": json.dumps(dict(answer.headers)), "created_at": now,
        }  # fmt: skip
        with self._changing() as connection:
            connection.execute(delete(KEYS).where(KEYS.c.created_at <= now - KEPT_KEYS))
            known = connection.execute(select(KEYS).where(KEYS.c.sha256 == values["sha256"])).mappings().first()
            if known is None:
                connection.execute(insert(KEYS).values(**values))
            elif {**known, "created_at": now} != values:
                raise ValueError("the key has another answer already")


def _snapshot(row: Row[Any]) -> Snapshot:
    found = Snapshot(**row._mapping)
    return replace(found, status=Status(found.status), nodes=tuple(found.nodes), completed=tuple(found.completed))


def _sha256(key: str) -> str:
    """The hash of any key, as 64 hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _next(connection: Connection, counter: str) -> int:
    """The next number of a counter."""
    change = update(COUNTERS).where(COUNTERS.c.name == counter).values(value=COUNTERS.c.value + 1)
    return int(connection.execute(change.returning(COUNTERS.c.value)).scalar_one())


def _give_away(connection: Connection, snapshot: str) -> None:
    """Mark the number in an id as used, for an id that an earlier registry gave."""
    numbered = _NUMBERED.fullmatch(snapshot)
    if numbered:
        own = COUNTERS.c.name == NUMBER, COUNTERS.c.value < int(numbered[1])
        connection.execute(update(COUNTERS).where(*own).values(value=int(numbered[1])))
