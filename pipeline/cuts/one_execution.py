"""Queries about one execution in an event table of any size: its windows, and how many events it has."""

from __future__ import annotations

from typing import Any

import pyarrow
from pyarrow import compute
from pyarrow.dataset import Expression, field

from pipeline.store.folder import Store
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES, Event


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
    counts = _counts(store, field("run_id") == run_id)
    return {name: counts.get(name, 0) for name in _processes(store, run_id) or sorted(counts)}


def event_counts_before(store: Store, run_id: int, row: int) -> dict[str, int]:
    """The number of application events of each process before a row; processes without any are left out.

    Raises InputError if there is no table.
    """
    return _counts(store, (field("run_id") == run_id) & (field("row") < row))


def _counts(store: Store, is_own: Expression) -> dict[str, int]:
    """The greatest index of an application event of each process among the rows that pass."""
    counts: dict[str, int] = {}
    wanted = is_own & field("kind").isin(sorted(APPLICATION_KINDS))
    for batch in store.rows("events").to_batches(columns=["process", "index"], filter=wanted):
        found = pyarrow.Table.from_batches([batch]).group_by("process").aggregate([("index", "max")])
        for row in found.to_pylist():
            counts[row["process"]] = max(row["index_max"], counts.get(row["process"], 0))
    return counts


def _processes(store: Store, run_id: int) -> list[str]:
    """The processes in the order of the log; none for a folder without traces."""
    own = [row for row in executions(store) if row["run_id"] == run_id] if store.has("traces") else []
    return list(own[0]["processes"] or []) if own else []
