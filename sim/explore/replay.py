"""A path through the states of a system as a run that every page opens: the choices of a scheduler by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sim.core.broken_rule import FIFO
from sim.core.engine import Engine
from sim.core.fault_kinds import FAULT_KINDS
from sim.core.model import (
    FAULTS,
    MARKER,
    Action,
    Deliver,
    Fire,
    Hear,
    Lose,
    Message,
    MessageReference,
    Start,
    State,
)
from sim.core.network import RAW
from sim.core.scheduler import choice_name, fault_name
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.explore.space import Space


def replayed(scenario: Scenario, space: Space, path: Sequence[tuple[int, int]]) -> Scenario:
    """The scenario with the choices of a path: nodes and their inputs."""
    return by_hand(scenario, tuple(_names(space, path)))


def by_hand(scenario: Scenario, names: tuple[str, ...]) -> Scenario:
    """The scenario with choices, by their names. Delays mean nothing in it, as it has no time.

    Where it has no faults, it gets a line for each fault that was chosen, at the time of that step. It always gets one
    for each message that is lost, and then its network is raw: no layer sends such a message again.
    """
    names, faults = _planned(scenario, names)
    if any(own.kind == "lose" for own in faults):
        scenario = _raw(scenario)
    choice, faults = SchedulerChoice("manual", order=names), (*scenario.faults, *faults)
    return replace(scenario, scheduler=choice, faults=faults, delays={}, cuts=(), walk=(), expect={})


def _raw(scenario: Scenario) -> Scenario:
    """The scenario on a raw network. No channel is FIFO there; where rules need that, it is a rule that is broken."""
    needs_fifo = scenario.snapshots and scenario.rules.needs_fifo and FIFO not in scenario.breaks
    breaks = (FIFO, *scenario.breaks) if needs_fifo else scenario.breaks
    return replace(scenario, network=replace(scenario.network, layer=RAW), breaks=breaks)


def _planned(scenario: Scenario, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[FaultLine, ...]]:
    """Lines for the faults among some choices that the scenario does not plan.

    And the choices, with faults of the same name numbered.
    """
    channels = {channel.name for channel in scenario.channels}
    unplanned = ("lose",) if scenario.all_faults else ("crash", "restart", "freeze", "thaw", "lose")
    order, faults = [], list[FaultLine]()
    for step, name in enumerate(names, start=1):
        kind, _, about = name.partition(" ")
        if kind in unplanned:
            message = _reference(about, channels) if kind == "lose" else None
            line = FaultLine(kind, None if message else about, (), float(step), message=message)
            before = sum((own.kind, own.about) == (kind, line.about) for own in faults)
            faults.append(line)
            name = f"{name} #{before + 1}" if before else name
        order.append(name)
    return tuple(order), tuple(faults)


def _reference(about: str, channels: Collection[str]) -> MessageReference:
    """The message of a choice: `P1.1` is the send of an application message, `P1->P2 S1` a marker."""
    channel, _, snapshot = about.partition(" ")
    if channel in channels:
        return MessageReference(None, channel, MARKER, snapshot)
    return MessageReference(label=about)


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
    if kind == "lose":
        queue: list[Message] = state.queues[parts[1].number]  # type: ignore[attr-defined]
        return Lose(queue[int(str(parts[2]))].names[-1])
    if kind in FAULT_KINDS:
        return FAULT_KINDS[str(kind)].action(node)  # type: ignore[call-arg, arg-type]
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
