"""The costs of a run's snapshots: their duration, the standstills that they cause, their messages and their storage.

The names are those of the columns in which Apache Flink shows a checkpoint ("Monitoring Checkpointing" in its
documentation, section "Checkpoint Details"): end-to-end duration, start delay, alignment duration, processed and
persisted in-flight data. Everything is computed from the rows of the event table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.log import to_json
from sim.core.model import (
    APP,
    BLOCKED,
    COMMITTED,
    PAUSED,
    RECEIVE,
    RECORD,
    SNAPSHOT_COMPLETE,
    Event,
)
from sim.document.scenario import Scenario
from sim.run.execution import Execution, once
from sim.run.rollbacks import recovery_times
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from sim.run.stops import Stop, stops_of

EMPTY = to_json(None)  # stands for a missing body when sizes are counted


class InFlight(NamedTuple):
    """A number of application messages, and the bytes of their bodies as JSON; a missing body counts as `null`."""

    messages: int = 0
    bytes: int = 0


class Part(NamedTuple):
    """The costs of a snapshot at one process, in time units.

    `start_delay` is the time from the beginning of the snapshot until the process hears of it: by its first marker, by
    a control message, or by its own start. `alignment` is the time from then until its part is done (None: it never
    is). `processed` counts the messages that it receives in this time. For uncoordinated checkpoints, the first one of
    the process counts.
    """

    start_delay: float
    alignment: float | None
    processed: InFlight


@dataclass(frozen=True)
class Costs:
    """The costs of one snapshot, or of all of a run together (`snapshot` is then None). Times are in time units.

    duration: from its beginning until it is complete, and valid if it is stored (None: it is not).
    parts: by process that has heard of it.
    blocked: the time for which each channel was blocked for it, by name; paused: likewise each process. A standstill
        that has not ended counts up to the end of the run. Channels and processes without one are left out.
    persisted: the messages in the recorded states of channels.
    stored: the bytes in storage: those of the manifest if there is a storage, else those of the recorded states and
        messages as JSON (None: nothing is valid).
    """

    snapshot: str | None
    status: str
    duration: float | None
    parts: Mapping[str, Part]
    blocked: Mapping[str, float]
    paused: Mapping[str, float]
    persisted: InFlight
    markers: int
    controls: int
    stored: int | None

    @property
    def start_delay(self) -> float | None:
        """The longest of all processes (None: no process has heard of it)."""
        return max((part.start_delay for part in self.parts.values()), default=None)

    @property
    def alignment(self) -> float | None:
        """The longest of all processes whose part is done."""
        return max((part.alignment for part in self.parts.values() if part.alignment is not None), default=None)

    @property
    def processed(self) -> InFlight:
        """The messages that all processes received between hearing of it and the end of their part."""
        return _sum(part.processed for part in self.parts.values())

    @property
    def blocked_time(self) -> float:
        """The time for which channels were blocked and processes paused, added up."""
        return sum(self.blocked.values()) + sum(self.paused.values())


class Lateness(NamedTuple):
    """The delay of messages compared with the same run without snapshots, in time units.

    `messages` were received in both runs, `late` of them later, on average `mean` later and at most `most`.
    """

    messages: int
    mean: float
    most: float
    late: int


@once
def costs_of(execution: Execution) -> tuple[Costs, ...]:
    """The costs of each snapshot of a run, in the order of `snapshots_of`."""
    rows: dict[str, list[Event]] = {}
    receipts: dict[str, list[Event]] = {}
    for row in in_time(execution.events):
        if row.snapshot_id is not None:
            rows.setdefault(row.snapshot_id, []).append(row)
        elif row.kind == RECEIVE:
            receipts.setdefault(row.process, []).append(row)
    stops: dict[str | None, list[Stop]] = {}
    for stop in stops_of(execution):
        stops.setdefault(stop.snapshot, []).append(stop)
    return tuple(
        _costs(execution, snapshot, rows.get(snapshot.id, []), receipts, stops.get(snapshot.id, []))
        for snapshot in snapshots_of(execution)
    )


def all_costs(execution: Execution) -> Costs:
    """The costs of all snapshots of a run together: the longest of their times, the sums of everything else.

    The status is that of the first which is not complete, else complete. `duration` and `stored` are None if one
    snapshot has none, or if there is no snapshot.
    """
    found = costs_of(execution)
    durations = [own.duration for own in found if own.duration is not None]
    stored = [own.stored for own in found if own.stored is not None]
    parts: dict[str, Part] = {}
    for own in found:
        for process, part in own.parts.items():
            parts[process] = _together(parts[process], part) if process in parts else part
    return Costs(
        None,
        next((own.status for own in found if own.status != COMPLETE), COMPLETE),
        None if len(durations) < len(found) else max(durations, default=None),
        parts,
        _added(own.blocked for own in found),
        _added(own.paused for own in found),
        _sum(own.persisted for own in found),
        sum(own.markers for own in found),
        sum(own.controls for own in found),
        None if len(stored) < len(found) or not stored else sum(stored),
    )


def mean_recovery_time(execution: Execution) -> float | None:
    """The mean time units of a recovery, from the crash until the last process goes back (None: no recovery)."""
    times = recovery_times(execution)
    return sum(times) / len(times) if times else None


def without_snapshots(scenario: Scenario) -> Scenario | None:
    """The same run without snapshots, to measure the delay of messages (None: it would be another run).

    It would be another run if the scheduler has no time, because it chooses the actions by hand or at random. It would
    also be another run if there is a recovery, because that goes back to a snapshot.
    """
    if not scenario.scheduler.has_time or scenario.recovery is not None:
        return None
    return replace(scenario, snapshots=(), coordinator=None, storage=None, expect={}, walk=())


def lateness(execution: Execution, without: Execution) -> Lateness:
    """The delay of the application messages of a run, compared with the run `without` snapshots.

    Two messages are the same if they have the same number on their channel, in the order of sending.
    """
    times, usual = _receipt_times(execution), _receipt_times(without)
    late = [time - usual[message] for message, time in times.items() if message in usual]
    return Lateness(
        len(late), sum(late) / len(late) if late else 0.0, max(late, default=0.0), sum(by > 0 for by in late)
    )


def _receipt_times(execution: Execution) -> dict[tuple[str, int], float]:
    """The times of receipts, by channel and number on it."""
    numbers: dict[str, int] = {}
    found: dict[tuple[str, int], float] = {}
    for flight in in_time(execution.flights):
        if flight.kind == APP and flight.copied is None:
            name = flight.channel.name
            numbers[name] = numbers.get(name, -1) + 1
            if flight.receive is not None:
                found[name, numbers[name]] = flight.receive.time
    return found


def _costs(
    execution: Execution,
    snapshot: Snapshot,
    rows: Sequence[Event],
    receipts: Mapping[str, Sequence[Event]],
    stops: Sequence[Stop],
) -> Costs:
    """The costs of a snapshot, from its rows, the receipts of each process, and the standstills that it caused."""
    last = execution.times[-1] if execution.times else 0.0
    bodies = [to_json(message.body) for message in snapshot.recorded_messages]
    persisted = InFlight(len(bodies), sum(len(body.encode()) for body in bodies))
    committed = next((row for row in rows if row.kind == COMMITTED), None)
    is_stored = execution.scenario.has_storage and execution.engine.algorithm.coordinated
    duration = stored = None
    if snapshot.completed is not None and not (is_stored and committed is None):
        end = execution.times[snapshot.completed]
        duration = max(end, committed.time if committed else end) - rows[0].time
        states = (row.state_size or 0 for row in rows if row.kind == RECORD)
        stored = json.loads(committed.body or "")["bytes"] if committed else sum(states) + persisted.bytes
    return Costs(
        snapshot.id,
        snapshot.status,
        duration,
        dict(_parts(execution, rows, receipts)),
        _lengths(stops, BLOCKED, last),
        _lengths(stops, PAUSED, last),
        persisted,
        snapshot.markers,
        snapshot.controls,
        stored,
    )


def _parts(
    execution: Execution, rows: Sequence[Event], receipts: Mapping[str, Sequence[Event]]
) -> Iterator[tuple[str, Part]]:
    """The costs of a snapshot at each process that has heard of it, in the order of the processes."""
    heard: dict[str, Event] = {}
    done: dict[str, Event] = {}
    is_coordinated = execution.engine.algorithm.coordinated
    for row in rows:
        heard.setdefault(row.process, row)
        if row.kind == SNAPSHOT_COMPLETE and (is_coordinated or row.process not in done):
            done[row.process] = row
    for process in execution.scenario.processes:
        if process in heard:
            first, end = heard[process], done.get(process)
            until = len(execution.events) if end is None else end.row
            own = [row for row in receipts.get(process, ()) if first.row < row.row < until]
            processed = InFlight(len(own), sum(len((row.body or EMPTY).encode()) for row in own))
            yield process, Part(first.time - rows[0].time, end and end.time - first.time, processed)


def _lengths(stops: Sequence[Stop], kind: str, last: float) -> dict[str, float]:
    """The time for which each channel was blocked, or each process paused, by name."""
    found: dict[str, float] = {}
    for stop in stops:
        if stop.kind == kind:
            where = stop.channel or stop.process
            length = (last if stop.end is None else stop.end.time) - stop.begin.time
            found[where] = found.get(where, 0.0) + length
    return found


def _together(one: Part, other: Part) -> Part:
    alignments = [own.alignment for own in (one, other) if own.alignment is not None]
    return Part(
        max(one.start_delay, other.start_delay),
        max(alignments, default=None),
        _sum((one.processed, other.processed)),
    )


def _sum(parts: Iterable[InFlight]) -> InFlight:
    own = list(parts)
    return InFlight(sum(part.messages for part in own), sum(part.bytes for part in own))


def _added(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for own in parts:
        for where, length in own.items():
            found[where] = found.get(where, 0.0) + length
    return found
