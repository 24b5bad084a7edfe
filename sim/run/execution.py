"""Runs a scenario: a pure function from the scenario to a finished execution.

The same scenario gives the same events, to the byte, whether states are copied or changed in place.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

from sim.core import deadline
from sim.core.deadline import in_time
from sim.core.delays import DelaysExhausted
from sim.core.engine import Engine
from sim.core.errors import InputError
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
    Action,
    Channel,
    Event,
    State,
    label_of,
)
from sim.core.rules import ROW_WIDTH
from sim.core.scheduler import Choice, NotEnabled
from sim.core.workload import Refused
from sim.document.scenario import Scenario
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


class Flight(NamedTuple):
    """A message of any kind, with its send and its receive (None: it never arrives).

    `stamp` is what the algorithm piggybacks on it. `lost` is the row that says that it is lost, or fenced off. A copy
    of another message has the send of that one, and the row `copied` that says so (None: it is no copy). What a
    recovery puts back into its channel is a flight of its own: it has the send of the message, and the row `put_back`.
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
        """The event table with the events that survive numbered without gaps (sim/theory/surviving.py).

        It is `table` itself where nothing is rolled back.
        """
        return renumbered(self.table)

    def numbered(self, event: Event) -> str:
        """The name that edits and script lines may give an application event: `P1.3`, by its index in the table."""
        return label_of(event.process, self.table[event.row].index or 0, None)

    @cached_property
    def flights(self) -> list[Flight]:
        """Every message of the run, by message id, as it went first: without what recoveries put back."""
        channel_of = {channel.name: channel for channel in self.engine.channels}
        arrivals, losses = self._ends
        found = []
        sends: dict[tuple[str | int | None, ...], Event] = {}
        for event in in_time(self.events):
            if event.kind in SENT:
                sends[self._way(event)] = event
            if event.kind in SENT or event.kind == COPIED:
                name, number = event.channel or "", event.message_id or 0
                source, _, target = name.partition("->")
                if event.kind == CONTROL_SEND:
                    channel = self.engine.control_channel(self.engine.number_of[source], target)
                else:
                    channel = channel_of[name]
                body, stamp = self.body_of(event), self.stamps.get(number)
                send, copied = (sends[self._way(event)], event) if event.kind == COPIED else (event, None)
                own = Flight(number, channel, send, arrivals.get(number), body, stamp, losses.get(number), copied)
                found.append(own)
        return found

    @staticmethod
    def _way(event: Event) -> tuple[str | int | None, ...]:
        """What a send and the rows of its copies have in common."""
        return event.process, event.index, event.channel, event.snapshot_id if event.index is None else None

    @cached_property
    def replays(self) -> list[Flight]:
        """The messages that recoveries have put back into their channels, in the order of the rows that say so."""
        found = []
        for number, (_, *again) in self._ways.items():
            for row, receive, lost in again:
                found.append(self.flights[number]._replace(receive=receive, lost=lost, put_back=row))
        return sorted(found, key=lambda flight: flight.put_back.row if flight.put_back else 0)

    @cached_property
    def _ways(self) -> dict[int, list[list[Event | None]]]:
        """By message id, the ways of those that recoveries have put back: the row `put_back`, the receipt, the loss.

        The first way is that of the message as it was sent. What is lost or fenced off is on the oldest way; what is
        received on the newest, for what is put back is there at once.
        """
        if not self.engine.has_epochs:
            return {}
        found: dict[int, list[list[Event | None]]] = {
            row.message_id: [[None, None, None]]
            for row in self.table
            if row.kind == PUT_BACK and row.message_id is not None
        }
        for row, event in zip(self.table, self.events, strict=True):
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
        """By message id, the rows that say that a message is received, and that it is lost or fenced off.

        Of what a recovery puts back they are those of the message as it was sent.
        """
        received: dict[int, Event] = {}
        lost: dict[int, Event] = {}
        for row, event in zip(self.table, self.events, strict=True):
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
        """The rows that say that a message is lost or fenced off, by message id."""
        return self._ends[1]

    def body_of(self, event: Event) -> Any:
        """The body of an event as a value, not as JSON."""
        return self.log.rows[event.row * ROW_WIDTH + BODY]

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
        """Runs the scenario again, and yields every step. If not `copied`, all steps share one state, which changes."""
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
    """Runs `scenario` to its end, or for `until` steps. States are changed in place unless `copied`.

    Raises InputError if an action is refused (such as a send without the money), a choice is not enabled, the list of
    delays is too short, or the run has more than `most_steps` steps; OutOfTime where its deadline passes.
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
