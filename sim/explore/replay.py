"""A path through the states of a system as a run that every page opens: the choices of a scheduler by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sim.core.engine import Engine
from sim.core.model import FAULTS, Action, Crash, Deliver, Fire, Hear, Restart, Start, State
from sim.core.scheduler import choice_name, fault_name
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.explore.space import Space


def replayed(scenario: Scenario, space: Space, path: Sequence[tuple[int, int]]) -> Scenario:
    """The scenario with the choices of a path: nodes and their inputs."""
    return by_hand(scenario, tuple(_names(space, path)))


def by_hand(scenario: Scenario, names: tuple[str, ...]) -> Scenario:
    """The scenario with choices, by their names. Delays mean nothing in it, as it has no time.

    Where it has no faults, it gets a line for each fault that was chosen, at the time of that step.
    """
    faults = list(scenario.faults)
    if not scenario.all_faults:
        names, faults = _planned(names)
    choice = SchedulerChoice("manual", order=names)
    return replace(scenario, scheduler=choice, faults=tuple(faults), delays={}, cuts=(), walk=(), expect={})


def _planned(names: tuple[str, ...]) -> tuple[tuple[str, ...], list[FaultLine]]:
    """Lines for the faults among some choices; and these, with faults of the same name numbered."""
    order, faults = [], list[FaultLine]()
    for step, name in enumerate(names, start=1):
        kind, _, process = name.partition(" ")
        if kind in ("crash", "restart"):
            before = sum((own.kind, own.process) == (kind, process) for own in faults)
            faults.append(FaultLine(kind, process, (), float(step)))
            name = f"{name} #{before + 1}" if before else name
        order.append(name)
    return tuple(order), faults


def name_of(engine: Engine, state: State, action: Action) -> str:
    """The name of a choice; of a fault that the scenario does not plan, what happens."""
    if type(action) in FAULTS and action.item is None:
        return fault_name(engine, action)
    return choice_name(engine, state, action)


def _names(space: Space, path: Sequence[tuple[int, int]]) -> Iterator[str]:
    engine = space.engine
    state = engine.initial()
    for node, given in path:
        action = action_of(engine, state, node, space.machines[node].inputs.things[given])
        yield name_of(engine, state, action)
        engine.perform(state, action, [])


def action_of(engine: Engine, state: State, node: int, parts: tuple[object, ...]) -> Action:
    """The action of an input (sim/explore/machine.py) in a whole state."""
    kind = parts[0]
    if kind == "start":
        return Start(node)
    if kind in ("crash", "restart"):
        return Crash(node) if kind == "crash" else Restart(node)
    if kind == "fire":
        return Fire(state.timers[node, str(parts[1])])
    if kind == "item":
        return engine.agenda[int(str(parts[1]))].action
    if kind == "turn":
        return engine.workload.options(state.processes[node])[int(str(parts[1]))]
    channel, overtaken = parts[1], parts[3]
    if kind == "hear":
        return Hear(state.control[channel][0])  # type: ignore[index]
    return Deliver(state.queues[channel.number][len(overtaken)])  # type: ignore[attr-defined, arg-type]
