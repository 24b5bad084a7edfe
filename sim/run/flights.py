"""The flights of a run: each message with its send, its receive, its loss, its copies, and its ways after recovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.engine import Engine
from sim.core.log import BODY, Log
from sim.core.model import (
    CONTROL,
    CONTROL_SEND,
    COPIED,
    FENCED,
    LOST,
    MARKER,
    PUT_BACK,
    RECEIVED,
    SENT,
    Channel,
    Event,
)
from sim.core.rules import ROW_WIDTH


class Flight(NamedTuple):
    """A message of any kind, with its send and its receive (None: it never arrives).

    `stamp` is the algorithm's stamp on it. `lost` is the row of its loss or fencing. A copy of another message has the
    send of that one, and its own row `copied` (None: it is no copy). A message that a recovery puts back into its
    channel is a flight of its own: it has the send of the message, and the row `put_back`.
    """

    id: int
    channel: Channel
    send: Event
    receive: Event | None
    body: Any
    stamp: Any
    lost: Event | None = None
    copied: Event | None = None
    put_back: Event | None = None

    @property
    def kind(self) -> str:
        """The kind of message: "app", "marker" or "control"."""
        return SENT[self.send.kind]

    @property
    def is_marker(self) -> bool:
        """Whether it is a marker."""
        return self.kind == MARKER

    @property
    def is_control(self) -> bool:
        """Whether it is a control message."""
        return self.kind == CONTROL


def body_of(log: Log, event: Event) -> Any:
    """The body of an event as a value, not as JSON."""
    return log.rows[event.row * ROW_WIDTH + BODY]


class Flights:
    """The flights of one run, from its event `table` and from the same `events` numbered as they survive.

    `log` holds the bodies of rows as values, and `stamps` the stamps of messages by id.
    """

    def __init__(
        self,
        engine: Engine,
        log: Log,
        table: Sequence[Event],
        events: Sequence[Event],
        stamps: Mapping[int, Any],
    ) -> None:
        self._engine, self._log, self._table, self._events, self._stamps = engine, log, table, events, stamps

    @cached_property
    def all(self) -> list[Flight]:
        """Every message of the run, by message id, on its first way: without those that recoveries put back."""
        channel_of = {channel.name: channel for channel in self._engine.channels}
        arrivals, losses = self._ends
        found = []
        sends: dict[tuple[str | int | None, ...], Event] = {}
        for event in in_time(self._events):
            if event.kind in SENT:
                sends[self._way(event)] = event
            if event.kind in SENT or event.kind == COPIED:
                name, number = event.channel or "", event.message_id or 0
                source, _, target = name.partition("->")
                if event.kind == CONTROL_SEND:
                    channel = self._engine.control_channel(self._engine.number_of[source], target)
                else:
                    channel = channel_of[name]
                body, stamp = body_of(self._log, event), self._stamps.get(number)
                send, copied = (sends[self._way(event)], event) if event.kind == COPIED else (event, None)
                own = Flight(number, channel, send, arrivals.get(number), body, stamp, losses.get(number), copied)
                found.append(own)
        return found

    @staticmethod
    def _way(event: Event) -> tuple[str | int | None, ...]:
        """The key that a send shares with the rows of its copies."""
        return event.process, event.index, event.channel, event.snapshot_id if event.index is None else None

    @cached_property
    def replays(self) -> list[Flight]:
        """The messages that recoveries have put back into their channels, in the order of their rows `put_back`."""
        found = []
        for number, (_, *again) in self._ways.items():
            for row, receive, lost in again:
                found.append(self.all[number]._replace(receive=receive, lost=lost, put_back=row))
        return sorted(found, key=lambda flight: flight.put_back.row if flight.put_back else 0)

    @cached_property
    def _ways(self) -> dict[int, list[list[Event | None]]]:
        """By message id, the ways of those that recoveries have put back: the row `put_back`, the receipt, the loss.

        The first way is that of the message as it was sent. A loss or fencing ends the oldest way. A receipt ends the
        newest way, because a message that is put back is there at once.
        """
        if not self._engine.has_epochs:
            return {}
        found: dict[int, list[list[Event | None]]] = {
            row.message_id: [[None, None, None]]
            for row in self._table
            if row.kind == PUT_BACK and row.message_id is not None
        }
        for row, event in zip(self._table, self._events, strict=True):
            ways = found.get(-1 if row.message_id is None else row.message_id, [])
            on_their_way = [way for way in ways if not way[1] and not way[2]]
            if row.kind == PUT_BACK:
                ways.append([event, None, None])
            elif on_their_way and row.kind in RECEIVED:
                on_their_way[-1][1] = event
            elif on_their_way and row.kind in (LOST, FENCED):
                on_their_way[0][2] = event
        return found

    @cached_property
    def _ends(self) -> tuple[dict[int, Event], dict[int, Event]]:
        """By message id, the rows of receipts, and those of losses and fencings.

        For a message that a recovery puts back, they are the rows of the message as it was sent.
        """
        received: dict[int, Event] = {}
        lost: dict[int, Event] = {}
        for row, event in zip(self._table, self._events, strict=True):
            if row.kind in RECEIVED:
                received[row.message_id or 0] = event
            elif row.kind in (LOST, FENCED):
                lost[row.message_id or 0] = event
        for number, ((_, receive, loss), *_) in self._ways.items():
            for rows, own in ((received, receive), (lost, loss)):
                rows.pop(number, None)
                if own is not None:
                    rows[number] = own
        return received, lost

    @cached_property
    def losses(self) -> dict[int, Event]:
        """The rows of losses and fencings, by message id."""
        return self._ends[1]
