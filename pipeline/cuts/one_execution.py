"""Queries about one execution in an event table of any size: windows, numbers of events, surviving events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import pyarrow
from pyarrow import compute
from pyarrow.dataset import Expression, field

from pipeline.cuts.event_columns import DECIDE, Names, numbers_of, row_groups, texts_of
from pipeline.cuts.sends import NEVER, Bools
from pipeline.cuts.surviving import Surviving, marked_rows, surviving
from pipeline.store.folder import Store
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES, FENCED, LOST, Event


def executions(store: Store) -> list[dict[str, Any]]:
    """The rows of the table traces, one for each execution of a log, by run_id. Raises InputError if there is none."""
    rows: list[dict[str, Any]] = store.rows("traces").to_table().sort_by("run_id").to_pylist()
    return rows


def window(store: Store, run_id: int, first_row: int, rows: int) -> list[Event]:
    """At most `rows` rows of an execution, from row number `first_row` on. Raises InputError if there is no table."""
    is_wanted = (field("run_id") == run_id) & (field("row") >= first_row) & (field("row") < first_row + rows)
    found = store.rows("events").to_table([*EVENT_TYPES], is_wanted).sort_by("row")
    return [Event(*cells) for cells in zip(*(column.to_pylist() for column in found.columns), strict=True)]


class WhatIsLeft:
    """The part of execution `run_id` that survives its recoveries, without the messages that it has lost.

    Raises InputError if there is no table.
    """

    def __init__(self, store: Store, run_id: int) -> None:
        self._names = Names()
        groups = [group for group in row_groups(store, DECIDE) if group.first <= run_id <= group.last]
        rows = marked_rows(groups, numpy.array([run_id]), self._names)
        self._left = Surviving(1, []) if rows is None else surviving(rows, 1)
        self._losses = None if rows is None else rows.of(LOST, FENCED)

    def events(self, rows: Sequence[Event]) -> list[Event]:
        """The application events among `rows` that survive."""
        own = [row for row in rows if row.kind in APPLICATION_KINDS]
        return [
            row for row, is_gone in zip(own, self._gone((r.process, r.index) for r in own), strict=True) if not is_gone
        ]

    def receipts(self, rows: Sequence[Event]) -> list[Event]:
        """The receives among `rows` whose sends survive."""
        ends = (((row.channel or "").partition("->")[0], row.peer_index) for row in rows)
        return [row for row, is_gone in zip(rows, self._gone(ends), strict=True) if not is_gone]

    def _gone(self, events: Iterable[tuple[str, int | None]]) -> Bools:
        """Whether the events with these processes and indices are gone."""
        pairs = [(self._names.code(process), index or 0) for process, index in events]
        name, index = numpy.array(pairs, numpy.int64).reshape(-1, 2).T
        return self._left.are_gone(numpy.zeros(len(pairs), numpy.int64), name, index)

    def sends(self, rows: pyarrow.RecordBatch, begin: int) -> pyarrow.Table:
        """Surviving sends of messages that are not lost before row `begin`: channel, peer_index, message_id.

        `rows` has the columns process, index and these three. A receive that is gone counts as none.
        """
        channels = texts_of(rows, "channel")
        targets = numpy.array(
            [*(self._names.code(name.partition("->")[2]) for name in channels.values), -1], numpy.int64
        )
        run, source = numpy.zeros(len(rows), numpy.int64), self._names.codes(texts_of(rows, "process"))
        peer, message = numbers_of(rows, "peer_index", "int32", NEVER), numbers_of(rows, "message_id", "int64")
        is_received = (peer != NEVER) & ~self._left.are_gone(run, targets[channels.codes], peer)
        is_lost = numpy.zeros(len(rows), bool)
        if self._losses is not None:
            is_lost = numpy.isin(message, self._losses.message[self._losses.row < begin])
        is_gone = self._left.are_gone(run, source, numbers_of(rows, "index", "int32"))
        return pyarrow.table({
            "channel": pyarrow.array(channels.values, pyarrow.string()).take(pyarrow.array(channels.codes)),
            "peer_index": pyarrow.array(peer, mask=~is_received), "message_id": message,
        }).filter(pyarrow.array(~is_gone & (is_received | ~is_lost)))  # fmt: skip


def row_count(store: Store, run_id: int) -> int:
    """The number of rows of an execution. Raises InputError if there is no table."""
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
