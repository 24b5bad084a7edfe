"""What a snapshot records, as it grows: texts in the lecture's manner, each with the step it appears at.

A timeline is a list of [step, value], ascending; the value at a step is that of the last pair up to it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from diagrams import theme
from diagrams.scene import Scene, closings
from sim import words
from sim.checks import CHECKS, Verdict, verdicts_of
from sim.narration import why_recorded
from sim.snapshots import Snapshot

Timeline = list[list[Any]]

NAMES = {
    "completion": "Complete",
    "one_marker": "One marker per channel",
    "consistency": "Consistent cut",
    "channel_states": "Channel states",
    "conservation": "Conservation",
}


def record_of(scene: Scene) -> list[dict[str, Any]]:
    """Every snapshot of the scene: status, processes, channels, reasons and verdicts over the steps."""
    verdicts = verdicts_of(scene.execution)
    return [_snapshot(scene, rank, snapshot, verdicts[snapshot.id]) for rank, snapshot in enumerate(scene.snapshots)]


def _snapshot(scene: Scene, rank: int, snapshot: Snapshot, verdicts: list[Verdict]) -> dict[str, Any]:
    steps = {recording.lane: recording.step for recording in scene.recordings.get(snapshot.id, ())}
    recorded_at = {scene.lanes[lane]: step for lane, step in steps.items()}
    closed_at = closings(scene.execution, snapshot)
    return {
        "id": snapshot.id,
        "colour": theme.snapshot_colour(rank),
        "initiators": list(snapshot.initiators),
        "began": snapshot.began,
        "completed": snapshot.completed,
        "markers": snapshot.markers,
        "recorded": len(snapshot.recorded_messages),
        "status": _status(scene, snapshot, recorded_at, closed_at),
        "processes": [_process(snapshot, name, recorded_at.get(name)) for name in scene.lanes],
        "channels": [
            _channel(scene, snapshot, channel.name, recorded_at.get(channel.target_name), closed_at.get(channel.name))
            for channel in scene.execution.engine.channels
        ],
        "why": _reasons(scene, snapshot),
        "verdicts": _verdicts(scene, snapshot, verdicts),
    }


def _status(scene: Scene, snapshot: Snapshot, recorded_at: dict[str, int], closed_at: dict[str, int]) -> Timeline:
    recorded_steps, closed_steps = sorted(recorded_at.values()), sorted(closed_at.values())
    steps = sorted({*recorded_steps, *closed_steps})
    of_processes, of_channels = len(scene.lanes), len(scene.execution.engine.channels)
    timeline: Timeline = [[0, "has not begun"]]
    for step in steps:
        recorded, closed = bisect_right(recorded_steps, step), bisect_right(closed_steps, step)
        text = f"recording: {recorded} of {of_processes} processes, {closed} of {of_channels} channels done"
        timeline.append([step, "complete" if step == snapshot.completed else text])
    return timeline


def _process(snapshot: Snapshot, name: str, step: int | None) -> dict[str, Any]:
    text: Timeline = [[0, "not recorded yet"]]
    if step is not None:
        text.append([step, words.state(snapshot.local[name].state, snapshot.events[name])])
    return {"name": name, "text": text}


def _channel(scene: Scene, snapshot: Snapshot, name: str, opened: int | None, closed: int | None) -> dict[str, Any]:
    caption = scene.captions[name]
    text: Timeline = []
    state: Timeline = [[0, "idle"]]
    if opened is not None and opened != closed:
        text.append([opened, f"{caption} = ...recording..."])
        state.append([opened, "recording"])
    found: list[str] = []
    for message in (*snapshot.channels.get(name, ()), *snapshot.open.get(name, ())):
        arrow = scene.arrows[message.id]
        found.append(arrow.name)
        text.append([arrow.kept[snapshot.id], f"{caption} = <{', '.join(found)}, ...recording..."])
    if closed is not None:
        text.append([closed, f"{caption} = {words.sequence(found)}"])
        state.append([closed, "messages" if found else "empty"])
    return {"name": name, "caption": caption, "text": text, "state": state}


def _reasons(scene: Scene, snapshot: Snapshot) -> Timeline:
    timeline: Timeline = []
    reasons: list[str] = []
    whys = why_recorded(scene.execution, snapshot, scene.captions)
    kept = {arrow.id: arrow.kept[snapshot.id] for arrow in scene.arrows if snapshot.id in arrow.kept}
    for message in sorted(kept, key=lambda m: kept[m]):
        reasons = [*reasons, whys[message]]
        timeline.append([kept[message], reasons])
    return timeline


def _verdicts(scene: Scene, snapshot: Snapshot, verdicts: list[Verdict]) -> Timeline:
    """Verdicts are passed when the snapshot is complete; on one that never is, at the end of the run."""
    step = snapshot.completed if snapshot.completed is not None else scene.last
    told = [
        {
            "check": NAMES[verdict.check],
            "holds": verdict.holds,
            "witness": verdict.witness,
            "text": _sum(scene, snapshot) if verdict.check == "conservation" else CHECKS[verdict.check],
        }
        for verdict in verdicts
    ]
    return [[step, told]]


def _sum(scene: Scene, snapshot: Snapshot) -> str:
    """What was recorded, added up: `720 in processes + 80 in channels = 800 money`."""
    workload = scene.execution.engine.workload
    processes = [workload.measure(local.state) for local in snapshot.local.values()]
    channels = [workload.measure_body(message.body) for message in snapshot.recorded_messages]
    parts = []
    for good in dict.fromkeys(good for weight in processes for good in weight):
        inside, between = (sum(weight.get(good, 0) for weight in weights) for weights in (processes, channels))
        parts.append(f"{inside} in processes + {between} in channels = {inside + between} {good}")
    return "; ".join(parts)


def meters(scene: Scene) -> list[dict[str, Any]]:
    """Per conserved good: its total, and how much of it is in processes and in channels at each step.

    Computed from the states that the run passes through, one by one.
    """
    execution = scene.execution
    workload = execution.engine.workload
    held = [workload.measure(process.state) for process in execution.engine.initial().processes]
    goods = list(dict.fromkeys(good for weight in held for good in weight))
    if not goods:
        return []
    changed: dict[int, list[tuple[int, Any]]] = {}
    for flight in execution.flights:
        if not flight.is_marker:
            changed.setdefault(flight.send.step, []).append((1, flight.body))
            if flight.receive:
                changed.setdefault(flight.receive.step, []).append((-1, flight.body))
    inside = {good: sum(weight.get(good, 0) for weight in held) for good in goods}
    between = dict.fromkeys(goods, 0)
    in_processes: dict[str, Timeline] = {good: [[0, inside[good]]] for good in goods}
    in_channels: dict[str, Timeline] = {good: [[0, 0]] for good in goods}
    for moment in execution.moments():
        actor = moment.state.processes[execution.engine.actor(moment.action)]
        before, held[actor.number] = held[actor.number], workload.measure(actor.state)
        weights = [(sign, workload.measure_body(body)) for sign, body in changed.get(moment.number, ())]
        if before == held[actor.number]:
            continue
        for good in goods:
            inside[good] += held[actor.number].get(good, 0) - before.get(good, 0)
            between[good] += sum(sign * weight.get(good, 0) for sign, weight in weights)
            in_processes[good].append([moment.number, inside[good]])
            in_channels[good].append([moment.number, between[good]])
    return [
        {
            "unit": good,
            "total": in_processes[good][0][1],
            "processes": in_processes[good],
            "channels": in_channels[good],
        }
        for good in goods
    ]
