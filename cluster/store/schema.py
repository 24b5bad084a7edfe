"""The tables of the registry, for SQLite and PostgreSQL alike."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)

SCHEMA = 2  # raise it when these tables change
SEQUENCE, COMMITTED, NUMBER = COUNTED = (
    "sequence",
    "committed",
    "number",
)  # of rows, of commits, of ids that are reserved


class Time(TypeDecorator[datetime]):
    """A time in UTC, to the microsecond. SQLite keeps no time zone, so it is taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time as the database keeps it. Raises ValueError for one without a time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        found = value.astimezone(UTC)
        return found.replace(tzinfo=None) if dialect.name == "sqlite" else found

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """The time, with UTC as its time zone."""
        if value is None:
            return None
        found: datetime = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return found


METADATA = MetaData()

VERSION = Table(
    "registry_schema",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
)
CLUSTER = Table(
    "cluster",
    METADATA,
    Column("row", Integer, primary_key=True, autoincrement=False),  # always 1
    Column("id", Text, nullable=False),
    Column("scenario", Text, nullable=False),
    Column("created_at", Time, nullable=False),
)
LEASE = Table(  # which controller has the registry (cluster/store/lease.py)
    "lease",
    METADATA,
    Column("row", Integer, primary_key=True, autoincrement=False),  # always 1
    Column("number", BigInteger, nullable=False),  # rises with each controller: every change carries it
    Column("renewals", BigInteger, nullable=False),
    Column("is_held", Boolean, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process", Text, nullable=False),  # distinguishes it from a later process with the same pid
    Column("folder", Text, nullable=False),
    Column("since", Time, nullable=False),
    Column("epochs", Integer, nullable=False),  # that the controller may begin without asking, up to this one
    Column("reconciled", BigInteger, nullable=False),  # the number of the last lease that has compared with the storage
)
COUNTERS = Table(
    "counters",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),  # the last number that was given
)
EPOCHS = Table(
    "epochs",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("began_at", Time, nullable=False),
    Column("reason", Text, nullable=False),
    Column("snapshot", Text),
)
SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("status", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("epoch", ForeignKey(EPOCHS.c.number), nullable=False),
    Column("initiated_at", Time, nullable=False),
    Column("initiator", Text),
    Column("base", Text),
    Column("reason", Text, nullable=False),
    Column("ended_at", Time),
    Column("nodes", JSON, nullable=False),
    Column("completed", JSON, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("manifest_uri", Text),
    Column("is_kept", Boolean, nullable=False),
    Column("committed", BigInteger, unique=True),  # the order of the commits; null: it never was COMPLETED
    Index("snapshots_of_a_status", "status", "sequence"),
)
KEYS = Table(
    "idempotency_keys",
    METADATA,
    Column("sha256", Text, primary_key=True),  # of the key, which a client chose
    Column("digest", Text, nullable=False),  # of the request
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("headers", Text, nullable=False),  # as JSON
    Column("created_at", Time, nullable=False),
)
ADDED = {1: {LEASE.name}}  # by version: the tables that a registry of that version lacks
