"""The run of a scenario: a pure function from the scenario to a finished execution.

The same scenario gives the same events, to the byte, whether states are copied or changed in place.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

from sim.core import deadline
from sim.core.delays import DelaysExhausted
from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.log import Log
from sim.core.model import (
    Action,
    Event,
    State,
    label_of,
)
from sim.core.scheduler import Choice, NotEnabled
from sim.core.workload import Refused
from sim.document.scenario import Scenario
from sim.run.flights import Flight, Flights, body_of
from sim.theory.causality import History
from sim.theory.positions import Order
from sim.theory.surviving import abandoned, renumbered

MOST_STEPS = 2_000_000


class Step(NamedTuple):
    """One step of a run: its number (from 1), its time and action, and the state after it."""

    number: int
    time: float
    action: Action
    state: State


@dataclass(frozen=True)
class Execution:
    """A finished run.

    `log` holds its rows, and `events` the event table made from them. `stamps` holds the stamp of every message, by id,
    if the algorithm uses stamps. `step_of_item` holds the step that carried out each agenda item, by item number
    (missing: never carried out). `final` is the last state.
    """

    scenario: Scenario
    engine: Engine
    log: Log
    stamps: dict[int, Any]
    step_of_item: dict[int, int]
    final: State

    @property
    def steps(self) -> int:
        """The number of atomic actions."""
        return len(self.log.times)

    @cached_property
    def table(self) -> list[Event]:
        """The event table, in order of `row`, as it is exported."""
        return self.log.events()

    @cached_property
    def events(self) -> list[Event]:
        """The event table with the surviving events numbered without gaps (sim/theory/surviving.py).

        It is `table` itself if nothing is rolled back.
        """
        return renumbered(self.table)

    def numbered(self, event: Event) -> str:
        """The name that edits and script lines may give an application event: `P1.3`, by its index in the table."""
        return label_of(event.process, self.table[event.row].index or 0, None)

    @cached_property
    def _messages(self) -> Flights:
        return Flights(self.engine, self.log, self.table, self.events, self.stamps)

    @cached_property
    def flights(self) -> list[Flight]:
        """Every message of the run, by message id, on its first way: without those that recoveries put back."""
        return self._messages.all

    @cached_property
    def replays(self) -> list[Flight]:
        """The messages that recoveries have put back into their channels, in the order of their rows `put_back`."""
        return self._messages.replays

    @cached_property
    def losses(self) -> dict[int, Event]:
        """The rows of losses and fencings, by message id."""
        return self._messages.losses

    def body_of(self, event: Event) -> Any:
        """The body of an event as a value, not as JSON."""
        return body_of(self.log, event)

    @cached_property
    def history(self) -> History:
        """The application events of the run, with their causal order."""
        return History(self.scenario.processes, self.events)

    @cached_property
    def order(self) -> Order:
        """The positions between which the cuts of the run lie, with their causal order."""
        return Order(self.scenario.processes, self.events, abandoned(self.table) if self.engine.has_epochs else ())

    @cached_property
    def times(self) -> list[float]:
        """The time of every step, by its number. Step 0, the initial state, has time 0."""
        return [0.0, *self.log.times]

    def replay(self, *, copied: bool = True) -> Iterator[Step]:
        """Run the scenario again and yield every step. If not `copied`, all steps share one state, which changes."""
        engine = self.scenario.engine()
        state = engine.initial()
        scheduler = self.scenario.scheduler_for(engine, state)
        chooser = scheduler.choices()
        choice = next(chooser, None)
        number = 0
        while choice is not None:
            number += 1
            if number % deadline.EVERY == 0:
                deadline.check()
            time, action = choice
            if copied:
                scheduler.state = state = engine.copy_for(state, action)
            sent = engine.perform(state, action, [])
            yield Step(number, time, action, state)
            try:
                choice = chooser.send(sent)
            except StopIteration:
                return


Found = TypeVar("Found")
Owner = TypeVar("Owner")


def once(compute: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """A decorator: `compute` runs once for each object, such as an execution, which keeps the result."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(owner: Owner) -> Found:
        kept = vars(owner)
        if key not in kept:
            deadline.check()
            kept[key] = compute(owner)
        result: Found = kept[key]
        return result

    return found


def run(
    scenario: Scenario, *, copied: bool = False, most_steps: int = MOST_STEPS, until: int | None = None
) -> Execution:
    """Run `scenario` to its end, or for `until` steps. States are changed in place unless `copied`.

    Raises InputError if an action is refused (such as a send without the money) or a choice is not enabled. It also
    does if the list of delays is too short, or the run has more than `most_steps` steps. Raises OutOfTime if its
    deadline passes.
    """
    engine = scenario.engine()
    state = engine.initial()
    scheduler = scenario.scheduler_for(engine, state)
    log = Log()
    stamps: dict[int, Any] = {}
    has_stamps = bool(engine.algorithm.stamps)
    step_of_item: dict[int, int] = {}
    chooser = scheduler.choices()
    choice: Choice | None = None
    number, pause = 0, min(deadline.EVERY, most_steps)
    rows, ends, times = log.rows, log.ends, log.times
    collecting = gc.isenabled()
    gc.disable()  # a run makes no cycles, and the collector would traverse all rows again and again
    try:
        choice = next(chooser, None)
        while choice is not None and number != until:
            if number == pause:
                if number == most_steps:
                    raise InputError(scenario.at(f"the run goes on after {most_steps} steps; bound its workload"))
                deadline.check()
                pause = min(number + deadline.EVERY, most_steps)
            number += 1
            time, action = choice
            if copied:
                scheduler.state = state = engine.copy_for(state, action)
            item = action.item
            if item is not None:
                step_of_item[item] = number
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
    return Execution(scenario, engine, log, stamps, step_of_item, state)


def _what_was_refused(scenario: Scenario, action: Action | None) -> str:
    """The place in the file of the item that planned `action`, with its label, to begin an error."""
    item = getattr(action, "item", None)
    if item is None:
        return scenario.at("")
    label = getattr(action, "label", None)
    return f"{scenario.where(item)}{f' ({label})' if label else ''}: "
