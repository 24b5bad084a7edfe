"""The right answers to a prediction of what a snapshot records, with reasons."""

from __future__ import annotations

from typing import Any

from diagrams.scene.composition import Scene
from sim.core.deadline import in_time
from sim.core.model import APP, APPLICATION_KINDS
from sim.explain.recorded_reasons import why_channel, why_state
from sim.run.as_of import as_of
from sim.run.rollbacks import is_inside
from sim.run.snapshots import Snapshot, start_steps
from sim.theory.cut_names import CutNames, Name


def truth(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int]) -> dict[str, Any]:
    """The right answers to a prediction of the record, with reasons, by process and by channel.

    members: the processes that take part.
    cut: the name of the cut at which the snapshot is right, if it is (None: there is no cut of all processes).
    over: for a snapshot of an earlier epoch, the events inside by process, as their numbers in the run, since no cut
        has them.
    channels: the ids of recorded messages; a channel that carried no message is left out.
    """
    execution = scene.execution
    carried = dict.fromkeys(flight.channel.name for flight in execution.flights if flight.kind == APP)
    return {
        "members": list(snapshot.members),
        "inside": {name: None if snapshot.is_over else snapshot.frontier.get(name) for name in scene.processes},
        "cut": _cut(scene, snapshot),
        "over": _inside_then(scene, snapshot) if snapshot.is_over else None,
        "channels": {name: [message.id for message in snapshot.recorded_in(name)] for name in carried},
        "record_steps": recorded_at,
        "start_steps": start_steps(execution, snapshot),
        "why_process": {name: why_state(execution, snapshot, name) for name in in_time(scene.processes)},
        "why_channel": {name: why_channel(execution, snapshot, name) for name in in_time(carried)},
    }


def _cut(scene: Scene, snapshot: Snapshot) -> Name | None:
    execution = scene.execution
    if snapshot.is_over or any(name not in snapshot.local for name in scene.processes):
        return None
    return CutNames(execution.order).name(as_of(execution, snapshot).cut_in(execution.order))


def _inside_then(scene: Scene, snapshot: Snapshot) -> dict[str, list[int]]:
    events = [event for event in scene.execution.events if event.kind in APPLICATION_KINDS]
    rows = {name: scene.whole_run.recording_rows[snapshot.id, name] for name in snapshot.local}
    return {
        name: [
            number
            for number, event in enumerate(events)
            if event.process == name and is_inside(scene.execution, event, row)
        ]
        for name, row in rows.items()
    }
