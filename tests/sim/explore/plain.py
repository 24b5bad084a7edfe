"""A second explorer, slow and simple: the engine steps whole states one by one, and no table is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from sim.core.engine import Engine
from sim.core.model import Action, State
from sim.document.scenario import Scenario
from sim.explore.local import frozen


class Plain(NamedTuple):
    """What it finds. `snapshots` counts, for each recorded state, the runs up to the step that completes it."""

    states: int
    transitions: int
    snapshots: Counter[Hashable]


def explored(scenario: Scenario, *, own_order: bool = False) -> Plain:
    """All states, level by level, each with the number of runs that lead to it."""
    engine = scenario.engine()
    level = {key_of(engine, engine.initial()): (engine.initial(), 1)}
    seen, transitions, snapshots = set(level), 0, Counter[Hashable]()
    while level:
        after: dict[Hashable, tuple[State, int]] = {}
        for state, ways in level.values():
            for action in actions(engine, state, own_order=own_order):
                successor, _ = engine.step(state, action)
                transitions += 1
                key = key_of(engine, successor)
                after[key] = successor, ways + after.get(key, (state, 0))[1]
                for recorded in completed(engine, state, successor):
                    snapshots[recorded] += ways
        level = {key: own for key, own in after.items() if key not in seen}
        seen |= set(level)
    return Plain(len(seen), transitions, snapshots)


def runs_to_snapshots(scenario: Scenario, *, own_order: bool = False) -> Counter[Hashable]:
    """By recorded state: the runs up to the step that completes it, each run gone through on its own."""
    engine, found = scenario.engine(), Counter[Hashable]()

    def onwards(state: State) -> None:
        for action in actions(engine, state, own_order=own_order):
            successor, _ = engine.step(state, action)
            found.update(completed(engine, state, successor))
            onwards(successor)

    onwards(engine.initial())
    return found


def actions(engine: Engine, state: State, *, own_order: bool) -> Iterator[Action]:
    """What may happen next, of the script only the next line unless each process keeps only its own order."""
    order = [number for _, number in sorted((i.time, i.number) for i in engine.agenda if i.after is None)]
    done = sum(process.position for process in [*state.processes, *state.services])
    for action in engine.enabled(state):
        is_timed = action.item is not None and engine.agenda[action.item].after is None
        if own_order or not is_timed or order[done] == action.item:
            yield action


def completed(engine: Engine, before: State, after: State) -> Iterator[Hashable]:
    """What the snapshots have recorded that are complete after a step and were not before it."""
    for name in sorted({item.action.snapshot for item in engine.agenda if hasattr(item.action, "snapshot")}):
        if _is_complete(name, after) and not _is_complete(name, before):
            yield (name, *(_told(process, name) for process in after.processes))


def _is_complete(name: str, state: State) -> bool:
    return all(name in process.snapshots and process.snapshots[name].done for process in state.processes)


def _told(process: Any, name: str) -> Hashable:
    part = process.snapshots[name]
    kept = {(channel.name, tuple(frozen(m.body) for m in messages)) for channel, messages in part.kept.items()}
    return process.name, frozen(part.state), frozenset(own for own in kept if own[1])


def key_of(engine: Engine, state: State) -> Hashable:
    """Equal for states that no rule can tell apart, and no line of the script that waits for an event."""
    counts_events = any(label and label.rpartition(".")[2].isdigit() for label in engine.awaited)
    labels = [[m.receive_label if m.receive_label in engine.awaited else "" for m in queue] for queue in state.queues]

    def told(process):
        own = {
            name: (part.state, {c.name: k for c, k in part.kept.items() if k}, {c.name for c in part.closed}, part.done)
            for name, part in process.snapshots.items()
        }
        listening = {channel.name: snapshots for channel, snapshots in process.listening.items()}
        return (
            process.state, process.turn, process.position, process.alive, process.paused,
            {c.name for c in process.blocked}, own, listening, process.aborted, process.memory,
            process.index if counts_events else 0,
        )  # fmt: skip

    timers = {key: (timer.after, timer.snapshot) for key, timer in state.timers.items()}
    control = {channel.name: messages for channel, messages in state.control.items()}
    processes = [told(process) for process in [*state.processes, *state.services]]
    return frozen((processes, state.queues, labels, control, timers, state.happened, state.waiting))
