"""The recoveries of a run: the line that each goes back to, and the events that it takes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sim.core.log import KIND
from sim.core.model import APPLICATION_KINDS, CRASH, MARKER_RECEIVE, MARKER_SEND, RECORD, RECOVERY, RESTORE, Event
from sim.run.execution import Execution, once
from sim.run.flights import Flight
from sim.theory.surviving import is_gone

_TAKEN_BACK = APPLICATION_KINDS | {RECORD, MARKER_SEND, MARKER_RECEIVE}


@dataclass(frozen=True)
class Rollback:
    """One recovery: its row, and the row `restore` of each process that it has restored, by name.

    `line` holds, by process, the row of the recording that it goes back to (None: the initial state): that for the
    snapshot, or, with uncoordinated checkpoints, that for another one.
    """

    recovery: Event
    restores: dict[str, Event] = field(default_factory=dict)
    line: dict[str, Event | None] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """The step in which it begins."""
        return self.recovery.step

    @property
    def snapshot(self) -> str | None:
        """The snapshot that it goes back to (None: the initial state)."""
        return self.recovery.snapshot_id


@once
def rollbacks_of(execution: Execution) -> tuple[Rollback, ...]:
    """The recoveries of a run, in their order."""
    found: list[Rollback] = []
    if not execution.engine.has_epochs:
        return ()
    recordings: dict[tuple[str | int | None, ...], Event] = {}  # the last one by process, index (and snapshot)
    for row, event in zip(execution.table, execution.events, strict=True):
        if row.kind == RECOVERY:
            found.append(Rollback(event))
        elif row.kind == RECORD:
            recordings |= {(row.process, row.index): event, (row.process, row.index, row.snapshot_id): event}
        elif row.kind == RESTORE:
            found[-1].restores[row.process] = event
            own = row.process, row.index
            other = None if row.snapshot_id is None else recordings.get(own)
            found[-1].line[row.process] = recordings.get((*own, row.snapshot_id), other)
    return tuple(found)


@once
def taken_back(execution: Execution) -> dict[int, Rollback]:
    """The recovery that takes a row back, by row number: an application event, a recording, or a marker's row.

    The rows of the snapshot that the recovery goes back to stay.
    """
    found: dict[int, Rollback] = {}
    for rollback in rollbacks_of(execution):
        for process, restore in rollback.restores.items():
            line = rollback.line[process]
            first = -1 if line is None else line.row
            for row in execution.events[first + 1 : restore.row]:
                is_own = row.process == process and row.kind in _TAKEN_BACK
                if is_own and (is_gone(row) or row.snapshot_id is None or row.snapshot_id != rollback.snapshot):
                    found.setdefault(row.row, rollback)
    return found


@once
def _own_rows(execution: Execution) -> dict[str, list[Event]]:
    """The application events of each process, including those taken back, in the order of the run."""
    found: dict[str, list[Event]] = {}
    for event in execution.events:
        if event.kind in APPLICATION_KINDS:
            found.setdefault(event.process, []).append(event)
    return found


def is_inside(execution: Execution, event: Event, recording: Event) -> bool:
    """Whether an application event belongs to the state that its process records in the row `recording`."""
    back = taken_back(execution).get(event.row)
    if back is not None and back.restores[event.process].row < recording.row:
        return False
    return (execution.table[event.row].index or 0) <= (execution.table[recording.row].index or 0)


def events_inside(execution: Execution, recording: Event) -> Sequence[Event]:
    """The application events in the state that a process records in the row `recording`, in any epoch."""
    if not is_gone(recording):
        return execution.history.of[recording.process][: recording.index]
    return [own for own in _own_rows(execution)[recording.process] if is_inside(execution, own, recording)]


def first_outside(execution: Execution, recording: Event) -> Event | None:
    """The next event of a process after a recording of it, in the same epoch (None: there is none)."""
    inside = events_inside(execution, recording)
    if not is_gone(recording):
        own = execution.history.of[recording.process]
        return own[len(inside)] if len(inside) < len(own) else None
    end = taken_back(execution)[recording.row].restores[recording.process].row
    last = inside[-1].row if inside else -1
    return next((own for own in _own_rows(execution)[recording.process] if last < own.row < end), None)


def as_survives(execution: Execution, flight: Flight) -> Flight | None:
    """A message on the surviving line, with the receipt that counts there (None: a recovery has taken it back)."""
    if not rollbacks_of(execution):
        return flight
    if is_gone(flight.send):
        return None
    history = execution.history
    lost = flight.lost if flight.id in history.lost else None
    return flight._replace(
        receive=history.receives.get(flight.id) if not flight.is_control else flight.receive, lost=lost
    )


def as_known_to(execution: Execution, flight: Flight, recording: Event | None) -> Flight:
    """A message as the epoch knows it in which its receiver records: as it was put back before that, else as it was."""
    if recording is None or not rollbacks_of(execution):
        return flight
    again = (own for own in execution.replays if own.id == flight.id and own.put_back is not None)
    return next((own for own in reversed([*again]) if own.put_back and own.put_back.row < recording.row), flight)


def recovery_times(execution: Execution) -> list[float]:
    """The length, in time units, of each recovery in which a process goes back.

    It lasts from the crash, or without a crash from its beginning, until the last process has gone back.
    """
    found = []
    failed = begun = last = None
    for number, kind in enumerate(execution.log.column(KIND)):
        if kind == RECOVERY:
            if begun is not None and last is not None:
                found.append(last - begun)
            now = execution.times[execution.log.step_of(number)]
            begun, failed, last = now if failed is None else failed, None, None
        elif kind == CRASH and failed is None:
            failed = execution.times[execution.log.step_of(number)]
        elif kind == RESTORE:
            last = execution.times[execution.log.step_of(number)]
    if begun is not None and last is not None:
        found.append(last - begun)
    return found
