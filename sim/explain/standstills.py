"""Standstills in words: how long processes stood still for a snapshot, and back-pressure."""

from __future__ import annotations

from collections.abc import Iterator

from sim.core.model import FULL, PAUSED, Event
from sim.explain.words import counted, listing, words_of
from sim.run.execution import Execution
from sim.run.snapshots import Snapshot
from sim.run.stops import ended_by, others_full, stops_of

MOST_TOLD = 3  # different lengths of time that are told one by one


def standstill_fields(execution: Execution, resumed: Event) -> dict[str, str]:
    """The fields of the clause for going on: `since`, `until` and `still`, such as 3, 9 and 6 time units."""
    stop = ended_by(execution)[resumed.row]
    step = "" if execution.scenario.scheduler.has_time else "step "
    return {
        "since": f"{step}{stop.begin.time:g}", "until": f"{step}{resumed.time:g}",
        "still": long(execution, stop.lasts or 0.0),
    }  # fmt: skip


def back_pressure_in_words(execution: Execution, row: Event) -> str:
    """A row for a channel that is full, or in which there is room again, as a sentence."""
    channel = next(own for own in execution.engine.channels if own.name == row.channel)
    name, sender = words_of(execution).channel(channel.name), channel.source_name
    if row.kind == FULL:
        holds = counted(channel.capacity or 0, "message")
        return f"{name} is full with {holds}: {sender} stands still until {channel.target_name} takes one."
    others = others_full(execution)[row.row]
    if not others:
        return f"There is room on {name}: {sender} goes on."
    full = listing([words_of(execution).channel(other) for other in others])
    are = "are" if len(others) > 1 else "is"
    return f"There is room on {name}, but {sender} still stands still: {full} {are} full."


def stood_still(execution: Execution, snapshot: Snapshot) -> Iterator[str]:
    """The times for which processes stood still for a snapshot: `P1 and P2 stood still for 6 time units`.

    A process stands still for a snapshot from a pause that it asked for, or in which the process recorded.
    """
    by_time: dict[float | None, list[str]] = {}
    for stop in stops_of(execution):
        record, last = snapshot.local.get(stop.process), stop.end.step if stop.end else execution.steps
        is_in_it = record is not None and stop.begin.step <= record.step <= last
        if stop.kind == PAUSED and (is_in_it or stop.snapshot == snapshot.id):
            by_time.setdefault(stop.lasts, []).append(stop.process)
    times = sorted((time for time in by_time if time is not None), reverse=True)
    if len(times) > MOST_TOLD:
        longest = listing(by_time[times[0]])
        yield f"processes stood still for {times[-1]:g} to {long(execution, times[0])} ({longest} longest)"
    else:
        for time in times:
            yield f"{listing(by_time[time])} stood still for {long(execution, time)}"
    if None in by_time:
        yield f"{listing(by_time[None])} {'stands' if len(by_time[None]) == 1 else 'stand'} still to the end"


def long(execution: Execution, time: float) -> str:
    """A length of time in words; of steps, where time is their number."""
    what = "time unit" if execution.scenario.scheduler.has_time else "step"
    return counted(int(time), what) if time == int(time) else f"{time:.4g} {what}s"
