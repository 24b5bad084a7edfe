"""Prepares cuts for an audit: numbers them, checks them, and divides them into slices that fit into memory.

A cut is given as lines (CUT_TYPES): one for each process, with the number of its events inside the cut.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyarrow import dataset
from pyspark.sql import Window
from pyspark.sql import functions as F

from sim.core.errors import InputError, nearest

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_LINES = 1_000_000  # in a slice: every worker holds all of them


def numbered(cuts: DataFrame) -> DataFrame:
    """`cuts` with another column: `cut`, the number of the cut within its run."""
    number = F.dense_rank().over(Window.partitionBy("run_id").orderBy("cut_id"))
    return cuts.select("run_id", "cut_id", "process", "index", number.alias("cut"))


def by_cut(lines: DataFrame) -> DataFrame:
    """A row for each cut: run_id, cut, cut_id, its `lowest` and `highest` index, its processes, and counts of lines."""
    is_complete = F.expr("run_id IS NOT NULL AND cut_id IS NOT NULL AND process IS NOT NULL AND index IS NOT NULL")
    return lines.groupBy("run_id", "cut").agg(
        F.any_value("cut_id").alias("cut_id"),
        F.min("index").alias("lowest"),
        F.max("index").alias("highest"),
        F.count("*").alias("lines"),
        F.count_if(is_complete).alias("complete"),
        F.collect_set("process").alias("processes"),
    )


class Extent(NamedTuple):
    """Totals of an audit: its number of lines and runs, the lowest and highest run_id, and all processes."""

    lines: int
    runs: int
    first_run: int
    last_run: int
    processes: frozenset[str]


class Slice(NamedTuple):
    """Cuts that are audited together: a condition on run_id for events, and one on run_id and cut for the cuts."""

    of_runs: Column
    of_cuts: Column


def slices_of(lines: DataFrame, extent: Extent) -> list[Slice]:
    """Slices of about MOST_LINES lines each.

    A slice is a range of runs, so that Spark skips the other runs of the event table; a run with many cuts becomes
    several slices.
    """
    run = F.col("run_id")
    ends = [extent.last_run]
    parts = -(-extent.lines // MOST_LINES)
    if parts > 1:
        shares = [(part + 1) / parts for part in range(parts)]
        ends = lines.agg(F.percentile_approx("run_id", shares)).collect()[0][0]
    found = []
    begin = extent.first_run
    for end, times in sorted(Counter(ends).items()):
        if times == 1:
            found.append(Slice(run.between(begin, end), run.between(begin, end)))
        else:  # run `end` alone has more lines than one slice holds
            if begin < end:
                found.append(Slice(run.between(begin, end - 1), run.between(begin, end - 1)))
            found += [Slice(run == end, (run == end) & (F.col("cut") % times == part)) for part in range(times)]
        begin = end + 1
    return found


# ------------------------------------------------------------------ checks


def check_lines(lines: DataFrame, per_cut: DataFrame) -> Extent:
    """The totals of the lines. Raises InputError for missing values, negative indices and repeated processes."""
    own = F.struct("run_id", "cut_id")
    count, complete, negative, twice, runs, first, last, names = per_cut.agg(
        F.sum("lines"),
        F.sum("complete"),
        F.min(F.when(F.col("lowest") < 0, own)),
        F.min(F.when(F.size("processes") < F.col("lines"), own)),
        F.count_distinct("run_id"),
        F.min("run_id"),
        F.max("run_id"),
        F.array_distinct(F.flatten(F.collect_set("processes"))),
    ).collect()[0]
    if not count:
        raise InputError("there are no cuts to audit; give lines of run_id, cut_id, process, index")
    if complete < count:
        raise InputError(f"{count - complete} lines of the cuts lack a run_id, cut_id, process or index; give all four")
    if negative is not None:
        name = _name_line(lines.where("index < 0"), *negative)
        raise InputError(f"{name} has a negative index; it is the number of events inside, from 0 on")
    if twice is not None:
        several = lines.groupBy("run_id", "cut_id", "process").count().where("count > 1")
        raise InputError(f"{_name_line(several, *twice)} is there twice; give one line for each process of a cut")
    return Extent(count, runs, first, last, frozenset(names))


def _name_line(lines: DataFrame, run_id: int, cut_id: str) -> str:
    own = lines.where((F.col("run_id") == run_id) & (F.col("cut_id") == cut_id))
    return f"run {run_id}, cut {cut_id}, process {own.agg(F.min('process')).collect()[0][0]}"


def check_names(events: DataFrame, per_cut: DataFrame, extent: Extent, found: Path) -> None:
    """Raises InputError if the cuts name runs or processes without events.

    `found` is the folder with the messages found: their runs and processes have events, which often saves the search.
    """
    runs, channels = _names_in(found)
    if len(runs) < extent.runs:
        given = per_cut.select("run_id").distinct()
        known = events.select("run_id").join(F.broadcast(given), "run_id", how="left_semi").distinct()
        missing = given.join(known, "run_id", how="left_anti").agg(F.min("run_id")).collect()[0][0]
        if missing is not None:
            raise InputError(f"the cuts name run {missing}, of which there are no events; name runs that are there")
    unseen = extent.processes - {name for channel in channels for name in channel.split("->")}
    if unseen:
        there = {row[0] for row in events.select("process").distinct().collect()}
        if unseen - there:
            name = min(unseen - there)
            raise InputError(f"the cuts name a process {name!r} that has no events; {nearest(name, there)}")


def _names_in(folder: Path) -> tuple[set[int], set[str]]:
    """The runs and channels in the Parquet files of `folder`."""
    runs: set[int] = set()
    channels: set[str] = set()
    parts = [str(part) for part in sorted(folder.rglob("*.parquet"))]
    if parts:
        for batch in dataset.dataset(parts).to_batches(columns=["run_id", "channel"]):
            runs.update(batch.column(0).unique().to_pylist())
            channels.update(batch.column(1).unique().drop_null().to_pylist())
    return runs, channels
