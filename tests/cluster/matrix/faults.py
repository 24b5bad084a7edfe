"""Faults of a cluster, for as long as a block lasts."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple

from tests.cluster.matrix import gates
from tests.cluster.matrix.cells import (
    CONTROLLER,
    EVERYTHING,
    FOLDER,
    FULL,
    HALF,
    HANG,
    JOINING,
    KILL,
    LEAVING,
    LOCKED,
    NETWORK,
    NODE,
    NODES,
    POSTGRESQL,
    REFUSE,
    S3,
    SLOW,
    SQLITE,
    THREE,
    Cell,
)
from tests.cluster.matrix.launcher import CABLE, DISK, REGISTRY
from tests.cluster.matrix.moments import Moment
from tests.cluster.matrix.stage import LIMIT, Stage
from tests.cluster.postgres import Server

GATE = {SQLITE: REGISTRY, POSTGRESQL: REGISTRY, FOLDER: DISK, S3: DISK, NETWORK: CABLE}
MODES = {
    SLOW: gates.SLOW,
    HANG: gates.HANG,
    HALF: gates.HANG,
    THREE: gates.HANG,
    REFUSE: gates.REFUSE,
    FULL: gates.FULL,
}
LASTS = {HALF: LIMIT / 2, THREE: 3 * LIMIT, KILL: 0.0}  # seconds; all else, one and a half of the limit
STOPPED_S, RUNNING_S = 0.09, 0.01  # in turn, of a process that is slow


class Database(NamedTuple):
    """A database on a server of PostgreSQL, and its URL."""

    server: Server
    url: str


@contextmanager
def hits(cell: Cell, stage: Stage, moment: Moment, database: Database | None) -> Iterator[None]:
    """The fault of a cell. `database` is that of a registry in PostgreSQL."""
    with _begun(cell, stage, moment, database):
        yield


def lasting(what: str) -> float:
    """The seconds that a fault lasts."""
    return LASTS.get(what, 1.5 * LIMIT)


def _begun(cell: Cell, stage: Stage, moment: Moment, database: Database | None) -> AbstractContextManager[None]:
    who, what, when = cell
    if who in (NODE, NODES, CONTROLLER, EVERYTHING):
        return _on_processes(what, _pids(who, when, stage, moment))
    if what == LOCKED:
        return _sqlite_locked(stage) if database is None else _postgresql_locked(database)
    if database is not None and what in (KILL, HALF, THREE):
        return _on_server(what, database.server)
    return _gate(stage, GATE[who], MODES[what])


def _pids(who: str, when: str, stage: Stage, moment: Moment) -> list[int]:
    """The processes that are hit."""
    if who == CONTROLLER:
        return [stage.process.pid]
    if who == EVERYTHING:
        return [stage.process.pid, *stage.pids]
    other = moment.pid if when in (JOINING, LEAVING) else stage.pid("P3")
    return [stage.pid("P2"), *([other] if who == NODES else [])]


@contextmanager
def _gate(stage: Stage, name: str, mode: str) -> Iterator[None]:
    stage.gates.set(name, mode)
    yield
    stage.gates.set(name)


@contextmanager
def _sqlite_locked(stage: Stage) -> Iterator[None]:
    """Another program is in the middle of a change of the registry."""
    other = sqlite3.connect(stage.folder / "registry.sqlite", isolation_level=None, timeout=30)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@contextmanager
def _postgresql_locked(database: Database) -> Iterator[None]:
    """Another program has locked all tables of the registry."""
    import psycopg

    with psycopg.connect(database.url) as other:
        rows = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        other.execute(f"LOCK TABLE {', '.join(name for (name,) in rows)}".encode())
        yield


@contextmanager
def _on_server(what: str, server: Server) -> Iterator[None]:
    if what == KILL:
        server.kill()
        yield
        server.start()
    else:
        server.freeze()
        yield
        server.thaw()


@contextmanager
def _on_processes(what: str, pids: list[int]) -> Iterator[None]:
    acts: dict[str, Callable[[list[int]], Any]] = {SLOW: _slow, FULL: _full}
    if what in acts:
        with acts[what](pids):
            yield
        return
    _signal(pids, signal.SIGKILL if what == KILL else signal.SIGSTOP)
    yield
    _signal(pids, signal.SIGCONT)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def _slow(pids: list[int]) -> Iterator[None]:
    """The processes run a tenth of the time."""
    is_over = threading.Event()

    def hinder() -> None:
        while not is_over.is_set():
            _signal(pids, signal.SIGSTOP)
            time.sleep(STOPPED_S)  # time itself is tested: what is slow takes some
            _signal(pids, signal.SIGCONT)
            is_over.wait(RUNNING_S)

    thread = threading.Thread(target=hinder)
    thread.start()
    yield
    is_over.set()
    thread.join()


@contextmanager
def _full(pids: list[int]) -> Iterator[None]:
    """The processes, and those that they start, can write no file: as on a full disk, every write of one fails."""
    before = resource.RLIM_INFINITY
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before))
    yield
    for pid in {*pids, *(child for parent in pids for child in _children(parent))}:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (before, before))


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
            return [int(own) for own in listed.read().split()]
    except OSError:
        return []
