"""The dots of a scene: application events, and long rows of internal events as one dot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from diagrams.scene.elements import Dot, Recording
from diagrams.scene.timed_run import TimedRun
from sim.core.deadline import in_time
from sim.core.model import APPLICATION_KINDS, INTERNAL, Event
from sim.core.notation import has_label
from sim.run.rollbacks import is_inside

LONG_RUN = 6  # internal events in a row that are drawn as one


def dots_of(
    run: TimedRun, recordings: Mapping[str, Sequence[Recording]], first: int, until: int, *, expanded: bool
) -> list[Dot]:
    """The events of the steps `first` to `until`; a long row of internal ones is one dot unless `expanded`."""
    recorded_at = {(name, r.lane): r.step for name, row in recordings.items() for r in row}
    frontiers = [(snapshot.id, snapshot.frontier) for snapshot in run.snapshots]
    dots = []
    for event in in_time(run.rows(first, until)):
        if event.kind not in APPLICATION_KINDS:
            continue
        lane = run.lane_of[event.process]
        inside = {
            name: recorded_at[name, lane]
            for name, frontier in frontiers
            if (name, lane) in recorded_at and _is_in_state(run, event, name, frontier)
        }
        numbered, label = not has_label(event), run.number_in_log(event) or event.label or ""
        named = not numbered or run.lists_events
        position, text = run.position(event), _hover(event, run)
        gone = run.gone_at(event)
        dots.append(
            Dot(lane, position, label, named, numbered, event.kind, event.step, text, inside, until=position, gone=gone)
        )
    return dots if expanded else _collapsed(dots)


def _is_in_state(run: TimedRun, event: Event, snapshot: str, frontier: Mapping[str, int]) -> bool:
    """Whether an event belongs to the state that its process recorded for a snapshot."""
    recording = run.recording_rows.get((snapshot, event.process))
    if recording is None:
        return (event.index or 0) <= frontier.get(event.process, 0)
    return is_inside(run.execution, event, recording)


def _collapsed(dots: Iterable[Dot]) -> list[Dot]:
    """The dots, with one dot for a long row of unnamed internal events that are all inside the same cuts."""
    by_lane = sorted(dots, key=lambda dot: dot.lane)
    found: list[Dot] = []
    for _, group in groupby(
        by_lane, key=lambda dot: (dot.lane, dot.kind == INTERNAL and dot.numbered, dot.recorded, dot.gone)
    ):
        run = list(group)
        if run[0].kind == INTERNAL and run[0].numbered and len(run) >= LONG_RUN:
            text = (
                f"{len(run)} internal events, {run[0].label} to {run[-1].label}, steps {run[0].step} to {run[-1].step}"
            )
            found.append(replace(run[0], named=False, text=text, count=len(run), until=run[-1].position))
        else:
            found += run
    return sorted(found, key=lambda dot: dot.step)


def _hover(event: Event, run: TimedRun) -> str:
    what = event.kind
    if what == INTERNAL:
        body = run.words.workload.body_words(run.execution.body_of(event))
        what = f"internal event {body}".strip()
    on = f" on {run.captions[event.channel]}" if event.channel else ""
    return f"{event.label}: {what}{on} at {event.process}, step {event.step}, time {event.time:g}"
