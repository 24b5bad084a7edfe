"""The tables of a data folder, as plain names of types, as Arrow types and as Spark types.

The event table is declared in sim/core/model.py. Every type is an Arrow alias; `list<...>` is a list of one.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow

from sim.core.model import EVENT_TYPES
from sim.verify.checks import CHECKS

Types = Mapping[str, str]

# A row per run and snapshot of an ensemble (a run without snapshots has one row, with a null snapshot_id).
# `document` is the scenario as TOML but for its seed: with `seed` in it, it is the run. `fifo` says whether every
# channel is FIFO. Times are in time units.
RUN_TYPES: Types = {
    "run_id": "int64", "snapshot_id": "string", "cell": "int32", "seed": "int64", "document": "string",
    # what the cell of the grid says
    "scenario": "string", "workload": "string", "topology": "string", "processes": "int32", "channels": "int32",
    "fifo": "bool", "algorithm": "string", "initiators": "int32", "delay": "string", "marker_delay": "string",
    "mean_delay": "float64", "mean_marker_delay": "float64", "parameters": "string",
    # what the run did: application events, steps, time of the last step, messages of the application
    "events": "int64", "steps": "int64", "duration": "float64", "messages": "int64", "in_flight_peak": "int64",
    # what the snapshot did: from the first recording to the last channel closed; recorded in channels; markers sent
    "status": "string", "latency": "float64", "recorded_messages": "int64", "recorded_bytes": "int64",
    "markers": "int64",
    # verdicts (null: undecided), whether one does not hold, and the first witness, as `check: witness`
    **dict.fromkeys(CHECKS, "bool"), "failed": "bool", "witness": "string",
    # whether the run's events are in the event table; why it could not run (null: it did); by which version
    "has_events": "bool", "error": "string", "version": "string",
}  # fmt: skip

# A row per execution of a foreign log. `events` and `messages` count those of the computation. `pairing` is the least
# sure way in which a send was matched with its receive: "given" (by the log's own ids), "clock", "fifo" or "unknown".
# Where `exact`, the table holds every message; else what a cut finds in a channel is at least what it says, and of the
# `unknown_channels` it cannot be said at all. `gaps` counts events that clocks count and nobody logged. `problem` is
# why an execution was set aside, with no events in the table (null: it was not).
TRACE_TYPES: Types = {
    "run_id": "int64", "name": "string", "source": "string", "format": "string", "first_line": "int64",
    "processes": "list<string>", "events": "int64", "messages": "int64", "unreceived": "int64", "pairing": "string",
    "exact": "bool", "unknown_channels": "list<string>", "gaps": "int64", "notes": "list<string>",
    "problem": "string", "version": "string",
}  # fmt: skip

CUT_TYPES: Types = {"run_id": "int64", "cut_id": "string", "process": "string", "index": "int32"}
AUDIT_TYPES: Types = {"run_id": "int64", "cut_id": "string", "consistent": "bool", "witness": "int64"}
CHANNEL_TYPES: Types = {"run_id": "int64", "cut_id": "string", "channel": "string", "messages": "list<int64>"}

# A row per cell of an ensemble's grid: its parameters, how many there were, and the quantiles (per cent) of measures.
PARAMETERS = (
    "scenario", "workload", "topology", "processes", "channels", "fifo", "algorithm", "initiators", "delay",
    "marker_delay", "mean_delay", "mean_marker_delay", "parameters",
)  # fmt: skip
MEASURES = (
    "latency", "recorded_messages", "recorded_bytes", "markers", "in_flight_peak", "events", "messages", "duration",
)  # fmt: skip
QUANTILES = (0, 10, 50, 90, 100)
SUMMARY_TYPES: Types = {
    "cell": "int32", **{name: RUN_TYPES[name] for name in PARAMETERS},
    "runs": "int64", "snapshots": "int64", "failures": "int64", "errors": "int64",
    **{f"{measure}_{percent}": "float64" for measure in MEASURES for percent in QUANTILES},
}  # fmt: skip
EXTREME_TYPES: Types = {"why": "string", "outlier_score": "float64", **RUN_TYPES}

TABLES: Mapping[str, Types] = {
    "events": EVENT_TYPES,
    "runs": RUN_TYPES,
    "traces": TRACE_TYPES,
    "audits": AUDIT_TYPES,
    "channels": CHANNEL_TYPES,
    "summaries": SUMMARY_TYPES,
    "extremes": EXTREME_TYPES,
}

_SPARK = {"int32": "int", "int64": "bigint", "float64": "double", "string": "string", "bool": "boolean"}


def arrow_schema(types: Types) -> pyarrow.Schema:
    """`types` as Arrow has them; every column may be null."""
    return pyarrow.schema([(name, _arrow_type(kind)) for name, kind in types.items()])


def _arrow_type(kind: str) -> pyarrow.DataType:
    inner = _item_of(kind)
    return pyarrow.list_(_arrow_type(inner)) if inner else pyarrow.type_for_alias(kind)


def spark_schema(types: Types) -> str:
    """`types` as a Spark DDL string."""
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in types.items())


def spark_type(kind: str) -> str:
    """One type as Spark writes it."""
    inner = _item_of(kind)
    return f"array<{spark_type(inner)}>" if inner else _SPARK[kind]


def _item_of(kind: str) -> str:
    return kind[5:-1] if kind.startswith("list<") else ""
