"""An audit as a plan of Spark's SQL: joins of sends with cuts, and of both ends with the recoveries. The tests' oracle.

It reads peer_index, as the audit does, but judges by joins of single rows; the surviving line is found event by event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tests.pipeline.cuts.oracles import Channels, Verdicts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEVER = 2**31 - 1


def by_sql(events: DataFrame, cuts: DataFrame) -> tuple[Verdicts, Channels]:
    """The verdicts on `cuts` (CUT_TYPES), and what the channels hold, as in tests.pipeline.cuts.oracles."""
    crossing = _crossing(_sends(events), cuts)
    wrong = crossing.where(~F.col("is_sent")).groupBy("run_id", "cut_id").agg(F.min("message_id").alias("witness"))
    verdicts = cuts.select("run_id", "cut_id").distinct().join(wrong, ["run_id", "cut_id"], how="left").collect()
    receipt = F.struct(F.coalesce("receipt", F.lit(NEVER)).alias("receipt"), "message_id")
    held = crossing.where("is_sent").groupBy("run_id", "cut_id", "channel")
    channels = held.agg(F.sort_array(F.collect_list(receipt)).getField("message_id").alias("messages")).collect()
    return (
        {(row.run_id, row.cut_id): row.witness for row in verdicts},
        {(row.run_id, row.cut_id, row.channel): list(row.messages) for row in channels},
    )


def _sends(events: DataFrame) -> DataFrame:
    """The sends that survive and are not lost, with `receipt`: the index of the receive, if that survives."""
    restores = events.where("kind = 'restore'").select(
        "run_id", "process", F.col("epoch").alias("begun"), F.col("index").alias("kept")
    )
    kinds = F.col("kind").isin("send", "copied", "receive", "internal") & F.col("index").isNotNull()
    is_removed = (F.col("begun") > F.col("epoch")) & (F.col("kept") < F.col("index"))
    joined = (
        events.where(kinds)
        .alias("e")
        .join(
            restores.alias("r"),
            (F.col("e.run_id") == F.col("r.run_id")) & (F.col("e.process") == F.col("r.process")) & is_removed,
            how="left_anti",
        )
    )
    there = (
        joined.where("kind = 'receive'")
        .select("run_id", F.col("process").alias("target"), F.col("index").alias("receipt"))
        .distinct()
    )
    sends = joined.where("kind in ('send', 'copied')").withColumn("target", F.substring_index("channel", "->", -1))
    is_own = (sends.run_id == there.run_id) & (sends.target == there.target) & (sends.peer_index == there.receipt)
    paired = sends.join(there, is_own, how="left").select(
        sends.run_id, sends.process, sends.target, sends.channel, sends["index"], sends.message_id, there.receipt
    )
    ended = (
        events.where("kind IN ('lost', 'fenced')")
        .select("run_id", "message_id")
        .distinct()
        .withColumn("ended", F.lit(True))
    )
    marked = paired.join(ended, ["run_id", "message_id"], how="left")
    return marked.where(F.col("receipt").isNotNull() | F.col("ended").isNull())


def _crossing(sends: DataFrame, cuts: DataFrame) -> DataFrame:
    """The messages that cross a cut: run_id, cut_id, channel, message_id, receipt, and whether they are sent inside."""
    every = sends.join(cuts.select("run_id", "cut_id").distinct(), "run_id")
    for side in ("process", "target"):
        own = cuts.select("run_id", "cut_id", F.col("process").alias(side), F.col("index").alias(f"inside_{side}"))
        every = every.join(own, ["run_id", "cut_id", side], how="left")
    is_sent = F.col("index") <= F.coalesce("inside_process", F.lit(0))
    is_received = F.coalesce(F.col("receipt") <= F.coalesce("inside_target", F.lit(0)), F.lit(False))
    both = every.withColumn("is_sent", is_sent).withColumn("is_received", is_received)
    return both.where(F.col("is_sent") != F.col("is_received"))
