"""Measures the costs of the snapshots of a run: the columns COSTS of the schema, which the option `costs` requests.

They need a second run, the same one without snapshots, so they take twice the time. All times are in time units.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sim.core.log import to_json
from sim.core.model import CONTROL_SEND, MARKER_SEND, NOTED, SEND, Event
from sim.run.as_of import as_of
from sim.run.costs import Costs, costs_of, lateness, without_snapshots
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of

Row = dict[str, Any]


def with_costs(execution: Execution, rows: Sequence[Row]) -> list[Row]:
    """The rows of a run (pipeline/ensembles/measure.py) with the costs of their snapshots."""
    always = {**_late(execution), "stamp_bytes": _bytes_of(execution.stamps.values())}
    costs = {own.snapshot: own for own in costs_of(execution)}
    of_snapshots = {name: _of_snapshot(execution, own) for name, own in costs.items() if name is not None}
    return [{**row, **always, **of_snapshots.get(row.get("snapshot_id", ""), {})} for row in rows]


def _late(execution: Execution) -> Row:
    """The delays of messages by all snapshots of the run, compared with the same run without snapshots."""
    plain = without_snapshots(execution.scenario)
    if plain is None:
        return {}
    late = lateness(execution, run(plain))
    return {"delayed": late.mean, "delayed_most": late.most, "delayed_messages": late.late}


def _of_snapshot(execution: Execution, own: Costs) -> Row:
    rows = [row for row in execution.events if row.snapshot_id == own.snapshot]
    sent = [row for row in rows if row.kind in (MARKER_SEND, CONTROL_SEND)]
    return {
        "end_to_end": own.duration,
        "start_delay": own.start_delay,
        "alignment": own.alignment,
        "blocked_time": own.blocked_time,
        "processed_bytes": own.processed.bytes,
        "consistent_cut": _is_consistent(execution, own.snapshot),
        "control_messages": own.controls,
        "control_bytes": sum(len((own.snapshot or "").encode()) + len((row.body or "").encode()) for row in sent),
        "copied_pages": _copied(execution, rows),
        "state_bytes": None if own.stored is None else own.stored - own.persisted.bytes,
    }


def _is_consistent(execution: Execution, name: str | None) -> bool | None:
    """Whether the recorded states are a consistent cut, promised or not (None: not every process has recorded).

    This is judged at the completion of the snapshot. Uncoordinated checkpoints are never complete, and the last ones
    may contain the complete run. So they are judged at the last step in which every sender still had work to do.
    """
    (snapshot,) = (own for own in snapshots_of(execution) if own.id == name)
    if not execution.engine.algorithm.records_once:
        snapshot = replace(snapshot, end=_still_at_work(execution.table))
    then = as_of(execution, snapshot)
    if any(process not in then.snapshot.local for process in then.snapshot.members):
        return None
    return then.order.is_consistent(then.cut)


def _still_at_work(table: Sequence[Event]) -> int:
    """The number of rows up to the step in which the first of all senders sends for the last time."""
    last = {row.process: row.step for row in table if row.kind == SEND}
    until = min(last.values(), default=table[-1].step if table else 0)
    return sum(row.step <= until for row in table)


def _copied(execution: Execution, rows: Sequence[Event]) -> int | None:
    """The number of pages that were copied for a snapshot, as its algorithm notes (None: it notes none)."""
    notes = (json.loads(row.body) for row in rows if row.kind == NOTED and row.body is not None)
    copied = [execution.engine.algorithm.copied_pages(note) for note in notes]
    return sum(filter(None, copied)) if any(each is not None for each in copied) else None


def _bytes_of(stamps: Any) -> int:
    return sum(len(to_json(stamp).encode()) for stamp in stamps if stamp is not None)
