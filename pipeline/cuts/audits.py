"""Audits cuts of an event table: which are consistent, and which messages each channel holds, in one scan of the sends.

A cut is a number of events per process, and a send row has the index of its receive (`peer_index`). So two numbers of
the cut decide on a message. Sent inside but not received inside: it is in the channel. Received inside but not sent
inside: it violates the cut; the violation with the smallest id is the witness. sim.theory.causality.History does the
same for one run. The cuts are broadcast to all workers; only messages that cross a cut are shuffled.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyarrow import compute, dataset, parquet
from pyspark.sql import functions as F

from pipeline.cuts.cut_lines import by_cut, check_lines, check_names, numbered, slices_of
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import HIDDEN, Store
from pipeline.store.schema import AUDIT_TYPES, CHANNEL_TYPES, arrow_schema, spark_schema
from sim.core.model import SEND

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NEVER = 2**31 - 1  # the index for a message that is never received: greater than any other

# Sort-based aggregation, since the rows are sorted already; small splits keep all cores busy until the end.
_SETTINGS = {
    "spark.sql.execution.replaceHashWithSortAgg": "true",
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.files.openCostInBytes": "1m",
}


class Audit(NamedTuple):
    """Counts of an audit: cuts, inconsistent cuts, and messages found in channels.

    `first` is the first inconsistent cut: (run_id, cut_id, message_id of the witness); None if all are consistent.
    """

    cuts: int
    inconsistent: int
    messages: int
    first: tuple[int, str, int] | None


def audit(spark: SparkSession, store: Store, cuts: DataFrame, progress: Progress = silent) -> Audit:
    """Writes the tables audits and channels for `cuts` (CUT_TYPES); they replace earlier ones.

    A process missing from a cut has no event inside; an index beyond its last event means all its events. `progress`
    counts slices of the cuts. Raises InputError for invalid cuts.
    """
    events, unknown = store.read(spark, "events"), unknown_channels(spark, store)
    with _tuned(spark), _cached(numbered(cuts)) as lines, _cached(by_cut(lines)) as per_cut, _scratch(store) as scratch:
        extent = check_lines(lines, per_cut)
        slices = slices_of(lines, extent)
        for number, part in enumerate(slices):
            progress(number, len(slices) + 1)
            cuts_of_slice = per_cut.where(part.of_cuts)
            found = find_messages(events.where(part.of_runs), lines.where(part.of_cuts), cuts_of_slice)
            found = _set_unknown_to_null(found, cuts_of_slice, unknown)
            # A folder for each value of `violates`: one pass over the events writes both tables.
            found.write.partitionBy("violates").parquet(str(scratch), mode="append")
        progress(len(slices), len(slices) + 1)
        check_names(events, per_cut, extent, scratch)
        written = spark.read.schema(spark_schema(_FOUND)).parquet(str(scratch))
        with store.replacing("audits") as audits, store.replacing("channels") as channels:
            to_verdicts(per_cut, written).write.parquet(str(audits.resolve()))
            _move(scratch / "violates=false", channels)
    progress(len(slices) + 1, len(slices) + 1)
    return _summary(store)


def verdicts(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """The verdict on each of `cuts` (CUT_TYPES): AUDIT_TYPES."""
    lines = numbered(cuts)
    per_cut = by_cut(lines)
    return to_verdicts(per_cut, find_messages(events, lines, per_cut))


def contents(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """The messages of each channel that holds some in one of `cuts`, in the order of their receipt: CHANNEL_TYPES."""
    lines = numbered(cuts)
    return find_messages(events, lines, by_cut(lines)).where(~F.col("violates")).select(*CHANNEL_TYPES)


# ------------------------------------------------------------------ the plan

_FOUND = {**CHANNEL_TYPES, "violates": "bool"}


def find_messages(events: DataFrame, lines: DataFrame, per_cut: DataFrame) -> DataFrame:
    """The messages of each channel that holds some, for each cut: CHANNEL_TYPES and `violates`, which is false.

    A violated cut has another row: `violates` is true, the channel null, the only message the witness. For `lines` and
    `per_cut` see pipeline.cuts.cut_lines.
    """
    key = ("run_id", "cut", "channel")
    crossed = crossing_messages(events, lines, per_cut).repartition("run_id", "cut").sortWithinPartitions(*key)
    receipt = F.struct(F.coalesce("peer_index", F.lit(NEVER)).alias("peer_index"), "message_id")
    is_held = F.col("channel").isNotNull()
    held = F.sort_array(F.collect_list(F.when(is_held, receipt))).getField("message_id")
    messages = F.when(is_held, held).otherwise(F.array(F.min("message_id"))).alias("messages")
    gathered = crossed.groupBy(*key).agg(messages)
    named = gathered.join(F.broadcast(per_cut.select("run_id", "cut", "cut_id")), ["run_id", "cut"], how="inner")
    return named.withColumn("violates", ~is_held).select(*_FOUND)


def crossing_messages(events: DataFrame, lines: DataFrame, per_cut: DataFrame) -> DataFrame:
    """The messages that cross a cut: run_id, cut, message_id, peer_index, channel (null if it violates the cut)."""
    sends = events.where(F.col("kind") == SEND).select(
        "run_id", "process", "channel", "index", "peer_index", "message_id"
    )
    cuts = F.broadcast(per_cut.select("run_id", "cut", "highest"))
    is_near = (F.col("index") <= F.col("highest")) | (
        F.col("peer_index") <= F.col("highest")
    )  # else both ends are outside
    near = sends.join(cuts, "run_id", how="inner").where(is_near)
    targeted = near.withColumn("target", F.substring_index("channel", "->", -1))
    both = _join_lines(_join_lines(targeted, lines, "process"), lines, "target")
    is_sent = F.col("index") <= _inside("process")
    is_received = F.coalesce(F.col("peer_index") <= _inside("target"), F.lit(False))
    held_by = F.when(is_sent, F.col("channel")).alias("channel")
    return both.where(is_sent != is_received).select("run_id", "cut", "message_id", "peer_index", held_by)


def _join_lines(rows: DataFrame, lines: DataFrame, side: str) -> DataFrame:
    """Joins `rows` with the line of their cut for the process in column `side`; null if the cut has no such line.

    The join key is one 64-bit hash: Spark looks it up twice as fast as two numbers and a text. Against collisions the
    values are compared too, written so that the planner does not make them further join keys.
    """
    keyed = lines.select(
        F.xxhash64("run_id", "cut", "process").alias("key"),
        F.col("run_id").alias("own_run"), F.col("cut").alias("own_cut"), F.col("process").alias("own_process"),
        F.col("index").alias("inside"),
    )  # fmt: skip
    own = F.broadcast(keyed).alias(f"line_of_{side}")
    is_key = F.xxhash64("run_id", "cut", side) == F.col(f"line_of_{side}.key")
    other_run = F.col("run_id").bitwiseXOR(F.col(f"line_of_{side}.own_run"))
    other_cut = F.col("cut").bitwiseXOR(F.col(f"line_of_{side}.own_cut"))
    is_process = F.nullif(F.col(side), F.col(f"line_of_{side}.own_process")).isNull()
    return rows.join(own, is_key & (other_run.bitwiseOR(other_cut) == 0) & is_process, how="left")


def _inside(side: str) -> Column:
    """The number of events inside the cut, of the process in column `side`."""
    return F.coalesce(F.col(f"line_of_{side}.inside"), F.lit(0))


def to_verdicts(per_cut: DataFrame, found: DataFrame) -> DataFrame:
    """The verdict on every cut, also on cuts that no message crosses: AUDIT_TYPES."""
    witnesses = found.where("violates").select("run_id", "cut_id", F.col("messages")[0].alias("witness"))
    both = per_cut.select("run_id", "cut_id").join(witnesses, ["run_id", "cut_id"], how="left")
    return both.withColumn("consistent", F.col("witness").isNull()).select(*AUDIT_TYPES)


def unknown_channels(spark: SparkSession, store: Store) -> DataFrame | None:
    """The channels (run_id, channel) of foreign logs whose content is unknown; None without traces."""
    if not store.has("traces"):
        return None
    traces = store.read(spark, "traces")
    return traces.select("run_id", F.explode("unknown_channels").alias("channel"))


def _set_unknown_to_null(found: DataFrame, per_cut: DataFrame, unknown: DataFrame | None) -> DataFrame:
    """Sets the messages of unknown channels to null."""
    if unknown is None:
        return found
    known = found.join(F.broadcast(unknown), ["run_id", "channel"], how="left_anti").select(*_FOUND)
    nothing = F.lit(None).cast("array<bigint>").alias("messages")
    hidden = unknown.join(F.broadcast(per_cut), "run_id", how="inner")
    return known.unionByName(hidden.select("run_id", "cut_id", "channel", nothing, F.lit(False).alias("violates")))


# ------------------------------------------------------------------ settings, scratch folder, summary


@contextmanager
def _tuned(spark: SparkSession) -> Iterator[None]:
    """Sets _SETTINGS within the block."""
    before = {name: spark.conf.get(name) or "" for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@contextmanager
def _cached(rows: DataFrame) -> Iterator[DataFrame]:
    """Caches rows that are used several times, within the block."""
    cached = rows.persist()
    try:
        yield cached
    finally:
        cached.unpersist()


@contextmanager
def _scratch(store: Store) -> Iterator[Path]:
    """The path of a hidden folder for unchecked results, removed after the block; Spark creates it."""
    folder = store.path.resolve() / f"{HIDDEN}found-{secrets.token_hex(4)}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, target: Path) -> None:
    """Moves the table channels from `folder` to `target`; makes an empty one if Spark wrote none."""
    if folder.is_dir():
        folder.rename(target)
    else:
        target.mkdir()
        parquet.write_table(arrow_schema(CHANNEL_TYPES).empty_table(), target / "empty.parquet")


def _summary(store: Store) -> Audit:
    """The counts, from the tables that were written."""
    audits, channels = (dataset.dataset([str(part) for part in store.parts(name)]) for name in ("audits", "channels"))
    violated = audits.to_table(filter=~dataset.field("consistent"))
    first = violated.sort_by([("run_id", "ascending"), ("cut_id", "ascending")]).slice(0, 1).to_pylist()
    lengths = (compute.list_value_length(batch.column(0)) for batch in channels.to_batches(columns=["messages"]))
    messages = sum(compute.sum(length).as_py() or 0 for length in lengths)
    worst = [(row["run_id"], row["cut_id"], row["witness"]) for row in first]
    return Audit(audits.count_rows(), violated.num_rows, messages, worst[0] if worst else None)
