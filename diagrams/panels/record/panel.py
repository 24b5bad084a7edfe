"""The record of a snapshot as it grows: texts in the lecture's notation, each with the step at which it appears.

A timeline is a list of [step, value], ascending; the value at a step is that of the last pair up to it. The record
covers the whole run; meters, which change at every step, cover the scene's window.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from diagrams.panels.record.meters import Timeline, meters_of
from diagrams.panels.record.timelines import (
    channel_record,
    process_record,
    spans,
    started,
    status_of,
)
from diagrams.panels.record.truth import truth
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from sim.explain import words
from sim.explain.choices import all_choices
from sim.explain.reasons import in_words, reasons_over_steps
from sim.explain.standstills import stood_still
from sim.explain.verdicts import recovery_words, verdict_words
from sim.run.recovery_lines import down_at_the_end, recoveries_of
from sim.run.snapshots import Snapshot
from sim.verify.checks import Verdict, verdicts_of

MOST_REASONS = 30


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
        "asked": started(scene, snapshot),
        "began": snapshot.began,
        "completed": snapshot.completed,
        "aborted": snapshot.aborted,
        "ending": None if snapshot.aborted is None else snapshot.status,
        "because": decided_why(snapshot),
        "is_decided": snapshot.triggered is not None,
        **_known(snapshot),
        "facts": _facts(scene, snapshot),
        "settled": spans(scene.execution).get(snapshot.id, (0, 0))[1],
        "status": status_of(scene, snapshot, recorded_at, closed_at),
        "processes": [process_record(scene, snapshot, name, recorded_at.get(name)) for name in scene.processes],
        "channels": [
            channel_record(
                scene, snapshot, channel.name, recorded_at.get(channel.target_name), closed_at.get(channel.name)
            )
            for channel in scene.execution.engine.channels
        ],
        "why": _reasons(scene, snapshot),
        "verdicts": _verdicts(scene, snapshot, verdicts),
        "failure": _failure(scene, snapshot),
        "truth": truth(scene, snapshot, recorded_at),
    }


def _who_starts(scene: Scene, snapshot: Snapshot) -> str:
    """`P1 and P2 start S1.`"""
    words_of_run = scene.whole_run.words
    names = words.listing([words_of_run.node(name) for name in snapshot.initiators])
    start = "start" if len(snapshot.initiators) > 1 else "starts"
    return words_of_run.begun(f"{names or 'No process'} {start} {snapshot.id}{'' if names else ' in this run'}.")


def _known(snapshot: Snapshot) -> dict[str, Any]:
    """The step at which the initiator knew that every part was there, and its name; empty if it never does."""
    if snapshot.collected is None:
        return {}
    return {"known": {"step": snapshot.collected, "to": words.listing(snapshot.initiators)}}


def _facts(scene: Scene, snapshot: Snapshot) -> str:
    """The cost of a snapshot: `6 markers, 1 recorded message`; and the time for which processes stood still."""
    algorithm = scene.whole_run.words.algorithm
    sent = ((snapshot.markers, algorithm.marker), (snapshot.controls, algorithm.control_message))
    parts = [words.counted(count, what) for count, what in sent if count]
    if snapshot.carried:
        parts.append(f"{words.counted(snapshot.carried, algorithm.marker)} on messages")
    kept = words.counted(len(snapshot.recorded_messages), "recorded message")
    return ", ".join([*parts, kept, *stood_still(scene.execution, snapshot)])


def decided_why(snapshot: Snapshot) -> str:
    """The reason why a coordinator has given a snapshot up: `membership changed (P3 joined)`; empty if it has not."""
    return f"{snapshot.reason} ({snapshot.detail})" if snapshot.detail else snapshot.reason


def _reasons(scene: Scene, snapshot: Snapshot) -> list[Timeline]:
    """The reason why each message is recorded, from the step of its recording on; of many, the first MOST_REASONS."""
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
    """The processes that fail after the run, and those that are down already; None if there is no recovery line."""
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
