"""What a snapshot has recorded beside the state at its cut: what Dijkstra's interchanges lead to."""

from __future__ import annotations

from typing import Any, NamedTuple

from sim.core.errors import InputError, brief, nearest
from sim.core.log import to_json
from sim.run.as_of import as_of
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import Snapshot, snapshots_of


class SystemState(NamedTuple):
    """The state of the computation: of every process by name, and the bodies in every channel by name."""

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
    return SystemState({name: local.state for name, local in snapshot.local.items()}, _ordered(execution, channels))


def state_at(execution: Execution, snapshot: Snapshot) -> SystemState:
    """The state at the cut of a snapshot: after all white actions, in an order in which they come first.

    Losses and copies on their way are placed where the recorded channels are right, if there is such a place.
    """
    states, cut = states_at_cuts(execution), as_of(execution, snapshot).cut_in(execution.order)
    processes = {name: states.state(name, count) for name, count in zip(states.local, cut, strict=False)}
    channels = {name: [flight.body for flight in states.in_channel(name, cut)] for name in states.sent_on}
    return SystemState(processes, _ordered(execution, channels))


def _ordered(execution: Execution, channels: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What channels hold; those that are not FIFO hold a bag, which is sorted."""
    fifo = {own.name: own.fifo for own in execution.engine.channels}
    return {name: own if fifo[name] else sorted(own, key=to_json) for name, own in channels.items()}
