"""A data folder: Parquet tables side by side, and a manifest that says what they are.

A table is a folder of part files. A part is written under a hidden name, which readers skip, and renamed when it is
complete. So readers see complete parts only, whenever the writer was stopped. `manifest.json` is replaced in the same
way. Workers of a cluster write their parts themselves, so the folder has to be on a file system that they share.

A data folder is for its owner alone, and what is written into it for nobody else than the folder itself. With
SPARK_REMOTE the workers may be other users: then the folder's mode is left to its owner (umask, chmod).
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import dataset, parquet

from pipeline.store.lock import Lock
from pipeline.store.manifest import COMPLETE, FORMAT, RUNNING, STOPPED, Manifest, read_manifest
from pipeline.store.parquet_files import Rows, check_parts, metadata_of, read_parquet
from pipeline.store.schema import TABLES, arrow_schema
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MANIFEST = "manifest.json"
HIDDEN = "_"  # the first letter of names that readers skip
LOCK = f"{HIDDEN}lock"
OWNER = 0o700  # the mode of a data folder


class Store:
    """One data folder: all access to its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock(path / LOCK)

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    # ------------------------------------------------------------------ the folder

    @classmethod
    def create(cls, path: Path, kind: str, about: Mapping[str, Any], owner: str | None = None) -> Store:
        """Makes a folder, which this process then writes; for `about` and `owner` see Manifest.

        Raises InputError if it exists and is not empty, or cannot be written; then nothing is left behind.
        """
        store = cls(path)
        with _writing(path), _new_folders(path):
            store._check_empty()
            store._take()
            try:
                store._check_empty()  # nobody was faster
                store._own()
                store._write_manifest(Manifest(kind, dict(about), _now(), owner=owner, **_this_process()))
            except BaseException:
                store._lock.free()
                raise
        return store

    def _check_empty(self) -> None:
        if any(item.name != LOCK for item in self.path.iterdir()):
            raise InputError(
                f"{self.path}: the folder exists and is not empty; name a new one, or delete this one first"
            )

    @classmethod
    def open(cls, path: Path) -> Store:
        """The folder at `path`. Raises InputError if there is none, or if another version's format is incompatible."""
        store = cls(path)
        if not is_folder(path):
            raise InputError(f"{path}: there is no such folder; name one that ensemble or ingest has written")
        manifest = store.manifest
        if manifest is not None and manifest.format < FORMAT:
            made = f"made by version {manifest.version}; this is {VERSION}"
            raise InputError(f"{path}: {made}: use that one, or make the folder anew")
        return store

    @property
    def manifest(self) -> Manifest | None:
        """The manifest; None if there is none, as in folders of foreign tables. Raises InputError if it is damaged."""
        return read_manifest(self.path / MANIFEST)

    def update_manifest(self, **changes: Any) -> None:
        """Changes fields of the manifest. The file is replaced atomically. Raises InputError if it cannot be."""
        manifest = self.manifest
        if manifest is None or self._lock.is_lost:
            raise InputError(f"{self.path}: was deleted while it was written; begin anew")
        with _writing(self.path):
            self._write_manifest(replace(manifest, **changes))

    def _write_manifest(self, manifest: Manifest) -> None:
        self._write(self.path / MANIFEST, lambda file: file.write_text(manifest.as_text(), encoding="utf-8"))

    def mark_running(self) -> None:
        """Writes into the manifest that this process is writing the folder.

        Raises InputError if another one is, or if the folder cannot be written.
        """
        with _writing(self.path):
            self._take()
            try:
                self._own()
                self.update_manifest(version=VERSION, status=RUNNING, finished=None, **_this_process())
            except BaseException:
                self._lock.free()
                raise

    @property
    def status(self) -> str:
        """Either "running", "stopped" or "complete"; "stopped" too if what was writing the folder writes no more."""
        return self.status_by(self.manifest)

    def status_by(self, manifest: Manifest | None) -> str:
        """The status, where the manifest has been read already."""
        if manifest is None:
            return COMPLETE
        if manifest.status == RUNNING and not self.is_being_written:
            manifest = self.manifest or manifest  # it may have been finished just now
            return STOPPED if manifest.status == RUNNING else manifest.status
        return manifest.status

    @property
    def is_being_written(self) -> bool:
        """Whether a process, this one or another, is writing the folder now."""
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
        manifest = self.path / MANIFEST
        try:
            if not manifest.is_dir():
                manifest.unlink(missing_ok=True)  # first: what is left of a folder is never taken for whole
            shutil.rmtree(self.path)
        except OSError as problem:
            raise InputError(f"{self.path}: cannot be deleted ({_reason(problem)}); look at who may write it") from None

    def _take(self) -> None:
        if not self._lock.take():
            raise InputError(f"{self.path}: is being written by another process; stop that one first")

    def _own(self) -> None:
        """Makes this the folder of its owner alone, unless workers on a cluster have to write into it."""
        if not os.environ.get("SPARK_REMOTE"):
            _set_mode(self.path, OWNER)
        if (self.path / LOCK).exists():
            _set_mode(self.path / LOCK, self._mode & 0o666)

    # ------------------------------------------------------------------ tables

    def folder(self, table: str) -> Path:
        """The folder that holds a table's parts."""
        return self.path / table

    def has(self, table: str) -> bool:
        """Whether the table has a part."""
        return bool(self.parts(table))

    def parts(self, table: str) -> list[Path]:
        """The finished parts of a table, sorted by name."""
        folder = self.folder(table)
        if folder.is_file():
            return [folder]
        return sorted(file for file in folder.glob("*.parquet") if file.name[0] not in "._")

    def count(self, table: str) -> int:
        """The number of rows of a table, from the metadata of its parts. Raises InputError if one is cut off."""
        return sum(metadata_of(part).num_rows for part in self.parts(table))

    def write_part(self, table: str, name: str, rows: pyarrow.Table) -> None:
        """Writes or replaces part `name` of a table, atomically. Raises InputError if it cannot be written."""
        folder = self.folder(table)
        with _writing(folder):
            folder.mkdir(exist_ok=True)  # without the data folder, which may have been deleted meanwhile
            _set_mode(folder, self._mode)
            self._write(folder / f"{name}.parquet", lambda file: parquet.write_table(rows, file))

    def _write(self, file: Path, write: Callable[[Path], Any]) -> None:
        """Writes under a hidden name beside `file`, then renames it to `file`."""
        hidden = file.with_name(f"{HIDDEN}{secrets.token_hex(6)}-{file.name}")
        try:
            write(hidden)
            hidden.chmod(self._mode & 0o666)
            with hidden.open("r+b") as written:  # not "rb": Windows writes to the disk only what is open for writing
                os.fsync(written.fileno())
            hidden.replace(file)
        finally:
            hidden.unlink(missing_ok=True)

    @property
    def _mode(self) -> int:
        """The mode of folders in the data folder: its own."""
        return stat.S_IMODE(self.path.stat().st_mode)

    @contextmanager
    def replacing(self, table: str) -> Iterator[Path]:
        """A hidden folder for Spark to write a table into. It replaces the table if the block ends without an error."""
        staging = self.path / f"{HIDDEN}{table}-{secrets.token_hex(4)}"
        try:
            with _writing(self.path):
                if self.manifest is not None:  # else it is somebody's folder of event tables
                    self._own()
                yield staging
                self._close_to_others(staging)
                self._put_in_place(staging, self.folder(table))
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _put_in_place(self, staging: Path, folder: Path) -> None:
        """Renames `staging` to `folder`; what was there goes, unless that fails."""
        old = self.path / f"{HIDDEN}old-{staging.name}"
        if folder.exists():
            folder.rename(old)
        try:
            staging.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def _close_to_others(self, staging: Path) -> None:
        """Gives what Spark has written the modes of the data folder; Java made it with those of the umask."""
        for folder, _, files in os.walk(staging):
            _set_mode(Path(folder), self._mode)
            for name in files:
                _set_mode(Path(folder, name), self._mode & 0o666)

    def read(self, spark: SparkSession, table: str) -> DataFrame:
        """A table as a Spark frame; its columns are those of TABLES.

        Raises InputError if the table does not exist, or a part is cut off or has columns this version does not know.
        """
        return read_parquet(spark, self.folder(table), self._whole_parts(table), TABLES[table])

    def rows(self, table: str) -> Rows:
        """A table for questions that this process answers by itself. Raises InputError like `read`."""
        parts = self._whole_parts(table)
        check_parts(parts, TABLES[table])
        found = dataset.dataset([str(part) for part in parts], arrow_schema(TABLES[table]), format="parquet")
        return Rows(self.folder(table), found)

    def _whole_parts(self, table: str) -> list[Path]:
        parts = self.parts(table)
        if not parts:
            raise InputError(f"{self.path}: holds no {table}; python -m pipeline {_ORIGIN[table]} writes them")
        return parts


_ORIGIN = {  # the command that writes each table
    "events": "ensemble or ingest", "runs": "ensemble", "traces": "ingest", "audits": "audit", "channels": "audit",
    "summaries": "summarize", "extremes": "summarize",
}  # fmt: skip


def is_folder(path: Path) -> bool:
    """Whether there is a folder at `path`, also where the name is one that no file system takes."""
    try:
        return path.is_dir()
    except OSError:  # such as: the name is too long
        return False


def _this_process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid()}


@contextmanager
def _new_folders(path: Path) -> Iterator[None]:
    """Makes a folder and those above it that are missing; removes them again if the block raises an exception."""
    made: list[Path] = []
    try:
        for folder in reversed([one for one in (path, *path.parents) if not one.exists()]):
            folder.mkdir(exist_ok=True)
            made.append(folder)
            if not os.environ.get("SPARK_REMOTE"):
                folder.chmod(OWNER)
        yield
    except BaseException:
        with suppress(OSError):  # another process uses it meanwhile
            for folder in reversed(made):
                folder.rmdir()
        raise


def _set_mode(path: Path, mode: int) -> None:
    """Sets a mode, unless the file belongs to another user, such as a worker on a cluster."""
    with suppress(PermissionError):
        path.chmod(mode)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns the block's OSError, such as on a full disk, into an InputError about `path`."""
    try:
        yield
    except OSError as problem:
        words = f"cannot be written ({_reason(problem)}); make room, or name another folder"
        raise InputError(f"{path}: {words}") from None


def _reason(problem: OSError) -> str:
    return os.strerror(problem.errno) if problem.errno else str(problem)


def _now() -> datetime:
    return datetime.now(UTC)
