"""The amounts of each conserved good: after each event of a process, in each message, and step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    COPIED,
    CRASH,
    JOIN,
    LEAVE,
    LOST,
    PUT_BACK,
    RECEIVE,
    RESTART,
    RESTORE,
    SEND,
    Event,
)
from sim.run.cut_states import CutStates, states_at_cuts
from sim.run.execution import Execution, once
from sim.theory.cut_names import CutNames
from sim.theory.positions import ACTS

# The kinds of event that may move a good.
_MOVING = APPLICATION_KINDS | {CRASH, RESTART, JOIN, LEAVE, LOST, COPIED, RESTORE, PUT_BACK}
Timeline = list[list[Any]]


@once
def conserved(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good its `unit` and `total`, and its amounts.

    processes: for each process in its order, the amounts after 0, 1, 2, ... events, before the faults that follow.
    faults: for each fault of the run (sim/theory/cut_names.py), the amount of its process after it (None: it has none).
    messages: the amount in each application message by its id, of those that no recovery takes back.
    """
    workload = execution.engine.workload
    goods = workload.total()
    if not goods:
        return []
    states = states_at_cuts(execution)
    local = []
    for name, line in in_time(zip(execution.scenario.processes, states.order.lines, strict=False), every=1):
        own, events = [states.measure(state) for state in states.local[name]], line[-1].inside if line else 0
        acts = [0, *(number for number, at in enumerate(line, start=1) if at.kind == ACTS)]
        inside = [line[number - 1].inside if number else 0 for number in acts]
        local.append([own[acts[bisect_right(inside, count) - 1]] for count in range(events + 1)])
    faults = [_after(states, *place) for place in CutNames(states.order).faults]
    flights = (execution.flights[message] for message in in_time(execution.history.sends))
    bodies = {flight.id: workload.measure_body(flight.body) for flight in flights}
    return [
        {
            "unit": good,
            "total": total,
            "processes": [[weight.get(good, 0) for weight in own] for own in local],
            "faults": [None if own is None else own.get(good, 0) for own in faults],
            "messages": {message: body.get(good, 0) for message, body in bodies.items()},
        }
        for good, total in goods.items()
    ]


def _after(states: CutStates, line: int, number: int) -> Mapping[str, int] | None:
    """The amounts of a process after a fault on its line; None if the fault is on no line of a process."""
    name = (*states.order.processes[line : line + 1], None)[0]
    return None if name is None else states.measure(states.state(name, number))


@once
def meters_of(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good: {"unit", "total", "processes", "channels"}, the last two as timelines of amounts."""
    return [
        {"unit": good["unit"], "total": good["total"], **_timelines(execution, good["unit"])}
        for good in conserved(execution)
    ]


def totals(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good: its `unit`, the right `total`, and the amount at the `end` of a run."""
    return [
        {"unit": own["unit"], "total": own["total"], "end": own["processes"][-1][1] + own["channels"][-1][1]}
        for own in meters_of(execution)
    ]


def _timelines(execution: Execution, unit: str) -> dict[str, Timeline]:
    """The amount of one good in all processes, and in all channels, at the steps at which either changes in sum.

    A process that is down has none, and a lost message has none, so the sum falls. A copy makes it rise.
    """
    states = states_at_cuts(execution)
    held = {name: states.measure(own[0]).get(unit, 0) for name, own in states.local.items()}
    channels = _InChannels(execution, unit)
    inside, between = sum(held.values()), 0
    processes: Timeline = [[0, inside]]
    in_channels: Timeline = [[0, between]]
    moving = (event for event in in_time(execution.table) if event.kind in _MOVING)
    for step, events in groupby(moving, key=lambda event: event.step):
        for event in events:
            kept = _held_after(states, event, unit)
            if kept is not None:
                inside += kept - held[event.process]
                held[event.process] = kept
            between += channels.change(event)
        if (inside, between) != (processes[-1][1], in_channels[-1][1]):
            processes.append([step, inside])
            in_channels.append([step, between])
    return {"processes": processes, "channels": in_channels}


def _held_after(states: CutStates, event: Event, unit: str) -> int | None:
    """The amount of its process after an event (None: unchanged)."""
    if event.kind in (CRASH, LEAVE):
        return 0
    state: Any
    if event.kind in APPLICATION_KINDS:
        state = states.acted[event.step]
    elif event.kind in (RESTART, JOIN):
        state = states.execution.engine.workload.initial(event.process)
    elif event.kind == RESTORE:
        state = states.execution.body_of(event)["state"]
    else:
        return None
    return states.measure(state).get(unit, 0)


class _InChannels:
    """The amount of one good in transit.

    Messages of an earlier epoch to a restored process no longer count, if there is a fence.
    """

    def __init__(self, execution: Execution, unit: str) -> None:
        self.execution, self.unit = execution, unit
        plan = execution.engine.plan
        self.has_fence = plan is not None and plan.fence
        self.amount_of: dict[int, int] = {}  # by message id
        self.coming: dict[str, Counter[int]] = {}  # by receiver, how often each message is on its way
        self.epoch_of: dict[str, int] = {}

    def change(self, event: Event) -> int:
        """The change of the amount by an event."""
        number, target = event.message_id or 0, (event.channel or "").partition("->")[2]
        if event.kind == RESTORE:
            return self._restored(event)
        if event.kind in (SEND, COPIED, PUT_BACK):
            if self.has_fence and event.epoch < self.epoch_of.get(target, 0):
                return 0
            body = self.execution.body_of(event)
            self.amount_of[number] = self.execution.engine.workload.measure_body(body).get(self.unit, 0)
            self.coming.setdefault(target, Counter())[number] += 1
            return self.amount_of[number]
        if event.kind in (RECEIVE, LOST) and self.coming.get(target, Counter())[number] > 0:
            self.coming[target][number] -= 1
            return -self.amount_of[number]
        return 0

    def _restored(self, event: Event) -> int:
        """The change of the amount by the restoring of the receiver of some messages, which begins a new epoch."""
        self.epoch_of[event.process] = event.epoch
        if not self.has_fence:
            return 0
        over = self.coming.pop(event.process, Counter())
        return -sum(self.amount_of[number] * count for number, count in over.items())
