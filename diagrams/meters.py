"""How much of each conserved good is where: after each event of a process, in each message, and step by step."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sim.core.deadline import in_time
from sim.core.model import APP, RECEIVE, SEND
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, once

Timeline = list[list[Any]]


@once
def conserved(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good its `unit` and `total`, and how much of it is where.

    `processes` has, for each process in its order, the amounts after 0, 1, 2, ... of its events; `messages` the amount
    in each application message, in the order of sending.
    """
    workload = execution.engine.workload
    held = [workload.measure(process.state) for process in execution.engine.initial().processes]
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
    """The amount in all processes, and in all channels, at the steps at which that of some process changes."""
    history = execution.history
    amount = dict(zip(history.sends, good["messages"], strict=True))
    inside, between = good["total"], 0
    processes: Timeline = [[0, inside]]
    channels: Timeline = [[0, between]]
    for step, events in groupby(in_time(history.rows), key=lambda event: event.step):
        change = 0
        for event in events:
            own, index = good["processes"][history.rank[event.process]], event.index or 0
            change += own[index] - own[index - 1]
            sign = {SEND: 1, RECEIVE: -1}.get(event.kind, 0)
            between += sign * amount.get(event.message_id or 0, 0)
        if change:
            inside += change
            processes.append([step, inside])
            channels.append([step, between])
    return {"processes": processes, "channels": channels}
