"""Audits cuts of an event table: which are consistent, and which messages each channel holds, in one scan of the sends.

An audit is one job of Spark, with NumPy on the workers (a send row has the indices of both ends of its message: see
pipeline.cuts.crossings). The driver reads the cuts and the statistics of the event table, and divides the work into
tasks (pipeline.cuts.tasks). A worker reads a few columns of the row groups of its runs. It checks its cuts, and writes
a part of both tables (pipeline.cuts.judging). No event leaves a worker, and workers need not communicate.

In tables with recoveries the audit sees the surviving line. With losses and copies it sees where messages leave their
channels: pipeline.cuts.ways has the rules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from pipeline.cuts.cut_lines import slices_of
from pipeline.cuts.event_columns import DECIDE, RowGroup, batches, row_groups, texts_of
from pipeline.cuts.judging import FOUND_TYPES, judge
from pipeline.cuts.random_cuts import AtRandom
from pipeline.cuts.snapshot_cuts import OfSnapshots
from pipeline.cuts.tasks import DrawnTask, Task, Unknown, drawn_tasks_of, no_events, tasks_of
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.kinds import kind_of
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.progress import Progress, silent
from pipeline.spark.reaching import check_reach
from pipeline.store.folder import Store
from pipeline.store.schema import spark_schema
from pipeline.store.tables import Replacement, Written
from sim.core.errors import InputError, nearest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNSORTED = "the events are not sorted by run: the audit is right, but sorted events make it quicker"

Row = dict[str, Any]


class Audit(NamedTuple):
    """Counts of an audit: cuts, inconsistent cuts, and messages found in channels.

    `first` is the first inconsistent cut: (run_id, cut_id, message_id of the witness); None if all are consistent.
    `left_out` snapshots have no verdict, since not every process of their runs has recorded. `is_sorted` says whether
    the events are sorted by run, which makes an audit quicker.
    """

    cuts: int
    inconsistent: int
    messages: int
    first: tuple[int, str, int] | None
    left_out: int = 0
    is_sorted: bool = True


Wanted = AtRandom | OfSnapshots  # cuts that the workers draw or find


def audit(spark: SparkSession, store: Store, cuts: pyarrow.Table | Wanted, progress: Progress = silent) -> Audit:
    """Writes the tables audits and channels for `cuts` (CUT_TYPES); they replace earlier ones.

    A process missing from a cut has no event inside; an index beyond its last event means all its events. `progress`
    counts tasks. Raises InputError for invalid cuts, and for events that lack one of the columns of DECIDE.
    """
    groups, unknown = row_groups(store, DECIDE), _unknown_channels(store)
    total, done = _Total(), 0
    check_reach(spark, store.place)
    with store.replacing("audits", "channels") as new:
        for tasks in _jobs(cuts, groups, unknown, total.named):
            progress(done, done + len(tasks))
            for row in _judge_on_workers(spark, store, new, tasks):
                total.add(row)
                progress(done + row["task"] + 1, done + len(tasks))
            done += len(tasks)
        if total.missing is not None:
            raise no_events(total.missing)
        if not total.cuts and not isinstance(cuts, OfSnapshots):
            raise InputError(f"{store.address}: holds no events, so no cuts can be drawn; bring a log with events")
        _check_names(groups, total.named - total.seen)
    return Audit(total.cuts, total.inconsistent, total.messages, total.first, total.left_out, total.is_sorted)


def _jobs(
    cuts: pyarrow.Table | Wanted, groups: Sequence[RowGroup], unknown: Unknown, named: set[str]
) -> Iterator[Sequence[Task] | Sequence[DrawnTask]]:
    """Yield the tasks of each job: there is one job, unless the cuts have very many lines.

    Adds the processes that the cuts name to `named`.
    """
    if isinstance(cuts, AtRandom | OfSnapshots):
        yield drawn_tasks_of(cuts, groups, unknown)
        return
    for part in slices_of(cuts):
        named.update(part.names)
        yield tasks_of(part, groups, unknown)


class _Total:
    """The sums of the workers' results (FOUND_TYPES). `named` are the processes that the cuts name."""

    def __init__(self) -> None:
        self.cuts = self.inconsistent = self.messages = self.left_out = 0
        self.first: tuple[int, str, int] | None = None
        self.missing: int | None = None
        self.named: set[str] = set()
        self.seen: set[str] = set()
        self.is_sorted = True

    def add(self, row: Row) -> None:
        """Adds a worker's row."""
        self.cuts += row["cuts"]
        self.inconsistent += row["inconsistent"]
        self.messages += row["messages"]
        self.left_out += row["left_out"] or 0
        self.seen.update(row["seen"])
        self.is_sorted &= row["is_sorted"]
        if row["inconsistent"]:
            own = (row["run_id"], row["cut_id"], row["witness"])
            self.first = own if self.first is None else min(own, self.first)
        if row["missing"] is not None:
            self.missing = row["missing"] if self.missing is None else min(row["missing"], self.missing)


def _judge_on_workers(
    spark: SparkSession, store: Store, new: Replacement, tasks: Sequence[Task] | Sequence[DrawnTask]
) -> Iterator[Row]:
    """Yield the workers' results for the cuts of `tasks`, each as soon as it is there. Raises InputError."""
    work = partial(judge, new, tasks)
    kept = "; the results of an earlier audit are unchanged"
    with in_one_sentence(spark, f"{store.address}: ", kept), interrupted_by(threading.Event(), spark):
        for result in kind_of(spark).results(work, len(tasks), spark_schema(FOUND_TYPES)):
            row: Row = result.asDict()
            if row["problem"] is not None:
                raise InputError(f"{store.address}: {row['problem']}")
            if row["part"] is not None:
                new.keep(Written("audits", row["part"], row["cuts"]))
                new.keep(Written("channels", row["part"], row["channels"]))
            yield row


def _unknown_channels(store: Store) -> Unknown:
    """The channels of foreign logs whose content is unknown, by run_id."""
    if not store.has("traces"):
        return {}
    traces = store.rows("traces").to_table(["run_id", "unknown_channels"]).to_pylist()
    return {row["run_id"]: row["unknown_channels"] for row in traces if row["unknown_channels"]}


def _check_names(groups: Sequence[RowGroup], unseen: set[str]) -> None:
    """Raises InputError if a process in `unseen`, which no worker has seen in its runs, is in no other run either."""
    if not unseen:
        return
    there = {name for rows in batches(groups, ["process"]) for name in texts_of(rows, "process").values}
    if unseen - there:
        name = min(unseen - there)
        raise InputError(f"the cuts name a process {name!r} that has no events; {nearest(name, there)}")
