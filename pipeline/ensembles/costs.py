"""Measures what the snapshots of a run cost: the columns of runs that are asked for with `costs` (COSTS of the schema).

A second run is made for them, the same one without snapshots, so they take twice the time. All times are in time units.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sim.core.log import to_json
from sim.core.model import CONTROL_SEND, MARKER_SEND, NOTED, Event
from sim.run.as_of import as_of
from sim.run.costs import Costs, costs_of, lateness, without_snapshots
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of

Row = dict[str, Any]


def with_costs(execution: Execution, rows: Sequence[Row]) -> list[Row]:
    """The rows of a run (pipeline/ensembles/measure.py) with what their snapshots cost."""
    always = {**_late(execution), "stamp_bytes": _bytes_of(execution.stamps.values())}
    costs = {own.snapshot: own for own in costs_of(execution)}
    of_snapshots = {name: _of_snapshot(execution, own) for name, own in costs.items() if name is not None}
    return [{**row, **always, **of_snapshots.get(row.get("snapshot_id", ""), {})} for row in rows]


def _late(execution: Execution) -> Row:
    """How late messages were because of all snapshots of the run, beside the same run without them."""
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
    """Whether what was recorded is a consistent cut, promised or not (None: not all have recorded)."""
    (snapshot,) = (own for own in snapshots_of(execution) if own.id == name)
    if any(process not in snapshot.local for process in snapshot.members):
        return None
    then = as_of(execution, snapshot)
    return then.order.is_consistent(then.cut)


def _copied(execution: Execution, rows: Sequence[Event]) -> int | None:
    """The pages of states that were copied for a snapshot, by what its algorithm notes (None: it notes none)."""
    notes = (json.loads(row.body) for row in rows if row.kind == NOTED and row.body is not None)
    copied = [execution.engine.algorithm.copied_pages(note) for note in notes]
    return sum(filter(None, copied)) if any(each is not None for each in copied) else None


def _bytes_of(stamps: Any) -> int:
    return sum(len(to_json(stamp).encode()) for stamp in stamps if stamp is not None)
