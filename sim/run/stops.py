"""The stops of a run: channels blocked, full or severed; processes paused, frozen, down, absent or slow."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    BLOCKED,
    CRASH,
    DOWN,
    FROZEN,
    FULL,
    JOIN,
    LEAVE,
    PAUSED,
    RESTART,
    RESTORE,
    RESUMED,
    ROOM,
    SLOW,
    THAWED,
    UNBLOCKED,
    UP,
    Event,
)
from sim.run.execution import Execution, once
from sim.run.fifo import due

_ENDS = {BLOCKED: UNBLOCKED, PAUSED: RESUMED, FROZEN: THAWED, FULL: ROOM, CRASH: RESTART, DOWN: UP, LEAVE: JOIN}
# Rows that also end stops of a process, with the kinds of rows that end these stops otherwise. A process that restarts
# takes from all its channels, and one that is gone takes from none.
_ALSO_ENDS = {
    RESTORE: (RESTART, RESUMED), CRASH: (RESUMED, THAWED), LEAVE: (RESUMED, THAWED, RESTART),
}  # fmt: skip


class Stop(NamedTuple):
    """A standstill of a channel or a process, from its row `begin` to its row `end` (None: to the end of the run).

    For a process that is not there at first, `begin` is a row outside the table: it leaves in step 0.
    """

    begin: Event
    end: Event | None

    @property
    def kind(self) -> str:
        """BLOCKED, PAUSED, FROZEN, FULL, CRASH (a process is down), LEAVE (it is not there), SLOW or DOWN (severed)."""
        return self.begin.kind

    @property
    def process(self) -> str:
        """The process that takes nothing from the blocked channel, or stands still itself."""
        return self.begin.process

    @property
    def channel(self) -> str | None:
        """The channel that is blocked, full or severed (None: it is the process)."""
        return self.begin.channel

    @property
    def snapshot(self) -> str | None:
        """The snapshot for which it stands still."""
        return self.begin.snapshot_id

    @property
    def lasts(self) -> float | None:
        """Its length in time units (None: to the end of the run)."""
        return None if self.end is None else self.end.time - self.begin.time


@once
def stops_of(execution: Execution) -> tuple[Stop, ...]:
    """All stops of a run, in the order of their beginnings."""
    found: dict[int, Stop] = {}
    open_at: dict[tuple[str, str], int] = {}  # the kind of row that ends it, its channel or process -> its first row
    for row in in_time([*_absent_at_first(execution), *execution.events]):
        where = row.channel or row.process
        if row.kind in _ALSO_ENDS:
            for key in [own for own in open_at if _is_ended(own, row)]:
                ended = open_at.pop(key)
                found[ended] = found[ended]._replace(end=row)
        if row.kind == SLOW:
            if (slow := open_at.pop((SLOW, where), None)) is not None:
                found[slow] = found[slow]._replace(end=row)
            if execution.body_of(row) != 1:
                open_at[SLOW, where], found[row.row] = row.row, Stop(row, None)
        elif row.kind in _ENDS:
            open_at[_ENDS[row.kind], where] = row.row
            found[row.row] = Stop(row, None)
        elif (begin := open_at.pop((row.kind, where), None)) is not None:
            found[begin] = found[begin]._replace(end=row)
    return tuple(found.values())


def _is_ended(stop: tuple[str, str], row: Event) -> bool:
    """Whether a stop, given by its ending kind and its place, also ends with this row of a process."""
    kind, where = stop
    return (
        where.endswith(f"->{row.process}")
        if kind == UNBLOCKED
        else (kind in _ALSO_ENDS[row.kind] and where == row.process)
    )


def _absent_at_first(execution: Execution) -> Iterator[Event]:
    for number, process in enumerate(execution.scenario.absent):
        yield Event(0, -1 - number, 0, 0.0, process, None, LEAVE, None, None, None, None, None, None, None)


@once
def ended_by(execution: Execution) -> dict[int, Stop]:
    """The stops that have ended, by the row of their end."""
    return {stop.end.row: stop for stop in stops_of(execution) if stop.end is not None}


@once
def others_full(execution: Execution) -> dict[int, tuple[str, ...]]:
    """By row of kind `room`: the other channels of its sender that are still full."""
    full: dict[str, list[str]] = {}
    found: dict[int, tuple[str, ...]] = {}
    for row in in_time(execution.events):
        if row.kind in (FULL, ROOM):
            channel = row.channel or ""
            own = full.setdefault(channel.partition("->")[0], [])
            if row.kind == FULL:
                own.append(channel)
            else:
                own.remove(channel)
                found[row.row] = tuple(own)
    return found


@once
def freed_at(execution: Execution) -> dict[int, float | None]:
    """The time at which a channel is open again for a message that had to wait (None: never), by message id.

    A message waits behind another one that blocked its channel. It also waits for a receiver that is frozen, or that a
    full channel has stopped; for its channel to be mended; and for a recovery to restore its receiver.
    """
    found: dict[int, float] = {}
    for waits in (_behind_a_block(execution), _until_it_may_come(execution), _until_it_is_restored(execution)):
        for message, end in waits:
            found[message] = max(found.get(message, 0.0), end)
    return {message: None if end == math.inf else end for message, end in found.items()}


def _behind_a_block(execution: Execution) -> Iterator[tuple[int, float]]:
    """For each message sent on a channel after a message that blocked it: the time at which the last block ended."""
    came = {(own.channel.name, own.receive.step): own.id for own in execution.flights if own.receive is not None}
    blocks: dict[str, list[tuple[int, float]]] = {}  # by channel: the message that blocked it, and the end
    for stop in stops_of(execution):
        channel = stop.channel or ""
        if stop.kind == BLOCKED and (channel, stop.begin.step) in came:
            blocks.setdefault(channel, []).append((came[channel, stop.begin.step], _end(stop)))
    for own in blocks.values():
        own.sort()
    for flight in in_time(execution.flights):
        own = blocks.get(flight.channel.name, [])
        before = bisect_left(own, (flight.id, 0.0))
        if before:
            yield flight.id, own[before - 1][1]


def _until_it_may_come(execution: Execution) -> Iterator[tuple[int, float]]:
    """For each message that was due before its receiver could go on, or its channel was mended: the time of that.

    If there are several such times, it is the last one before the message came.
    """
    ends: dict[tuple[str, str], list[float]] = {}  # by kind of stop, and its channel or process
    for stop in stops_of(execution):
        if stop.kind in (FULL, FROZEN, DOWN):
            where = stop.channel or "" if stop.kind == DOWN else stop.process
            ends.setdefault((stop.kind, where), []).append(_end(stop))
    for own in ends.values():
        own.sort()
    for flight in in_time(execution.flights):
        came = math.inf if flight.receive is None else flight.receive.time
        target, channel = flight.channel.target_name, flight.channel.name
        for where in ((FROZEN, target), *(() if flight.is_control else ((FULL, target), (DOWN, channel)))):
            own = ends.get(where, [])
            before = bisect_right(own, came)
            if before and due(execution, flight) < own[before - 1]:
                yield flight.id, own[before - 1]


def _until_it_is_restored(execution: Execution) -> Iterator[tuple[int, float]]:
    """For each message of a new epoch that was due before its receiver was restored: the time of that."""
    restored = {(row.process, row.epoch): row.time for row in execution.events if row.kind == RESTORE}
    for flight in in_time(execution.flights) if restored else ():
        end = restored.get((flight.channel.target_name, flight.send.epoch))
        if end is not None and due(execution, flight) < end:
            yield flight.id, end


def _end(stop: Stop) -> float:
    return math.inf if stop.end is None else stop.end.time
