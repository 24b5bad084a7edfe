"""The graph of the states of a small system: the contents of each, its violations, and the actions leading on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.core.engine import Engine
from sim.core.fault_kinds import KIND_OF
from sim.core.model import (
    APP,
    MARKER,
    Action,
    Copy,
    Deliver,
    Fault,
    Fire,
    Initiate,
    Internal,
    Lose,
    Mend,
    Message,
    Process,
    Send,
    Sever,
    Slow,
    State,
)
from sim.core.notation import captions
from sim.explore.judging import Judge
from sim.explore.local import Local
from sim.explore.replay import action_of, name_of
from sim.explore.search import Explored

MOST_NODES = 300


@dataclass(frozen=True)
class Node:
    """One pair of a state and an account (sim/explore/numbers.py): two nodes may read alike.

    Its number is its place in the list of nodes; number 0 is the state at which all runs begin. depth: the number of
    steps that lead to it, at least. complete: the snapshots that are complete in it. wrong: the checks that do not hold
    in it. processes, channels: in words, what is in each; channels that are empty are left out.
    """

    depth: int
    complete: tuple[str, ...]
    wrong: tuple[str, ...]
    processes: dict[str, str]
    channels: dict[str, str]

    def in_words(self) -> str:
        """Such as `P1 790, has recorded for S1: 790, records C21; P2 200; C12: 30, marker of S1`."""
        told = [f"{name} {own}".strip() for name, own in self.processes.items()]
        return "; ".join([*told, *(f"{name}: {own}" for name, own in self.channels.items())])


@dataclass(frozen=True)
class Edge:
    """One step: the numbers of two nodes, and the action, in the notation of `choice_name` and in words."""

    source: int
    target: int
    action: str
    words: str


def state_graph(found: Explored) -> tuple[list[Node], list[Edge]]:
    """The states of an exploration, level by level, and the steps between them.

    Of one that was not complete, the states of the last level have no steps. Raises ValueError for more than MOST_NODES
    states, and with symmetry, where states are left out.
    """
    if found.pairs > MOST_NODES or found.symmetry:
        raise ValueError(f"{found.pairs} states; at most {MOST_NODES} are drawn, and none by symmetry")
    number_of = {key: number for number, key in enumerate(int(key) for level in found.levels for key in level)}
    engine, states, edges = found.space.engine, {0: found.space.engine.initial()}, []
    for source, target, node, given in _steps(found, number_of):
        action = action_of(engine, states[source], node, found.space.machines[node].inputs.things[given])
        told = name_of(engine, states[source], action), _action_in_words(engine, action)
        edges.append(Edge(source, target, *told))
        if target not in states:
            states[target], _ = engine.step(states[source], action)
    depths = [depth for depth, level in enumerate(found.levels) for _ in level]
    complete, wrong, locals_ = _complete(found, number_of), _wrong(found, number_of), _locals(found, number_of)
    nodes = [
        _node(engine, depth, states[number], complete[number], wrong[number], locals_[number])
        for number, depth in enumerate(depths)
    ]
    return nodes, edges


def _steps(found: Explored, number_of: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """The numbers of two states, the node that acts, and its input."""
    for level in found.levels if found.complete else found.levels[:-1]:
        for move, after in found.space.successors(level):
            places, inputs = level[move.places].tolist(), move.given[move.cases].tolist()
            for before, given, key in zip(places, inputs, after.tolist(), strict=True):
                yield number_of[before], number_of[key], move.node, given


def _complete(found: Explored, number_of: Iterable[int]) -> list[tuple[str, ...]]:
    """The snapshots that are complete in each state."""
    keys, judge = np.array(list(number_of)), Judge(found.space)
    rows = zip(*(judge.complete(name, keys).tolist() for name in judge.names), strict=True)
    found_in = [tuple(name for name, is_complete in zip(judge.names, row, strict=True) if is_complete) for row in rows]
    return found_in or [()] * len(keys)


def _locals(found: Explored, number_of: Iterable[int]) -> list[list[Local]]:
    """The local states of the processes in each state."""
    space, keys = found.space, np.array(list(number_of))
    columns = [space.packing.column(keys, node).tolist() for node in range(len(space.engine.processes))]
    return [
        [machine.locals.things[number] for machine, number in zip(space.machines, row, strict=False)]
        for row in zip(*columns, strict=True)
    ]


def _wrong(found: Explored, number_of: dict[int, int]) -> list[tuple[str, ...]]:
    """The checks that do not hold in each state."""
    keys = np.array(list(number_of))
    leaving = {source for source, _, _, _ in _steps(found, number_of)}
    is_end = np.array([found.complete and number not in leaving for number in number_of.values()])
    wrong: list[list[str]] = [[] for _ in number_of]
    for check, fails in Judge(found.space).failing(keys, is_end):
        for number in np.flatnonzero(fails).tolist():
            if check not in wrong[number]:
                wrong[number].append(check)
    return [tuple(checks) for checks in wrong]


# ------------------------------------------------------------------ words


def _node(
    engine: Engine, depth: int, state: State, complete: tuple[str, ...], wrong: tuple[str, ...],
    locals_: Sequence[Local],
) -> Node:  # fmt: skip
    caption = captions([own.name for own in state.processes], [channel.name for channel in engine.channels])
    queues = [(caption[channel.name], state.queues[channel.number]) for channel in engine.channels]
    control = [(f"control {channel.name}", messages) for channel, messages in state.control.items()]
    channels = {
        name: ", ".join(_message_in_words(engine, message) for message in messages)
        for name, messages in [*queues, *control]
        if messages
    }
    processes = {
        process.name: ", ".join([_process_in_words(engine, process, caption), *_outlived_in_words(engine, local)])
        for process, local in zip(state.processes, locals_, strict=True)
    }
    return Node(depth, complete, wrong, processes, channels)


def _fault_in_words(engine: Engine, fault: Fault) -> str:
    does = KIND_OF[type(fault)].does
    if isinstance(fault, Lose | Copy):
        return f"{fault.reference.in_words(engine.algorithm.marker)} is {does}"
    if isinstance(fault, Slow):
        return f"{engine.processes[fault.process]} changes its pace"
    if not isinstance(fault, Sever | Mend):
        return f"{engine.processes[fault.process]} {does}"
    names = ", ".join(channel.name for channel in fault.channels)
    return f"{names} {'is' if len(fault.channels) == 1 else 'are'} {does}"


def _action_in_words(engine: Engine, action: Action) -> str:
    if isinstance(action, Fault):
        return _fault_in_words(engine, action)
    process = engine.nodes[engine.actor(action)]
    if isinstance(action, Deliver):
        the = "" if action.message.kind == APP else "the "
        message = _message_in_words(engine, action.message)
        return f"{process} receives {the}{message} from {action.message.channel.source_name}"
    if isinstance(action, Send):
        body = engine.workload.body_words(action.body) or action.label or "a message"
        return f"{process} sends {body} to {action.channel.target_name}"
    if isinstance(action, Initiate):
        return f"{process} starts {action.snapshot}"
    if isinstance(action, Fire):
        return f"the timer {action.timer.name} of {process} goes off"
    if isinstance(action, Internal):
        return f"{process} {engine.workload.internal_words(action.body)}"
    return f"{process} begins its work"


def _process_in_words(engine: Engine, process: Process, caption: Mapping[str, str]) -> str:
    if not process.alive:
        return "is down"
    told: list[Any] = [engine.workload.state_words(process.state)]
    if told[0] is None:
        planned = sum(item.process == process.number for item in engine.agenda)
        told = [f"{process.position} of {planned} planned actions done"] if planned else []
    told += [_recorded_in_words(engine, process, name, caption) for name in process.snapshots]
    told += ["is frozen"] if process.frozen else []
    return ", ".join(told)


def _outlived_in_words(engine: Engine, local: Local) -> Iterator[str]:
    """The fate of the parts that a process recorded before it crashed."""
    for name, part in local.stored.items():
        state = engine.workload.state_words(part.state)
        yield f"its part of {name} outlives its crash{f': {state}' if state else ''}"
    yield from (f"has lost its part of {name}" for name in sorted(local.torn))


def _recorded_in_words(engine: Engine, process: Process, name: str, caption: Mapping[str, str]) -> str:
    """Such as `has recorded for audit: 630, C21: 80, records C31`: its state, and those of its channels so far."""
    own = process.snapshots[name]
    state = engine.workload.state_words(own.state)
    told = [f"has recorded for {name}: {state}" if state else f"has recorded {name}"]
    for channel, messages in own.kept.items():
        if messages:
            told.append(f"{caption[channel.name]}: {', '.join(_message_in_words(engine, kept) for kept in messages)}")
    told += [f"records {caption[channel.name]}" for channel, names in process.listening.items() if name in names]
    return ", ".join(told)


def _message_in_words(engine: Engine, message: Message) -> str:
    if message.kind == APP:
        return engine.workload.body_words(message.body) or "a message"
    what = engine.algorithm.marker if message.kind == MARKER else engine.algorithm.control_message
    return f"{what} of {message.snapshot}" if message.snapshot else what
