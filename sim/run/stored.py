"""What the storage of a run holds after each step, and what a rollback would bring back then."""

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
    """What a recovery brings back that begins at some moment of a run.

    `parts` holds for each process that goes back its part of the snapshot (None: it goes back to its initial state).
    `messages` are what the channels had recorded, which is put back into them.
    """

    parts: Mapping[str, LocalSnapshot | None]
    messages: tuple[Message, ...]


class Holding(NamedTuple):
    """What the storage holds from `step` on.

    `rollbacks` says of each snapshot that can be gone back to what that brings back. `staged` has the processes whose
    parts are there, by snapshot that is not valid, and `needed` by snapshot that is not kept, but on which others are
    built. `copies` has those that nobody coordinates: (snapshot, process, bytes).
    """

    step: int
    rollbacks: Mapping[str, BroughtBack]
    staged: Mapping[str, tuple[str, ...]]
    needed: Mapping[str, tuple[str, ...]]
    copies: tuple[tuple[str, str, int], ...]


@once
def holdings(execution: Execution) -> list[Holding]:
    """What the storage holds, from step 0 on, each time that it changes; empty for a run that stores nothing.

    Copies that nobody coordinates are gone back to all together, under the id of the last one.
    """
    scenario = execution.scenario
    if not scenario.has_storage:
        return []
    plan = scenario.recovery or RecoveryPlan()
    ready = replace(scenario, recovery=plan)  # what a recovery needs is noted from the beginning on
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
    """What a recovery would do that begins in `state`, which does not change."""
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
    """What the storage holds when a recovery begins at `time` (None: the run stores nothing)."""
    found = holdings(execution)
    last = bisect_left(execution.times, time, lo=1) - 1  # what a service does comes after what the world does
    return found[bisect_right(found, last, key=lambda own: own.step) - 1] if found else None


def abandoned(execution: Execution, process: str, inside: int, first: int, until: int) -> list[tuple[int, int]]:
    """How many events of a process come after its first `inside` events and are not gone, over the steps.

    Steps from `first` to `until`, each with the number from then on. `inside` counts the events by their indices in the
    table.
    """
    later: list[int] = []
    found = [(first, 0)]
    for event in in_time(_lives(execution).get(process, ())):
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
    """The labels of the first `inside` events of a process, but for those that are gone at `step`."""
    found: list[Event] = []
    for event in _lives(execution).get(process, ()):
        if event.step > step:
            break
        if event.kind == RESTORE:
            found = [own for own in found if (own.index or 0) <= (event.index or 0)]
        else:
            found.append(event)
    return [event.label or "" for event in found if (event.index or 0) <= inside]


@once
def _lives(execution: Execution) -> dict[str, list[Event]]:
    """The application events of each process and its restores, as in the table."""
    found: dict[str, list[Event]] = {}
    for event in in_time(execution.table):
        if event.kind in APPLICATION_KINDS or event.kind == RESTORE:
            found.setdefault(event.process, []).append(event)
    return found
