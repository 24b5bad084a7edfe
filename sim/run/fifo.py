"""The effect of FIFO on a run: which message waits behind which, although its own delay has passed."""

from __future__ import annotations

import math

from sim.core.delays import HOLD
from sim.core.model import Channel, Message
from sim.run.execution import Execution, Flight, once


@once
def own_delays(execution: Execution) -> list[float]:
    """The delay drawn or set for each message, by id, in time units (HOLD: held). FIFO may add to it."""
    delays = execution.scenario.delays_of_a_run()
    return [delays.of(_message(flight)) for flight in execution.flights]


def _message(flight: Flight) -> Message:
    send = flight.send
    return Message(flight.id, flight.channel, flight.kind, None, send.snapshot_id, None, send.index, send.label, None)


def earliest_arrival(execution: Execution, flight: Flight) -> float:
    """The time at which a message with delay 0 arrives: the time of its send; under ticks, the next tick.

    Control messages do not wait for ticks.
    """
    sent = flight.send.time
    return float(math.floor(sent) + 1) if _is_ticked(execution, flight) else sent


def _is_ticked(execution: Execution, flight: Flight) -> bool:
    return execution.scenario.scheduler.kind == "tick" and not flight.is_control


def due(execution: Execution, flight: Flight) -> float:
    """The time at which a message would arrive without FIFO. It has no meaning under schedulers without time."""
    at = earliest_arrival(execution, flight) + own_delays(execution)[flight.id]
    return float(math.ceil(at)) if at != HOLD and _is_ticked(execution, flight) else at


@once
def held(execution: Execution) -> frozenset[int]:
    """The ids of the held messages."""
    return frozenset(message for message, delay in enumerate(own_delays(execution)) if delay == HOLD)


@once
def waits_behind(execution: Execution) -> dict[int, int]:
    """For each message that FIFO makes late, by id: the id of the message that it waits for.

    This is the message whose own delay is the cause: if several wait in a row, all wait for the first.
    """
    last: dict[tuple[Channel, bool], Flight] = {}  # the last message so far, by channel and is_marker
    found: dict[int, int] = {}
    goes_ahead = execution.engine.algorithm.goes_ahead
    for flight in execution.flights:
        if not flight.channel.fifo:
            continue
        is_fast = flight.is_marker and goes_ahead(flight.body)  # it does not wait for messages, but they wait for it
        in_front = [last.get((flight.channel, True)), None if is_fast else last.get((flight.channel, False))]
        before = max(filter(None, in_front), key=_arrival, default=None)
        if before is not None and _is_held_back(execution, flight, before, found):
            found[flight.id] = found.get(before.id, before.id)
        last[flight.channel, flight.is_marker] = flight
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
