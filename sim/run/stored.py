"""The contents of a run's storage after each step, and the state that a rollback would restore from it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sim.core import recovery
from sim.core.deadline import in_time
from sim.core.engine import Engine
from sim.core.model import APPLICATION_KINDS, RESTORE, Event, LocalSnapshot, Message, State
from sim.core.recovery import RecoveryPlan
from sim.run.execution import Execution, once
from sim.services.shelf import Shelf
from sim.services.storage_words import NAME


class BroughtBack(NamedTuple):
    """The state that a recovery would restore if it began at some moment of a run.

    `parts` holds for each process that goes back its part of the snapshot (None: it goes back to its initial state).
    `messages` are the recorded messages that go back into their channels.
    """

    parts: Mapping[str, LocalSnapshot | None]
    messages: tuple[Message, ...]


class Holding(NamedTuple):
    """The contents of the storage from `step` on.

    `rollbacks` holds, by snapshot that the system can go back to, the state that this would restore. `staged` holds the
    processes with stored parts, by snapshot that is not valid yet. `needed` holds them by snapshot that is no longer
    kept, but on which others build. `copies` holds uncoordinated checkpoints: (snapshot, process, bytes).
    """

    step: int
    rollbacks: Mapping[str, BroughtBack]
    staged: Mapping[str, tuple[str, ...]]
    needed: Mapping[str, tuple[str, ...]]
    copies: tuple[tuple[str, str, int], ...]


@once
def holdings(execution: Execution) -> list[Holding]:
    """The contents of the storage, from step 0 on, each time that they change; empty for a run that stores nothing.

    A rollback goes to all uncoordinated checkpoints together, under the id of the last one.
    """
    scenario = execution.scenario
    if not scenario.has_storage:
        return []
    plan = scenario.recovery or RecoveryPlan()
    ready = replace(scenario, recovery=plan)  # so that the run keeps the notes that a recovery needs
    engine = ready.engine()
    number = engine.number_of[NAME]
    found = [Holding(0, {}, {}, {}, ())]
    seen: Shelf | None = None
    for step in replace(execution, scenario=ready, engine=engine).replay(copied=False):
        shelf = step.state.node(number).memory
        if shelf is not seen:
            found.append(_holding(engine, step.state, step.number, shelf, found[-1].rollbacks))
            seen = shelf
    return found


def _holding(engine: Engine, state: State, step: int, shelf: Shelf, known: Mapping[str, BroughtBack]) -> Holding:
    rollbacks = {name: known[name] if name in known else _rollback(engine, state, name) for name in shelf.valid}
    if shelf.checkpoints:
        rollbacks[shelf.checkpoints[-1][0]] = _rollback(engine, state, None)
    staged = {snapshot: tuple(parts) for snapshot, parts in shelf.staged.items()}
    needed: dict[str, tuple[str, ...]] = {}
    for snapshot, process in shelf.needed:
        needed[snapshot] = (*needed.get(snapshot, ()), process)
    copies = tuple((name, process, part.size) for name, process, part in shelf.checkpoints)
    return Holding(step, rollbacks, staged, needed, copies)


def _rollback(engine: Engine, state: State, wanted: str | None) -> BroughtBack:
    """The result of a recovery that begins in `state`, which does not change."""
    assert engine.plan is not None
    goal = engine.goal(state, wanted)
    begun = recovery.begun(state.recovery, goal, state, None)
    messages = [
        message
        for process in state.processes
        if process.name in goal.restores and engine.plan.channels
        for message in recovery.contents(begun, process, from_log=engine.has_logs)
    ]
    return BroughtBack({name: goal.parts.get(name) for name in goal.restores}, tuple(messages))


def holding_before(execution: Execution, time: float) -> Holding | None:
    """The contents of the storage when a recovery begins at `time` (None: the run stores nothing)."""
    found = holdings(execution)
    last = bisect_left(execution.times, time, lo=1) - 1  # services act after the environment
    return found[bisect_right(found, last, key=lambda own: own.step) - 1] if found else None


def abandoned(execution: Execution, process: str, inside: int, first: int, until: int) -> list[tuple[int, int]]:
    """The number of events of a process after its first `inside` events that are not taken back, over the steps.

    Steps from `first` to `until`, each with the number from then on. `inside` counts the events by their indices in the
    table.
    """
    later: list[int] = []
    found = [(first, 0)]
    for event in in_time(_events_and_restores(execution).get(process, ())):
        if event.step > until:
            break
        index = event.index or 0
        if event.kind == RESTORE:
            del later[bisect_right(later, index) :]
        elif index > inside:
            later.append(index)
        if event.step <= first:
            found = [(first, len(later))]
        elif found[-1][1] != len(later):
            found.append((event.step, len(later)))
    return found


def labels_inside(execution: Execution, process: str, inside: int, step: int) -> list[str]:
    """The labels of the first `inside` events of a process, without those that are taken back at `step`."""
    found: list[Event] = []
    for event in _events_and_restores(execution).get(process, ()):
        if event.step > step:
            break
        if event.kind == RESTORE:
            found = [own for own in found if (own.index or 0) <= (event.index or 0)]
        else:
            found.append(event)
    return [event.label or "" for event in found if (event.index or 0) <= inside]


@once
def _events_and_restores(execution: Execution) -> dict[str, list[Event]]:
    """The application events of each process and its restores, as in the table."""
    found: dict[str, list[Event]] = {}
    for event in in_time(execution.table):
        if event.kind in APPLICATION_KINDS or event.kind == RESTORE:
            found.setdefault(event.process, []).append(event)
    return found
