"""Queries about one execution in an event table of any size: windows, event counts; by Spark, consistent cuts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import compute
from pyarrow.dataset import field

from pipeline.store.folder import Store
from sim.core.errors import InputError, nearest
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES, RECEIVE, Event
from sim.theory import causality

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CUT = pyarrow.schema([("process", pyarrow.string()), ("index", pyarrow.int32())])


def executions(store: Store) -> list[dict[str, Any]]:
    """The rows of the table traces, one for each execution of a log, by run_id. Raises InputError if there is none."""
    rows: list[dict[str, Any]] = store.rows("traces").to_table().sort_by("run_id").to_pylist()
    return rows


def window(store: Store, run_id: int, first_row: int, rows: int) -> list[Event]:
    """At most `rows` rows of an execution, from row number `first_row` on. Raises InputError if there is no table."""
    is_wanted = (field("run_id") == run_id) & (field("row") >= first_row) & (field("row") < first_row + rows)
    found = store.rows("events").to_table([*EVENT_TYPES], is_wanted).sort_by("row")
    return [Event(*cells) for cells in zip(*(column.to_pylist() for column in found.columns), strict=True)]


def row_count(store: Store, run_id: int) -> int:
    """How many rows an execution has. Raises InputError if there is no table."""
    batches = store.rows("events").to_batches(columns=["row"], filter=field("run_id") == run_id)
    return max((compute.max(batch["row"]).as_py() + 1 for batch in batches if batch.num_rows), default=0)


def event_counts(store: Store, run_id: int) -> dict[str, int]:
    """The number of application events of each process, in the order of the log's processes, else by name.

    Raises InputError if there is no table.
    """
    is_own = (field("run_id") == run_id) & field("kind").isin(sorted(APPLICATION_KINDS))
    counts: dict[str, int] = {}
    for batch in store.rows("events").to_batches(columns=["process", "index"], filter=is_own):
        found = pyarrow.Table.from_batches([batch]).group_by("process").aggregate([("index", "max")])
        for row in found.to_pylist():
            counts[row["process"]] = max(row["index_max"], counts.get(row["process"], 0))
    return {name: counts.get(name, 0) for name in _processes(store, run_id) or sorted(counts)}


def _processes(store: Store, run_id: int) -> list[str]:
    """The processes in the order of the log; none for a folder without traces."""
    own = [row for row in executions(store) if row["run_id"] == run_id] if store.has("traces") else []
    return list(own[0]["processes"] or []) if own else []


def consistent_below(spark: SparkSession, store: Store, run_id: int, frontier: Mapping[str, int]) -> dict[str, int]:
    """The greatest consistent cut inside `frontier`. Processes missing from `frontier` have no event inside.

    Raises InputError for a process that the execution does not have.
    """
    events = event_counts(store, run_id)
    for name in frontier:
        if name not in events:
            raise InputError(f"{store.path}: execution {run_id} has no process {name!r}; {nearest(name, events)}")
    limit = {name: min(frontier.get(name, 0), count) for name, count in events.items()}
    work = partial(_consistent_below_on_worker, limit)
    receipts = receipts_of(store.read(spark, "events"), run_id)
    found = receipts.mapInArrow(work, "process string, index int").toArrow().to_pylist()
    return limit | {row["process"]: row["index"] for row in found}


def receipts_of(events: DataFrame, run_id: int) -> DataFrame:
    """The receives of a run: process, index, sender, peer_index; in one partition and in causal order."""
    from pyspark.sql import functions as F

    is_receipt = (F.col("run_id") == run_id) & (F.col("kind") == RECEIVE) & F.col("peer_index").isNotNull()
    sender = F.substring_index("channel", "->", 1).alias("sender")
    in_order = events.where(is_receipt).repartition(1).sortWithinPartitions("row")
    return in_order.select("process", "index", sender, "peer_index")


def _consistent_below_on_worker(
    limit: Mapping[str, int], batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The greatest consistent cut inside `limit`. One pass is enough, since `batches` are in causal order."""
    receipts = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    inside = causality.consistent_below(limit, receipts)
    yield pyarrow.RecordBatch.from_pydict({"process": list(inside), "index": list(inside.values())}, _CUT)
