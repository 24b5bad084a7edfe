"""The catalog: every data folder of the data root, with its parameters, times, version and size."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import compute

from pipeline.store.data_root import data_root, folder_path
from pipeline.store.folder import Store, write_error
from sim.core.errors import InputError, nearest


@dataclass(frozen=True)
class Entry:
    """One data folder. `about` is the user's request; times are ISO 8601, UTC; `rows` counts the rows of each table.

    `problem` says why the folder cannot be read, and the other fields are empty then; None if it can be read.
    """

    name: str
    path: Path
    kind: str = ""
    status: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    finished: str | None = None
    version: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        size = 0
        for file in self.path.rglob("*"):
            with suppress(OSError):  # a part that was renamed just now
                size += file.stat().st_size
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
    """Every data folder of the root, newest first; folders that cannot be read come last."""
    root = root or data_root()
    folders = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    found = [entry_of(path) for path in folders if path.name[0] not in "._"]
    return sorted(found, key=lambda entry: entry.created, reverse=True)


def entry_of(path: Path) -> Entry:
    """The entry of the folder at `path`; its `problem` is set if the manifest is missing or damaged."""
    store = Store(path)
    try:
        manifest = store.manifest
    except InputError as problem:
        return Entry(path.name, path, problem=str(problem))
    if not manifest:
        return Entry(path.name, path, problem=f"{path}: has no manifest, so it is no data folder of ours")
    return Entry(
        name=path.name,
        path=path,
        kind=manifest["kind"],
        status=store.status,
        about=manifest["about"],
        created=manifest["created"],
        finished=manifest["finished"],
        version=manifest["version"],
        rows=manifest["rows"],
    )


def find(name: str, root: Path | None = None) -> Entry:
    """The entry called `name`. Raises InputError if it does not exist, naming the nearest one, or cannot be read."""
    path = folder_path(name, root)
    if not path.is_dir():
        known = [entry.name for entry in entries(root)]
        raise InputError(f"there is no data folder {name!r}; {nearest(name, known)}")
    entry = entry_of(path)
    if entry.problem:
        raise InputError(entry.problem)
    return entry


def delete(name: str, root: Path | None = None) -> None:
    """Deletes a data folder with its content. Raises InputError if it is being written or is not a data folder."""
    entry = find(name, root)
    if entry.status == "running":
        raise InputError(f"{entry.path}: is being written; stop that first")
    try:
        shutil.rmtree(entry.path)
    except OSError as problem:
        raise write_error(entry.path, problem) from None


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
    """The result in a few numbers, by name: of an ensemble with runs, else the row counts. Raises InputError."""
    if entry.kind != "ensemble" or not entry.store.has("runs"):
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
