"""Spark queries for the Ensembles page: small results from tables of any size."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.store.catalog import entries
from pipeline.store.folder import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = Mapping[str, Any]

MOST_CELLS = 2_000
MOST_POINTS = 1_500  # single runs in a chart
MOST_EXTREMES = 1  # of each kind
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
    """Which rows of the table runs to show: the kind (of KINDS), cells (None: all), order, and how many at most."""

    kind: str = EVERY
    cells: tuple[int, ...] | None = None
    by: str = "run_id"
    descending: bool = False
    most: int = MOST_ROWS


def ensembles() -> list[str]:
    """The names of the ensembles in the data root that have runs, newest first."""
    return [entry.name for entry in entries() if entry.kind == "ensemble" and Store(entry.path).has("runs")]


def load_overview(spark: SparkSession, store: Store) -> Overview:
    """The overview of an ensemble. Raises InputError if the table runs is missing or cannot be read."""
    from pipeline.ensembles import summaries  # imports PySpark, which is slow: pages without queries do not wait for it

    runs = store.read(spark, "runs")
    frames = (
        summaries.cells(runs).limit(MOST_CELLS),
        summaries.sample(runs, MOST_POINTS).drop("document"),
        summaries.extremes(runs, MOST_EXTREMES).drop("document"),
    )
    with ThreadPoolExecutor(len(frames)) as pool:  # in parallel: most of the time is Spark's planning
        return Overview(*pool.map(to_rows, frames))


def warm_up_queries(spark: SparkSession) -> None:
    """Runs and queries a small ensemble, since everything that Spark does for the first time is slow.

    Does nothing on a cluster, which cannot write into a temporary folder of this machine.
    """
    if os.environ.get("SPARK_REMOTE"):
        return
    grid = Grid.read({"workload": "bank", "processes": "2", "runs": "8"}, {"transfers": "1"})
    with TemporaryDirectory(prefix="consistent-cut-rehearsal-") as folder:
        store = Store.create(Path(folder) / "runs", "ensemble", grid.to_json())
        run_ensemble(spark, store, grid)
        load_overview(spark, store)


def to_rows(rows: DataFrame) -> list[Row]:
    """The rows of a small frame, as plain values."""
    found: list[Row] = rows.toArrow().to_pylist()
    return found


def select_runs(runs: DataFrame, query: RunQuery) -> DataFrame:
    """The rows that `query` selects, without the column document."""
    from pyspark.sql import functions as F

    conditions = {
        EVERY: F.lit(True),
        FAILED: F.col("failed"),
        INCOMPLETE: F.col("status") != "complete",
        IMPOSSIBLE: F.col("error").isNotNull(),
    }
    selected = runs.where(conditions[query.kind])
    if query.cells is not None:
        selected = selected.where(F.col("cell").isin(list(query.cells)))
    order = F.col(query.by).desc_nulls_last() if query.descending else F.col(query.by).asc_nulls_last()
    return selected.drop("document").orderBy(order, "run_id", "snapshot_id").limit(query.most)


def nearest_run(runs: DataFrame, cell: int, measure: str, value: float) -> DataFrame:
    """The row of a cell whose measure is nearest to `value`; with the cell's median, it is a typical run."""
    from pyspark.sql import functions as F

    distance = F.abs(F.col(measure) - F.lit(value))
    measured = runs.where((F.col("cell") == cell) & F.col(measure).isNotNull())
    return measured.drop("document").orderBy(distance, "run_id").limit(1)
