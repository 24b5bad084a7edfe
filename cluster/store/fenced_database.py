"""A database that one controller at a time may change: every change carries the number of its lease."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields

from sqlalchemy import URL, Connection, insert, make_url, select, update
from sqlalchemy.exc import ArgumentError, IntegrityError

from cluster.model import Superseded
from cluster.store.database import asking, open_database, shown
from cluster.store.holder import Holder, Lease
from cluster.store.schema import LEASE
from sim.core.errors import InputError


class FencedDatabase:
    """The tables at a URL, such as sqlite:///folder/registry.sqlite or postgresql://user@host/database."""

    def __init__(self, url: str | URL) -> None:
        """Open the database; make the tables in a file that is not there, or in an empty database.

        Raises InputError, and changes nothing, for what is no registry, for one of a newer version, and for one that
        cannot be reached.
        """
        try:
            address = make_url(url)
        except ArgumentError:
            raise InputError("the registry has no usable URL; write it as postgresql://user@host/database") from None
        self.where = shown(address)
        self._engine = open_database(address)
        self._lock = threading.RLock()
        self._open: Connection | None = None  # of the transaction that the thread with the lock is in
        self._fence: int | None = None  # the number of the lease that every change carries

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    # ------------------------------------------------------------------ the lease (store/lease.py)

    def lease(self) -> Lease | None:
        """The lease, even if it was given back; None if no controller has ever had one."""
        with self._reading() as connection:
            row = connection.execute(select(LEASE)).mappings().first()
        if row is None:
            return None
        holder = Holder(**{field.name: row[field.name] for field in fields(Holder)})
        return Lease(row["number"], row["renewals"], row["is_held"], holder, row["epochs"], row["reconciled"])

    def take_lease(self, holder: Holder, before: Lease | None) -> bool:
        """Take the lease for `holder`: every later change carries its number. Returns False if `before` is stale."""
        number = 1 if before is None else before.number + 1
        values = {**asdict(holder), "number": number, "renewals": 0, "is_held": True}
        try:
            with self._changing() as connection:
                if before is None:
                    connection.execute(insert(LEASE).values(row=1, epochs=0, reconciled=0, **values))
                    is_taken = True
                else:
                    same = LEASE.c.number == before.number, LEASE.c.renewals == before.renewals
                    is_taken = connection.execute(update(LEASE).where(*same).values(**values)).rowcount == 1
        except IntegrityError:
            return False
        if is_taken:
            self._fence = number
        return is_taken

    def renew_lease(self, epochs: int | None = None) -> None:
        """Renew the lease. The controller may begin epochs up to `epochs` (None: as before)."""
        more = {} if epochs is None else {"epochs": epochs}
        with self._changing() as connection:
            connection.execute(update(LEASE).values(renewals=LEASE.c.renewals + 1, **more))

    def release_lease(self) -> None:
        """Give the lease back, when all changes of the controller are written. Raises Superseded."""
        with self._changing() as connection:
            connection.execute(update(LEASE).values(is_held=False))

    def note_reconciled(self) -> None:
        """Note that the controller has compared the registry with the storage: what is new there is its own."""
        with self._changing() as connection:
            connection.execute(update(LEASE).values(reconciled=LEASE.c.number))

    @property
    def fence(self) -> int:
        """The number of the lease that this controller has (0: none)."""
        return self._fence or 0

    # ------------------------------------------------------------------ transactions

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context in which all changes are one transaction."""
        with self._changing():
            yield

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection for reading. Raises Unavailable if the database does not answer in time."""
        with asking(self.where, self._engine) as connection:
            yield connection

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A transaction. Threads take turns, so that numbers are given in the order of the commits.

        Raises Unavailable if the database does not answer in time, and Superseded if another controller has it.
        """
        with self._lock:
            if self._open is not None:
                yield self._open
                return
            with asking(self.where, self._engine.execution_options(changes=True)) as connection:
                self._open = connection
                try:
                    with connection.begin():
                        self._check_fence(connection)
                        yield connection
                finally:
                    self._open = None

    def _check_fence(self, connection: Connection) -> None:
        """Keep other controllers from taking the lease until the end of the transaction. Raises Superseded."""
        if self._fence is not None:
            query = select(LEASE.c.number, LEASE.c.host, LEASE.c.pid, LEASE.c.since).with_for_update(read=True)
            number, host, pid, since = connection.execute(query).one()
            if number != self._fence:
                raise Superseded(
                    f"{self.where}: another controller has the registry (process {pid} on {host}, since "
                    f"{since:%Y-%m-%d %H:%M:%S} UTC), so this one ends; start one controller only"
                )
