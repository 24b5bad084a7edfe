"""What an ensemble comes to: quantiles for each cell of its grid, its extremes, and a fair sample of its runs.

Each is a transformation of the table of runs (RUN_TYPES); its answer is small, however many runs there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.store.folder import Store
from pipeline.store.schema import EXTREME_TYPES, MEASURES, PARAMETERS, QUANTILES, RUN_TYPES, SUMMARY_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ACCURACY = 10_000  # of quantiles: those of a cell with fewer rows are exact
MOST_EXTREMES = 100  # of each kind, that are written down
MIDDLE = 2.563  # standard deviations between the 10 % and the 90 % quantile, where things are distributed normally
STRANGE = ("latency", "recorded_messages")  # by which a snapshot may be strange


def cells(runs: DataFrame) -> DataFrame:
    """A row for each cell, in order: SUMMARY_TYPES. Of an even number of values, the median is the lower one."""
    return (
        runs.groupBy("cell")
        .agg(
            *(F.any_value(name).alias(name) for name in PARAMETERS),
            _count_runs().alias("runs"),
            F.count("snapshot_id").alias("snapshots"),
            F.count_if("failed").alias("failures"),
            F.count("error").alias("errors"),
            *(_quantiles(measure).alias(measure) for measure in MEASURES),
        )
        .select(*_columns())
        .orderBy("cell")
    )


def _count_runs() -> Column:
    """How many runs there are among the rows of a cell: all that take snapshots take the same ones."""
    kinds = F.greatest(F.size(F.collect_set("snapshot_id")), F.lit(1))
    return F.count_if(F.col("snapshot_id").isNull()) + (F.count("snapshot_id") / kinds).cast("bigint")


def _quantiles(measure: str) -> Column:
    shares = [percent / 100 for percent in QUANTILES]
    return F.percentile_approx(F.col(measure).cast("double"), shares, ACCURACY)


def _columns() -> list[Column]:
    """The columns of SUMMARY_TYPES, from a row that holds the quantiles of each measure in an array."""
    places = {f"{m}_{percent}": (m, place) for m in MEASURES for place, percent in enumerate(QUANTILES)}
    return [
        F.col(places[name][0])[places[name][1]].alias(name) if name in places else F.col(name) for name in SUMMARY_TYPES
    ]


def extremes(runs: DataFrame, most: int = MOST_EXTREMES) -> DataFrame:
    """The failing, the longest, those that recorded most and the strangest: EXTREME_TYPES, at most `most` of each."""
    strange = F.col("outlier_score")
    ranks = {
        "failing": F.when(F.col("failed"), F.lit(0.0)),
        "longest": F.col("latency"),
        "most recorded": F.col("recorded_messages").cast("double"),
        "strangest": F.when(strange > 0, strange),
    }
    row = F.struct("outlier_score", *RUN_TYPES)
    found = [
        F.transform(F.max_by(row, F.when(rank.isNotNull(), F.struct(rank, -F.col("run_id"))), most), _because(why))
        for why, rank in ranks.items()
    ]
    together = with_outlier_scores(runs).agg(F.flatten(F.array_compact(F.array(*found))).alias("found"))
    return together.select(F.explode("found").alias("one")).select("one.why", "one.row.*").select(*EXTREME_TYPES)


def _because(why: str) -> Callable[[Column], Column]:
    return lambda row: F.struct(F.lit(why).alias("why"), row.alias("row"))


def with_outlier_scores(runs: DataFrame) -> DataFrame:
    """The rows with their `outlier_score`: how far a snapshot is from the median of its cell.

    In (normal) standard deviations, estimated from where the middle 80 % of the cell lie, and by the measure of
    STRANGE in which that is furthest; null where a cell shows no variation to measure it by.
    """
    spots = runs.groupBy("cell").agg(*(_quantiles(name).alias(f"of_{name}") for name in STRANGE))
    low, middle, high = (QUANTILES.index(percent) for percent in (10, 50, 90))
    away = []
    for name in STRANGE:
        quantiles = F.col(f"of_{name}")
        spread = F.nullif((quantiles[high] - quantiles[low]) / MIDDLE, F.lit(0.0))
        away.append(F.abs(F.col(name) - quantiles[middle]) / spread)
    return runs.join(F.broadcast(spots), "cell", how="inner").withColumn("outlier_score", F.greatest(*away))


def sample(runs: DataFrame, most: int) -> DataFrame:
    """At most `most` rows, chosen by a hash of run and snapshot: always the same, and fair to every cell."""
    return runs.orderBy(F.xxhash64("run_id", "snapshot_id"), "run_id", "snapshot_id").limit(most)


def summarize(spark: SparkSession, store: Store) -> None:
    """Write the tables summaries (a row for each cell) and extremes of an ensemble. Raises InputError."""
    runs = store.read(spark, "runs")
    for table, found in (("summaries", cells(runs)), ("extremes", extremes(runs))):
        with store.replacing(table) as staging:
            found.coalesce(1).write.parquet(str(staging.resolve()))  # Spark works in a folder of its own
