"""What FIFO does to a run: which message waits behind which, though its own delay has passed."""

from __future__ import annotations

import math

from sim.core.delays import HOLD
from sim.core.model import Channel, Message
from sim.run.execution import Execution, Flight, once


@once
def own_delays(execution: Execution) -> list[float]:
    """The delay that each message was given, by id, in time units (HOLD: held), whatever was in front of it."""
    delays = execution.scenario.delays_of_a_run()
    return [delays.of(_message(flight)) for flight in execution.flights]


def _message(flight: Flight) -> Message:
    send = flight.send
    return Message(flight.id, flight.channel, flight.kind, None, send.snapshot_id, None, send.index, send.label, None)


def earliest_arrival(execution: Execution, flight: Flight) -> float:
    """The time at which a message without delay arrives: that of its send; under ticks, that of the next tick.

    Control messages keep to no ticks.
    """
    sent = flight.send.time
    return float(math.floor(sent) + 1) if _is_ticked(execution, flight) else sent


def _is_ticked(execution: Execution, flight: Flight) -> bool:
    return execution.scenario.scheduler.kind == "tick" and not flight.is_control


def due(execution: Execution, flight: Flight) -> float:
    """The time at which a message would arrive by its own delay alone. Means nothing where there is no time."""
    at = earliest_arrival(execution, flight) + own_delays(execution)[flight.id]
    return float(math.ceil(at)) if at != HOLD and _is_ticked(execution, flight) else at


@once
def held(execution: Execution) -> frozenset[int]:
    """The ids of the messages that were given no delay that ends."""
    return frozenset(message for message, delay in enumerate(own_delays(execution)) if delay == HOLD)


@once
def waits_behind(execution: Execution) -> dict[int, int]:
    """For each message that FIFO holds back, by id: the message in front of it that does so.

    That is the one whose own delay is the reason: of several in a row, all wait behind the first.
    """
    last: dict[tuple[Channel, bool], Flight] = {}  # of the markers, and of the others, of each channel
    found: dict[int, int] = {}
    overtakes = execution.engine.algorithm.overtakes
    for flight in execution.flights:
        if not flight.channel.fifo:
            continue
        is_fast = overtakes and flight.is_marker  # such a marker waits for no message, but messages wait for it
        in_front = [last.get((flight.channel, True)), None if is_fast else last.get((flight.channel, False))]
        before = max(filter(None, in_front), key=_arrival, default=None)
        if before is not None and _is_held_back(execution, flight, before, found):
            found[flight.id] = found.get(before.id, before.id)
        last[flight.channel, flight.is_marker] = flight
    return found


def _arrival(flight: Flight) -> tuple[float, int]:
    """When a message arrives, never being last; of two that arrive together, the one sent later is the last."""
    return (math.inf if flight.receive is None else flight.receive.time), flight.id


def _is_held_back(execution: Execution, flight: Flight, before: Flight, found: dict[int, int]) -> bool:
    """Whether `flight`, sent next after `before` on its channel, could have come earlier without it."""
    if flight.receive is None:
        if before.receive is not None or flight.id in held(execution):
            return False
        return found.get(before.id, before.id) in held(execution)
    if before.receive is None or not execution.scenario.scheduler.has_time:
        return False
    return due(execution, flight) < flight.receive.time and due(execution, flight) <= before.receive.time
