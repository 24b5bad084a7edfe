"""The state of the system at a cut: of each process after its last position inside, and of the channels.

It need not have occurred in the run: if the cut is consistent, it is a state through which the run could have gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim.core.model import APP
from sim.run.execution import Execution, once
from sim.run.flights import Flight
from sim.theory.positions import Cut, Order


@dataclass(frozen=True)
class CutStates:
    """States at the cuts of one execution.

    `local` holds, by process, its state after 0, 1, 2, ... of its positions (None: it is down or absent). `acted` holds
    the state of the process that acts in a step, after it, by step. `sent_on` holds the application messages of each
    channel, by channel name, in the order of sending.
    """

    execution: Execution
    order: Order
    local: dict[str, list[Any]]
    acted: dict[int, Any]
    sent_on: dict[str, list[Flight]]

    def state(self, process: str, positions: int) -> Any:
        """The state of a process after this number of its positions."""
        return self.local[process][positions]

    def in_channel(self, name: str, cut: Cut) -> list[Flight]:
        """The messages in a channel at a cut, in the order of sending."""
        return [self.execution.flights[message] for message in self.order.in_channel(name, cut)]

    def amounts(self, cut: Cut) -> tuple[Counter[str], Counter[str]]:
        """The amounts of each conserved good in the processes, and those in the channels."""
        processes, channels = Counter[str](), Counter[str]()
        for name, positions in zip(self.order.processes, cut, strict=False):
            processes.update(self.measure(self.state(name, positions)))
        for name in self.sent_on:
            for flight in self.in_channel(name, cut):
                channels.update(self.execution.engine.workload.measure_body(flight.body))
        return processes, channels

    def measure(self, state: Any) -> Mapping[str, int]:
        """The amounts of each good in the state of a process; none if it is down or absent."""
        return {} if state is None else self.execution.engine.workload.measure(state)


@once
def states_at_cuts(execution: Execution) -> CutStates:
    """The states at the cuts of an execution, from one replay of it."""
    engine, order = execution.engine, execution.order
    local = {own.name: [own.state if own.alive else None] for own in engine.initial().processes}
    changes: dict[int, list[str]] = {}  # by step, the processes that have a position there
    for name, line in zip(order.processes, order.lines, strict=False):
        for position in line:
            changes.setdefault(position.step, []).append(name)
    acted: dict[int, Any] = {}
    for step in execution.replay(copied=False):
        acted[step.number] = step.state.node(engine.actor(step.action)).state
        for name in changes.get(step.number, ()):
            own = step.state.processes[engine.number_of[name]]
            local[name].append(own.state if own.alive else None)
    sent_on: dict[str, list[Flight]] = {channel.name: [] for channel in engine.channels}
    for flight in execution.flights:
        if flight.kind == APP:
            sent_on[flight.channel.name].append(flight)
    return CutStates(execution, order, local, acted, sent_on)
