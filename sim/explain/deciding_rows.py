"""The rows of the event table that decide the reasons of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.core.model import (
    CHANNEL_CLOSED,
    CONTROL_RECEIVE,
    MARKER_RECEIVE,
    RECEIVE,
    RECEIVED,
    RECORD,
    RECORDED,
    Event,
)
from sim.run.execution import Execution, once
from sim.run.flights import Flight
from sim.run.rollbacks import as_known_to, rollbacks_of, taken_back
from sim.run.snapshots import GIVEN_UP, snapshots_of


class DecidingRows(NamedTuple):
    """The rows that decide all cases of one snapshot.

    `recorded` holds the `record` row of each process, and `closed` the `channel_closed` row of each channel. `kept`
    holds the `recorded` row of each recorded message, by id. `cause` holds, by process or channel, the receive that
    made the process record or closed the channel (missing: no receive did). `is_aborted`: the snapshot was aborted.
    `unsent` holds, by message id, the step of the recovery that undoes the sending of a message before the sender
    records.

    Rows are those of the event table as it is exported, in which indices go on after a recovery.
    """

    recorded: dict[str, Event]
    closed: dict[str, Event]
    cause: dict[str, Event]
    kept: dict[int, Event]
    is_aborted: bool
    unsent: dict[int, int]


@once
def deciding_rows(execution: Execution) -> dict[str, DecidingRows]:
    """The deciding rows of every snapshot, by snapshot id."""
    snapshots = snapshots_of(execution)
    found = {own.id: DecidingRows({}, {}, {}, {}, own.status in GIVEN_UP, {}) for own in snapshots}
    local = {own.id: own.local for own in snapshots}
    came: dict[int, Event] = {}  # step -> the receive in it
    for row in execution.table:
        if row.kind in RECEIVED:
            came[row.step] = row
        name = row.snapshot_id
        if name is None or row.process not in local[name]:  # the process discarded its recording
            continue
        if row.kind == RECORD:
            _discard(found[name], row.process)  # a process that records again discards its first recording
            found[name].recorded[row.process] = row
        elif row.kind == CHANNEL_CLOSED:
            found[name].closed[row.channel or ""] = row
        elif row.kind == RECORDED:
            found[name].kept[row.message_id or 0] = row
    for deciding in found.values():
        for what, row in (*deciding.recorded.items(), *deciding.closed.items()):
            cause = came.get(row.step)
            if cause is not None and _is_cause(cause, row):
                deciding.cause[what] = cause
        deciding.unsent.update(_unsent(execution, deciding))
    return found


def _unsent(execution: Execution, deciding: DecidingRows) -> Iterator[tuple[int, int]]:
    """The messages whose sending a recovery undoes before their sender records, each with the step of the recovery."""
    back = taken_back(execution)
    for flight in execution.flights if back else ():
        rollback, record = back.get(flight.send.row), deciding.recorded.get(flight.send.process)
        if rollback and (record is None or rollback.restores[flight.send.process].row < record.row):
            yield flight.id, rollback.step


def known_to(execution: Execution, deciding: DecidingRows, flight: Flight) -> Flight:
    """A message as the epoch knows it in which its receiver records for a snapshot, with rows as they are exported.

    If a recovery has undone its receipt before that and has not put it back, it is lost by the row `restore`.
    """
    if not rollbacks_of(execution):
        return flight
    record = deciding.recorded.get(flight.channel.target_name)
    flight = as_known_to(execution, flight, record)
    receive = flight.receive
    lost = flight.lost
    if receive is not None and record is not None and (back := taken_back(execution).get(receive.row)):
        restore = back.restores[receive.process]
        if restore.row < record.row:
            receive, lost = None, restore
    table = execution.table
    return flight._replace(send=table[flight.send.row], receive=receive and table[receive.row], lost=lost)


def _discard(deciding: DecidingRows, process: str) -> None:
    for message in [message for message, row in deciding.kept.items() if row.process == process]:
        del deciding.kept[message]
    for channel in [channel for channel, row in deciding.closed.items() if row.process == process]:
        del deciding.closed[channel]


def _is_cause(cause: Event, row: Event) -> bool:
    """Whether `cause`, the receive in the step of `row`, made the process record or closed the channel."""
    if cause.kind == MARKER_RECEIVE:
        return cause.snapshot_id == row.snapshot_id and row.channel in (None, cause.channel)
    if cause.kind == RECEIVE:  # a process that records afterwards has another cause
        return row.channel == cause.channel or (row.kind == RECORD and row.row < cause.row)
    return row.kind == RECORD or cause.kind == CONTROL_RECEIVE
