"""What is asked of one execution in an event table of any size, worked out by Spark: windows, extents, cuts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow

from pipeline.store.folder import Store
from sim.core.errors import InputError, nearest
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES, RECEIVE, Event
from sim.theory.causality import consistent_below as inside_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CUT = pyarrow.schema([("process", pyarrow.string()), ("index", pyarrow.int32())])


def executions(spark: SparkSession, store: Store) -> list[dict[str, Any]]:
    """What was understood of each execution of a log: the rows of traces, by run_id. Raises InputError."""
    rows: list[dict[str, Any]] = store.read(spark, "traces").orderBy("run_id").toArrow().to_pylist()
    return rows


def window(spark: SparkSession, store: Store, run_id: int, first_row: int, rows: int) -> list[Event]:
    """At most `rows` rows of an execution, from row number `first_row` on. Raises InputError."""
    found = rows_between(store.read(spark, "events"), run_id, first_row, first_row + rows)
    return [Event(*cells) for cells in zip(*(column.to_pylist() for column in found.toArrow().columns), strict=True)]


def rows_between(events: DataFrame, run_id: int, first: int, end: int) -> DataFrame:
    """The rows of a run from number `first` up to `end`, in their order."""
    from pyspark.sql import functions as F

    is_wanted = (F.col("run_id") == run_id) & (F.col("row") >= first) & (F.col("row") < end)
    return events.where(is_wanted).orderBy("row").select(*EVENT_TYPES)


def length(spark: SparkSession, store: Store, run_id: int) -> int:
    """How many rows an execution has. Raises InputError."""
    from pyspark.sql import functions as F

    last = store.read(spark, "events").where(F.col("run_id") == run_id).agg(F.max("row")).collect()[0][0]
    return 0 if last is None else int(last) + 1


def extents(spark: SparkSession, store: Store, run_id: int) -> dict[str, int]:
    """The number of application events of each process, in the order of the processes. Raises InputError."""
    counts = {
        row["process"]: row["events"] for row in _counts(store.read(spark, "events"), run_id).toArrow().to_pylist()
    }
    return {name: counts.get(name, 0) for name in _processes(spark, store, run_id) or sorted(counts)}


def _counts(events: DataFrame, run_id: int) -> DataFrame:
    from pyspark.sql import functions as F

    own = events.where((F.col("run_id") == run_id) & F.col("kind").isin(*sorted(APPLICATION_KINDS)))
    return own.groupBy("process").agg(F.max("index").alias("events"))


def _processes(spark: SparkSession, store: Store, run_id: int) -> list[str]:
    """The processes in the order of the log, where it is one."""
    from pyspark.sql import functions as F

    if not store.has("traces"):
        return []
    found = store.read(spark, "traces").where(F.col("run_id") == run_id).select("processes").toArrow().to_pylist()
    return list(found[0]["processes"] or []) if found else []


def consistent_below(spark: SparkSession, store: Store, run_id: int, frontier: Mapping[str, int]) -> dict[str, int]:
    """The biggest consistent cut inside `frontier` (missing: nothing of that process), over all processes.

    Raises InputError for a process that the execution does not have.
    """
    events = extents(spark, store, run_id)
    for name in frontier:
        if name not in events:
            raise InputError(f"{store.path}: execution {run_id} has no process {name!r}; {nearest(name, events)}")
    limit = {name: min(frontier.get(name, 0), count) for name, count in events.items()}
    work = partial(_in_one_pass, limit)
    receipts = receipts_of(store.read(spark, "events"), run_id)
    found = receipts.mapInArrow(work, "process string, index int").toArrow().to_pylist()
    return limit | {row["process"]: row["index"] for row in found}


def receipts_of(events: DataFrame, run_id: int) -> DataFrame:
    """The receipts of a run as one partition, in the order of rows, in which causes come first."""
    from pyspark.sql import functions as F

    is_receipt = (F.col("run_id") == run_id) & (F.col("kind") == RECEIVE) & F.col("peer_index").isNotNull()
    sender = F.substring_index("channel", "->", 1).alias("sender")
    in_order = events.where(is_receipt).repartition(1).sortWithinPartitions("row")
    return in_order.select("process", "index", sender, "peer_index")


def _in_one_pass(limit: Mapping[str, int], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """On a worker: the cut inside `limit`, from batches of receipts."""
    receipts = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    inside = inside_of(limit, receipts)
    yield pyarrow.RecordBatch.from_pydict({"process": list(inside), "index": list(inside.values())}, _CUT)
