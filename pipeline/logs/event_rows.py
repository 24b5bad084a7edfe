"""Makes the event table of one execution from its rows.

The table's rows are in a causal order (a linear extension of happened-before), if possible in the order of the log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow

from pipeline.store.schema import arrow_schema
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COPIED, EVENT_TYPES, INTERNAL, RECEIVE, RECEIVED, SEND, label_of

Value = TypeVar("Value")


@dataclass
class EventRows:
    """The rows of one execution: a list for each column, in the order of the log.

    `event` numbers the events from 0, by their first row; rows of one event share its number. `partner` is the index of
    the row at the other end of the message (-1: none). `message` holds the log's own message ids; if None, messages are
    numbered by their sends. `where` names the source of a row, for errors.
    """

    event: list[int]
    process: list[str]
    index: list[int | None]
    kind: list[str]
    channel: list[str | None]
    partner: list[int]
    label: list[str | None]
    body: list[str | None]
    where: Callable[[int], str]
    message: Sequence[int | None] | None = None
    time: Sequence[float] | None = None
    step: Sequence[int] | None = None
    snapshot_id: Sequence[str | None] | None = None
    state_size: Sequence[int | None] | None = None
    epoch: Sequence[int | None] | None = None

    def __len__(self) -> int:
        return len(self.event)

    def counts(self) -> dict[str, int]:
        """The numbers of application events, messages, and unreceived messages: fields of a Reading."""
        events = {e for e, kind in zip(self.event, self.kind, strict=True) if kind in APPLICATION_KINDS}
        rows = zip(self.partner, self.kind, self.index, strict=True)
        sends = [partner for partner, kind, index in rows if kind == SEND or (kind == COPIED and index is not None)]
        return {"count": len(events), "messages": len(sends), "unreceived": sends.count(-1)}


def partner_rows(
    events: int, messages: Sequence[tuple[int, int | None]]
) -> tuple[list[int], list[str], list[int | None], list[int]]:
    """A row for each message that an event receives, then one for each that it sends; else one internal row.

    `messages` gives the events that send and receive (None: never received) each message. Returns the columns `event`
    and `kind`, the index in `messages` of each row's message, and `partner`.
    """
    received: dict[int, list[int]] = {}
    sent: dict[int, list[int]] = {}
    for number, (send, receive) in enumerate(messages):
        sent.setdefault(send, []).append(number)
        if receive is not None:
            received.setdefault(receive, []).append(number)
    event: list[int] = []
    kind: list[str] = []
    message: list[int | None] = []
    row_of = {SEND: [-1] * len(messages), RECEIVE: [-1] * len(messages)}
    for current in range(events):
        own: list[tuple[str, int | None]] = [(RECEIVE, number) for number in received.get(current, ())]
        own += [(SEND, number) for number in sent.get(current, ())]
        for what, of_message in own or [(INTERNAL, None)]:
            if of_message is not None:
                row_of[what][of_message] = len(event)
            event.append(current)
            kind.append(what)
            message.append(of_message)
    other = {SEND: row_of[RECEIVE], RECEIVE: row_of[SEND]}
    partner = [-1 if of is None else other[what][of] for what, of in zip(kind, message, strict=True)]
    return event, kind, message, partner


def to_table(rows: EventRows) -> tuple[pyarrow.Table, list[str]]:
    """The event table, with run_id 0, and notes for the user.

    Raises InputError, naming the row, if an event is its own cause.
    """
    order = causal_order(rows)
    notes = []

    def ordered(column: Sequence[Value]) -> list[Value]:
        return [column[row] for row in order]

    steps = _steps(rows, order)
    times = ordered(rows.time) if rows.time is not None else None
    if times is None or not _rises(times):
        if times is not None:
            back = next(row for row in range(1, len(times)) if not times[row - 1] <= times[row])
            where = rows.where(order[back])
            notes.append(f"its times contradict the order of causes, first at {where}: the events are numbered instead")
        times = [float(step) for step in steps]
    nothing: list[None] = [None] * len(rows)
    columns: dict[str, Sequence[Any]] = {
        "run_id": [0] * len(rows), "row": range(len(rows)), "step": steps, "time": times,
        "process": ordered(rows.process), "index": ordered(rows.index), "kind": ordered(rows.kind),
        "channel": ordered(rows.channel), "peer_index": ordered(_peer_indices(rows)),
        "message_id": ordered(rows.message or _numbers(rows, order)), "label": ordered(_labels(rows)),
        "body": ordered(rows.body), "snapshot_id": ordered(rows.snapshot_id or nothing),
        "state_size": ordered(rows.state_size or nothing),
        "epoch": [epoch or 0 for epoch in ordered(rows.epoch or nothing)],
    }  # fmt: skip
    return pyarrow.table(columns, arrow_schema(EVENT_TYPES)), notes


def _steps(rows: EventRows, order: Sequence[int]) -> list[int]:
    """The log's own step numbers if they never fall; else events are numbered from 1."""
    if rows.step is not None:
        given = [rows.step[row] for row in order]
        if _rises(given):
            return given
    steps: list[int] = []
    last = None
    for row in order:
        steps.append((steps[-1] if steps else 0) + (rows.event[row] != last))
        last = rows.event[row]
    return steps


def _rises(values: Sequence[float]) -> bool:
    return all(a <= b for a, b in pairwise(values)) and all(map(math.isfinite, values))


def _peer_indices(rows: EventRows) -> list[int | None]:
    return [
        rows.index[partner] if partner >= 0 and kind in (*APPLICATION_KINDS, COPIED) else None
        for partner, kind in zip(rows.partner, rows.kind, strict=True)
    ]


def _numbers(rows: EventRows, order: Sequence[int]) -> list[int | None]:
    """Message ids: messages are numbered from 0 in the order of their sends."""
    found: list[int | None] = [None] * len(rows)
    number = 0
    for row in order:
        if rows.kind[row] == SEND:
            found[row] = number
            if rows.partner[row] >= 0:
                found[rows.partner[row]] = number
            number += 1
    return found


def _labels(rows: EventRows) -> list[str | None]:
    return [
        label or label_of(process, index or 0, None) if kind in APPLICATION_KINDS else label
        for label, process, index, kind in zip(rows.label, rows.process, rows.index, rows.kind, strict=True)
    ]


# ------------------------------------------------------------------ order


def causal_order(rows: EventRows) -> Sequence[int]:
    """The indices of the rows in a causal order that keeps the rows of an event together (Kahn's algorithm).

    Concurrent events are sorted by time if the log has times, else as in the log. Raises InputError for cyclic causes.
    """
    if _is_in_order(rows):
        return range(len(rows))
    rows_of: list[list[int]] = [[] for _ in range(max(rows.event) + 1)]
    for row, event in enumerate(rows.event):
        rows_of[event].append(row)
    causes, effects = _edges(rows, rows_of)
    first = [own[0] for own in rows_of]
    time_of = rows.time or [0.0] * len(rows)
    ready = [(time_of[first[event]], event) for event, count in enumerate(causes) if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, event = heappop(ready)
        order += rows_of[event]
        for effect in effects[event]:
            causes[effect] -= 1
            if causes[effect] == 0:
                heappush(ready, (time_of[first[effect]], effect))
    if len(order) < len(rows):
        stuck = next(event for event, count in enumerate(causes) if count > 0)
        raise InputError(
            f"{rows.where(first[stuck])}: waits for a message that is sent only after it; causes come before effects"
        )
    return order


def _is_in_order(rows: EventRows) -> bool:
    """Whether the rows are in order already, which is usual."""
    event, partner = rows.event, rows.partner
    causes_first = all(
        partner[row] < 0 or event[partner[row]] < event[row] for row, kind in enumerate(rows.kind) if kind in RECEIVED
    )
    return causes_first and _rises(event) and (rows.time is None or _rises(rows.time))


def _edges(rows: EventRows, rows_of: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """For each event, the number of its direct causes, and its direct effects."""
    causes = [0] * len(rows_of)
    effects: list[list[int]] = [[] for _ in rows_of]
    last: dict[str, int] = {}
    for event, own in enumerate(rows_of):
        before = [rows.event[rows.partner[row]] for row in own if _is_received(rows, row)]
        process = rows.process[own[0]]
        if process in last:
            before.append(last[process])
        last[process] = event
        causes[event] = len(before)
        for cause in before:
            effects[cause].append(event)
    return causes, effects


def _is_received(rows: EventRows, row: int) -> bool:
    return rows.kind[row] in RECEIVED and rows.partner[row] >= 0
