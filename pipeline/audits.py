"""The verdict on cuts of an event table, and what each finds in the channels, in one scan of the send rows.

A send knows the index of its receive (`peer_index`), and a cut is one number per process. So two numbers of the cut
decide about a message: sent inside and not received inside, it is in the channel; received inside and not sent inside,
it is a violation, and the witness if no violation has a smaller id (sim.causality.History says the same of one run).
The cuts are sent to all workers and the events stay where they are; only messages that cross a cut are shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from pipeline.progress import Progress, silent
from pipeline.schema import AUDIT_TYPES, CHANNEL_TYPES
from pipeline.store import DataError, Store
from sim.model import SEND
from sim.tables import nearest

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MOST_LINES = 5_000_000  # of cuts, which every worker holds
NEVER = 2**31 - 1  # after every receive


class Audit(NamedTuple):
    """What came of an audit: how many cuts, how many of them inconsistent, messages found in channels.

    `first` is the first inconsistent one: (run_id, cut_id, message_id of the witness).
    """

    cuts: int
    inconsistent: int
    messages: int
    first: tuple[int, str, int] | None


def audit(spark: SparkSession, store: Store, cuts: DataFrame, progress: Progress = silent) -> Audit:
    """Write the tables audits and channels for `cuts` (CUT_TYPES), in the place of earlier ones.

    A process missing from a cut has no event inside, a number beyond its last event means all. Raises DataError for
    cuts that make no sense.
    """
    events = store.read(spark, "events")
    steps = 4
    progress(0, steps)
    with numbered(cuts) as lines, _kept(crossing(events, lines)) as crossed:
        progress(1, steps)
        _check_names(events, lines, crossed)
        with store.replacing("audits") as audits, store.replacing("channels") as channels:
            verdicts_of(lines, crossed).write.parquet(str(audits))
            progress(2, steps)
            contents_of(lines, crossed, unknown_channels(spark, store)).write.parquet(str(channels))
        progress(3, steps)
    found = _outcome(store.read(spark, "audits"), store.read(spark, "channels"))
    progress(steps, steps)
    return found


def verdicts(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """A row for each of `cuts`: AUDIT_TYPES."""
    lines = _numbered(cuts)
    return verdicts_of(lines, crossing(events, lines))


def contents(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """A row for each channel in which one of `cuts` finds messages: CHANNEL_TYPES, in the order of their receipt."""
    lines = _numbered(cuts)
    return contents_of(lines, crossing(events, lines))


# ------------------------------------------------------------------ the plan


@contextmanager
def numbered(cuts: DataFrame) -> Iterator[DataFrame]:
    """The lines of `cuts`, each with the number of its cut (`cut`, over all runs), at hand. Raises DataError."""
    with _kept(_numbered(cuts)) as lines:
        _check_lines(lines)
        yield lines


def _numbered(cuts: DataFrame) -> DataFrame:
    number = F.dense_rank().over(Window.partitionBy(F.lit(0)).orderBy("run_id", "cut_id"))
    return cuts.select("run_id", "cut_id", "process", "index", number.alias("cut"))


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Rows that are asked for more than once."""
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def crossing(events: DataFrame, lines: DataFrame) -> DataFrame:
    """The messages that cross a cut: cut, channel, message_id, peer_index, and whether it `violates` the cut.

    `lines` are cuts as `numbered` gives them.
    """
    cuts_of_run = F.broadcast(lines.select("run_id", "cut").distinct())
    sends = events.where(F.col("kind") == SEND).select(
        "run_id", "process", "channel", "index", "peer_index", "message_id",
        F.substring_index("channel", "->", -1).alias("target"),
    )  # fmt: skip
    both = _beside(_beside(sends.join(cuts_of_run, "run_id", how="inner"), lines, "process"), lines, "target")
    is_sent = F.col("index") <= F.col("inside_process")
    is_received = F.coalesce(F.col("peer_index") <= F.col("inside_target"), F.lit(False))
    return both.where(is_sent != is_received).select(
        "cut", "channel", "message_id", "peer_index", is_received.alias("violates")
    )


def _beside(rows: DataFrame, lines: DataFrame, side: str) -> DataFrame:
    """The rows with the number of events inside (`inside_...`) of the process that their column `side` names.

    One 64-bit hash is the key, which is looked up twice as fast as a number and a text; what it stands for is compared
    as well, in a way that the planner does not take for two more keys.
    """
    numbers = F.broadcast(
        lines.select(
            F.xxhash64("cut", "process").alias("key"),
            F.col("cut").alias("own_cut"),
            F.col("process").alias("own_process"),
            F.col("index").alias(f"inside_{side}"),
        )
    )
    is_it = (
        (F.xxhash64("cut", side) == F.col("key"))
        & (F.col("cut") - F.col("own_cut") == 0)
        & F.nullif(F.col(side), F.col("own_process")).isNull()
    )
    found = rows.join(numbers, is_it, how="left").drop("key", "own_cut", "own_process")
    return found.withColumn(f"inside_{side}", F.coalesce(f"inside_{side}", F.lit(0)))


def verdicts_of(lines: DataFrame, crossed: DataFrame) -> DataFrame:
    """The verdicts on all cuts of `lines`, those that no message crosses too."""
    witnesses = crossed.where("violates").groupBy("cut").agg(F.min("message_id").alias("witness"))
    cuts = lines.select("run_id", "cut_id", "cut").distinct()
    judged = cuts.join(F.broadcast(witnesses), "cut", how="left")
    return judged.withColumn("consistent", F.col("witness").isNull()).select(*AUDIT_TYPES)


def contents_of(lines: DataFrame, crossed: DataFrame, unknown: DataFrame | None = None) -> DataFrame:
    """What the cuts find in the channels; null in those of `unknown` (run_id, channel), of which nobody can say it."""
    place = F.struct(F.coalesce("peer_index", F.lit(NEVER)).alias("peer"), "message_id")
    held = (
        crossed.where(~F.col("violates"))
        .groupBy("cut", "channel")
        .agg(F.sort_array(F.collect_list(place)).getField("message_id").alias("messages"))
    )
    cuts = F.broadcast(lines.select("run_id", "cut_id", "cut").distinct())
    known = held.join(cuts, "cut", how="inner").select(*CHANNEL_TYPES)
    if unknown is None:
        return known
    nothing = F.lit(None).cast("array<bigint>").alias("messages")
    silent_ones = unknown.join(cuts, "run_id", how="inner").select("run_id", "cut_id", "channel", nothing)
    return known.join(F.broadcast(unknown), ["run_id", "channel"], how="left_anti").unionByName(silent_ones)


def unknown_channels(spark: SparkSession, store: Store) -> DataFrame | None:
    """The channels (run_id, channel) of foreign logs of which cannot be said what they hold; None: no such log."""
    if not store.has("traces"):
        return None
    traces = store.read(spark, "traces")
    return traces.select("run_id", F.explode("unknown_channels").alias("channel"))


# ------------------------------------------------------------------ what makes no sense


def _check_lines(lines: DataFrame) -> None:
    count, incomplete, negative = lines.agg(
        F.count("*"),
        F.count_if(F.expr("run_id IS NULL OR cut_id IS NULL OR process IS NULL OR index IS NULL")),
        F.min(F.when(F.col("index") < 0, _place())),
    ).collect()[0]
    if count == 0:
        raise DataError("there are no cuts to audit; give lines of run_id, cut_id, process, index")
    if count > MOST_LINES:
        raise DataError(f"the cuts have {count} lines; {MOST_LINES} are the most at once, so audit them in parts")
    if incomplete:
        raise DataError(f"{incomplete} lines of the cuts lack a run_id, cut_id, process or index; give all four")
    if negative is not None:
        raise DataError(f"{negative} has a negative index; it is the number of events inside, from 0 on")
    twice = lines.groupBy("run_id", "cut_id", "process").count().where("count > 1").select(_place()).head()
    if twice is not None:
        raise DataError(f"{twice[0]} is there twice; give one line for each process of a cut")


def _place() -> Column:
    return F.format_string("run %d, cut %s, process %s", "run_id", "cut_id", "process")


def _check_names(events: DataFrame, lines: DataFrame, crossed: DataFrame) -> None:
    """Runs and processes that the events do not know. Those that a message touches need not be looked for."""
    silent_runs = lines.join(F.broadcast(crossed.select("cut").distinct()), "cut", how="left_anti")
    doubtful = [row[0] for row in silent_runs.select("run_id").distinct().limit(1_000).collect()]
    if doubtful:
        known = events.where(F.col("run_id").isin(doubtful)).select("run_id").distinct()
        missing = set(doubtful) - {row[0] for row in known.collect()}
        if missing:
            raise DataError(f"the cuts name run {min(missing)}, of which there are no events; name runs that are there")
    seen = crossed.select(F.explode(F.split("channel", "->")).alias("process")).distinct()
    rest = lines.select("process").distinct().join(F.broadcast(seen), "process", how="left_anti")
    unseen = {row[0] for row in rest.limit(1_000).collect()}
    if unseen:
        known = events.where(F.col("process").isin(sorted(unseen))).select("process").distinct()
        unseen -= {row[0] for row in known.collect()}
    if unseen:
        names = [row[0] for row in events.select("process").distinct().limit(1_000).collect()]
        name = min(unseen)
        raise DataError(f"the cuts name a process {name!r} that has no events; {nearest(name, sorted(names))}")


def _outcome(audits: DataFrame, channels: DataFrame) -> Audit:
    first = F.min(F.when(~F.col("consistent"), F.struct("run_id", "cut_id", "witness")))
    cuts, inconsistent, worst = audits.agg(F.count("*"), F.count_if(~F.col("consistent")), first).collect()[0]
    messages = channels.agg(F.sum(F.size("messages"))).collect()[0][0]
    return Audit(cuts, inconsistent, messages or 0, None if worst is None else tuple(worst))
