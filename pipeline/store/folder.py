"""A data folder: Parquet tables side by side, and a manifest that describes them.

A table is a folder of part files. A part is either complete or absent, even if its writer is stopped; so is
`manifest.json`. Workers write their parts themselves, so the folder is at a place that all of them reach: a file system
that they share, or a storage address (pipeline/store/place.py). pipeline/store/tables.py replaces complete tables.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow

from pipeline.store.addresses import place_of
from pipeline.store.local_folder import LocalFolder
from pipeline.store.manifest import COMPLETE, FORMAT, MANIFEST, RUNNING, STOPPED, Manifest, read_manifest
from pipeline.store.parquet_files import PartGone, Rows, metadata_of, read_by_workers
from pipeline.store.place import LOCK, Place, reason, writing
from pipeline.store.schema import TABLES
from pipeline.store.tables import Addition, Part, Replacement, Tables, Written
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Store:
    """One data folder: all access to its files. It can be sent to workers, which reach the same files by it."""

    def __init__(self, where: str | Path | Place) -> None:
        """`where` is a path or an address. Raises InputError for an address that cannot be used."""
        self.place = where if isinstance(where, Place) else place_of(where)
        self._lock = self.place.lock(LOCK)
        self._tables = Tables(self.place)

    def __reduce__(self) -> tuple[type[Store], tuple[Place]]:
        return Store, (self.place,)

    @property
    def address(self) -> str:
        """The path or the address that was given."""
        return self.place.address

    @property
    def path(self) -> Path:
        """The path. Raises InputError for a folder at a storage address."""
        if not isinstance(self.place, LocalFolder):
            raise InputError(f"{self.address}: is no folder of this machine; copy it here first")
        return self.place.path

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.address.rstrip("/").rpartition("/")[2]

    # ------------------------------------------------------------------ the folder

    @classmethod
    def create(cls, where: str | Path, kind: str, about: Mapping[str, Any], owner: str | None = None) -> Store:
        """Makes a folder, which this process then writes; for `about` and `owner` see Manifest.

        Raises InputError if it exists and is not empty, or cannot be written; then nothing is left behind.
        """
        store = cls(where)
        with writing(store.address), store.place.made():
            store._check_empty()
            store._take()
            try:
                store._check_empty()  # no other process was faster
                store.place.own()
                store._write_manifest(Manifest(kind, dict(about), _now(), owner=owner, **_this_process()))
            except BaseException:
                store._lock.free()
                raise
        return store

    def _check_empty(self) -> None:
        if any(name != LOCK for name in self.place.names()):
            raise InputError(
                f"{self.address}: the folder exists and is not empty; name a new one, or delete this one first"
            )

    @classmethod
    def open(cls, where: str | Path) -> Store:
        """The folder at `where`. Raises InputError if there is none, or if another version's format is incompatible."""
        store = cls(where)
        with reading(store.address):
            is_there = store.place.is_there()
        if not is_there:
            raise InputError(f"{where}: there is no such folder; name one that ensemble or ingest has written")
        manifest = store.manifest
        if manifest is not None and manifest.format < FORMAT:
            made = f"made by version {manifest.version}; this is {VERSION}"
            raise InputError(f"{where}: {made}: use that one, or make the folder anew")
        return store

    @property
    def manifest(self) -> Manifest | None:
        """The manifest; None if there is none, as in folders of foreign tables. Raises InputError if it is damaged."""
        return read_manifest(self.place)

    def update_manifest(self, **changes: Any) -> None:
        """Changes fields of the manifest. The file is replaced atomically. Raises InputError if it cannot be."""
        with writing(self.address):
            manifest = None if self._lock.is_lost else self.manifest
            if manifest is None:
                raise InputError(f"{self.address}: was deleted while it was written; begin anew")
            self._write_manifest(replace(manifest, **changes))

    def _write_manifest(self, manifest: Manifest) -> None:
        self.place.write(MANIFEST, lambda file: file.write(manifest.as_text().encode()))

    def mark_running(self) -> None:
        """Writes into the manifest that this process is writing the folder.

        Raises InputError if another one is, or if the folder cannot be written.
        """
        with writing(self.address):
            self._take()
            try:
                self.place.own()
                self.update_manifest(version=VERSION, status=RUNNING, finished=None, **_this_process())
            except BaseException:
                self._lock.free()
                raise

    @property
    def status(self) -> str:
        """Either "running", "stopped" or "complete"; also "stopped" if the writing process has ended early."""
        return self.status_by(self.manifest)

    def status_by(self, manifest: Manifest | None) -> str:
        """The status by a manifest that has been read already."""
        if manifest is None:
            return COMPLETE
        if manifest.status == RUNNING and not self.is_being_written:
            manifest = self.manifest or manifest  # it may have been finished just now
            return STOPPED if manifest.status == RUNNING else manifest.status
        return manifest.status

    @property
    def is_being_written(self) -> bool:
        """Whether a process, this one or another, is writing the folder now."""
        with reading(self.address):
            return self._lock.is_held

    def finish(self, status: str = COMPLETE) -> None:
        """Writes into the manifest that the work is over, and how many rows each table has. Raises InputError."""
        try:
            rows = {table: self.count(table) for table in TABLES if self.has(table)}
            self.update_manifest(status=status, finished=_now(), rows=rows, host=None, pid=None)
        finally:
            self._lock.free()

    def delete(self) -> None:
        """Deletes the folder with all that is in it. Raises InputError if it cannot be deleted."""
        self._lock.free()
        try:
            self.place.remove(MANIFEST)  # first: then the rest of a folder never counts as complete
            self.place.remove_all()
        except OSError as problem:
            raise InputError(
                f"{self.address}: cannot be deleted ({reason(problem)}); look at who may write it"
            ) from None

    def _take(self) -> None:
        if not self._lock.take():
            hint = "" if isinstance(self.place, LocalFolder) else ", or wait a minute if it has ended"
            raise InputError(f"{self.address}: is being written by another process; stop that one first{hint}")

    # ------------------------------------------------------------------ tables

    def address_of(self, table: str) -> str:
        """The address of a table, for users."""
        return f"{self.address.rstrip('/')}/{table}"

    def has(self, table: str) -> bool:
        """Whether the table has a part."""
        return bool(self.parts(table))

    def parts(self, table: str) -> list[Part]:
        """The finished parts of a table, sorted by name."""
        with reading(self.address):
            return self._tables.parts(table)

    def count(self, table: str) -> int:
        """The number of rows of a table, from the metadata of its parts. Raises InputError if one is cut off."""
        return sum(metadata_of(self.place, part.file).num_rows for part in self.parts(table))

    def write_part(self, table: str, name: str, rows: pyarrow.Table) -> Written:
        """Writes or replaces part `name` of a table, atomically. Raises InputError if it cannot be written."""
        return self.adding().write_part(table, name, rows)

    def adding(self) -> Addition:
        """An addition, for workers that write parts of the tables as they are now. Raises InputError."""
        with reading(self.address):
            return self._tables.adding()

    @contextmanager
    def replacing(self, *tables: str) -> Iterator[Replacement]:
        """New tables, to be written part by part. They replace the old ones, all at once, if the block ends well.

        Raises InputError if they cannot be written, or if parts that workers have written are missing.
        """
        with writing(self.address):
            if self.manifest is not None:  # else it is a user's folder of event tables
                self.place.own()
            new = self._tables.begin(tables)
            try:
                yield new
                self._tables.put_in_place(new)
            except BaseException:
                self._tables.give_up(new)
                raise

    def read(self, spark: SparkSession, table: str, columns: Sequence[str] | None = None) -> DataFrame:
        """Columns of a table (None: all) as a Spark frame, which workers read; its columns are those of TABLES.

        Raises InputError if the table does not exist, or a part is cut off or has columns this version does not know.
        """
        return read_by_workers(spark, self.rows(table, columns))

    def rows(self, table: str, columns: Sequence[str] | None = None) -> Rows:
        """The rows of a table for queries without Spark. Raises InputError like `read`."""
        try:
            return self._rows(table, columns)
        except PartGone:  # the table has been replaced since its parts were listed
            return self._rows(table, columns)

    def _rows(self, table: str, columns: Sequence[str] | None) -> Rows:
        parts = self.parts(table)
        if not parts:
            raise InputError(f"{self.address}: holds no {table}; python -m pipeline {_ORIGIN[table]} writes them")
        return Rows(self.place, self.address_of(table), [part.file for part in parts], table, columns)


_ORIGIN = {  # the command that writes each table
    "events": "ensemble or ingest", "runs": "ensemble", "traces": "ingest", "cuts": "ingest --follow",
    "audits": "audit", "channels": "audit", "summaries": "summarize", "extremes": "summarize", "sample": "summarize",
}  # fmt: skip


@contextmanager
def reading(address: str) -> Iterator[None]:
    """Turns the block's OSError, such as of a storage that is gone, into an InputError about `address`."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"{address}: cannot be read ({reason(problem)}); look whether it is there") from None


def _this_process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid()}


def _now() -> datetime:
    return datetime.now(UTC)
