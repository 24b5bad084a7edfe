"""The record of a snapshot as it grows: texts in the lecture's manner, each with the step at which it appears.

A timeline is a list of [step, value], ascending; the value at a step is that of the last pair up to it. The record
is that of the whole run; meters, which change at every step, are those of the scene's window.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from diagrams.panels.record.meters import Timeline, meters_of
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from sim.core import deadline
from sim.core.algorithm import BY_NOTHING
from sim.core.deadline import in_time
from sim.core.model import APP, APPLICATION_KINDS, CRASH, LEAVE, RECORD, SNAPSHOT_ABORTED
from sim.explain import words
from sim.explain.choices import all_choices
from sim.explain.reasons import in_words, reasons_over_steps
from sim.explain.recorded_reasons import why_channel, why_state
from sim.explain.standstills import stood_still
from sim.explain.verdicts import recovery_words, verdict_words
from sim.run.as_of import as_of
from sim.run.execution import Execution, once
from sim.run.recovery_lines import down_at_the_end, recoveries_of
from sim.run.rollbacks import events_inside, is_inside
from sim.run.snapshots import Snapshot, first_recordings, start_steps
from sim.theory.cut_names import CutNames, Name
from sim.verify.checks import Verdict, verdicts_of

MOST_REASONS = 30
NOT_YET = "not recorded yet"
NO_PART = "takes no part: it was not there when this began"
LOST_BY_CRASH, LOST_BY_LEAVING = "lost in a crash", "gone with the process"


def record_of(scene: Scene) -> list[dict[str, Any]]:
    """Every snapshot of the scene: status, processes, channels, reasons and verdicts over the steps."""
    verdicts = verdicts_of(scene.execution)
    return [_snapshot(scene, rank, snapshot, verdicts[snapshot.id]) for rank, snapshot in enumerate(scene.snapshots)]


def _snapshot(scene: Scene, rank: int, snapshot: Snapshot, verdicts: list[Verdict]) -> dict[str, Any]:
    steps = {recording.lane: recording.step for recording in scene.recordings.get(snapshot.id, ())}
    recorded_at = {scene.lanes[lane]: step for lane, step in steps.items() if scene.lanes[lane] in snapshot.members}
    closed_at = snapshot.closed
    return {
        "id": snapshot.id,
        "colour": theme.snapshot_colour(rank),
        "starts": _who_starts(scene, snapshot),
        "asked": _asked(scene, snapshot),
        "began": snapshot.began,
        "completed": snapshot.completed,
        "aborted": snapshot.aborted,
        "ending": None if snapshot.aborted is None else snapshot.status,
        "because": decided_why(snapshot),
        "is_decided": snapshot.triggered is not None,
        **_known(snapshot),
        "facts": _facts(scene, snapshot),
        "settled": _span(scene.execution).get(snapshot.id, (0, 0))[1],
        "status": _status(scene, snapshot, recorded_at, closed_at),
        "processes": [_process(scene, snapshot, name, recorded_at.get(name)) for name in scene.processes],
        "channels": [
            _channel(scene, snapshot, channel.name, recorded_at.get(channel.target_name), closed_at.get(channel.name))
            for channel in scene.execution.engine.channels
        ],
        "why": _reasons(scene, snapshot),
        "verdicts": _verdicts(scene, snapshot, verdicts),
        "failure": _failure(scene, snapshot),
        "truth": _truth(scene, snapshot, recorded_at),
    }


@once
def _span(execution: Execution) -> dict[str, tuple[int, int]]:
    """The first and the last step in which anything is done for each snapshot; none of one that never starts."""
    found: dict[str, tuple[int, int]] = {}
    for event in in_time(execution.events):
        if event.snapshot_id is not None:
            first, _ = found.get(event.snapshot_id, (event.step, event.step))
            found[event.snapshot_id] = (first, event.step)
    return found


def _who_starts(scene: Scene, snapshot: Snapshot) -> str:
    """`P1 and P2 start S1.`"""
    words_of_run = scene.whole_run.words
    names = words.listing([words_of_run.node(name) for name in snapshot.initiators])
    start = "start" if len(snapshot.initiators) > 1 else "starts"
    return words_of_run.begun(f"{names or 'Nobody'} {start} {snapshot.id}{'' if names else ' in this run'}.")


def _asked(scene: Scene, snapshot: Snapshot) -> int | None:
    """The step in which a snapshot starts, if nobody records in it: a coordinator has work to do before that."""
    first, _ = _span(scene.execution).get(snapshot.id, (None, None))
    return None if first == snapshot.began else first


def _known(snapshot: Snapshot) -> dict[str, Any]:
    """The step at which the initiator knew that every part was there, and its name; nothing where it never does."""
    if snapshot.collected is None:
        return {}
    return {"known": {"step": snapshot.collected, "to": words.listing(snapshot.initiators)}}


def _facts(scene: Scene, snapshot: Snapshot) -> str:
    """The cost of a snapshot: `6 markers, 1 recorded message`; and how long processes stood still for it."""
    algorithm = scene.whole_run.words.algorithm
    sent = ((snapshot.markers, algorithm.marker), (snapshot.controls, algorithm.control_message))
    parts = [words.counted(count, what) for count, what in sent if count]
    if snapshot.carried:
        parts.append(f"{words.counted(snapshot.carried, algorithm.marker)} on messages")
    kept = words.counted(len(snapshot.recorded_messages), "recorded message")
    return ", ".join([*parts, kept, *stood_still(scene.execution, snapshot)])


def _truth(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int]) -> dict[str, Any]:
    """The right answers, with reasons, for somebody who predicts the record: by process and by channel.

    `members` take part. `cut` is the name of the cut at which the snapshot is right, if it is (None: there is no cut of
    all processes). `over` holds, of a snapshot in a life that is over, the events inside by process, as their
    numbers among those of the run; no cut has them. `channels` lists the ids of recorded messages; a channel that
    carried no message is left out.
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


def _status(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int], closed_at: dict[str, int]) -> Timeline:
    first = first_recordings(scene.execution)
    recorded_steps = sorted(first[snapshot.id, name] for name in recorded_at)
    closed_steps = sorted(closed_at.values())
    of_processes = len(snapshot.members)
    channels = (channel.name.split("->") for channel in scene.execution.engine.channels)
    of_channels = sum({*ends} <= {*snapshot.members} for ends in channels)
    timeline: Timeline = [[0, "has not begun"]]
    asked = _asked(scene, snapshot)
    if asked is not None:
        timeline.append([asked, "under way: nobody has recorded yet"])
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


def decided_why(snapshot: Snapshot) -> str:
    """Why a coordinator has given a snapshot up: `membership changed (P3 joined)`; empty if it has not."""
    return f"{snapshot.reason} ({snapshot.detail})" if snapshot.detail else snapshot.reason


def _copies_so_far(scene: Scene, snapshot: Snapshot) -> Timeline:
    """How many copies there are, where a process makes several for one snapshot."""
    timeline: Timeline = []
    for event in in_time(scene.execution.events):
        if (event.kind, event.snapshot_id) == (RECORD, snapshot.id):
            count = len(timeline) + 1
            told = f"recording: {count} {'copy' if count == 1 else 'copies'} so far"
            timeline.append([event.step, "complete" if event.step == snapshot.completed else told])
    return timeline


def _process(scene: Scene, snapshot: Snapshot, name: str, step: int | None) -> dict[str, Any]:
    """The state that a process recorded, from the step of that on; gone again from the step of an abort on."""
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
    """What a process recorded for a snapshot before the recording of a step, which is what counts in the end."""
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
    """The step at which a process aborted a snapshot that it had recorded, or crashed, and what that is called."""
    recorded = False
    for event in scene.execution.events:
        if event.process == process and event.kind in (CRASH, LEAVE) and recorded:
            return event.step, LOST_BY_CRASH if event.kind == CRASH else LOST_BY_LEAVING
        if event.process == process and event.snapshot_id == snapshot.id:
            recorded = recorded or event.kind == RECORD
            if event.kind == SNAPSHOT_ABORTED:
                return event.step, "thrown away"
    raise AssertionError(f"{process} has recorded {snapshot.id} and thrown it away")


def _channel(scene: Scene, snapshot: Snapshot, name: str, opened: int | None, closed: int | None) -> dict[str, Any]:
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


def _reasons(scene: Scene, snapshot: Snapshot) -> list[Timeline]:
    """Why each recorded message is recorded, over the steps from its recording on; the first few of many."""
    execution = scene.execution
    kept = sorted(snapshot.recorded_messages, key=lambda message: message.step)[:MOST_REASONS]
    flights = [execution.flights[message.id] for message in kept]
    return [
        [[step, in_words(execution, snapshot, flight, reason)] for step, reason in told if reason.recorded]
        for flight, told in zip(flights, reasons_over_steps(execution, snapshot, flights), strict=True)
    ]


def _verdicts(scene: Scene, snapshot: Snapshot, verdicts: list[Verdict]) -> Timeline:
    """The verdicts and remarks, from the step on at which the snapshot is complete or aborted.

    On a snapshot that never ends they appear at the end of the run, unless a user still chooses what comes next.
    """
    ended = snapshot.completed if snapshot.aborted is None else snapshot.aborted
    if ended is None and _may_go_on(scene):
        return [[0, []]]
    step = scene.last if ended is None else ended
    told = [verdict_words(scene.execution, snapshot, verdict) for verdict in verdicts]
    remarks = [{**own._asdict(), "holds": None, "remark": True} for own in recovery_words(scene.execution, snapshot)]
    judged = [{**own._asdict(), "holds": verdict.holds} for own, verdict in zip(told, verdicts, strict=True)]
    return [[step, [*judged, *remarks]]]


def _failure(scene: Scene, snapshot: Snapshot) -> dict[str, Any] | None:
    """Which processes fail after the run, and which of them are down anyway; None where there is no recovery line."""
    recovery = recoveries_of(scene.execution).get(snapshot.id)
    if recovery is None or snapshot.is_over:
        return None
    return {"failed": [*recovery.failed], "down": sorted(down_at_the_end(scene.execution))}


def _may_go_on(scene: Scene) -> bool:
    """Whether a user chooses every action, and some action is enabled at the end."""
    execution = scene.execution
    return execution.scenario.scheduler.kind == "manual" and bool(all_choices(execution, execution.steps)[0])


def meters(scene: Scene) -> list[dict[str, Any]]:
    """Per conserved good: its total, and the amounts in processes and in channels at each step of the window."""
    return [
        {**meter, **{part: _clipped(meter[part], scene.first, scene.until) for part in ("processes", "channels")}}
        for meter in meters_of(scene.execution)
    ]


def _clipped(timeline: Timeline, first: int, until: int) -> Timeline:
    """The part of a timeline that covers the steps `first` to `until`."""
    start = max(0, bisect_right(timeline, first, key=lambda pair: pair[0]) - 1)
    return timeline[start : bisect_right(timeline, until, key=lambda pair: pair[0])]
