"""What a snapshot of the live cluster has recorded, as the tab Record of Explore shows it: from the event logs."""

from __future__ import annotations

from typing import Any

from cluster.replay.following import Follower
from cluster.replay.segment import segment
from sim.core.errors import InputError
from sim.core.model import COMMITTED, DECISION, RECORD, SNAPSHOT_COMPLETE
from sim.explain.words import Words, sequence
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from views.live.amounts import recorded_words
from views.live.cluster import LiveRun
from views.live.status import short_name

MOST_LINES = 100_000  # that are read for a snapshot
FINAL = ("COMPLETED", "FAILED", "EXPIRED", "CANCELLED")  # statuses
UNDER_WAY, NOT_STORED, GIVEN_UP = (
    "It is under way.",
    "Nothing of it is stored any more, so no recovery goes back to it. This is what the logs say.",
    "It is not complete, and nothing of it is stored. This is what was recorded, by the logs.",
)


def record(run: LiveRun, name: str) -> dict[str, Any]:
    """The record of the snapshot whose short name this is, as JSON. Raises InputError if there is none."""
    answer = next((own for own in run.snapshots if short_name(own["snapshot_id"]) == short_name(name)), None)
    if run.follower is None or answer is None:
        raise InputError(f"there is no snapshot {name!r} in the list; choose one that is")
    with run.lock:
        execution, snapshot = _recorded(run.follower, answer["snapshot_id"])
    status = answer["status"]
    note = (
        UNDER_WAY
        if status not in FINAL
        else GIVEN_UP
        if status != "COMPLETED"
        else ""
        if answer["is_kept"]
        else NOT_STORED
    )
    told = recorded_words(execution, snapshot) if snapshot is not None and snapshot.status == COMPLETE else ""
    return {
        "id": short_name(answer["snapshot_id"]), "note": note, "is_final": status in FINAL,
        "processes": [_process(execution, snapshot, own) for own in execution.scenario.processes],
        "channels": [_channel(execution, snapshot, own.name) for own in execution.engine.channels],
        "sum": f"{told}." if told else "",
    }  # fmt: skip


def _recorded(follower: Follower, snapshot: str) -> tuple[Execution, Snapshot | None]:
    """The segment of the run in which a snapshot was taken, and the snapshot if somebody has recorded."""
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
    words = Words(execution).state(local.state, snapshot.events[name]) if snapshot and local else "not recorded yet"
    return {"name": name, "text": [[0, words]]}


def _channel(execution: Execution, snapshot: Snapshot | None, name: str) -> dict[str, Any]:
    """The recorded messages of a channel, in their order, and whether more may come."""
    workload = execution.engine.workload
    told = [workload.body_words(own.body) for own in snapshot.recorded_in(name)] if snapshot else []
    is_closed = snapshot is not None and (name in snapshot.closed or snapshot.status == COMPLETE)
    state = "messages" if told else "empty" if is_closed else "idle"
    text = f"{name} = {sequence(told)}" if is_closed or told else name
    return {"name": name, "caption": name, "text": [[0, text]], "state": [[0, state]]}
