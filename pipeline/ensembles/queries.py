"""What a page asks of an ensemble: small answers from tables of any size, worked out by Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.store.data_root import data_root
from pipeline.store.folder import Store
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = Mapping[str, Any]

MOST_CELLS = 2_000
MOST_POINTS = 1_500  # single runs in a chart
MOST_EXTREMES = 1  # of each kind
MOST_ROWS = 200  # of a table on the page

EVERY, FAILED, INCOMPLETE, IMPOSSIBLE = "all", "failed", "incomplete", "impossible"
KINDS = {
    EVERY: "all",
    FAILED: "those that fail a check",
    INCOMPLETE: "snapshots that did not complete",
    IMPOSSIBLE: "those that could not run",
}


@dataclass(frozen=True)
class Answers:
    """An ensemble in short: its cells, a fair sample of its rows, and its extremes, as `summaries` gives them."""

    cells: Sequence[Row]
    points: Sequence[Row]
    extremes: Sequence[Row]


@dataclass(frozen=True)
class Wanted:
    """Which rows of the runs a table shows: of which kind and cells (None: all), and in which order."""

    kind: str = EVERY
    cells: tuple[int, ...] | None = None
    by: str = "run_id"
    descending: bool = False
    most: int = MOST_ROWS


def ensembles() -> list[str]:
    """The names of the ensembles in the data root that have something to show, the newest first."""
    found = []
    for path in data_root().glob("[!._]*/manifest.json"):
        with suppress(InputError):  # the catalog says what is wrong with it
            manifest = Store(path.parent).manifest
            if manifest.get("kind") == "ensemble" and Store(path.parent).has("runs"):
                found.append((str(manifest.get("created")), path.parent.name))
    return [name for _, name in sorted(found, reverse=True)]


def ask(spark: SparkSession, store: Store) -> Answers:
    """The answers on what there is in `store`. Raises InputError where there is nothing, or it cannot be read."""
    from pipeline.ensembles import summaries  # with it comes PySpark, for which no page waits that does not ask

    runs = store.read(spark, "runs")
    questions = (
        summaries.cells(runs).limit(MOST_CELLS),
        summaries.sample(runs, MOST_POINTS).drop("document"),
        summaries.extremes(runs, MOST_EXTREMES).drop("document"),
    )
    with ThreadPoolExecutor(len(questions)) as asking:  # at once: most of the time is Spark's planning
        return Answers(*asking.map(collected, questions))


def rehearse(spark: SparkSession) -> None:
    """Carry out a few small runs and ask everything of them: Spark is slow at whatever it does for the first time.

    Not on a cluster, which sees no temporary folder of this machine.
    """
    if os.environ.get("SPARK_REMOTE"):
        return
    grid = Grid.read({"workload": "bank", "processes": "2", "runs": "8"}, {"transfers": "1"})
    with TemporaryDirectory(prefix="consistent-cut-rehearsal-") as folder:
        store = Store.create(Path(folder) / "runs", "ensemble", grid.to_json())
        run_ensemble(spark, store, grid)
        ask(spark, store)


def collected(rows: DataFrame) -> list[Row]:
    """Few rows, as plain values."""
    found: list[Row] = rows.toArrow().to_pylist()
    return found


def matching(runs: DataFrame, wanted: Wanted) -> DataFrame:
    """The rows that a table wants, without their documents."""
    from pyspark.sql import functions as F

    conditions = {
        EVERY: F.lit(True),
        FAILED: F.col("failed"),
        INCOMPLETE: F.col("status") != "complete",
        IMPOSSIBLE: F.col("error").isNotNull(),
    }
    kept = runs.where(conditions[wanted.kind])
    if wanted.cells is not None:
        kept = kept.where(F.col("cell").isin(list(wanted.cells)))
    order = F.col(wanted.by).desc_nulls_last() if wanted.descending else F.col(wanted.by).asc_nulls_last()
    return kept.drop("document").orderBy(order, "run_id", "snapshot_id").limit(wanted.most)


def nearest(runs: DataFrame, cell: int, measure: str, value: float) -> DataFrame:
    """The row of a cell whose measure is nearest to `value`, such as its median: a typical run."""
    from pyspark.sql import functions as F

    away = F.abs(F.col(measure) - F.lit(value))
    measured = runs.where((F.col("cell") == cell) & F.col(measure).isNotNull())
    return measured.drop("document").orderBy(away, "run_id").limit(1)
