"""A run with its actions in another order, carried out by the engine: what Dijkstra's interchanges lead to.

Only the application's actions are carried out, no snapshot: it does not disturb the computation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.errors import InputError, brief, nearest
from sim.core.model import APP, Action, Copy, Deliver, Message, State
from sim.run.execution import Execution, Flight, once
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.interchange import ColouredAction


class SystemState(NamedTuple):
    """The state of the computation: of every process by name, and the bodies in every channel by name, oldest first."""

    processes: dict[str, Any]
    channels: dict[str, list[Any]]


def cut_of(execution: Execution, snapshot: Snapshot) -> dict[str, int]:
    """The cut of a snapshot. Raises InputError where there is none on the surviving line.

    So it is where some process has not recorded, where a recovery has taken the recording back, and where the recovery
    has taken back the sending of what is received inside: no order of the actions that are left leads there.
    """
    for process in execution.scenario.processes:
        if process not in snapshot.local:
            raise InputError(
                f"{snapshot.id}: {process} has not recorded, so this snapshot has no cut; choose one that every "
                "process has recorded, or let the run go on"
            )
    if snapshot.is_over:
        raise InputError(
            f"{snapshot.id}: a recovery has taken back what its cut contains; choose a snapshot of the surviving line"
        )
    history, frontier = execution.history, snapshot.frontier
    for message, receive in history.receives.items() if rollbacks_of(execution) else ():
        if message not in history.sends and (receive.index or 0) <= frontier[receive.process]:
            raise InputError(
                f"{snapshot.id}: {receive.process} has received a message (step {receive.step}) of which a recovery "
                "has taken the sending back; no order of the actions that are left leads to this state"
            )
    return frontier


def chosen_snapshot(execution: Execution, name: str | None) -> Snapshot:
    """The snapshot called `name`; without a name the first one with a cut, else the first. Raises InputError."""
    known = snapshots_of(execution)
    at = execution.scenario.at
    if not known:
        raise InputError(at("snapshots: this run takes none; start one at some process"))
    if name is None:
        size = len(execution.scenario.processes)
        whole = [own for own in known if len(own.local) == size and not own.is_over]
        return (whole or known)[0]
    found = next((own for own in known if own.id == name), None)
    if found is None:
        raise InputError(
            at(f"snapshot: there is none called {brief(name)}; {nearest(name, [own.id for own in known])}")
        )
    return found


def recorded_state(execution: Execution, snapshot: Snapshot) -> SystemState:
    """What a snapshot has recorded."""
    channels = {
        channel.name: [message.body for message in snapshot.recorded_in(channel.name)]
        for channel in execution.engine.channels
    }
    return SystemState({name: local.state for name, local in snapshot.local.items()}, channels)


def state_after(execution: Execution, row: Iterable[ColouredAction]) -> SystemState:
    """The state after the actions in `row`, carried out one after the other from the initial state.

    Each process's actions must be in the order of the run, and no message may be accepted before it is sent. The engine
    carries out whole actions, so InputError is raised where a cut divides one. Who joins later is there from the first.
    """
    engine = replace(execution.scenario, absent=()).engine()
    state = engine.initial()
    actions, sent_in = _actions(execution), _sent_in(execution)
    found: dict[int, Message] = {}  # by the id in the run
    events = _events_of_steps(execution)
    for coloured in in_time(row):
        if coloured.last - coloured.first + 1 < len(events[coloured.step]):
            raise InputError(_divided(execution, coloured))
        action = actions[coloured.step]
        if isinstance(action, Deliver):
            action = Deliver(found[action.message.id])
        sent = (message for message in engine.perform(state, action, []) if message.kind == APP)
        for message, (original, *copies) in zip(sent, sent_in.get(coloured.step, ()), strict=True):
            found[original.id] = message
            for copy in copies:
                (found[copy.id],) = engine.perform(state, Copy(message.names[-1]), [])
            for flight in (original, *copies):
                if flight.lost is not None and flight.id not in execution.history.receives:
                    state.queues[message.channel.number].remove(found[flight.id])
    return _told(state, [channel.name for channel in engine.channels])


def _divided(execution: Execution, part: ColouredAction) -> str:
    return execution.scenario.at(
        f"step {part.step}: the cut divides what {part.process} does in one step; move the cut before or after it"
    )


@once
def _events_of_steps(execution: Execution) -> dict[int, set[int | None]]:
    """The indices of the application's events, by step."""
    found: dict[int, set[int | None]] = {}
    for event in in_time(execution.history.rows):
        found.setdefault(event.step, set()).add(event.index)
    return found


def _told(state: State, channels: list[str]) -> SystemState:
    contents = {
        name: [message.body for message in queue if message.kind == APP]
        for name, queue in zip(channels, state.queues, strict=True)
    }
    return SystemState({process.name: process.state for process in state.processes}, contents)


@once
def _actions(execution: Execution) -> dict[int, Action]:
    """The actions of the run, by step."""
    return {step.number: step.action for step in execution.replay(copied=False)}


@once
def _sent_in(execution: Execution) -> dict[int, list[list[Flight]]]:
    """By step, the application messages that it sends, in their order: each followed by its copies."""
    of_send: dict[int, list[Flight]] = {}  # by the row of the send
    for flight in execution.flights:
        if flight.kind == APP:
            of_send.setdefault(flight.send.row, []).append(flight)
    found: dict[int, list[list[Flight]]] = {}
    for flights in of_send.values():
        found.setdefault(flights[0].send.step, []).append(flights)
    return found
