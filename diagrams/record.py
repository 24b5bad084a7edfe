"""The record of a snapshot as it grows: texts in the lecture's manner, each with the step at which it appears.

A timeline is a list of [step, value], ascending; the value at a step is that of the last pair up to it. The record
is that of the whole run; meters, which change at every step, are those of the scene's window.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from diagrams import theme
from diagrams.meters import Timeline, meters_of
from diagrams.scene import Scene
from sim.core import deadline
from sim.core.deadline import in_time
from sim.core.model import APP, SNAPSHOT_ABORTED
from sim.explain import words
from sim.explain.choices import all_choices
from sim.explain.reasons import in_words, reasons_over_steps, why_channel, why_state
from sim.explain.verdicts import verdict_words
from sim.run.snapshots import Snapshot
from sim.verify.checks import Verdict, verdicts_of

MOST_REASONS = 30
NOT_YET = "not recorded yet"


def record_of(scene: Scene) -> list[dict[str, Any]]:
    """Every snapshot of the scene: status, processes, channels, reasons and verdicts over the steps."""
    verdicts = verdicts_of(scene.execution)
    return [_snapshot(scene, rank, snapshot, verdicts[snapshot.id]) for rank, snapshot in enumerate(scene.snapshots)]


def _snapshot(scene: Scene, rank: int, snapshot: Snapshot, verdicts: list[Verdict]) -> dict[str, Any]:
    steps = {recording.lane: recording.step for recording in scene.recordings.get(snapshot.id, ())}
    recorded_at = {scene.lanes[lane]: step for lane, step in steps.items()}
    closed_at = snapshot.closed
    return {
        "id": snapshot.id,
        "colour": theme.snapshot_colour(rank),
        "initiators": list(snapshot.initiators),
        "began": snapshot.began,
        "completed": snapshot.completed,
        "aborted": snapshot.aborted,
        "facts": _facts(scene, snapshot),
        "status": _status(scene, snapshot, recorded_at, closed_at),
        "processes": [_process(scene, snapshot, name, recorded_at.get(name)) for name in scene.processes],
        "channels": [
            _channel(scene, snapshot, channel.name, recorded_at.get(channel.target_name), closed_at.get(channel.name))
            for channel in scene.execution.engine.channels
        ],
        "why": _reasons(scene, snapshot),
        "verdicts": _verdicts(scene, snapshot, verdicts),
        "truth": _truth(scene, snapshot, recorded_at),
    }


def _facts(scene: Scene, snapshot: Snapshot) -> str:
    """The cost of a snapshot: `6 markers, 1 recorded message`."""
    algorithm = scene.whole_run.words.algorithm
    sent = ((snapshot.markers, algorithm.marker), (snapshot.controls, algorithm.control_message))
    parts = [words.counted(count, what) for count, what in sent if count]
    return ", ".join([*parts, words.counted(len(snapshot.recorded_messages), "recorded message")])


def _truth(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int]) -> dict[str, Any]:
    """The right answers, with reasons, for somebody who predicts the record: by process and by channel.

    `channels` lists the ids of recorded messages; a channel that carried no message is left out.
    """
    execution = scene.execution
    carried = dict.fromkeys(flight.channel.name for flight in execution.flights if flight.kind == APP)
    return {
        "inside": {name: snapshot.frontier.get(name) for name in scene.processes},
        "channels": {name: [message.id for message in snapshot.recorded_in(name)] for name in carried},
        "record_steps": recorded_at,
        "why_process": {name: why_state(execution, snapshot, name) for name in in_time(scene.processes)},
        "why_channel": {name: why_channel(execution, snapshot, name) for name in in_time(carried)},
    }


def _status(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int], closed_at: dict[str, int]) -> Timeline:
    recorded_steps, closed_steps = sorted(recorded_at.values()), sorted(closed_at.values())
    steps = sorted({*recorded_steps, *closed_steps})
    of_processes, of_channels = len(scene.processes), len(scene.execution.engine.channels)
    timeline: Timeline = [[0, "has not begun"]]
    for step in steps:
        recorded, closed = bisect_right(recorded_steps, step), bisect_right(closed_steps, step)
        text = f"recording: {recorded} of {of_processes} processes, {closed} of {of_channels} channels done"
        timeline.append([step, "complete" if step == snapshot.completed else text])
    if snapshot.aborted is not None:
        timeline = [*(pair for pair in timeline if pair[0] < snapshot.aborted), [snapshot.aborted, "aborted"]]
    return timeline


def _process(scene: Scene, snapshot: Snapshot, name: str, step: int | None) -> dict[str, Any]:
    """The state that a process recorded, from the step of that on; gone again from the step of an abort on."""
    deadline.check()
    text: Timeline = [[0, NOT_YET]]
    if step is not None and name in snapshot.local:
        own, words_of_run = snapshot.local[name], scene.whole_run.words
        recorded = words_of_run.state(own.recorded, snapshot.events[name])
        text.append([step, recorded])
        for at, state in own.changes:
            text.append([at, f"{words_of_run.state(state, snapshot.events[name])} (changed, was {recorded})"])
    elif step is not None:
        text += [[step, "recorded"], [_thrown_away(scene, snapshot, name), "thrown away"]]
    return {"name": name, "text": text}


def _thrown_away(scene: Scene, snapshot: Snapshot, process: str) -> int:
    """The step at which a process aborted a snapshot that it had recorded; None: never."""
    wanted = (SNAPSHOT_ABORTED, process, snapshot.id)
    events = scene.execution.events
    return next(event.step for event in events if (event.kind, event.process, event.snapshot_id) == wanted)


def _channel(scene: Scene, snapshot: Snapshot, name: str, opened: int | None, closed: int | None) -> dict[str, Any]:
    deadline.check()
    caption = scene.captions[name]
    text: Timeline = []
    state: Timeline = [[0, "idle"]]
    target = name.partition("->")[2]
    listens = scene.whole_run.words.algorithm.initiator_listens or target not in snapshot.initiators
    if opened is not None and opened != closed and listens:
        text.append([opened, f"{caption} = ...recording..."])
        state.append([opened, "recording"])
    if opened is not None and target not in snapshot.local:
        text.append([_thrown_away(scene, snapshot, target), caption])
        state.append([_thrown_away(scene, snapshot, target), "idle"])
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
    """The verdicts, from the step on at which the snapshot is complete or aborted.

    On a snapshot that never ends they appear at the end of the run, unless a user still chooses what comes next.
    """
    ended = snapshot.completed if snapshot.aborted is None else snapshot.aborted
    if ended is None and _may_go_on(scene):
        return [[0, []]]
    step = scene.last if ended is None else ended
    told = [verdict_words(scene.execution, snapshot, verdict) for verdict in verdicts]
    return [
        [step, [{**words._asdict(), "holds": verdict.holds} for words, verdict in zip(told, verdicts, strict=True)]]
    ]


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
