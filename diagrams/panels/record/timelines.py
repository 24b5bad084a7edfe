"""The record of one process and of one channel over the steps, and the status of a snapshot, as timelines."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from diagrams.panels.record.meters import Timeline
from diagrams.scene.composition import Scene
from sim.core import deadline
from sim.core.algorithm import BY_NOTHING
from sim.core.deadline import in_time
from sim.core.model import CRASH, LEAVE, RECORD, SNAPSHOT_ABORTED
from sim.explain import words
from sim.run.execution import Execution, once
from sim.run.rollbacks import events_inside
from sim.run.snapshots import Snapshot, first_recordings

NOT_YET = "not recorded yet"
NO_PART = "takes no part: absent at the start of the snapshot"
LOST_BY_CRASH, LOST_BY_LEAVING = "lost in a crash", "gone with the process"


def status_of(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int], closed_at: dict[str, int]) -> Timeline:
    """The status of a snapshot: how many processes and channels are done."""
    first = first_recordings(scene.execution)
    recorded_steps = sorted(first[snapshot.id, name] for name in recorded_at)
    closed_steps = sorted(closed_at.values())
    of_processes = len(snapshot.members)
    channels = (channel.name.split("->") for channel in scene.execution.engine.channels)
    of_channels = sum({*ends} <= {*snapshot.members} for ends in channels)
    timeline: Timeline = [[0, "has not begun"]]
    asked = started(scene, snapshot)
    if asked is not None:
        timeline.append([asked, "under way: no process has recorded yet"])
    if not scene.execution.engine.algorithm.coordinated:
        return [*timeline, *_copies_so_far(scene, snapshot)]
    for step in sorted({*recorded_steps, *closed_steps}):
        recorded, closed = bisect_right(recorded_steps, step), bisect_right(closed_steps, step)
        text = f"recording: {recorded} of {of_processes} processes, {closed} of {of_channels} channels done"
        timeline.append([step, "complete" if step == snapshot.completed else text])
    if snapshot.completed is not None and snapshot.decided is not None:
        timeline.append([snapshot.completed, "complete"])
    if snapshot.aborted is not None:
        timeline = [*(pair for pair in timeline if pair[0] < snapshot.aborted), [snapshot.aborted, snapshot.status]]
    return timeline


def _copies_so_far(scene: Scene, snapshot: Snapshot) -> Timeline:
    """The number of checkpoints so far of an uncoordinated snapshot."""
    timeline: Timeline = []
    for event in in_time(scene.execution.events):
        if (event.kind, event.snapshot_id) == (RECORD, snapshot.id):
            count = len(timeline) + 1
            told = f"recording: {words.counted(count, 'checkpoint')} so far"
            timeline.append([event.step, "complete" if event.step == snapshot.completed else told])
    return timeline


@once
def spans(execution: Execution) -> dict[str, tuple[int, int]]:
    """The first and the last step in which anything is done for each snapshot; none of one that never starts."""
    found: dict[str, tuple[int, int]] = {}
    for event in in_time(execution.events):
        if event.snapshot_id is not None:
            first, _ = found.get(event.snapshot_id, (event.step, event.step))
            found[event.snapshot_id] = (first, event.step)
    return found


def started(scene: Scene, snapshot: Snapshot) -> int | None:
    """The step in which a coordinator starts a snapshot before any process records; None if a process records first."""
    first, _ = spans(scene.execution).get(snapshot.id, (None, None))
    return None if first == snapshot.began else first


def process_record(scene: Scene, snapshot: Snapshot, name: str, step: int | None) -> dict[str, Any]:
    """The state that a process recorded, from that step on; gone again from the step of an abort on."""
    deadline.check()
    text: Timeline = [[0, NOT_YET]]
    if snapshot.began is not None and name not in snapshot.members:
        text.append([snapshot.began, NO_PART])
    elif step is not None and name in snapshot.local:
        own, words_of_run = snapshot.local[name], scene.whole_run.words
        recorded = words_of_run.state(own.recorded, snapshot.events[name])
        text += _recorded_before(scene, snapshot, name, own.step)
        text.append([step, recorded])
        for at, state in own.changes:
            text.append([at, f"{words_of_run.state(state, snapshot.events[name])} (changed, was {recorded})"])
    elif step is not None:
        gone, how = _thrown_away(scene, snapshot, name)
        text += [[step, "recorded"], [gone, how]]
    return {"name": name, "text": text}


def _recorded_before(scene: Scene, snapshot: Snapshot, process: str, step: int) -> Timeline:
    """The recordings of a process for a snapshot before the one of `step`, which counts in the end."""
    if scene.execution.engine.algorithm.records_once and not scene.execution.engine.has_faults:
        return []
    told: Timeline = []
    for event in scene.execution.events:
        if told and (event.kind, event.process) == (CRASH, process) and event.step < step:
            told.append([event.step, LOST_BY_CRASH])
        elif told and (event.kind, event.process) == (LEAVE, process) and event.step < step:
            told.append([event.step, LOST_BY_LEAVING])
        if (event.kind, event.process, event.snapshot_id) == (RECORD, process, snapshot.id) and event.step < step:
            own = [inside.label or "" for inside in events_inside(scene.execution, event)]
            told.append([event.step, scene.whole_run.words.state(scene.execution.body_of(event), own)])
    return told


def _thrown_away(scene: Scene, snapshot: Snapshot, process: str) -> tuple[int, str]:
    """The step at which a process lost its recording, by an abort, a crash or by leaving, and the word for that."""
    recorded = False
    for event in scene.execution.events:
        if event.process == process and event.kind in (CRASH, LEAVE) and recorded:
            return event.step, LOST_BY_CRASH if event.kind == CRASH else LOST_BY_LEAVING
        if event.process == process and event.snapshot_id == snapshot.id:
            recorded = recorded or event.kind == RECORD
            if event.kind == SNAPSHOT_ABORTED:
                return event.step, "thrown away"
    raise AssertionError(f"{process} has recorded {snapshot.id} and thrown it away")


def channel_record(
    scene: Scene, snapshot: Snapshot, name: str, opened: int | None, closed: int | None
) -> dict[str, Any]:
    """The recorded state of a channel, from the step at which its recording opens to the one at which it closes."""
    deadline.check()
    caption = scene.captions[name]
    text: Timeline = []
    state: Timeline = [[0, "idle"]]
    target = name.partition("->")[2]
    algorithm = scene.whole_run.words.algorithm
    listens = algorithm.closes_by != BY_NOTHING and (algorithm.initiator_listens or target not in snapshot.initiators)
    if opened is not None and opened != closed and listens:
        text.append([opened, f"{caption} = ...recording..."])
        state.append([opened, "recording"])
    if opened is not None and target not in snapshot.local:
        gone, _ = _thrown_away(scene, snapshot, target)
        text.append([gone, caption])
        state.append([gone, "idle"])
    found: list[str] = []
    for message in snapshot.recorded_in(name):
        found.append(scene.whole_run.words.label(scene.execution.flights[message.id]))
        so_far = words.sequence(found).removesuffix(">")
        text.append([message.step, f"{caption} = {so_far}, ...recording..."])
    if closed is not None:
        text.append([closed, f"{caption} = {words.sequence(found)}"])
        state.append([closed, "messages" if found else "empty"])
    return {"name": name, "caption": caption, "text": text, "state": state}
