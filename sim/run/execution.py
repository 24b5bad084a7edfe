"""Running a scenario: a pure function from the document to a finished execution.

The same scenario gives the same events, to the byte, copied or in place, whatever PYTHONHASHSEED is.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

from sim.core.delays import DelaysExhausted
from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.log import BODY, Log
from sim.core.model import (
    CONTROL,
    CONTROL_SEND,
    MARKER,
    RECEIVED,
    SENT,
    Action,
    Channel,
    Event,
    State,
)
from sim.core.rules import ROW_WIDTH
from sim.core.scheduler import Choice, NotEnabled
from sim.core.workload import Refused
from sim.document.scenario import Scenario
from sim.theory.causality import History

MOST_STEPS = 2_000_000


class Moment(NamedTuple):
    """A step as it has just been done: its number (from 1), time, action, and the state it led to."""

    number: int
    time: float
    action: Action
    state: State


class Flight(NamedTuple):
    """A message from its send to its receipt (None: it never arrives): application message, marker or control message.

    `stamp` is what the algorithm piggybacks on it.
    """

    id: int
    channel: Channel
    send: Event
    receive: Event | None
    body: Any
    stamp: Any

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
        """Whether it is a control message, which is in no channel."""
        return self.kind == CONTROL


@dataclass(frozen=True)
class Execution:
    """A finished run and what it left behind.

    `log` holds its rows; `events` is the event table made of them. `stamps` are those of the messages, by id, where the
    algorithm has any. `done` is the step at which each item of the scenario's agenda was carried out, by item number
    (missing: never).
    """

    scenario: Scenario
    engine: Engine
    log: Log
    stamps: dict[int, Any]
    done: dict[int, int]
    final: State

    @property
    def steps(self) -> int:
        """The number of atomic actions."""
        return len(self.log.times)

    @cached_property
    def events(self) -> list[Event]:
        """The event table, in order of `row`, with `peer_index`, labels and JSON bodies filled in."""
        return self.log.events()

    @cached_property
    def flights(self) -> list[Flight]:
        """Every message of the run, by message id."""
        channel_of = {channel.name: channel for channel in self.engine.channels}
        arrivals = {event.message_id: event for event in self.events if event.kind in RECEIVED}
        found = []
        for event in self.events:
            if event.kind in SENT:
                name, number = event.channel or "", event.message_id or 0
                source, _, target = name.partition("->")
                is_control = event.kind == CONTROL_SEND
                way = (
                    self.engine.control_channel(self.engine.number_of[source], target)
                    if is_control
                    else channel_of[name]
                )
                stamp = self.stamps.get(number)
                found.append(Flight(number, way, event, arrivals.get(number), self.body_of(event), stamp))
        return found

    def body_of(self, event: Event) -> Any:
        """The body of an event as the value it was, before it was written as JSON."""
        return self.log.rows[event.row * ROW_WIDTH + BODY]

    @cached_property
    def history(self) -> History:
        """Its application events, by process, with what happened before what."""
        return History(self.scenario.processes, self.events)

    @cached_property
    def times(self) -> list[float]:
        """The time of every step, by its number (0: 0.0)."""
        return [0.0, *self.log.times]

    def moments(self, *, copied: bool = True) -> Iterator[Moment]:
        """The run again, step by step. Every state may be kept, unless not `copied`: then it is one that changes."""
        return walk(self.scenario, copied=copied)

    def state_at(self, step: int) -> State:
        """The state after `step` (0: the initial one). Raises IndexError beyond the last step."""
        if step == 0:
            return self.engine.initial()
        for moment in self.moments():
            if moment.number == step:
                return moment.state
        raise IndexError(f"step {step}: this execution has steps 0 to {self.steps}")


Found = TypeVar("Found")


def once(compute: Callable[[Execution], Found]) -> Callable[[Execution], Found]:
    """`compute`, done once for each execution and kept with it, as its cached properties are."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(execution: Execution) -> Found:
        kept = vars(execution)
        if key not in kept:
            kept[key] = compute(execution)
        result: Found = kept[key]
        return result

    return found


def run(scenario: Scenario, *, copied: bool = False, most_steps: int = MOST_STEPS) -> Execution:
    """Runs `scenario` to its end, in place unless `copied`.

    Raises InputError when an action is refused (a send without money) or the run is too long.
    """
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    log = Log()
    stamps: dict[int, Any] = {}
    has_stamps = bool(engine.algorithm.stamps)
    done: dict[int, int] = {}
    chooser = scheduler.choices()
    choice: Choice | None = None
    number = 0
    rows, ends, times = log.rows, log.ends, log.times
    collecting = gc.isenabled()
    gc.disable()  # a run makes no cycles, and the collector would look at every row again and again
    try:
        choice = next(chooser, None)
        while choice is not None:
            if number == most_steps:
                raise InputError(scenario.at(f"the run goes on after {most_steps} steps; bound its workload"))
            number += 1
            time, action = choice
            if copied:
                scheduler.state = state = engine.copy_for(state, action)
            item = action.item
            if item is not None:
                done[item] = number
            sent = engine.perform(state, action, rows)
            if has_stamps:
                stamps.update((message.id, message.stamp) for message in sent)
            ends.append(len(rows))
            times.append(time)
            try:
                choice = chooser.send(sent)
            except StopIteration:
                break
    except NotEnabled as reason:
        raise InputError(scenario.at(f"scheduler.order[{reason.number}]: {reason}")) from None
    except DelaysExhausted as reason:
        raise InputError(str(reason)) from None
    except Refused as reason:
        raise InputError(f"{_what_was_refused(scenario, choice[1] if choice else None)}{reason}") from None
    finally:
        if collecting:
            gc.enable()
    return Execution(scenario, engine, log, stamps, done, state)


def walk(scenario: Scenario, *, copied: bool = True) -> Iterator[Moment]:
    """Runs `scenario`, handing out each moment; no state handed out ever changes, unless not `copied`."""
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    chooser = scheduler.choices()
    choice = next(chooser, None)
    number = 0
    while choice is not None:
        number += 1
        time, action = choice
        if copied:
            scheduler.state = state = engine.copy_for(state, action)
        sent = engine.perform(state, action, [])
        yield Moment(number, time, action, state)
        try:
            choice = chooser.send(sent)
        except StopIteration:
            return


def _what_was_refused(scenario: Scenario, action: Action | None) -> str:
    """Which line of the document asked for `action`."""
    item = getattr(action, "item", None)
    if item is None:
        return scenario.at("")
    label = getattr(action, "label", None)
    return f"{scenario.where(item)}{f' ({label})' if label else ''}: "
