"""A run coloured by a snapshot: its row of actions, the state they lead to, and the recorded state (EWD864a)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from sim.core.errors import InputError, brief, nearest
from sim.core.log import to_json
from sim.run.as_of import as_of
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.interchange import coloured_actions
from sim.theory.positions import Cut


class SystemState(NamedTuple):
    """The state of the members: of every process by name, and the bodies in every channel by name."""

    processes: dict[str, Any]
    channels: dict[str, list[Any]]


class TakenBack(InputError):
    """A recovery has taken back events inside a snapshot, after it was complete."""


class ColouredRun:
    """The actions of a run, white inside the `cut` of a snapshot and red outside it.

    Losses and copies on their way are placed so that the recorded channels are right, if there is such a place. `row`
    has the actions in the order of the run, `channels` those between two members. The `snapshot` is as it was when it
    was complete. `ends` is the step with which the run ends, if a later recovery takes back events inside the cut
    (None: it does not).
    """

    ends: int | None = None

    def __init__(self, execution: Execution, snapshot: Snapshot) -> None:
        """Raises InputError if there is no such cut on the surviving line.

        This is so if a process has not recorded. It raises TakenBack if a recovery has taken back the recording, or the
        sending of a message received inside: no order of the remaining actions leads there.
        """
        self.execution, self.order = execution, execution.order
        own = as_of(execution, snapshot)
        self.snapshot = snapshot = own.snapshot
        for process in snapshot.members or execution.scenario.processes:
            if process not in snapshot.local:
                raise InputError(
                    f"{snapshot.id}: {process} has not recorded, so this snapshot has no cut; choose one that every "
                    "process has recorded, or let the run go on"
                )
        self.cut: Cut = own.cut_in(self.order)
        if snapshot.is_over or sum(self.cut) < sum(own.placed):
            raise TakenBack(
                f"{snapshot.id}: a recovery has taken back what its cut contains; choose a snapshot of the surviving "
                "line"
            )
        self.channels = own.channels
        for message in self.order.unsent(self.cut):
            receive = execution.history.receives[message]
            raise TakenBack(
                f"{snapshot.id}: {receive.process} has received a message (step {receive.step}) whose sending a "
                "recovery has taken back, so no order of the remaining actions leads to this state; choose another one"
            )
        self.row = coloured_actions(self.order, self.cut)

    @cached_property
    def frontier(self) -> dict[str, int]:
        """The number of application events in white actions, by process."""
        return dict(zip(self.order.processes, self.order.inside(self.cut), strict=True))

    @cached_property
    def recorded(self) -> SystemState:
        """The state that the snapshot has recorded."""
        bodies = {name: [own.body for own in self.snapshot.recorded_in(name)] for name in self.channels}
        states = {name: self.snapshot.local[name].state for name in self.snapshot.members}
        return SystemState(states, self._ordered(bodies))

    @cached_property
    def met(self) -> SystemState:
        """The state after all white actions, in an order in which they come first."""
        states = states_at_cuts(self.execution)
        at = dict(zip(self.order.processes, self.cut, strict=False))
        bodies = {name: [flight.body for flight in states.in_channel(name, self.cut)] for name in self.channels}
        processes = {name: states.state(name, at[name]) for name in self.snapshot.members}
        return SystemState(processes, self._ordered(bodies))

    def is_equal(self, name: str) -> bool | None:
        """Whether the state of a process or channel is the recorded one (None: its recording is not done)."""
        if name in self.recorded.processes:
            return bool(self.recorded.processes[name] == self.met.processes[name])
        return self.recorded.channels[name] == self.met.channels[name] if name in self.snapshot.channels else None

    def _ordered(self, channels: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """The contents of channels; those of a channel that is not FIFO are a bag, which is sorted."""
        fifo = {own.name: own.fifo for own in self.execution.engine.channels}
        return {name: own if fifo[name] else sorted(own, key=to_json) for name, own in channels.items()}


def coloured_run(execution: Execution, name: str | None) -> ColouredRun:
    """A run, coloured by a snapshot (None: the first with a cut).

    If a later recovery takes back events inside its cut, it is the run up to the completion of the snapshot. Raises
    InputError if there is no such snapshot, or it has no cut.
    """
    snapshot = chosen_snapshot(execution, name)
    try:
        return ColouredRun(execution, snapshot)
    except TakenBack:
        if snapshot.end is None:
            raise
    ends = execution.table[snapshot.end - 1].step
    then = run(execution.scenario, until=ends)
    found = ColouredRun(then, chosen_snapshot(then, snapshot.id))
    found.ends = ends
    return found


def chosen_snapshot(execution: Execution, name: str | None) -> Snapshot:
    """The snapshot called `name`; without a name the first one with a cut, else the first. Raises InputError."""
    known = snapshots_of(execution)
    at = execution.scenario.at
    if not known:
        raise InputError(at("snapshots: this run takes none; start one at some process"))
    if name is None:
        with_cut = [own for own in known if own.members and {*own.members} <= {*own.local} and not own.is_over]
        return (with_cut or known)[0]
    found = next((own for own in known if own.id == name), None)
    if found is None:
        raise InputError(
            at(f"snapshot: there is none called {brief(name)}; {nearest(name, [own.id for own in known])}")
        )
    return found
