"""Queries for the Ensembles page: small results from tables of any size.

Spark sums up an ensemble: when it is complete, into tables of its own; until then whenever the page asks. Single runs
are found without it, by a scan of few columns.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import compute
from pyarrow.dataset import Expression, field

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.spark.kinds import kind_of
from pipeline.spark.scratch import Scratch
from pipeline.store.catalog import entries
from pipeline.store.folder import Store
from pipeline.store.manifest import COMPLETE, ENSEMBLE
from pipeline.store.parquet_files import Rows
from pipeline.store.schema import SAMPLE_TYPES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = Mapping[str, Any]

MOST_CELLS = 2_000
MOST_EXTREMES = 1  # snapshots of each kind
MOST_ROWS = 200  # in a table on the page

EVERY, FAILED, INCOMPLETE, IMPOSSIBLE = "all", "failed", "incomplete", "impossible"
KINDS = {
    EVERY: "all",
    FAILED: "those that fail a check",
    INCOMPLETE: "snapshots that did not complete",
    IMPOSSIBLE: "those that could not run",
}


@dataclass(frozen=True)
class Overview:
    """An ensemble's cells, a random sample of its rows, and its extremes: see pipeline.ensembles.summaries."""

    cells: Sequence[Row]
    points: Sequence[Row]
    extremes: Sequence[Row]


@dataclass(frozen=True)
class RunQuery:
    """A query for rows of the table runs: their kind (of KINDS), cells (None: all), order, and greatest number."""

    kind: str = EVERY
    cells: tuple[int, ...] | None = None
    by: str = "run_id"
    descending: bool = False
    most: int = MOST_ROWS


def ensembles() -> list[str]:
    """The names of the ensembles in the data root that have runs, newest first. Raises InputError like `entries`."""
    return [entry.name for entry in entries() if entry.kind == ENSEMBLE and Store(entry.path).has("runs")]


def load_overview(spark: SparkSession, store: Store) -> Overview:
    """The overview of an ensemble. Raises InputError if the table runs is missing or cannot be read."""
    from pipeline.ensembles import summaries  # imports PySpark, which is slow: pages without queries do not wait for it

    shown = store.read(spark, "runs", list(SAMPLE_TYPES))  # without documents, which are long
    frames = (
        summaries.cells(store.read(spark, "runs", summaries.OF_CELLS)).limit(MOST_CELLS),
        summaries.sample(shown),
        summaries.extremes(shown, MOST_EXTREMES),
    )
    return Overview(*(rows.to_pylist() for rows in kind_of(spark).tables(frames)))


def warm_up_queries(spark: SparkSession) -> None:
    """Runs and sums up a small ensemble, since Spark is slow whenever it does something for the first time.

    Does nothing on a cluster, which cannot write into a temporary folder of this machine.
    """
    if os.environ.get("SPARK_REMOTE"):
        return
    grid = Grid.read({"workload": "bank", "processes": "2", "runs": "8"}, {"transfers": "1"})
    scratch = Scratch()  # the next app removes this folder if the present one is killed
    try:
        store = Store.create(scratch.path / "runs", ENSEMBLE, grid.to_json())
        run_ensemble(spark, store, grid)
    finally:
        scratch.remove()


# ------------------------------------------------------------------ without Spark: few rows, by a scan of few columns


def has_overview(store: Store) -> bool:
    """Whether the ensemble is complete and was summarized then."""
    return store.status == COMPLETE and all(map(store.has, _OVERVIEW))


def kept_overview(store: Store) -> Overview:
    """The overview of an ensemble that has been summarized. Raises InputError if a table cannot be read."""
    tables = (store.rows(table) for table in _OVERVIEW)
    cells, points, extremes = (_without_documents(rows).to_pylist() for rows in tables)
    return Overview(cells, points, extremes)


_OVERVIEW = ("summaries", "sample", "extremes")


def select_runs(store: Store, query: RunQuery) -> list[Row]:
    """The rows that `query` selects, without the column document."""
    condition = _CONDITIONS[query.kind]
    if query.cells is not None:
        condition &= field("cell").isin(list(query.cells))
    keys = store.rows("runs").to_table([*dict.fromkeys([query.by, *KEY])], condition)
    order = {query.by: "descending" if query.descending else "ascending"}
    return _rows_of(store, _sorted(keys, order).slice(0, query.most))


def nearest_run(store: Store, cell: int, measure: str, value: float) -> list[Row]:
    """The row of a cell whose measure is nearest to `value`, if any; with the cell's median, it is a typical run."""
    keys = store.rows("runs").to_table([measure, *KEY], (field("cell") == cell) & field(measure).is_valid())
    distance = compute.abs(compute.subtract(keys[measure], value))
    return _rows_of(store, _sorted(keys.append_column("distance", distance), {"distance": "ascending"}).slice(0, 1))


def slowest(store: Store, cells: Sequence[int]) -> list[Row]:
    """A row for each process that finished snapshots of these cells last, with the one that took longest.

    The columns are process, snapshots (their number), cell, run_id, snapshot_id and latency. The rows are in the order
    of the processes' names.
    """
    condition = field("cell").isin(list(cells)) & field("slowest").is_valid()
    keys = store.rows("runs").to_table(["slowest", "latency", "cell", *KEY], condition)
    columns = ("cell", "run_id", "snapshot_id", "latency")
    wanted = [("run_id", "count"), *((column, "first") for column in columns)]
    found = _sorted(keys, {"latency": "descending"}).group_by("slowest", use_threads=False).aggregate(wanted)
    found = [
        {"process": row["slowest"], "snapshots": row["run_id_count"], **{c: row[f"{c}_first"] for c in columns}}
        for row in found.to_pylist()
    ]
    return sorted(found, key=lambda row: (len(row["process"]), row["process"]))


def run_of(store: Store, run_id: int, snapshot_id: str | None) -> Row:
    """The row of a run and snapshot."""
    return _rows_of(store, pyarrow.table({"run_id": [run_id], "snapshot_id": [snapshot_id]}))[0]


KEY = ("run_id", "snapshot_id")
_CONDITIONS = {
    EVERY: compute.scalar(True),
    FAILED: field("failed"),
    INCOMPLETE: field("status") != "complete",
    IMPOSSIBLE: field("error").is_valid(),
}


def _sorted(keys: pyarrow.Table, order: Mapping[str, str]) -> pyarrow.Table:
    """The rows of `keys` in `order`, then by run and snapshot; nulls come last."""
    names = {**order, **{name: "ascending" for name in KEY if name not in order}}
    return keys.take(compute.sort_indices(keys, list(names.items())))


def _rows_of(store: Store, keys: pyarrow.Table) -> list[Row]:
    """The rows with these keys, in their order."""
    wanted = [(key["run_id"], key["snapshot_id"]) for key in keys.select(KEY).to_pylist()]
    found = _without_documents(store.rows("runs"), field("run_id").isin([run_id for run_id, _ in wanted]))
    rows = {(row["run_id"], row["snapshot_id"]): row for row in found.to_pylist()}
    return [rows[key] for key in wanted]


def _without_documents(rows: Rows, condition: Expression | None = None) -> pyarrow.Table:
    return rows.to_table([name for name in rows.columns if name != "document"], condition)
