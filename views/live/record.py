"""The record of a snapshot of the live cluster, from the event logs, as the tab Record of Explore shows it."""

from __future__ import annotations

from typing import Any

from cluster.replay.following import Follower
from cluster.replay.segment import segment
from sim.core.errors import InputError
from sim.core.model import COMMITTED, DECISION, RECORD, SNAPSHOT_COMPLETE
from sim.explain.words import Words, sequence
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from views.live import words
from views.live.amounts import recorded_words
from views.live.cluster import LiveRun
from views.live.status import short_name

MOST_LINES = 100_000  # read for one snapshot
FINAL = ("COMPLETED", "FAILED", "EXPIRED", "CANCELLED")  # statuses


def record(run: LiveRun, name: str) -> dict[str, Any]:
    """The record of the snapshot whose short name this is, as JSON. Raises InputError if there is none."""
    answer = next((own for own in run.snapshots if short_name(own["snapshot_id"]) == short_name(name)), None)
    if run.follower is None or answer is None:
        raise InputError(words.no_snapshot(name))
    with run.lock:
        execution, snapshot = _recorded(run.follower, answer["snapshot_id"])
    status = answer["status"]
    text = recorded_words(execution, snapshot) if snapshot is not None and snapshot.status == COMPLETE else ""
    return {
        "id": short_name(answer["snapshot_id"]), "note": _note(status, is_kept=answer["is_kept"]),
        "is_final": status in FINAL,
        "processes": [_process(execution, snapshot, own) for own in execution.scenario.processes],
        "channels": [_channel(execution, snapshot, own.name) for own in execution.engine.channels],
        "sum": f"{text}." if text else "",
    }  # fmt: skip


def _note(status: str, *, is_kept: bool) -> str:
    """The note above the record of a snapshot; empty for a complete one that is stored."""
    if status not in FINAL:
        return words.IT_IS_UNDER_WAY
    if status != "COMPLETED":
        return words.GIVEN_UP
    return "" if is_kept else words.NOT_STORED


def _recorded(follower: Follower, snapshot: str) -> tuple[Execution, Snapshot | None]:
    """The segment of the run with a snapshot, and the snapshot if a process has recorded its state."""
    times = [
        entry.time * follower.unit
        for entry in follower.marks
        for row in entry.rows
        if row[8] == snapshot and row[2] in (RECORD, SNAPSHOT_COMPLETE, DECISION, COMMITTED)
    ]
    begin, end = min(times, default=0.0), max(times, default=0.0)
    own = segment(follower, begin, end, with_services=False, most=MOST_LINES)
    return own.execution, next((found for found in snapshots_of(own.execution) if found.id == snapshot), None)


def _process(execution: Execution, snapshot: Snapshot | None, name: str) -> dict[str, Any]:
    local = None if snapshot is None else snapshot.local.get(name)
    if snapshot is None or local is None:
        state = words.NOT_RECORDED_YET
    else:
        state = Words(execution).state(local.state, snapshot.events[name])
    return {"name": name, "text": [[0, state]]}


def _channel(execution: Execution, snapshot: Snapshot | None, name: str) -> dict[str, Any]:
    """The recorded messages of a channel, in their order, and whether more may come."""
    workload = execution.engine.workload
    bodies = [workload.body_words(own.body) for own in snapshot.recorded_in(name)] if snapshot else []
    is_closed = snapshot is not None and (name in snapshot.closed or snapshot.status == COMPLETE)
    state = "messages" if bodies else "empty" if is_closed else "idle"
    text = f"{name} = {sequence(bodies)}" if is_closed or bodies else name
    return {"name": name, "caption": name, "text": [[0, text]], "state": [[0, state]]}
