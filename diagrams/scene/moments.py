"""The elements on one line of a scene besides events: recordings, decisions, moments of storage, and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from diagrams.scene.elements import Decision, Interval, Moment, Recording
from diagrams.scene.timed_run import TimedRun
from sim.core.model import (
    BLOCKED,
    COMMITTED,
    CRASH,
    DECISION,
    DOWN,
    FROZEN,
    FULL,
    LEAVE,
    OUTPUT,
    RECORD,
    RECOVERY,
    RESTORE,
    SLOW,
)
from sim.explain.rollbacks import moment_words
from sim.explain.words import capital
from sim.run.stops import Stop, stops_of
from sim.services.words import decision_words

MOMENTS = frozenset({COMMITTED, RECOVERY, RESTORE, OUTPUT})


def recordings(run: TimedRun) -> dict[str, tuple[Recording, ...]]:
    """The recordings of each snapshot, by its id."""
    found: dict[str, list[Recording]] = {}
    for event in run.execution.events:
        if event.kind == RECORD:
            text = f"{event.process} records its state for {event.snapshot_id} (step {event.step})"
            lane, gone = run.lane_of[event.process], run.gone_at(event)
            recording = Recording(lane, run.position(event), event.step, text, gone)
            found.setdefault(event.snapshot_id or "", []).append(recording)
    return {snapshot: tuple(recordings) for snapshot, recordings in found.items()}


def decisions(run: TimedRun) -> Iterator[Decision]:
    """The decisions of a coordinator, in the order of the run."""
    for row in run.execution.events:
        if row.kind == DECISION:
            body, snapshot = run.execution.body_of(row), row.snapshot_id or ""
            who = run.words.node(row.process)
            text = capital(f"{who} decides: {decision_words(snapshot, body)} (step {row.step})")
            lane, position = run.lane_of[row.process], run.position(row)
            yield Decision(lane, position, row.step, snapshot, body["outcome"], text)


def moments(run: TimedRun) -> Iterator[Moment]:
    """The moments of storage and recovery. All outputs of a process in one step are one moment."""
    rows = [row for row in run.execution.events if row.kind in MOMENTS]
    outputs = Counter((row.process, row.step) for row in rows if row.kind == OUTPUT)
    seen: set[tuple[str, int]] = set()
    for row in rows:
        is_known = row.kind == OUTPUT and (row.process, row.step) in seen
        seen.add((row.process, row.step))
        if not is_known:
            text = capital(moment_words(run.execution, row))
            name = ""
            if row.kind == COMMITTED:
                name = f"{row.snapshot_id} valid"
            elif row.kind == RECOVERY:
                name = f"back to {row.snapshot_id or 'the start'}"
            elif row.kind == OUTPUT:
                count = outputs[row.process, row.step]
                name = run.words.workload.body_words(run.execution.body_of(row))
                if count > 1:
                    name, text = f"{count} outputs", f"{row.process} sends {count} outputs to the environment"
            lane, position = run.lane_of[row.process], run.position(row)
            yield Moment(lane, position, row.step, row.kind, row.snapshot_id, name, f"{text} (step {row.step})")


def intervals(run: TimedRun) -> Iterator[Interval]:
    """The intervals in which something stands still, each from its beginning to its end."""
    return (_interval(run, stop) for stop in stops_of(run.execution))


def _interval(run: TimedRun, stop: Stop) -> Interval:
    """The interval of a stop, which lasts time units, or steps if the run knows no time."""
    begin, end, has_time = stop.begin, stop.end, run.execution.scenario.scheduler.has_time
    source, _, target = (stop.channel or "").partition("->")
    channel = run.captions.get(stop.channel or "", "")
    if stop.kind == BLOCKED:
        other, what, how, has, lasting = source, channel, "is blocked", "has been blocked", "blocked"
    elif stop.kind == FULL:
        what = f"{channel} is full: {begin.process}"
        other, how, has, lasting = target, "stands still", "has stood still", "full"
    elif stop.kind == DOWN:
        other, what, how, has, lasting = target, channel, "is severed", "has been severed", "severed"
    elif stop.kind == SLOW:
        factor = f"{run.execution.body_of(begin):g}"
        other, what, lasting = None, begin.process, f"{factor} times slower"
        how, has = f"takes {factor} times as long", f"has taken {factor} times as long"
    elif stop.kind == FROZEN:
        other, what, how, has, lasting = None, begin.process, "is frozen", "has been frozen", "frozen"
    elif stop.kind == CRASH:
        other, what, how, has, lasting = None, begin.process, "is down", "has been down", "down"
    elif stop.kind == LEAVE:
        other, what, how, has, lasting = None, begin.process, "is absent", "has been absent", "absent"
    else:
        other, what, how, has, lasting = None, begin.process, "stands still", "has stood still", "stands still"
    of = f" for {stop.snapshot}" if stop.snapshot else ""
    text = f"{what} {how}{of} from {'' if has_time else 'step '}{begin.time:g}"
    if end is None:
        text, lasting = f"{text} on", ""
    else:
        lasted = f"{end.time - begin.time:.4g}"
        unit = "time unit" if has_time else "step"
        text = f"{text} to {end.time:g}, {lasted} {unit}{'' if lasted == '1' else 's'}"
        lasting = f"{lasting} for {lasted}"
    return Interval(
        run.lane_of[begin.process], stop.kind, None if other is None else run.lane_of[other],
        run.position(begin), end and run.position(end), begin.step, end and end.step, stop.snapshot,
        stop.channel, f"{what} {has}", begin.time, lasting, text,
    )  # fmt: skip
