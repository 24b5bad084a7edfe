"""A data folder: Parquet tables side by side, and a manifest that says what they are.

A table is a folder of part files. A part is written under a hidden name, which no reader sees, and renamed when it is
whole: so what a reader sees is always complete, whenever the writer was stopped. `manifest.json` is replaced in one
piece as well. Workers of a cluster write their parts themselves, so the folder has to be on a file system they share.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import parquet

from pipeline.store.schema import TABLES, Types, arrow_schema, spark_schema, spark_type
from sim import VERSION
from sim.core.errors import InputError, brief, nearest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = 2  # of the folder; raised when one version could misread the folder of another
MANIFEST = "manifest.json"
KINDS = ("ensemble", "trace")
STATUSES = ("running", "stopped", "complete")
HIDDEN = "_"  # first letter of what readers do not see


class Store:
    """One data folder. Everything that touches its files is here."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # ------------------------------------------------------------------ the folder

    @classmethod
    def create(cls, path: Path, kind: str, about: Mapping[str, Any]) -> Store:
        """A new folder; `about` says what was asked for. Raises InputError where there is something already."""
        store = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise InputError(
                    f"{path}: the folder exists and is not empty; name a new one, or delete this one first"
                )
            store.note(format=FORMAT, kind=kind, about=dict(about), created=_now(), rows={}, **_at_work())
        except OSError as problem:
            raise unwritable(path, problem) from None
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """The folder at `path`, with its manifest. Raises InputError where there is none, or another version's."""
        store = cls(path)
        if not path.is_dir():
            raise InputError(f"{path}: there is no such folder; name one that ensemble or ingest has written")
        manifest = store._manifest()
        if manifest.get("format", FORMAT) < FORMAT:
            made = f"made by version {manifest.get('version')}; this is {VERSION}"
            raise InputError(f"{path}: {made}: use that one, or make the folder anew")
        return store

    @property
    def manifest(self) -> dict[str, Any]:
        """What the folder says of itself; empty where there is no manifest, as in folders that others wrote."""
        return self._manifest()

    def _manifest(self) -> dict[str, Any]:
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

    def note(self, **changes: Any) -> None:
        """Change the manifest, in one piece."""
        text = json.dumps({**self._manifest(), **changes}, ensure_ascii=False, indent=1)
        _write_whole(self.path / MANIFEST, lambda file: file.write_text(text + "\n", encoding="utf-8"))

    def begin(self) -> None:
        """Note that this process is at work here."""
        self.note(**_at_work())

    @property
    def status(self) -> str:
        """One of STATUSES; work whose process is gone without a word is "stopped"."""
        manifest = self._manifest()
        status: str = manifest.get("status", "complete")
        gone = manifest.get("host") == socket.gethostname() and not _is_alive(manifest.get("pid", 0))
        return "stopped" if status == "running" and gone else status

    def finish(self, status: str = "complete") -> None:
        """Note that the work is over, and how many rows each table has."""
        rows = {table: self.count(table) for table in TABLES if self.has(table)}
        self.note(status=status, finished=_now(), rows=rows)

    # ------------------------------------------------------------------ tables

    def folder(self, table: str) -> Path:
        """Where a table's parts lie."""
        return self.path / table

    def has(self, table: str) -> bool:
        """Whether the table has a part."""
        return bool(self.parts(table))

    def parts(self, table: str) -> list[Path]:
        """The finished parts of a table, by name."""
        folder = self.folder(table)
        if folder.is_file():
            return [folder]
        return sorted(file for file in folder.glob("*.parquet") if file.name[0] not in "._")

    def count(self, table: str) -> int:
        """The rows of a table, from the ends of its parts. Raises InputError for a part that is cut off."""
        return sum(_footer(part).num_rows for part in self.parts(table))

    def write_part(self, table: str, name: str, rows: pyarrow.Table) -> None:
        """Write part `name` of a table, whole or not at all; one of that name is replaced. Raises InputError."""
        folder = self.folder(table)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_whole(folder / f"{name}.parquet", lambda file: parquet.write_table(rows, file))
        except OSError as problem:
            raise unwritable(folder, problem) from None

    @contextmanager
    def replacing(self, table: str) -> Iterator[Path]:
        """A hidden folder to write a table into (by Spark); it takes the table's place when the block ends well."""
        staging = self.path / f"{HIDDEN}{table}-{secrets.token_hex(4)}"
        try:
            yield staging
            old = self.path / f"{HIDDEN}old-{staging.name}"
            if self.folder(table).exists():
                self.folder(table).rename(old)
            staging.rename(self.folder(table))
            shutil.rmtree(old, ignore_errors=True)
        except OSError as problem:
            raise unwritable(self.path, problem) from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def read(self, spark: SparkSession, table: str) -> DataFrame:
        """A table as Spark reads it, after a look at every part.

        Raises InputError where there is none, where a part is cut off, or has columns this version does not know.
        """
        parts = self.parts(table)
        if not parts:
            raise InputError(f"{self.path}: holds no {table}; python -m pipeline {_ORIGIN[table]} writes them")
        return read_parquet(spark, self.folder(table), parts, TABLES[table])

    @cached_property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name


_ORIGIN = {  # which command writes each table
    "events": "ensemble or ingest", "runs": "ensemble", "traces": "ingest", "audits": "audit", "channels": "audit",
    "summaries": "summarize", "extremes": "summarize",
}  # fmt: skip


def _footer(part: Path) -> parquet.FileMetaData:
    try:
        return parquet.read_metadata(part)
    except (OSError, pyarrow.ArrowException):
        raise InputError(
            f"{part}: is cut off or no Parquet file; delete it and run again with --resume, or bring it anew"
        ) from None


def read_parquet(spark: SparkSession, place: Path, parts: Sequence[Path], types: Types) -> DataFrame:
    """The Parquet files `parts`, which are all there is at `place`, as a table of `types`, after a look at each.

    Numbers may be of another kind, as pandas makes them. Raises InputError for a part that is cut off
    or has other columns.
    """
    wanted = arrow_schema(types)
    are_exact = [_check_columns(part, _footer(part).schema.to_arrow_schema(), wanted) for part in parts]
    if all(are_exact):
        return spark.read.schema(spark_schema(types)).parquet(str(place.resolve()))
    casts = [f"CAST(`{name}` AS {spark_type(kind)}) AS `{name}`" for name, kind in types.items()]
    return spark.read.parquet(str(place.resolve())).selectExpr(*casts)


def _check_columns(part: Path, found: pyarrow.Schema, wanted: pyarrow.Schema) -> bool:
    """Whether the types are the very ones that are wanted. Raises InputError for those that are not even like them."""
    for name in found.names:
        if name not in wanted.names:
            raise InputError(
                f"{part}: has a column {name!r} that this version ({VERSION}) does not know; "
                f"was it written by a newer one? {nearest(name, wanted.names)}"
            )
    is_exact = True
    for field in wanted:
        if field.name not in found.names:
            raise InputError(f"{part}: has no column {field.name!r}; a table has {', '.join(wanted.names)}")
        given = _plain_type(found.field(field.name).type)
        if given != field.type and not _is_like(given, field.type):
            raise InputError(f"{part}: column {field.name!r} is {given}; it has to be {field.type}")
        is_exact &= given == field.type
    return is_exact


def _plain_type(found: pyarrow.DataType) -> pyarrow.DataType:
    """What Spark reads it as: how it was packed makes no difference."""
    if pyarrow.types.is_dictionary(found):
        found = found.value_type
    if pyarrow.types.is_list(found):
        return pyarrow.list_(_plain_type(found.value_type))
    return pyarrow.string() if pyarrow.types.is_large_string(found) else found


def _is_like(found: pyarrow.DataType, wanted: pyarrow.DataType) -> bool:
    """Whether the one may be cast to the other: numbers to numbers, and nulls to anything."""
    numbers = (pyarrow.types.is_integer, pyarrow.types.is_floating)
    return bool(pyarrow.types.is_null(found)) or all(any(is_one(t) for is_one in numbers) for t in (found, wanted))


def _write_whole(file: Path, write: Any) -> None:
    """Write under a hidden name beside `file`, then put it in its place."""
    hidden = file.with_name(f"{HIDDEN}{secrets.token_hex(6)}-{file.name}")
    try:
        write(hidden)
        with hidden.open("rb") as written:
            os.fsync(written.fileno())
        hidden.replace(file)
    finally:
        hidden.unlink(missing_ok=True)


def _at_work() -> dict[str, Any]:
    """What a manifest says while this process is at work."""
    return {
        "version": VERSION, "status": "running", "finished": None, "host": socket.gethostname(), "pid": os.getpid(),
    }  # fmt: skip


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is there, and somebody else's
        return True
    return True


def unwritable(path: Path, problem: OSError) -> InputError:
    """The sentence for a place that cannot be written, such as a full disk."""
    reason = problem.strerror or str(problem)
    return InputError(f"{path}: cannot be written ({reason}); make room, or name another folder")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# ------------------------------------------------------------------ the data root

ROOT_VARIABLE = "CONSISTENT_CUT_DATA"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def data_root() -> Path:
    """Where the app keeps its data folders: $CONSISTENT_CUT_DATA, else `data` beside the project's folders."""
    given = os.environ.get(ROOT_VARIABLE)
    return Path(given) if given else Path(__file__).resolve().parents[2] / "data"


def named(name: str, root: Path | None = None) -> Path:
    """The folder called `name` in the data root. Raises InputError for a name that could lead out of it."""
    root = root or data_root()
    path = root / name
    if not _NAME.fullmatch(name) or path.resolve().parent != root.resolve():
        raise InputError(
            f"{brief(name)}: is no name of a data folder; use letters, digits, dots, - and _, such as bank-8, "
            f"for a folder in {root}"
        )
    return path
