"""How much of each conserved good is where: after each event of a process, in each message, and step by step."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sim.core.deadline import in_time
from sim.core.model import APP, APPLICATION_KINDS, COPIED, CRASH, JOIN, LEAVE, LOST, RECEIVE, RESTART, SEND
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, once

# The kinds of event that may change where something is.
_MOVING = APPLICATION_KINDS | {CRASH, RESTART, JOIN, LEAVE, LOST, COPIED}
Timeline = list[list[Any]]


@once
def conserved(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good its `unit` and `total`, and how much of it is where.

    `processes` has, for each process in its order, the amounts after 0, 1, 2, ... of its events; `messages` the amount
    in each application message, in the order of sending.
    """
    workload = execution.engine.workload
    held = [workload.measure(workload.initial(name)) for name in execution.engine.processes]
    goods = list(dict.fromkeys(good for weight in held for good in weight))
    if not goods:
        return []
    states = states_at_cuts(execution).local.values()
    local = [[workload.measure(state) for state in own] for own in in_time(states, every=1)]
    bodies = [workload.measure_body(flight.body) for flight in in_time(execution.flights) if flight.kind == APP]
    return [
        {
            "unit": good,
            "total": sum(own.get(good, 0) for own in held),
            "processes": [[weight.get(good, 0) for weight in own] for own in local],
            "messages": [body.get(good, 0) for body in bodies],
        }
        for good in goods
    ]


@once
def meters_of(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good: {"unit", "total", "processes", "channels"}, the last two as timelines of amounts."""
    return [
        {"unit": good["unit"], "total": good["total"], **_timelines(execution, good)} for good in conserved(execution)
    ]


def _timelines(execution: Execution, good: dict[str, Any]) -> dict[str, Timeline]:
    """The amount in all processes, and in all channels, at the steps at which either changes in sum.

    A process that is down has none, and what is lost is nowhere: the sum is smaller then. A copy makes it greater.
    """
    history = execution.history
    amount = dict(zip(history.sends, good["messages"], strict=True))
    held = {name: own[0] for name, own in zip(history.processes, good["processes"], strict=True)}
    for process in execution.scenario.absent:
        held[process] = 0
    inside, between = sum(held.values()), 0
    processes: Timeline = [[0, inside]]
    channels: Timeline = [[0, between]]
    moving = (event for event in in_time(execution.events) if event.kind in _MOVING)
    for step, events in groupby(moving, key=lambda event: event.step):
        for event in events:
            own = good["processes"][history.rank[event.process]]
            kept = {CRASH: 0, LEAVE: 0, RESTART: own[0], JOIN: own[0]}.get(event.kind, held[event.process])
            if event.kind in APPLICATION_KINDS:
                kept = own[event.index or 0]
            inside += kept - held[event.process]
            held[event.process] = kept
            sign = {SEND: 1, COPIED: 1, RECEIVE: -1, LOST: -1}.get(event.kind)
            if sign:
                between += sign * amount.get(event.message_id or 0, 0)
        if (inside, between) != (processes[-1][1], channels[-1][1]):
            processes.append([step, inside])
            channels.append([step, between])
    return {"processes": processes, "channels": channels}
