"""A data folder: Parquet tables side by side, and a manifest that says what they are.

A table is a folder of part files. A part is written under a hidden name, which readers skip, and renamed when it is
complete. So readers see complete parts only, whenever the writer was stopped. `manifest.json` is replaced in the same
way. Workers of a cluster write their parts themselves, so the folder has to be on a file system that they share.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import dataset, parquet

from pipeline.store.parquet_files import check_parts, metadata_of, read_parquet
from pipeline.store.schema import TABLES, arrow_schema
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = 3  # of the layout; raise it when one version would misread the folder of another, as after a new column
MANIFEST = "manifest.json"
HIDDEN = "_"  # the first letter of names that readers skip


class Store:
    """One data folder: all access to its files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    # ------------------------------------------------------------------ the folder

    @classmethod
    def create(cls, path: Path, kind: str, about: Mapping[str, Any]) -> Store:
        """Makes a folder; `about` is the user's request. Raises InputError if it exists and is not empty."""
        store = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise InputError(
                    f"{path}: the folder exists and is not empty; name a new one, or delete this one first"
                )
            created = {"format": FORMAT, "kind": kind, "about": dict(about), "created": _now(), "rows": {}}
            store.update_manifest(**created, **_running())
        except OSError as problem:
            raise write_error(path, problem) from None
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """The folder at `path`. Raises InputError if there is none, or if another version's format is incompatible."""
        store = cls(path)
        if not path.is_dir():
            raise InputError(f"{path}: there is no such folder; name one that ensemble or ingest has written")
        manifest = store.manifest
        if manifest.get("format", FORMAT) < FORMAT:
            made = f"made by version {manifest.get('version')}; this is {VERSION}"
            raise InputError(f"{path}: {made}: use that one, or make the folder anew")
        return store

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest; empty if there is none, as in folders of foreign tables. Raises InputError if it is damaged."""
        file = self.path / MANIFEST
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise InputError(f"{file}: cannot be read as JSON; restore it, or delete the folder") from None
        if not isinstance(found, dict) or not isinstance(found.get("format"), int):
            raise InputError(f"{file}: is not a manifest of ours; restore it, or delete the folder")
        if found["format"] > FORMAT:
            raise InputError(f"{file}: made by version {found.get('version')}; this is {VERSION}: update this one")
        return found

    def update_manifest(self, **changes: Any) -> None:
        """Changes fields of the manifest. The file is replaced atomically."""
        text = json.dumps({**self.manifest, **changes}, ensure_ascii=False, indent=1)
        _write_atomically(self.path / MANIFEST, lambda file: file.write_text(text + "\n", encoding="utf-8"))

    def mark_running(self) -> None:
        """Writes into the manifest that this process is writing the folder."""
        self.update_manifest(**_running())

    @property
    def status(self) -> str:
        """Either "running", "stopped" or "complete"; "stopped" too if the process that was writing no longer exists."""
        manifest = self.manifest
        status: str = manifest.get("status", "complete")
        gone = manifest.get("host") == socket.gethostname() and not _is_alive(manifest.get("pid", 0))
        return "stopped" if status == "running" and gone else status

    def finish(self, status: str = "complete") -> None:
        """Writes into the manifest that the work is over, and how many rows each table has."""
        rows = {table: self.count(table) for table in TABLES if self.has(table)}
        self.update_manifest(status=status, finished=_now(), rows=rows, host=None, pid=None)

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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_atomically(folder / f"{name}.parquet", lambda file: parquet.write_table(rows, file))
        except OSError as problem:
            raise write_error(folder, problem) from None

    @contextmanager
    def replacing(self, table: str) -> Iterator[Path]:
        """A hidden folder for Spark to write a table into. It replaces the table if the block ends without an error."""
        staging = self.path / f"{HIDDEN}{table}-{secrets.token_hex(4)}"
        try:
            yield staging
            old = self.path / f"{HIDDEN}old-{staging.name}"
            if self.folder(table).exists():
                self.folder(table).rename(old)
            staging.rename(self.folder(table))
            shutil.rmtree(old, ignore_errors=True)
        except OSError as problem:
            raise write_error(self.path, problem) from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def read(self, spark: SparkSession, table: str) -> DataFrame:
        """A table as a Spark frame; its columns are those of TABLES.

        Raises InputError if the table does not exist, or a part is cut off or has columns this version does not know.
        """
        return read_parquet(spark, self.folder(table), self._whole_parts(table), TABLES[table])

    def rows(self, table: str) -> dataset.Dataset:
        """A table for questions that this process answers by itself. Raises InputError like `read`."""
        parts = self._whole_parts(table)
        check_parts(parts, TABLES[table])
        return dataset.dataset([str(part) for part in parts], arrow_schema(TABLES[table]))

    def _whole_parts(self, table: str) -> list[Path]:
        parts = self.parts(table)
        if not parts:
            raise InputError(f"{self.path}: holds no {table}; python -m pipeline {_ORIGIN[table]} writes them")
        return parts


_ORIGIN = {  # the command that writes each table
    "events": "ensemble or ingest", "runs": "ensemble", "traces": "ingest", "audits": "audit", "channels": "audit",
    "summaries": "summarize", "extremes": "summarize",
}  # fmt: skip


def _write_atomically(file: Path, write: Callable[[Path], Any]) -> None:
    """Writes under a hidden name beside `file`, then renames it to `file`."""
    hidden = file.with_name(f"{HIDDEN}{secrets.token_hex(6)}-{file.name}")
    try:
        write(hidden)
        with hidden.open("rb") as written:
            os.fsync(written.fileno())
        hidden.replace(file)
    finally:
        hidden.unlink(missing_ok=True)


def _running() -> dict[str, Any]:
    """The fields of a manifest while this process writes the folder."""
    return {
        "version": VERSION, "status": "running", "finished": None, "host": socket.gethostname(), "pid": os.getpid(),
    }  # fmt: skip


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it exists and belongs to another user
        return True
    return True


def write_error(path: Path, problem: OSError) -> InputError:
    """The error for a path that cannot be written, such as on a full disk."""
    reason = problem.strerror or str(problem)
    return InputError(f"{path}: cannot be written ({reason}); make room, or name another folder")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
