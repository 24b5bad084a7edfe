"""Running a scenario: a pure function from the document to a finished execution.

The same scenario gives the same events, to the byte, copied or in place, whatever PYTHONHASHSEED is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sim.delays import DelaysExhausted
from sim.engine import LOG_WIDTH, Engine
from sim.model import (
    APPLICATION_KINDS,
    CHANNEL_CLOSED,
    RECEIVE,
    RECORD,
    SEND,
    Action,
    Event,
    Message,
    State,
    label_of,
)
from sim.scenario import Scenario, ScenarioError
from sim.workload import Refused

MOST_STEPS = 2_000_000


class Moment(NamedTuple):
    """A step as it has just been done: its number (from 1), time, action, and the state it led to."""

    number: int
    time: float
    action: Action
    state: State


@dataclass(frozen=True)
class Execution:
    """A finished run. `log` is flat, LOG_WIDTH values a row; `events` is the event table made of it."""

    scenario: Scenario
    engine: Engine
    log: list[Any]
    actions: list[Action]
    times: list[float]
    messages: list[Message]
    final: State

    @property
    def steps(self) -> int:
        """The number of atomic actions."""
        return len(self.actions)

    @cached_property
    def events(self) -> list[Event]:
        """The event table, in order of `row`, with `peer_index`, labels and JSON bodies filled in."""
        return finish_rows(self.log)

    def moments(self) -> Iterator[Moment]:
        """The run again, step by step, in copied mode: every state of it may be kept."""
        return walk(self.scenario)

    def state_at(self, step: int) -> State:
        """The state after `step` (0: the initial one). Raises IndexError beyond the last step."""
        if step == 0:
            return self.engine.initial()
        for moment in self.moments():
            if moment.number == step:
                return moment.state
        raise IndexError(f"step {step}: this execution has steps 0 to {self.steps}")


def run(scenario: Scenario, *, copied: bool = False, most_steps: int = MOST_STEPS) -> Execution:
    """Runs `scenario` to its end, in place unless `copied`.

    Raises ScenarioError when an action is refused (a send without money) or the run is too long.
    """
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    log: list[Any] = []
    actions: list[Action] = []
    times: list[float] = []
    messages: list[Message] = []
    perform, saw = engine.perform, scheduler.saw
    number = 0
    action: Action | None = None
    try:
        for time, action in scheduler.choices():
            number += 1
            if copied:
                state = engine.copy_for(state, action)
            sent = perform(state, action, log, number, time)
            actions.append(action)
            times.append(time)
            if sent:
                messages += sent
            saw(state, action, sent)
            if number == most_steps:
                raise ScenarioError(f"{scenario.name}: the run goes on after {most_steps} steps; bound its workload")
    except (Refused, DelaysExhausted) as reason:
        raise ScenarioError(f"{scenario.name}: {_what_was_refused(scenario, action)}{reason}") from None
    return Execution(scenario, engine, log, actions, times, messages, state)


def walk(scenario: Scenario) -> Iterator[Moment]:
    """Runs `scenario` in copied mode, handing out each moment; no state handed out ever changes."""
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    for number, (time, action) in enumerate(scheduler.choices(), start=1):
        state = engine.copy_for(state, action)
        sent = engine.perform(state, action, [], number, time)
        scheduler.saw(state, action, sent)
        yield Moment(number, time, action, state)


def _what_was_refused(scenario: Scenario, action: Action | None) -> str:
    """Which line of the document asked for `action`."""
    item = getattr(action, "item", None)
    if item is None or item >= len(scenario.script):
        return ""
    line = scenario.script[item]
    return f"script line {item + 1}{f' ({line.label})' if line.label else ''}: "


def finish_rows(log: list[Any], run_id: int = 0) -> list[Event]:
    """The rows of a flat log as events: peers matched, labels and sizes filled in, bodies as JSON."""
    rows = list(zip(*[iter(log)] * LOG_WIDTH, strict=True))
    received = {row[7]: row[3] for row in rows if row[4] == RECEIVE}
    return [
        _finish(run_id, number, row, received.get(row[7]) if row[4] == SEND else row[6])
        for number, row in enumerate(rows)
    ]


def _finish(run_id: int, number: int, row: tuple[Any, ...], peer: int | None) -> Event:
    step, time, process, index, kind, channel, _, message, label, body, snapshot, size = row
    if kind in APPLICATION_KINDS:
        label = label_of(process, index, label)
    text = None if body is None and kind != RECORD else to_json(body)
    if kind in (RECORD, CHANNEL_CLOSED):
        size = len(text.encode()) if text else 0
    return Event(run_id, number, step, time, process, index, kind, channel, peer, message, label, text, snapshot, size)


def to_json(value: Any) -> str:
    """The one way in which bodies and states are written."""
    if type(value) is int:
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
