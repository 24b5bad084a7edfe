"""Measures a run: the columns of RUN_TYPES, a row per snapshot."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate, repeat
from typing import Any

from pipeline.ensembles import parameter_values, stored
from pipeline.ensembles.options import RATES, SETTINGS
from sim.core.log import KIND, to_json
from sim.core.model import COPIED, CRASH, DOWN, DROPPED, FROZEN, LOST, RECEIVE, RESENT, RESTART, SEND, THAWED, UP
from sim.document.scenario import Scenario
from sim.run.execution import Execution
from sim.run.snapshots import Snapshot, snapshots_of
from sim.verify.checks import CHECKS, Verdict, verdicts_of
from sim.verify.sound import SoundSnapshot, sound_snapshots

Row = dict[str, Any]

FAULT_KINDS = (CRASH, RESTART, FROZEN, THAWED, DOWN, UP, COPIED, RESENT, DROPPED)  # losses are counted apart
_IN_FLIGHT_CHANGE = {SEND: 1, RECEIVE: -1}


def describe(scenario: Scenario) -> Row:
    """The columns that describe a scenario, except its name and seed."""
    delay, marker_delay = scenario.delay, scenario.marker_delay
    return {
        "workload": scenario.workload,
        "topology": parameter_values.topology_text(scenario.topology),
        "processes": len(scenario.processes),
        "channels": len(scenario.channels),
        "fifo": not scenario.not_fifo,
        "algorithm": scenario.algorithm,
        "delay": parameter_values.delay_text(delay),
        "marker_delay": parameter_values.SAME if marker_delay is None else parameter_values.delay_text(marker_delay),
        "mean_delay": parameter_values.mean_delay(delay),
        "mean_marker_delay": parameter_values.mean_delay(marker_delay or delay),
        "parameters": json.dumps(scenario.parameters, ensure_ascii=False, sort_keys=True),
        **{RATES[name]: rate for name, rate in asdict(scenario.fault_rates).items()},
        **_settings(scenario),
    }


def _settings(scenario: Scenario) -> Row:
    """The settings of the services, by the options in SETTINGS."""
    found: Row = dict.fromkeys(SETTINGS)
    if scenario.has_storage:
        own = scenario.storage_settings()
        found |= {"storage_limit": own.limit, "storage_jitter": own.jitter}
        found["storage_bandwidth"] = own.bandwidth if math.isfinite(own.bandwidth) else None
    if scenario.coordinator is not None:
        found["checkpoint_interval"] = scenario.coordinator.get("interval", 0.0)
    return found


def measure(execution: Execution) -> list[Row]:
    """The measures of a run: a row for each snapshot, or one row without a snapshot if there is none.

    Times are in time units. Messages are those of the application; their size is that of their bodies as JSON.
    """
    run = _measure_run(execution)
    return [{**run, **row} for row in _measure_snapshots(execution)] or [{**run, "failed": False}]


def _measure_snapshots(execution: Execution) -> list[Row]:
    """The measures of all snapshots: computed quickly if every check holds, else with witnesses. The rows are equal."""
    sound = sound_snapshots(execution)
    if sound is not None:
        return [
            _row(execution, snapshot, snapshot.bodies, [Verdict(check, True) for check in snapshot.checks])
            for snapshot in sound
        ]
    verdicts = verdicts_of(execution)
    return [
        _row(execution, snapshot, [message.body for message in snapshot.recorded_messages], verdicts[snapshot.id])
        for snapshot in snapshots_of(execution)
    ]


def _measure_run(execution: Execution) -> Row:
    kinds = execution.log.column(KIND)
    return {
        "events": sum(process.index for process in execution.final.processes),
        "steps": execution.steps,
        "duration": execution.times[-1],
        "messages": kinds.count(SEND),
        "in_flight_peak": max(accumulate(map(_IN_FLIGHT_CHANGE.get, kinds, repeat(0)), initial=0)),
        "faults": sum(map(kinds.count, FAULT_KINDS)),
        "lost": kinds.count(LOST),
        **stored.of_run(execution),
    }


def _row(
    execution: Execution, snapshot: Snapshot | SoundSnapshot, recorded: Sequence[Any], verdicts: Sequence[Verdict]
) -> Row:
    broken = [verdict for verdict in verdicts if verdict.holds is False]
    return {
        "snapshot_id": snapshot.id,
        "initiators": sum(start.snapshot == snapshot.id for start in execution.scenario.snapshots),
        "status": snapshot.status,
        "latency": _latency(execution, snapshot),
        "recorded_messages": len(recorded),
        "recorded_bytes": sum(len(to_json(body).encode()) for body in recorded),
        "markers": snapshot.markers,
        "slowest": snapshot.slowest,
        **stored.of_snapshot(execution, snapshot.id, snapshot.began),
        **dict.fromkeys(CHECKS),
        **{verdict.check: verdict.holds for verdict in verdicts},
        "failed": bool(broken),
        "witness": f"{broken[0].check}: {broken[0].witness}" if broken else None,
    }


def _latency(execution: Execution, snapshot: Snapshot | SoundSnapshot) -> float | None:
    """The time from the first recording until the last process completes; None if the snapshot did not complete."""
    if snapshot.began is None or snapshot.completed is None:
        return None
    return execution.times[snapshot.completed] - execution.times[snapshot.began]
