"""The catalog: every data folder of the data root, with its parameters, times, version and size."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import compute

from pipeline.store.addresses import scheme_of
from pipeline.store.data_root import data_root, folder_path
from pipeline.store.folder import Store
from pipeline.store.manifest import ENSEMBLE, MANIFEST
from pipeline.store.place import HIDDEN
from pipeline.store.schema import TABLES
from sim.core.errors import InputError, nearest


@dataclass(frozen=True)
class Entry:
    """One data folder. `about` is the user's request; times are in UTC; `rows` counts the rows of each table.

    `problem` says why the folder cannot be read, and the other fields are empty then; None if it can be read.
    """

    name: str
    path: Path
    kind: str = ""
    status: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    created: datetime | None = None
    finished: datetime | None = None
    version: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    owner: str | None = None
    problem: str | None = None

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        size = 0
        for folder, _, files in os.walk(self.path):
            for name in files:
                with suppress(OSError):  # a part that was renamed just now
                    size += os.lstat(os.path.join(folder, name)).st_size
        return size

    @property
    def store(self) -> Store:
        """The folder itself. Raises InputError if an incompatible version made it."""
        return Store.open(self.path)


class Difference(NamedTuple):
    """A property in which two entries differ, and its value in each; None if an entry lacks it."""

    what: str
    first: Any
    second: Any


def entries(root: Path | None = None) -> list[Entry]:
    """Every data folder of the root, newest first; folders that cannot be read come last.

    Raises InputError if the root itself cannot be read.
    """
    found = [entry_of(path) for path in _folders(root or data_root())]
    return sorted(found, key=lambda entry: entry.created or datetime.min.replace(tzinfo=UTC), reverse=True)


def _folders(root: Path) -> list[Path]:
    """The folders in the root that may be data folders, by name; none if there is no root yet. Raises InputError."""
    if scheme_of(root) is not None:
        raise InputError(f"{root}: is no folder of this machine; the catalog lists those of one")
    try:
        return sorted(path for path in root.iterdir() if path.name[0] not in "._" and path.is_dir())
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise InputError(
            f"{root}: cannot be listed ({problem.strerror}); it has to be a folder that you may read"
        ) from None


def entry_of(path: Path) -> Entry:
    """The entry of the folder at `path`; its `problem` is set if its name or its manifest is not what it has to be."""
    name, store = _shown(path), Store(path)
    try:
        folder_path(path.name, path.parent)
        manifest = store.manifest
        status = store.status_by(manifest)
    except InputError as problem:
        return Entry(name, path, problem=str(problem))
    if manifest is None:
        return Entry(name, path, problem=f"{path}: has no manifest, so {_why_none(store)}")
    return Entry(
        name=name,
        path=path,
        kind=manifest.kind,
        status=status,
        about=manifest.about,
        created=manifest.created,
        finished=manifest.finished,
        version=manifest.version,
        rows=manifest.rows,
        owner=manifest.owner,
    )


def _shown(path: Path) -> str:
    """A folder's name as a text, also if it holds bytes that are none."""
    return path.name.encode("utf-8", "backslashreplace").decode()


def _why_none(store: Store) -> str:
    if store.is_being_written:
        return "its writing is about to begin"
    foreign = _foreign(store.path)
    if foreign is not None:
        return f"it is no data folder of ours: it holds {foreign!r}"
    return "its writing never began, or it was deleted in part; delete it"


def _foreign(path: Path) -> str | None:
    """An item in a folder that no data folder of ours contains (None: there is none)."""
    for folder, folders, files in os.walk(path):
        is_top = Path(folder) == path
        for name in folders if is_top else ():
            if name not in (*TABLES, MANIFEST) and name[0] not in _SKIPPED:
                return name
        for name in files:
            if not (is_top and name == MANIFEST) and not name.endswith(".parquet") and name[0] not in _SKIPPED:
                return name
    return None


_SKIPPED = f"{HIDDEN}."  # the first letters of names that readers skip


def find(name: str, root: Path | None = None) -> Entry:
    """The entry called `name`. Raises InputError if it does not exist, naming the nearest one, or cannot be read."""
    entry = _find(name, root or data_root())
    if entry.problem:
        raise InputError(entry.problem)
    return entry


def _find(name: str, root: Path) -> Entry:
    """The entry called `name`, which may have a problem. Raises InputError if it does not exist."""
    known = {_shown(path): path for path in _folders(root)}
    if name not in known:
        folder_path(name, root)
        raise InputError(f"there is no data folder {name!r}; {nearest(name, list(known))}")
    return entry_of(known[name])


def delete(name: str, root: Path | None = None) -> None:
    """Deletes a data folder with its content. Raises InputError if it is being written or is not a data folder.

    A folder without a readable manifest is deleted as well, if nothing in it is foreign.
    """
    entry = _find(name, root or data_root())
    store = Store(entry.path)
    if store.is_being_written:
        raise InputError(f"{entry.path}: is being written; stop that first")
    if entry.path.is_symlink():
        raise InputError(f"{entry.path}: is a link to a folder elsewhere; remove the link yourself")
    foreign = None if entry.problem is None else _foreign(entry.path)
    if foreign is not None:
        raise InputError(f"{entry.path}: holds {foreign!r}, so it is no data folder of ours; delete it yourself")
    store.delete()


def differences(first: Entry, second: Entry) -> list[Difference]:
    """The kinds, versions and parameters in which two entries differ, in the order of the first."""
    a, b = dict(_facts(first)), dict(_facts(second))
    return [Difference(key, a.get(key), b.get(key)) for key in {**a, **b} if a.get(key) != b.get(key)]


def _facts(entry: Entry) -> Iterator[tuple[str, Any]]:
    yield "kind", entry.kind
    yield "version", entry.version
    for key, value in entry.about.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", item) for inner, item in value.items())
        else:
            yield key, value


def outcome(entry: Entry) -> dict[str, float | None]:
    """The result in a few numbers, by name: measures of an ensemble with runs, else row counts. Raises InputError."""
    if entry.kind != ENSEMBLE or not entry.store.has("runs"):
        return dict(entry.rows)
    columns = ["run_id", "snapshot_id", "failed", "latency", "recorded_messages", "markers"]
    runs = entry.store.rows("runs").to_table(columns)
    latency, recorded = runs["latency"], runs["recorded_messages"]
    found = {
        "runs": compute.count_distinct(runs["run_id"]),
        "snapshots": compute.count(runs["snapshot_id"]),
        "failed": compute.sum(runs["failed"], min_count=0),
        "median latency": compute.quantile(latency)[0],
        "longest latency": compute.max(latency),
        "median of messages recorded": compute.quantile(recorded)[0],
        "most messages recorded": compute.max(recorded),
        "markers": compute.sum(runs["markers"], min_count=0),
    }
    return {name: value.as_py() for name, value in found.items()}
