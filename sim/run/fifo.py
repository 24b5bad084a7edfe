"""The effect of FIFO on a run: the messages that wait behind others, although their own delay has passed."""

from __future__ import annotations

import math
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.delays import HOLD
from sim.core.model import COPIED, RESENT, SENT, SLOW, Channel, Message
from sim.core.scheduler import sent_again
from sim.run.execution import Execution, once
from sim.run.flights import Flight


class Try(NamedTuple):
    """The last time that a message is sent: once, unless a FIFO layer has to send it again.

    `sent` is that time, and `delay` the delay from then on, in time units (HOLD: held). FIFO may add to it.
    """

    sent: float
    delay: float


@once
def tries(execution: Execution) -> list[Try]:
    """The last try of each message, by id."""
    delays = execution.scenario.delays_of_a_run()
    slowed: dict[str, float] = {}
    found: dict[int, Try] = {}
    original = {flight.send.row: flight.id for flight in execution.flights if flight.copied is None}
    for row in in_time(execution.events):
        number = row.message_id or 0
        if row.kind == SLOW:
            slowed[row.process] = execution.body_of(row)
        elif row.kind in SENT:
            ends = (row.channel or "").split("->")
            factor = max(slowed.get(name, 1.0) for name in ends)
            found[number] = Try(row.time, delays.of(_message(execution, execution.flights[number]), factor))
        elif row.kind == COPIED:
            of = found[original[execution.flights[number].send.row]]
            found[number] = Try(row.time, max(0.0, of.sent + 2 * of.delay - row.time))
        elif row.kind == RESENT:
            before = found[number]
            found[number] = before._replace(sent=sent_again(before.sent, row.time, delays.resend))
    return [found[number] for number in range(len(found))]


def _message(execution: Execution, flight: Flight) -> Message:
    send = execution.table[flight.send.row]
    return Message(flight.id, flight.channel, flight.kind, None, send.snapshot_id, None, send.index, send.label, None)


def earliest_arrival(execution: Execution, flight: Flight) -> float:
    """The time at which a message with delay 0 arrives: when it is last sent; under ticks, the next tick.

    Control messages do not wait for ticks.
    """
    sent = tries(execution)[flight.id].sent
    return float(math.floor(sent) + 1) if _is_ticked(execution, flight) else sent


def _is_ticked(execution: Execution, flight: Flight) -> bool:
    return execution.scenario.scheduler.kind == "tick" and not flight.is_control


def due(execution: Execution, flight: Flight) -> float:
    """The time at which a message would arrive without FIFO. It has no meaning under schedulers without time."""
    at = earliest_arrival(execution, flight) + tries(execution)[flight.id].delay
    return float(math.ceil(at)) if at != HOLD and _is_ticked(execution, flight) else at


@once
def held(execution: Execution) -> frozenset[int]:
    """The ids of the held messages."""
    return frozenset(message for message, last in enumerate(tries(execution)) if last.delay == HOLD)


@once
def waits_behind(execution: Execution) -> dict[int, int]:
    """For each message that FIFO makes late, by id: the id of the message that it waits for.

    This is the message whose own delay is the cause: if several wait in a row, all wait for the first. Messages sent
    before a recovery and after it do not wait for each other.
    """
    last: dict[tuple[Channel, int, bool], Flight] = {}  # the last message so far, by channel, epoch and is_marker
    found: dict[int, int] = {}
    goes_ahead = execution.engine.algorithm.goes_ahead
    for flight in execution.flights:
        if not flight.channel.fifo:
            continue
        is_fast = flight.is_marker and goes_ahead(flight.body)  # it does not wait for messages, but they wait for it
        line = flight.channel, flight.send.epoch
        in_front = [last.get((*line, True)), None if is_fast else last.get((*line, False))]
        before = max(filter(None, in_front), key=_arrival, default=None)
        if before is not None and _is_held_back(execution, flight, before, found):
            found[flight.id] = found.get(before.id, before.id)
        last[*line, flight.is_marker] = flight
    return found


def _arrival(flight: Flight) -> tuple[float, int]:
    """A key that orders messages by arrival (never is last), then by send."""
    return (math.inf if flight.receive is None else flight.receive.time), flight.id


def _is_held_back(execution: Execution, flight: Flight, before: Flight, found: dict[int, int]) -> bool:
    """Whether `flight` would have arrived earlier without `before`, the message in front of it."""
    if flight.receive is None:
        if before.receive is not None or flight.id in held(execution):
            return False
        return found.get(before.id, before.id) in held(execution)
    if before.receive is None or not execution.scenario.scheduler.has_time:
        return False
    return due(execution, flight) < flight.receive.time and due(execution, flight) <= before.receive.time
