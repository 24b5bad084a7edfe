"""Summaries of an ensemble: quantiles for each cell of its grid, extreme snapshots, and a random sample of its runs.

Each function transforms the table runs (RUN_TYPES) into a small frame. `summarize` keeps them as tables, which the page
reads without Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.spark.kinds import kind_of
from pipeline.spark.reaching import check_reach
from pipeline.store.folder import Store
from pipeline.store.schema import (
    MEASURES,
    PARAMETERS,
    QUANTILES,
    RUN_TYPES,
    SAMPLE_TYPES,
    SUMMARY_TYPES,
    TABLES,
    arrow_schema,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ACCURACY = 10_000  # of approximate quantiles: they are exact for cells with fewer rows
MOST_EXTREMES = 100  # of each kind, in the table extremes
MOST_POINTS = 1_500  # in the table sample
MIDDLE_80 = 2.563  # standard deviations between the 10 % and 90 % quantiles of a normal distribution
OUTLIER_MEASURES = ("latency", "recorded_messages")  # the measures of the outlier score


OF_CELLS = ("cell", "snapshot_id", "failed", "error", *PARAMETERS, *MEASURES)  # the columns that `cells` needs


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
    """The number of runs in a cell. A run has a row for each snapshot of its cell, or one row without a snapshot."""
    snapshots = F.greatest(F.size(F.collect_set("snapshot_id")), F.lit(1))
    return F.count_if(F.col("snapshot_id").isNull()) + (F.count("snapshot_id") / snapshots).cast("bigint")


def _quantiles(measure: str) -> Column:
    shares = [percent / 100 for percent in QUANTILES]
    return F.percentile_approx(F.col(measure).cast("double"), shares, ACCURACY)


def _columns() -> list[Column]:
    """The columns of SUMMARY_TYPES, from rows with an array of quantiles for each measure."""
    quantiles = {f"{m}_{percent}": F.col(m)[index] for m in MEASURES for index, percent in enumerate(QUANTILES)}
    return [quantiles.get(name, F.col(name)).alias(name) for name in SUMMARY_TYPES]


def extremes(runs: DataFrame, most: int = MOST_EXTREMES) -> DataFrame:
    """At most `most` snapshots of each kind: failing, longest, most recorded, highest outlier score (EXTREME_TYPES)."""
    score = F.col("outlier_score")
    ranks = {
        "failing": F.when(F.col("failed"), F.lit(0.0)),
        "longest": F.col("latency"),
        "most recorded": F.col("recorded_messages").cast("double"),
        "strangest": F.when(score > 0, score),
    }
    columns = [name for name in RUN_TYPES if name in runs.columns]
    row = F.struct("outlier_score", *columns)
    found = [
        F.transform(F.max_by(row, F.when(rank.isNotNull(), F.struct(rank, -F.col("run_id"))), most), _with_reason(why))
        for why, rank in ranks.items()
    ]
    together = with_outlier_scores(runs).agg(F.flatten(F.array_compact(F.array(*found))).alias("found"))
    return together.select(F.explode("found").alias("one")).select("one.why", "one.row.*")


def _with_reason(why: str) -> Callable[[Column], Column]:
    return lambda row: F.struct(F.lit(why).alias("why"), row.alias("row"))


def with_outlier_scores(runs: DataFrame) -> DataFrame:
    """`runs` with another column: `outlier_score`, the distance of a snapshot from the median of its cell.

    The distance is in standard deviations, estimated from the 10 % and 90 % quantiles of the cell as if values were
    normally distributed. It is the greater one of OUTLIER_MEASURES; null for a cell without variation.
    """
    per_cell = runs.groupBy("cell").agg(*(_quantiles(name).alias(f"of_{name}") for name in OUTLIER_MEASURES))
    low, middle, high = (QUANTILES.index(percent) for percent in (10, 50, 90))
    distances = []
    for name in OUTLIER_MEASURES:
        quantiles = F.col(f"of_{name}")
        spread = F.nullif((quantiles[high] - quantiles[low]) / MIDDLE_80, F.lit(0.0))
        distances.append(F.abs(F.col(name) - quantiles[middle]) / spread)
    return runs.join(F.broadcast(per_cell), "cell", how="inner").withColumn("outlier_score", F.greatest(*distances))


def sample(runs: DataFrame, most: int = MOST_POINTS) -> DataFrame:
    """At most `most` rows, those with the lowest hash of run and snapshot: always the same ones (SAMPLE_TYPES)."""
    order = (F.xxhash64("run_id", "snapshot_id"), "run_id", "snapshot_id")
    return runs.select(*SAMPLE_TYPES).orderBy(*order).limit(most)


def summarize(spark: SparkSession, store: Store) -> None:
    """Writes the tables summaries, extremes and sample of an ensemble. Raises InputError if runs cannot be read."""
    check_reach(spark, store.place)
    frames = {
        "summaries": cells(store.read(spark, "runs", OF_CELLS)),
        "extremes": extremes(store.read(spark, "runs")),
        "sample": sample(store.read(spark, "runs", list(SAMPLE_TYPES))),
    }
    found = kind_of(spark).tables(list(frames.values()))
    with store.replacing(*frames) as new:
        for table, rows in zip(frames, found, strict=True):
            new.keep(new.write_part(table, "all", rows.cast(arrow_schema(TABLES[table]))))
