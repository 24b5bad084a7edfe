"""The state of the system at a cut: of each process after so many of its events, and of what is in the channels.

It need not have occurred in the run: where the cut is consistent, it is a state through which the run could have gone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sim.core.model import APP
from sim.run.execution import Execution, Flight, once
from sim.theory.causality import Clock


@dataclass(frozen=True)
class CutStates:
    """States at the cuts of one execution.

    `local` holds, by process, its state after 0, 1, 2, ... of its events that survive; after several events of one
    action its state is that after all of them. `after` holds the same by the index in the event table, of which no
    recovery takes any back. `sent_on` holds the application messages of each channel, by channel name, in the order
    of sending.
    """

    execution: Execution
    local: dict[str, list[Any]]
    after: dict[str, list[Any]]
    sent_on: dict[str, list[Flight]]

    def state(self, process: str, inside: int) -> Any:
        """The state of a process after `inside` of its events."""
        return self.local[process][inside]

    def in_channel(self, name: str, cut: Clock) -> list[Flight]:
        """The messages that a cut finds in a channel, in the order of sending."""
        source, _, target = name.partition("->")
        history = self.execution.history
        sent, received = cut[history.rank[source]], cut[history.rank[target]]
        return [
            flight
            for flight in self.sent_on[name]
            if (flight.send.index or 0) <= sent
            and flight.id not in history.lost
            and (flight.id not in history.receives or (history.receives[flight.id].index or 0) > received)
        ]

    def amounts(self, cut: Clock) -> tuple[Counter[str], Counter[str]]:
        """How much of each conserved good is in the processes, and how much in the channels."""
        workload = self.execution.engine.workload
        processes, channels = Counter[str](), Counter[str]()
        for name, inside in zip(self.execution.scenario.processes, cut, strict=True):
            processes.update(workload.measure(self.state(name, inside)))
        for name in self.sent_on:
            for flight in self.in_channel(name, cut):
                channels.update(workload.measure_body(flight.body))
        return processes, channels


@once
def states_at_cuts(execution: Execution) -> CutStates:
    """The states at the cuts of an execution, from one replay of it."""
    initial = execution.engine.workload.initial  # in which one that is not there at first begins later
    after = {name: [initial(name)] for name in execution.engine.processes}
    for step in execution.replay(copied=False):
        actor = step.state.node(execution.engine.actor(step.action))
        if actor.name in after and actor.alive:  # no service
            known = after[actor.name]
            known += [actor.state] * (actor.index + 1 - len(known))
    sent_on: dict[str, list[Flight]] = {channel.name: [] for channel in execution.engine.channels}
    for flight in execution.flights:
        if flight.kind == APP:
            sent_on[flight.channel.name].append(flight)
    return CutStates(execution, _surviving(execution, after), after, sent_on)


def _surviving(execution: Execution, after: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The states after the events that survive, of those `after` all events."""
    if not execution.engine.has_lives:
        return after
    table, own = execution.table, execution.history.of
    return {
        name: [states[0], *(states[table[event.row].index or 0] for event in own[name])]
        for name, states in after.items()
    }
