"""The cuts to audit: from a file, from snapshots, or drawn at random. All are frames with the columns of CUT_TYPES."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from pipeline.store.parquet_files import read_parquet
from pipeline.store.schema import CUT_TYPES, spark_type
from sim.core.errors import InputError, nearest
from sim.core.model import APPLICATION_KINDS, CONTROL_SEND, MARKER_SEND, RECORD, SEND, SERVICE_KINDS, SNAPSHOT_ABORTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def from_file(spark: SparkSession, file: Path) -> DataFrame:
    """The cuts in a Parquet file, or in a CSV file whose first line names the columns. Raises InputError."""
    if not file.exists():
        raise InputError(f"{file}: there is no such file; give one of {', '.join(CUT_TYPES)}")
    if file.suffix.lower() == ".csv":
        return _from_csv(spark, file)
    return read_parquet(spark, file, sorted(file.glob("*.parquet")) if file.is_dir() else [file], CUT_TYPES)


def _from_csv(spark: SparkSession, file: Path) -> DataFrame:
    read = spark.read.option("header", True).csv(str(file.resolve()))
    for name in CUT_TYPES:
        if name not in read.columns:
            found = nearest(name, read.columns)
            raise InputError(f"{file}: its first line names no column {name}; {found}")
    for name in read.columns:
        if name not in CUT_TYPES:
            raise InputError(f"{file}: {name!r} is no column of cuts; {nearest(name, CUT_TYPES)}")
    kinds = {name: spark_type(kind) for name, kind in CUT_TYPES.items()}
    is_wrong = " OR ".join(f"try_cast(`{name}` AS {kind}) IS NULL" for name, kind in kinds.items())
    tries = [F.expr(f"try_cast(`{name}` AS {kind})").alias(f"read_{name}") for name, kind in kinds.items()]
    wrong = read.where(is_wrong).select(*read.columns, *tries).head()
    if wrong is not None:
        line = ",".join("" if wrong[name] is None else wrong[name] for name in read.columns)
        name = next(name for name in kinds if wrong[f"read_{name}"] is None)
        raise InputError(
            f"{file}: the line {line!r} has no {'number' if kinds[name] != 'string' else 'text'} as {name}"
        )
    return read.selectExpr(*(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in kinds.items()))


class Snapshots(NamedTuple):
    """The cuts of snapshots, and how many snapshots were left out because not every process recorded."""

    cuts: DataFrame
    left_out: int


def from_snapshots(events: DataFrame) -> Snapshots:
    """The cut of each snapshot that was not aborted and that every process of its run has recorded.

    The processes of a run are those with rows, and those to which a message or marker is in flight. Services, which
    only exchange control messages, are no processes.
    """
    is_in_flight = (F.col("kind") == MARKER_SEND) | ((F.col("kind") == SEND) & F.col("peer_index").isNull())
    target = F.substring_index("channel", "->", -1).alias("process")
    targets = events.where(F.col("kind") == CONTROL_SEND).select("run_id", target)
    without_rows = targets.join(events.select("run_id", "process").distinct(), ["run_id", "process"], how="left_anti")
    own = _of_processes(events).select("run_id", "process")
    names = own.union(events.where(is_in_flight).select("run_id", target)).union(without_rows)
    processes = names.groupBy("run_id").agg(F.count_distinct("process").alias("processes"))
    recordings = events.where(F.col("kind").isin(RECORD, SNAPSHOT_ABORTED))
    recorded = recordings.groupBy("run_id", F.col("snapshot_id").alias("cut_id")).agg(
        F.count_if(F.col("kind") == RECORD).alias("records"), F.count_if(F.col("kind") != RECORD).alias("aborted")
    )
    is_complete = (F.col("records") == F.col("processes")) & (F.col("aborted") == 0)
    snapshots = recorded.join(processes, "run_id", how="inner").select(
        "run_id", "cut_id", is_complete.alias("complete")
    )
    lines = recordings.where(F.col("kind") == RECORD).withColumnRenamed("snapshot_id", "cut_id").select(*CUT_TYPES)
    cuts = lines.join(snapshots.where("complete"), ["run_id", "cut_id"], how="left_semi")
    return Snapshots(cuts.select(*CUT_TYPES), snapshots.where(~F.col("complete")).count())


def _of_processes(events: DataFrame) -> DataFrame:
    """The rows whose kinds only processes have; services may have the others."""
    return events.where(~F.col("kind").isin(*sorted(SERVICE_KINDS)))


def at_random(events: DataFrame, count: int, seed: int) -> DataFrame:
    """`count` cuts for each run, each with none to all events of each process, drawn by a hash of `seed` and names."""
    is_event = F.col("kind").isin(*sorted(APPLICATION_KINDS))
    ends = (
        _of_processes(events)
        .groupBy("run_id", "process")
        .agg(F.coalesce(F.max(F.when(is_event, F.col("index"))), F.lit(0)).alias("end"))
    )
    several = ends.withColumn("number", F.explode(F.sequence(F.lit(1), F.lit(count))))
    draw = F.pmod(F.xxhash64(F.lit(seed), "run_id", "number", "process"), F.col("end") + 1)
    named = several.withColumn("cut_id", F.concat(F.lit("random-"), F.col("number").cast("string")))
    return named.withColumn("index", draw.cast("int")).select(*CUT_TYPES)
