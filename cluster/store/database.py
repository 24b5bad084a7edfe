"""The opening of a registry's database, SQLite or PostgreSQL. It is examined before anything in it is changed.

Every request has a deadline: another process may have locked the database, and its server may stand still or be out of
reach.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, delete, event, insert, inspect, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from cluster.model import Unavailable
from cluster.store.schema import ADDED, COUNTED, COUNTERS, METADATA, SCHEMA, VERSION
from sim.core.errors import InputError

DEADLINE_S = 3.0  # of a request to a database
# psycopg's settings: of the connection, of the server, and of TCP, in case the other side is gone without a word.
_LOCKS = f"-c lock_timeout={DEADLINE_S:g}s -c statement_timeout={DEADLINE_S:g}s"
_PATIENCE: Mapping[str, Any] = {
    "connect_timeout": int(DEADLINE_S),
    "options": f"{_LOCKS} -c idle_in_transaction_session_timeout={2 * DEADLINE_S:g}s",
    "tcp_user_timeout": int(1000 * DEADLINE_S), "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3,
}  # fmt: skip


def open_database(url: URL) -> Engine:
    """The engine of a registry. An empty database gets the tables; anything else stays as it is.

    Raises InputError for what is no registry, for one of a newer version, and for one that cannot be reached.
    """
    backend = url.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{backend}://...: a registry is at a URL that begins with sqlite:/// or postgresql://")
    where = shown(url)
    try:
        if backend == "sqlite":
            return _sqlite(url, where)
        return _postgresql(url, where)
    except (SQLAlchemyError, sqlite3.Error, ImportError, UnicodeError) as problem:
        words = str(getattr(problem, "orig", problem)).strip().split("\n")[0]
        raise InputError(f"{where}: cannot be opened as a registry ({words})") from None


def shown(url: URL) -> str:
    """The address without secrets: password and query are left out."""
    if url.get_backend_name() == "sqlite":
        return url.database or "sqlite://"
    return URL.create(url.drivername, url.username, None, url.host, url.port, url.database).render_as_string()


def _postgresql(url: URL, where: str) -> Engine:
    own = {name: value for name, value in _PATIENCE.items() if name not in url.query}
    engine = create_engine(url, connect_args=own, pool_timeout=DEADLINE_S)
    with engine.connect() as connection:
        version = _version(connection, where)
    if version < SCHEMA:
        _make(engine, version)
    return engine


def _sqlite(url: URL, where: str) -> Engine:
    path = Path(url.database or "")
    if not url.database or url.database == ":memory:":
        raise InputError("sqlite://: a registry is a file; write its path, as in sqlite:///folder/registry.sqlite")
    if not path.parent.is_dir() or path.is_dir():
        raise InputError(f"{where}: cannot be a registry; name a file in a folder that is there")
    version = _looked_at(path, where) if path.exists() else 0
    engine = create_engine(url, connect_args={"timeout": DEADLINE_S}, pool_timeout=DEADLINE_S)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    if version < SCHEMA:
        _make(engine, version)
    return engine


def _looked_at(path: Path, where: str) -> int:
    """The version of a file (0: it has no tables yet). It is opened for reading only."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True, timeout=DEADLINE_S), poolclass=NullPool
    )
    with engine.connect() as connection:
        damage = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if damage != "ok":
            raise InputError(f"{where}: is damaged ({damage}); restore it, or delete it to begin with a new one")
        return _version(connection, where)


def _set_up(connection: Any, record: object) -> None:
    """Set up a connection to SQLite. Transactions begin only when SQLAlchemy begins them, also for tables."""
    connection.isolation_level = None
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: Connection) -> None:
    """Begin a transaction. A change locks the file at once: a reader that becomes a writer may be too late."""
    changes = connection.get_execution_options().get("changes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")


def _version(connection: Connection, where: str) -> int:
    """The version of a registry; 0 in an empty database. Raises InputError for anything else, and a newer version."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return 0
    found = connection.execute(select(VERSION.c.version)).scalar() if VERSION.name in tables else None
    if found is not None and found > SCHEMA:
        raise InputError(f"{where}: is a registry of version {found}, and this program knows {SCHEMA}: update it")
    if found is None or not tables >= METADATA.tables.keys() - ADDED.get(found, set()):
        raise InputError(f"{where}: is no registry of a cluster; name another file or database, or an empty one")
    return int(found)


def _make(engine: Engine, version: int) -> None:
    """Make the tables that a registry of an older version lacks."""
    with engine.execution_options(changes=True).begin() as connection:
        METADATA.create_all(connection)
        connection.execute(delete(VERSION))
        connection.execute(insert(VERSION).values(version=SCHEMA))
        if version == 0:
            connection.execute(insert(COUNTERS), [{"name": name, "value": 0} for name in COUNTED])


@contextmanager
def asking(where: str, engine: Engine) -> Iterator[Connection]:
    """A connection, for at most DEADLINE_S seconds and the time that connecting takes.

    Raises Unavailable if the database cannot be reached, or does not answer in that time.
    """
    try:
        with engine.connect() as connection, _ended_after(DEADLINE_S + 1, connection):
            yield connection
    except (DBAPIError, NoConnection) as problem:
        if isinstance(problem, DBAPIError) and not (
            problem.connection_invalidated or isinstance(problem, OperationalError | InterfaceError)
        ):
            raise
        words = str(getattr(problem, "orig", None) or problem).strip().split("\n")[0]
        what = f"{where}: the registry does not answer ({words})"
        raise Unavailable(f"{what}; see that it runs, and that no other process has locked it") from None


@contextmanager
def _ended_after(seconds: float, connection: Connection) -> Iterator[None]:
    """End a connection whose server does not answer, from another thread: no setting of the server can do that."""
    driver = connection.connection.driver_connection
    timer = threading.Timer(seconds, _end, [driver])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(driver: Any) -> None:
    with suppress(Exception):  # it has ended meanwhile, or it is another thread's turn
        if isinstance(driver, sqlite3.Connection):
            driver.interrupt()
        else:
            with socket.socket(fileno=os.dup(driver.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)
