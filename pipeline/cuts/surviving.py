"""What is left of runs after their recoveries.

`epoch` numbers the lives of a system between two recoveries, from 0. A `restore` row belongs to the epoch that it
begins; its `index` is the last event that its process keeps. An event is gone if a restore of its process, of a later
epoch, keeps fewer events. Indices go on after a restore, and none is used twice: so the events that a restore removes
are those from its index to the last one of earlier epochs. Tables without the column `epoch` have the epoch 0
everywhere: nothing in them is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy
import pyarrow

from pipeline.cuts.event_columns import Names, Numbers, RowGroup, batches, numbers_of, stretches, texts_of
from pipeline.cuts.sends import Bools, Codes
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COPIED, FENCED, JOIN, LEAVE, LOST, PUT_BACK, RECORD, RESTORE

MARKS = (RESTORE, LOST, FENCED, COPIED, JOIN, LEAVE)  # of a run in which sends and receives do not tell all
KINDS = (*MARKS, PUT_BACK, RECORD, *sorted(APPLICATION_KINDS))
CODES = {kind: code for code, kind in enumerate(KINDS)}
_COLUMNS = ("run_id", "row", "process", "index", "kind", "channel", "message_id", "snapshot_id", "epoch")
_HALF = 2**31  # added to an index: none is negative then, and each fits into the lower half of a key
_TURN = 2**32


class Rows(NamedTuple):
    """Rows of marked runs, as columns of codes: the place of the run, the number of the row, names and kinds.

    `target` is the receiver of the channel; `index`, `message` and `snapshot` are -1 where they are null. A table
    without the column `row` has -1 there.
    """

    run: Numbers
    row: Numbers
    name: Numbers
    target: Numbers
    channel: Numbers
    kind: Numbers
    index: Numbers  # type: ignore[assignment]  # hides tuple.index, which is not needed
    message: Numbers
    snapshot: Numbers
    epoch: Numbers

    def where(self, rows: Bools | Numbers) -> Rows:
        """Some of the rows."""
        return Rows(*(column[rows] for column in self))

    def are(self, *kinds: str) -> Bools:
        """Which rows are of some kinds."""
        found: Bools = numpy.isin(self.kind, [CODES[kind] for kind in kinds])
        return found

    def of(self, *kinds: str) -> Rows:
        """The rows of some kinds."""
        return self.where(self.are(*kinds))

    def in_order(self, *columns: str) -> Rows:
        """The rows, sorted by the columns named: the first counts most."""
        return self.where(numpy.lexsort([getattr(self, name) for name in reversed(columns)]))


class Surviving:
    """Which events of some runs are gone. Runs and names are codes: places, and numbers in a list.

    `removed` holds, for each restore, (run, name, last event kept, last event removed).
    """

    def __init__(self, runs: int, removed: Sequence[tuple[int, int, int, int]]) -> None:
        self._runs = runs
        spans = numpy.array(sorted((name * runs + run, *span) for run, name, *span in removed), numpy.int64)
        pair, kept, last = spans.reshape(-1, 3).T
        self._after = pair * _TURN + kept + _HALF
        self._until = numpy.maximum.accumulate(pair * _TURN + last + _HALF)

    def are_gone(self, run: Codes | Numbers, name: Codes | Numbers, index: Codes | Numbers) -> Bools:
        """Whether events are gone, by run, name and index."""
        if not len(self._after):
            return numpy.zeros(len(run), bool)
        key = (numpy.asarray(name, numpy.int64) * self._runs + run) * _TURN + index + _HALF
        span = numpy.searchsorted(self._after, key) - 1
        return (span >= 0) & (key <= self._until[span])


def surviving(rows: Rows, runs: int) -> Surviving:
    """What the restores among some rows leave of their events."""
    restores, events = rows.of(RESTORE), rows.of(*APPLICATION_KINDS).in_order("run", "name", "epoch", "index")
    is_last = numpy.ones(len(events.run), bool)  # of its process, in its epoch
    for column in (events.run, events.name, events.epoch):
        is_last[:-1] &= column[1:] == column[:-1]
    is_last[:-1] = ~is_last[:-1]
    ends = events.where(is_last)
    last: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for run, name, epoch, index in _listed(ends):
        last.setdefault((run, name), []).append((epoch, index))
    removed = []
    for run, name, epoch, kept in _listed(restores):
        before = [index for other, index in last.get((run, name), []) if other < epoch]
        removed.append((run, name, kept, max(before, default=0)))
    return Surviving(runs, removed)


def _listed(rows: Rows) -> Iterator[tuple[int, int, int, int]]:
    """The run, name, epoch and index of some rows."""
    return zip(*(column.tolist() for column in (rows.run, rows.name, rows.epoch, rows.index)), strict=True)


def marked_rows(groups: Sequence[RowGroup], runs: Numbers, names: Names, others: Bools | None = None) -> Rows | None:
    """The rows that tell what is left of those of `runs`, which is sorted, that have marks (None: none has).

    `others` says by run whether it counts as marked, whatever its rows are.
    `names` gets the names of processes. Raises InputError for a restore without an index.
    """
    is_marked = numpy.zeros(len(runs), bool) if others is None else others.copy()
    for rows in batches(groups, ["run_id", "kind"]):
        kinds = texts_of(rows, "kind")
        if set(MARKS).intersection(kinds.values):
            run = stretches(rows, runs).by_row
            is_marked[run[(run >= 0) & (Names(KINDS).codes(kinds) < len(MARKS)) & (kinds.codes >= 0)]] = True
    if not is_marked.any():
        return None
    channels, snapshots = Names(), Names()
    found = []
    for rows in batches(groups, _COLUMNS):
        own = _told(rows, runs, names, channels, snapshots)
        found.append(own.where(is_marked[own.run]))
    return Rows(*(numpy.concatenate(columns) for columns in zip(*found, strict=True)))


def _told(rows: pyarrow.RecordBatch, runs: Numbers, names: Names, channels: Names, snapshots: Names) -> Rows:
    """Those of some rows that have one of KINDS, and are of `runs`."""
    kind = Names(KINDS).codes(texts_of(rows, "kind"))
    run = stretches(rows, runs).by_row
    own = numpy.flatnonzero((run >= 0) & (kind >= 0) & (kind < len(KINDS)))
    is_odd = (kind == CODES[RESTORE]) & rows["index"].is_null().to_numpy(zero_copy_only=False) & (run >= 0)
    if is_odd.any():
        run_id = runs[run[numpy.argmax(is_odd)]]
        raise InputError(f"run {run_id} has a restore without an index; give the number of events it keeps")
    there = rows.schema.names

    def number(name: str, instead: int = -1) -> Numbers:
        known = numbers_of(rows, name, "int64", -1) if name in there else numpy.full(len(rows), instead)
        return known[own]

    channel = channels.codes(texts_of(rows, "channel").where(own))
    targets = numpy.array([*(names.code(name.rpartition("->")[2]) for name in channels.all), -1], numpy.int64)
    snapshot = numpy.full(len(own), -1)
    if "snapshot_id" in there:
        snapshot = snapshots.codes(texts_of(rows, "snapshot_id").where(own))
    codes = run[own], number("row"), names.codes(texts_of(rows, "process").where(own)), targets[channel], channel
    others = kind[own], number("index"), number("message_id"), snapshot, number("epoch", 0)
    return Rows(*(column.astype(numpy.int64) for column in (*codes, *others)))
