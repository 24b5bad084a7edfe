"""The columns of the tables of a data folder, with their types for Arrow and for Spark.

A type is written as its Arrow alias; `list<...>` is a list of another type. sim/core/model.py declares the event table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow

from sim import VERSION
from sim.core.errors import InputError, nearest
from sim.core.model import EVENT_TYPES
from sim.verify.checks import CHECKS

Types = Mapping[str, str]

# runs: a row per run and snapshot of an ensemble; a run without snapshots has one row, whose snapshot_id is null.
# `document` is the scenario as TOML without its seed; document and `seed` together determine the run. `fifo` says
# whether every channel is FIFO. Times are in time units.
RUN_TYPES: Types = {
    "run_id": "int64", "snapshot_id": "string", "cell": "int32", "seed": "int64", "document": "string",
    # the parameters of the cell
    "scenario": "string", "workload": "string", "topology": "string", "processes": "int32", "channels": "int32",
    "fifo": "bool", "algorithm": "string", "initiators": "int32", "delay": "string", "marker_delay": "string",
    "mean_delay": "float64", "mean_marker_delay": "float64", "parameters": "string",
    # the rates of random faults, per time unit, the shares of messages lost and copied, and when the last may begin
    "crash": "float64", "restart": "float64", "sever": "float64", "mend": "float64", "lose": "float64",
    "copy": "float64", "faults_until": "float64",
    # the settings of the storage (null: there is none, or no bound on its bandwidth) and of the coordinator
    "storage_bandwidth": "float64", "storage_limit": "int64", "storage_jitter": "float64",
    "checkpoint_interval": "float64",
    # the run: application events, steps, time of the last step, application messages, most of them in flight at once;
    # crashes, restarts, how often a channel is severed or mended, what the network copies, and what a FIFO layer sends
    # again or drops; messages that are lost, of any kind
    "events": "int64", "steps": "int64", "duration": "float64", "messages": "int64", "in_flight_peak": "int64",
    "faults": "int64", "lost": "int64",
    # how often the system went back to a stored snapshot; the mean time from the crash (else from the beginning of the
    # recovery) to the last process that did; application events that were taken back; messages put back into channels
    "recoveries": "int64", "recovery_time": "float64", "rolled_back": "int64", "put_back": "int64",
    # the snapshot: time from the first recording to the last channel closed; messages recorded in channels; markers;
    # the process that finished last (null: the snapshot is not complete)
    "status": "string", "latency": "float64", "recorded_messages": "int64", "recorded_bytes": "int64",
    "markers": "int64", "slowest": "string",
    # the costs of the snapshot (null: not measured), by the names of sim/run/costs.py: times; bytes that processes
    # received between first hearing of the snapshot and completing their parts; control messages, and the bytes of
    # these and of markers, each with the id of its snapshot; bytes of the algorithm's stamps on all messages of the
    # run; pages copied (null: it notes none); bytes of the recorded states; delays of messages compared with a run
    # without snapshots: the mean, the greatest, and the number of late messages; whether the recorded states are a
    # consistent cut, promised or not
    "end_to_end": "float64", "start_delay": "float64", "alignment": "float64", "blocked_time": "float64",
    "processed_bytes": "int64", "control_messages": "int64", "control_bytes": "int64", "stamp_bytes": "int64",
    "copied_pages": "int64", "state_bytes": "int64", "delayed": "float64", "delayed_most": "float64",
    "delayed_messages": "int64", "consistent_cut": "bool",
    # the storage (null: there is none): uploads that it refused with 503; whether the manifest is written, how long
    # after the first recording, and the bytes of all parts and the manifest
    "refusals": "int64", "committed": "bool", "commit_latency": "float64", "stored_bytes": "int64",
    # the verdict of each check (null: undecided), whether one fails, and the first witness, as `check: witness`
    **dict.fromkeys(CHECKS, "bool"), "failed": "bool", "witness": "string",
    # whether the run's events are in the event table; why it could not run (null: it ran); the version that ran it, and
    # the engine: one of ENGINES
    "has_events": "bool", "error": "string", "version": "string", "engine": "string",
}  # fmt: skip

# The columns of runs about storage and recoveries, for a run without them.
WITHOUT_STORAGE = {"refusals": None, "committed": None, "commit_latency": None, "stored_bytes": None}
WITHOUT_RECOVERY = {"recoveries": 0, "recovery_time": None, "rolled_back": 0, "put_back": 0}

# The columns of runs that are measured only if a grid has `costs` (pipeline/ensembles/run_costs.py).
COSTS = (
    "end_to_end", "start_delay", "alignment", "blocked_time", "processed_bytes", "control_messages", "control_bytes",
    "stamp_bytes", "copied_pages", "state_bytes", "delayed", "delayed_most", "delayed_messages",
)  # fmt: skip

# In Python; by the compiled kernel; in Python, since the kernel gave another result for the first run of the chunk.
PYTHON, NUMBA, DISPUTED = ENGINES = ("python", "numba", "python, since numba differed")

# traces: a row per execution of a foreign log. `events` and `messages` count those of the application. `pairing` is the
# least certain way in which a send was matched with its receive: "given" (by the log's own ids), "clock", "fifo" or
# "unknown". If `exact`, the event table holds every message; else a channel holds at least the messages that a cut
# finds in it. The content of the `unknown_channels` is unknown. `gaps` counts the events that clocks count and the log
# lacks. `problem` says why an execution was set aside, without events in the table (null: it was not).
TRACE_TYPES: Types = {
    "run_id": "int64", "name": "string", "source": "string", "format": "string", "first_line": "int64",
    "processes": "list<string>", "events": "int64", "messages": "int64", "unreceived": "int64", "pairing": "string",
    "exact": "bool", "unknown_channels": "list<string>", "gaps": "int64", "notes": "list<string>",
    "problem": "string", "version": "string",
}  # fmt: skip

# cuts: a row per process of each cut, in folders that are followed: the frontiers of the snapshots that were judged.
CUT_TYPES: Types = {"run_id": "int64", "cut_id": "string", "process": "string", "index": "int32"}
AUDIT_TYPES: Types = {"run_id": "int64", "cut_id": "string", "consistent": "bool", "witness": "int64"}
CHANNEL_TYPES: Types = {"run_id": "int64", "cut_id": "string", "channel": "string", "messages": "list<int64>"}

# summaries: a row per cell of an ensemble's grid: its parameters, counts, and the quantiles (per cent) of each measure.
PARAMETERS = (
    "scenario", "workload", "topology", "processes", "channels", "fifo", "algorithm", "initiators", "delay",
    "marker_delay", "mean_delay", "mean_marker_delay", "parameters", "crash", "restart", "sever", "mend",
    "lose", "copy", "faults_until", "storage_bandwidth", "storage_limit", "storage_jitter", "checkpoint_interval",
)  # fmt: skip
MEASURES = (
    "latency", "recorded_messages", "recorded_bytes", "markers", "in_flight_peak", "events", "messages", "duration",
    "faults", "lost", "recoveries", "recovery_time", "rolled_back", "put_back", "refusals", "commit_latency",
    "stored_bytes", *COSTS,
)  # fmt: skip
QUANTILES = (0, 10, 50, 90, 100)
SUMMARY_TYPES: Types = {
    "cell": "int32", **{name: RUN_TYPES[name] for name in PARAMETERS},
    "runs": "int64", "snapshots": "int64", "failures": "int64", "errors": "int64",
    **{f"{measure}_{percent}": "float64" for measure in MEASURES for percent in QUANTILES},
}  # fmt: skip
EXTREME_TYPES: Types = {"why": "string", "outlier_score": "float64", **RUN_TYPES}
SAMPLE_TYPES: Types = {name: kind for name, kind in RUN_TYPES.items() if name != "document"}  # what charts draw as dots

TABLES: Mapping[str, Types] = {
    "events": EVENT_TYPES,
    "runs": RUN_TYPES,
    "traces": TRACE_TYPES,
    "cuts": CUT_TYPES,
    "audits": AUDIT_TYPES,
    "channels": CHANNEL_TYPES,
    "summaries": SUMMARY_TYPES,
    "extremes": EXTREME_TYPES,
    "sample": SAMPLE_TYPES,
}

# The columns that every table has, of any version. It may lack the others: they are null then.
_OF_A_RUN = ("run_id", "snapshot_id", "cell", "seed", "document", "version")
NEEDED: Mapping[str, Collection[str]] = {
    **TABLES,
    "events": [name for name in EVENT_TYPES if name != "epoch"],  # which foreign tables lack: there was no recovery
    "runs": _OF_A_RUN,
    "traces": ("run_id", "processes"),
    "summaries": ("cell",),
    "extremes": _OF_A_RUN,
    "sample": [name for name in _OF_A_RUN if name != "document"],
}

_SPARK = {
    "int32": "int", "int64": "bigint", "float64": "double", "string": "string", "bool": "boolean",
    "list<int64>": "array<bigint>", "list<string>": "array<string>",
}  # fmt: skip


def check_known(name: str, columns: Collection[str], where: str) -> None:
    """Raises InputError, which begins with `where`, unless `name` is one of `columns`."""
    if name not in columns:
        raise InputError(
            f"{where}: has a column {name!r} that this version ({VERSION}) does not know; was it written by a newer "
            f"one? {nearest(name, columns)}"
        )


def arrow_schema(types: Types) -> pyarrow.Schema:
    """`types` as an Arrow schema; every column may be null."""
    return pyarrow.schema([(name, _arrow_type(kind)) for name, kind in types.items()])


def _arrow_type(kind: str) -> pyarrow.DataType:
    item = kind.removeprefix("list<").removesuffix(">")
    found = pyarrow.type_for_alias(item)
    return found if item == kind else pyarrow.list_(found)


def spark_schema(types: Types) -> str:
    """`types` as a Spark DDL string."""
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in types.items())


def spark_type(kind: str) -> str:
    """One type in Spark's SQL."""
    return _SPARK[kind]
