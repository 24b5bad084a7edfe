"""How the database of a registry is opened: SQLite or PostgreSQL, looked at before anything in it is changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, insert, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from cluster.tables import COUNTED, COUNTERS, METADATA, SCHEMA, VERSION
from sim.core.errors import InputError

PATIENCE_S = 30.0  # for another process that has locked the file


def open_database(url: URL) -> Engine:
    """The engine of a registry. An empty database gets the tables; anything else stays as it is.

    Raises InputError for what is no registry, for one of a newer version, and for one that cannot be reached.
    """
    backend = url.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{backend}://...: a registry is at a URL that begins with sqlite:/// or postgresql://")
    where = _shown(url)
    try:
        if backend == "sqlite":
            return _sqlite(url, where)
        return _postgresql(url, where)
    except (SQLAlchemyError, sqlite3.Error, ImportError, UnicodeError) as problem:
        words = str(getattr(problem, "orig", problem)).strip().split("\n")[0]
        raise InputError(f"{where}: cannot be opened as a registry ({words})") from None


def _shown(url: URL) -> str:
    """The address without what is a secret, or may be one."""
    if url.get_backend_name() == "sqlite":
        return url.database or "sqlite://"
    return URL.create(url.drivername, url.username, None, url.host, url.port, url.database).render_as_string()


def _postgresql(url: URL, where: str) -> Engine:
    engine = create_engine(url, pool_pre_ping=True)
    with engine.connect() as connection:
        is_new = _is_new(connection, where)
    if is_new:
        _make(engine)
    return engine


def _sqlite(url: URL, where: str) -> Engine:
    path = Path(url.database or "")
    if not url.database or url.database == ":memory:":
        raise InputError("sqlite://: a registry is a file; write its path, as in sqlite:///folder/registry.sqlite")
    if not path.parent.is_dir() or path.is_dir():
        raise InputError(f"{where}: cannot be a registry; name a file in a folder that is there")
    is_new = not path.exists() or _looked_at(path, where)
    engine = create_engine(url, connect_args={"timeout": PATIENCE_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    if is_new:
        _make(engine)
    return engine


def _looked_at(path: Path, where: str) -> bool:
    """Whether a file has no tables yet. It is opened for reading only."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True, timeout=PATIENCE_S), poolclass=NullPool
    )
    with engine.connect() as connection:
        damage = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if damage != "ok":
            raise InputError(f"{where}: is damaged ({damage}); restore it, or delete it to begin with a new one")
        return _is_new(connection, where)


def _set_up(connection: Any, record: object) -> None:
    """What SQLite does not do by itself. Transactions begin where SQLAlchemy says so, also for tables."""
    connection.isolation_level = None
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: Connection) -> None:
    """A change locks the file at its begin: a reader that becomes a writer may be too late."""
    changes = connection.get_execution_options().get("changes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")


def _is_new(connection: Connection, where: str) -> bool:
    """Whether the database is empty. Raises InputError if it is neither empty nor a registry of this version."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return True
    found = connection.execute(select(VERSION.c.version)).scalar() if VERSION.name in tables else None
    if found is not None and found > SCHEMA:
        raise InputError(f"{where}: is a registry of version {found}, and this program knows {SCHEMA}: update it")
    if found != SCHEMA or not tables >= METADATA.tables.keys():
        raise InputError(f"{where}: is no registry of a cluster; name another file or database, or an empty one")
    return False


def _make(engine: Engine) -> None:
    with engine.execution_options(changes=True).begin() as connection:
        METADATA.create_all(connection)
        connection.execute(insert(VERSION).values(version=SCHEMA))
        connection.execute(insert(COUNTERS), [{"name": name, "value": 0} for name in COUNTED])
