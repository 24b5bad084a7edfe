"""The log of a run, and the event table made from it."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, pairwise, repeat
from typing import Any

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    CHANNEL_CLOSED,
    COPIED,
    RECEIVE,
    RECORD,
    RECOVERY,
    RESTORE,
    SEND,
    STATE_CHANGED,
    Event,
    label_of,
)
from sim.core.rules import ROW_WIDTH

INDEX, KIND, MESSAGE, BODY = 1, 2, 5, 7  # positions in sim.core.rules.Row of the values that are read
_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Log:
    """The rows of a run in one flat list, ROW_WIDTH values each: appending to it is fast.

    For every step, `ends` holds the length of `rows` after it, and `times` its time.
    """

    __slots__ = ("ends", "rows", "times")

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.ends: list[int] = []
        self.times: list[float] = []

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.rows) // ROW_WIDTH

    def column(self, number: int) -> list[Any]:
        """Column `number` of every row."""
        return self.rows[number::ROW_WIDTH]

    def each(self) -> Iterator[tuple[Any, ...]]:
        """The rows, each as in sim.core.rules.Row."""
        return zip(*[iter(self.rows)] * ROW_WIDTH, strict=True)

    def step_of(self, number: int) -> int:
        """The step that row `number` (from 0) belongs to."""
        return bisect_right(self.ends, number * ROW_WIDTH) + 1

    def events(self, run_id: int = 0) -> list[Event]:
        """The event table: the rows with `peer_index`, labels and sizes filled in, and bodies as JSON."""
        columns = (self.column(column) for column in (INDEX, KIND, MESSAGE))
        rows = list(zip(*columns, strict=True))
        received = {message: index for index, kind, message in rows if kind == RECEIVE}
        has_epochs = any(kind == RESTORE for _, kind, _ in rows)
        if has_epochs:
            received = _surviving_receipts(self)
        epochs: dict[str, int] = {}
        rows_of_steps = ((end - begin) // ROW_WIDTH for begin, end in pairwise([0, *self.ends]))
        steps = chain.from_iterable(repeat(step, rows) for step, rows in enumerate(rows_of_steps, start=1))
        times = self.times
        events = []
        for number, (step, row) in enumerate(in_time(zip(steps, self.each(), strict=True))):
            process, index, kind, channel, peer, message, label, body, snapshot = row
            if has_epochs and kind == RESTORE:
                epochs[process] = body["epoch"]
            elif has_epochs and kind == RECOVERY:  # services, and who keeps its state, are in the new epoch at once
                epochs.update(dict.fromkeys((*body["services"], *body.get("keeps", ())), body["epoch"]))
            size = None
            text = None if body is None else to_json(body)
            if kind in APPLICATION_KINDS:
                label = label_of(process, index, label)
                if kind == SEND:
                    peer = received.get(message)
            elif kind == COPIED:
                peer = received.get(message)
            elif kind in (RECORD, STATE_CHANGED, CHANNEL_CLOSED):
                text = to_json(body)
                size = len(text.encode())
            first = (run_id, number, step, times[step - 1], process)
            epoch = epochs.get(process, 0) if has_epochs else 0
            events.append(Event(*first, index, kind, channel, peer, message, label, text, snapshot, size, epoch))
        return events


def _surviving_receipts(log: Log) -> dict[int, int]:
    """The index of the receive of each message, by its id, of those that no recovery has taken back."""
    found: dict[str, dict[int, int]] = {}  # by process: index of the receive -> message
    for process, index, kind, _, _, message, *_ in log.each():
        own = found.setdefault(process, {})
        if kind == RECEIVE:
            own[index] = message
        elif kind == RESTORE:
            found[process] = {at: message for at, message in own.items() if at <= index}
    return {message: index for own in found.values() for index, message in own.items()}


def to_json(value: Any) -> str:
    """`value` as the JSON text that the event table holds."""
    if type(value) is int:
        return str(value)
    return _write_json(value)
