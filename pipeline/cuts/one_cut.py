"""Reports on one cut of one execution: the verdict, and the messages in each channel by name.

A small execution is examined in memory, at once; of a big one Spark reads what crosses the cut.
pipeline.cuts.audits does the same for many cuts, with message ids instead of names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.cuts.audits import contents, verdicts
from pipeline.store.folder import Store
from pipeline.store.schema import CUT_TYPES, spark_schema
from sim.core.model import SEND, label_of
from sim.core.notation import caption
from sim.theory.causality import Frontier, History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_NAMED = 500  # messages of a cut that are listed by name


class CutReport(NamedTuple):
    """Whether a cut is consistent, a message that violates it (None: consistent), and the messages in its channels.

    A message is named after its send event; the witness is written `send on channel`. `in_channels` has the first
    messages of each channel that holds some, `counts` the number of all of them. The content of the channels `unknown`
    is unknown. Unless `exact`, a channel may hold more messages.
    """

    consistent: bool
    witness: str | None
    in_channels: dict[str, list[str]]
    counts: dict[str, int]
    unknown: list[str]
    exact: bool


def report_in_memory(history: History, frontier: Frontier, trace: Mapping[str, Any]) -> CutReport:
    """The report on a cut of an execution whose events are all in `history`; `trace` is its row of the table traces."""
    witness, held = history.violation(frontier), history.in_channels(frontier)
    unknown = list(trace["unknown_channels"])

    def name(message: int) -> str:
        send = history.sends[message]
        return send.label or label_of(send.process, send.index or 0, None)

    channel = "" if witness is None else history.sends[witness].channel or ""
    return CutReport(
        consistent=witness is None,
        witness=None if witness is None else f"{name(witness)} on {caption(history.processes, channel)}",
        in_channels={channel: [*map(name, ids)] for channel, ids in held.items() if channel not in unknown},
        counts={channel: len(ids) for channel, ids in held.items()},
        unknown=unknown,
        exact=trace["exact"],
    )


def report_on_cut(spark: SparkSession, store: Store, run_id: int, frontier: Mapping[str, int]) -> CutReport:
    """The report on the cut `frontier` (events inside, by process) of execution `run_id`. Raises InputError."""
    from pyspark.sql import functions as F

    events = store.read(spark, "events").where(F.col("run_id") == run_id)
    rows = [(run_id, "cut", process, inside) for process, inside in frontier.items()]
    cuts = spark.createDataFrame(rows, spark_schema(CUT_TYPES))
    verdict = verdicts(events, cuts).collect()[0]
    held = {row.channel: list(row.messages) for row in contents(events, cuts).collect()}
    trace = store.read(spark, "traces").where(F.col("run_id") == run_id).collect()[0]
    unknown = list(trace.unknown_channels)
    named = [message for messages in held.values() for message in messages[:MOST_NAMED]][:MOST_NAMED]
    wanted = named if verdict.witness is None else [verdict.witness, *named]
    sends = events.where((F.col("kind") == SEND) & F.col("message_id").isin(wanted)).collect() if wanted else []
    name_of = {row.message_id: row.label or label_of(row.process, row["index"], None) for row in sends}
    channel = next((row.channel for row in sends if row.message_id == verdict.witness), None)
    return CutReport(
        consistent=verdict.consistent,
        witness=None if channel is None else f"{name_of[verdict.witness]} on {caption(list(frontier), channel)}",
        in_channels={
            channel: [name_of[message] for message in messages if message in name_of]
            for channel, messages in held.items()
            if messages and channel not in unknown
        },
        counts={channel: len(messages) for channel, messages in held.items()},
        unknown=unknown,
        exact=trace.exact,
    )
