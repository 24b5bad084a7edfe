"""The verdict on cuts of an event table, and what each finds in the channels, in one scan of the send rows.

A send knows the index of its receive (`peer_index`), and a cut is one number per process. So two numbers of the cut
decide about a message: sent inside and not received inside, it is in the channel; received inside and not sent inside,
it is a violation, and the witness if no violation has a smaller id. sim.theory.causality.History does this for one run.
The cuts are sent to all workers and the events stay where they are; only messages that cross a cut are shuffled.
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

from pipeline.cuts.cut_lines import check_lines, check_names, heads_of, numbered, slices_of
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import HIDDEN, Store
from pipeline.store.schema import AUDIT_TYPES, CHANNEL_TYPES, arrow_schema, spark_schema
from sim.core.model import SEND

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NEVER = 2**31 - 1  # after every receive

# Rows that are sorted are grouped as they come, and files are taken in pieces so small that all cores end together.
_SETTINGS = {
    "spark.sql.execution.replaceHashWithSortAgg": "true",
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.files.openCostInBytes": "1m",
}


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

    A process missing from a cut has no event inside, a number beyond its last event means all. Raises InputError for
    cuts that make no sense.
    """
    events, unknown = store.read(spark, "events"), unknown_channels(spark, store)
    with _settings(spark), _kept(numbered(cuts)) as lines, _kept(heads_of(lines)) as heads, _scratch(store) as scratch:
        extent = check_lines(lines, heads)
        slices = slices_of(lines, extent)
        for number, part in enumerate(slices):
            progress(number, len(slices) + 1)
            own_heads = heads.where(part.of_cuts)
            found = found_by(events.where(part.of_runs), lines.where(part.of_cuts), own_heads)
            # The values of `violates` become folders: so one pass over the events writes two tables.
            told = _without(found, own_heads, unknown)
            told.write.partitionBy("violates").parquet(str(scratch), mode="append")
        progress(len(slices), len(slices) + 1)
        check_names(events, heads, extent, scratch)
        written = spark.read.schema(spark_schema(_FOUND)).parquet(str(scratch))
        with store.replacing("audits") as audits, store.replacing("channels") as channels:
            judged(heads, written).write.parquet(str(audits.resolve()))
            _move(scratch / "violates=false", channels)
    progress(len(slices) + 1, len(slices) + 1)
    return _outcome(store)


def verdicts(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """A row for each of `cuts`: AUDIT_TYPES."""
    lines = numbered(cuts)
    heads = heads_of(lines)
    return judged(heads, found_by(events, lines, heads))


def contents(events: DataFrame, cuts: DataFrame) -> DataFrame:
    """A row for each channel in which one of `cuts` finds messages: CHANNEL_TYPES, in the order of their receipt."""
    lines = numbered(cuts)
    return found_by(events, lines, heads_of(lines)).where(~F.col("violates")).select(*CHANNEL_TYPES)


# ------------------------------------------------------------------ the plan

_FOUND = {**CHANNEL_TYPES, "violates": "bool"}


def found_by(events: DataFrame, lines: DataFrame, heads: DataFrame) -> DataFrame:
    """What the cuts find, CHANNEL_TYPES and `violates`: the messages of each channel that holds some.

    A cut that is violated has a row without a channel as well, whose only message is the witness. `lines` and `heads`
    are those of pipeline.cuts.cut_lines.
    """
    key = ("run_id", "cut", "channel")
    crossed = crossing(events, lines, heads).repartition("run_id", "cut").sortWithinPartitions(*key)
    receipt = F.struct(F.coalesce("peer_index", F.lit(NEVER)).alias("peer_index"), "message_id")
    is_held = F.col("channel").isNotNull()
    held = F.sort_array(F.collect_list(F.when(is_held, receipt))).getField("message_id")
    messages = F.when(is_held, held).otherwise(F.array(F.min("message_id"))).alias("messages")
    gathered = crossed.groupBy(*key).agg(messages)
    named = gathered.join(F.broadcast(heads.select("run_id", "cut", "cut_id")), ["run_id", "cut"], how="inner")
    return named.withColumn("violates", ~is_held).select(*_FOUND)


def crossing(events: DataFrame, lines: DataFrame, heads: DataFrame) -> DataFrame:
    """The messages that cross a cut: run_id, cut, message_id, peer_index and channel (null: it violates the cut)."""
    sends = events.where(F.col("kind") == SEND).select(
        "run_id", "process", "channel", "index", "peer_index", "message_id"
    )
    cuts = F.broadcast(heads.select("run_id", "cut", "highest"))
    is_near = (F.col("index") <= F.col("highest")) | (F.col("peer_index") <= F.col("highest"))  # else all of it is late
    near = sends.join(cuts, "run_id", how="inner").where(is_near)
    targeted = near.withColumn("target", F.substring_index("channel", "->", -1))
    both = _beside(_beside(targeted, lines, "process"), lines, "target")
    is_sent = F.col("index") <= _inside("process")
    is_received = F.coalesce(F.col("peer_index") <= _inside("target"), F.lit(False))
    held_by = F.when(is_sent, F.col("channel")).alias("channel")
    return both.where(is_sent != is_received).select("run_id", "cut", "message_id", "peer_index", held_by)


def _beside(rows: DataFrame, lines: DataFrame, side: str) -> DataFrame:
    """The rows with the line of the cut, if it has one, on the process that their column `side` names.

    One 64-bit hash is the key, which is looked up twice as fast as numbers and a text; what it stands for is compared
    as well, in a way that the planner does not take for more keys.
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
    return F.coalesce(F.col(f"line_of_{side}.inside"), F.lit(0))


def judged(heads: DataFrame, found: DataFrame) -> DataFrame:
    """The verdicts on all cuts, those that no message crosses too: AUDIT_TYPES."""
    witnesses = found.where("violates").select("run_id", "cut_id", F.col("messages")[0].alias("witness"))
    both = heads.select("run_id", "cut_id").join(witnesses, ["run_id", "cut_id"], how="left")
    return both.withColumn("consistent", F.col("witness").isNull()).select(*AUDIT_TYPES)


def unknown_channels(spark: SparkSession, store: Store) -> DataFrame | None:
    """The channels (run_id, channel) of foreign logs of which cannot be said what they hold; None: no such log."""
    if not store.has("traces"):
        return None
    traces = store.read(spark, "traces")
    return traces.select("run_id", F.explode("unknown_channels").alias("channel"))


def _without(found: DataFrame, heads: DataFrame, unknown: DataFrame | None) -> DataFrame:
    """What was found, but null as the messages of channels of which nobody can say it."""
    if unknown is None:
        return found
    known = found.join(F.broadcast(unknown), ["run_id", "channel"], how="left_anti").select(*_FOUND)
    nothing = F.lit(None).cast("array<bigint>").alias("messages")
    silent_ones = unknown.join(F.broadcast(heads), "run_id", how="inner")
    return known.unionByName(silent_ones.select("run_id", "cut_id", "channel", nothing, F.lit(False).alias("violates")))


# ------------------------------------------------------------------ around it


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    """The session with _SETTINGS, for a while."""
    before = {name: spark.conf.get(name) or "" for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Rows that are asked for more than once."""
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


@contextmanager
def _scratch(store: Store) -> Iterator[Path]:
    """A hidden folder for what is not yet checked; Spark makes it."""
    folder = store.path.resolve() / f"{HIDDEN}found-{secrets.token_hex(4)}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, place: Path) -> None:
    """Put the table in `folder` in its place; where nothing was written, an empty one."""
    if folder.is_dir():
        folder.rename(place)
    else:
        place.mkdir()
        parquet.write_table(arrow_schema(CHANNEL_TYPES).empty_table(), place / "empty.parquet")


def _outcome(store: Store) -> Audit:
    """The tables that were written, in short."""
    audits, channels = (dataset.dataset([str(part) for part in store.parts(name)]) for name in ("audits", "channels"))
    violated = audits.to_table(filter=~dataset.field("consistent"))
    first = violated.sort_by([("run_id", "ascending"), ("cut_id", "ascending")]).slice(0, 1).to_pylist()
    lengths = (compute.list_value_length(batch.column(0)) for batch in channels.to_batches(columns=["messages"]))
    messages = sum(compute.sum(length).as_py() or 0 for length in lengths)
    worst = [(row["run_id"], row["cut_id"], row["witness"]) for row in first]
    return Audit(audits.count_rows(), violated.num_rows, messages, worst[0] if worst else None)
