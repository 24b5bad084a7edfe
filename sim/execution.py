"""Running a scenario: a pure function from the document to a finished execution.

The same scenario gives the same events, to the byte, copied or in place, whatever PYTHONHASHSEED is.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

from sim.causality import History
from sim.delays import DelaysExhausted
from sim.engine import LOG_WIDTH, Engine
from sim.model import (
    APPLICATION_KINDS,
    CHANNEL_CLOSED,
    MARKER_RECEIVE,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    SEND,
    Action,
    Channel,
    Deliver,
    Event,
    Initiate,
    State,
    label_of,
)
from sim.scenario import Scenario, ScenarioError
from sim.scheduler import Choice, NotEnabled
from sim.workload import Refused

MOST_STEPS = 2_000_000
_STEP, _TIME, _INDEX, _KIND, _MESSAGE, _BODY = 0, 1, 3, 4, 7, 9  # columns of a log row
_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Moment(NamedTuple):
    """A step as it has just been done: its number (from 1), time, action, and the state it led to."""

    number: int
    time: float
    action: Action
    state: State


class Flight(NamedTuple):
    """A message from its send to its receipt (None: it never arrives), application message or marker."""

    id: int
    channel: Channel
    send: Event
    receive: Event | None
    body: Any

    @property
    def is_marker(self) -> bool:
        """Whether it belongs to a snapshot rather than to the computation."""
        return self.send.kind == MARKER_SEND


@dataclass(frozen=True)
class Execution:
    """A finished run and what it left behind.

    `log` is flat, LOG_WIDTH values a row; `events` is the event table made of it. `steps` is the
    number of atomic actions. `initiations` holds (step, time, action) of each Initiate: one that finds
    its snapshot already recorded does nothing, and so leaves no row. `done` is the step at which each item
    of the scenario's agenda was carried out, by item number (missing: never).
    """

    scenario: Scenario
    engine: Engine
    log: list[Any]
    steps: int
    initiations: list[tuple[int, float, Initiate]]
    done: dict[int, int]
    final: State

    @cached_property
    def events(self) -> list[Event]:
        """The event table, in order of `row`, with `peer_index`, labels and JSON bodies filled in."""
        return finish_rows(self.log)

    @cached_property
    def flights(self) -> list[Flight]:
        """Every message of the run, by message id."""
        channel_of = {channel.name: channel for channel in self.engine.channels}
        arrivals = {e.message_id: e for e in self.events if e.kind in (RECEIVE, MARKER_RECEIVE)}
        return [
            Flight(e.message_id or 0, channel_of[e.channel or ""], e, arrivals.get(e.message_id), self.body_of(e))
            for e in self.events
            if e.kind in (SEND, MARKER_SEND)
        ]

    def body_of(self, event: Event) -> Any:
        """The body of an event as the value it was, before it was written as JSON."""
        return self.log[event.row * LOG_WIDTH + _BODY]

    @cached_property
    def history(self) -> History:
        """Its application events, by process, with what happened before what."""
        return History(self.scenario.processes, self.events)

    @cached_property
    def times(self) -> list[float]:
        """The time of every step, by its number (0: 0.0)."""
        times = dict(zip(self.log[_STEP::LOG_WIDTH], self.log[_TIME::LOG_WIDTH], strict=True))
        times.update((step, time) for step, time, _ in self.initiations)
        return [times.get(step, 0.0) for step in range(self.steps + 1)]

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

    Raises ScenarioError when an action is refused (a send without money) or the run is too long.
    """
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    log: list[Any] = []
    initiations: list[tuple[int, float, Initiate]] = []
    done: dict[int, int] = {}
    chooser = scheduler.choices()
    choice: Choice | None = None
    number = 0
    collecting = gc.isenabled()
    gc.disable()  # a run makes no cycles, and the collector would look at every row again and again
    try:
        choice = next(chooser, None)
        while choice is not None:
            if number == most_steps:
                raise ScenarioError(scenario.at(f"the run goes on after {most_steps} steps; bound its workload"))
            number += 1
            time, action = choice
            if copied:
                scheduler.state = state = engine.copy_for(state, action)
            if not isinstance(action, Deliver) and action.item is not None:
                done[action.item] = number
                if isinstance(action, Initiate):
                    initiations.append((number, time, action))
            sent = engine.perform(state, action, log, number, time)
            try:
                choice = chooser.send(sent)
            except StopIteration:
                break
    except NotEnabled as reason:
        raise ScenarioError(scenario.at(f"scheduler.order[{reason.number}]: {reason}")) from None
    except DelaysExhausted as reason:
        raise ScenarioError(str(reason)) from None
    except Refused as reason:
        raise ScenarioError(f"{_what_was_refused(scenario, choice[1] if choice else None)}{reason}") from None
    finally:
        if collecting:
            gc.enable()
    return Execution(scenario, engine, log, number, initiations, done, state)


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
        sent = engine.perform(state, action, [], number, time)
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


def finish_rows(log: list[Any], run_id: int = 0) -> list[Event]:
    """The rows of a flat log as events: peers matched, labels and sizes filled in, bodies as JSON."""
    columns = [log[column::LOG_WIDTH] for column in (_INDEX, _KIND, _MESSAGE)]
    received = {message: index for index, kind, message in zip(*columns, strict=True) if kind == RECEIVE}
    events = []
    for number, row in enumerate(zip(*[iter(log)] * LOG_WIDTH, strict=True)):
        step, time, process, index, kind, channel, peer, message, label, body, snapshot, size = row
        text = None if body is None else to_json(body)
        if kind in APPLICATION_KINDS:
            label = label_of(process, index, label)
            if kind == SEND:
                peer = received.get(message)
        elif kind in (RECORD, CHANNEL_CLOSED):
            text = to_json(body)
            size = len(text.encode())
        events.append(
            Event(run_id, number, step, time, process, index, kind, channel, peer, message, label, text, snapshot, size)
        )
    return events


def to_json(value: Any) -> str:
    """The one way in which bodies and states are written."""
    if type(value) is int:
        return str(value)
    return _write_json(value)
