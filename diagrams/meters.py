"""How much of each conserved good is in processes and in channels, step by step."""

from __future__ import annotations

from typing import Any

from sim.core.model import APP
from sim.run.execution import Execution, once

Timeline = list[list[Any]]


@once
def meters_of(execution: Execution) -> list[dict[str, Any]]:
    """Per conserved good: {"unit", "total", "processes", "channels"}, the last two as timelines of amounts.

    Computed from the states of the run, one after the other.
    """
    workload = execution.engine.workload
    held = [workload.measure(process.state) for process in execution.engine.initial().processes]
    goods = list(dict.fromkeys(good for weight in held for good in weight))
    if not goods:
        return []
    changed: dict[int, list[tuple[int, Any]]] = {}
    for flight in execution.flights:
        if flight.kind == APP:
            changed.setdefault(flight.send.step, []).append((1, flight.body))
            if flight.receive:
                changed.setdefault(flight.receive.step, []).append((-1, flight.body))
    inside = {good: sum(weight.get(good, 0) for weight in held) for good in goods}
    between = dict.fromkeys(goods, 0)
    in_processes: dict[str, Timeline] = {good: [[0, inside[good]]] for good in goods}
    in_channels: dict[str, Timeline] = {good: [[0, 0]] for good in goods}
    for moment in execution.replay(copied=False):
        actor = moment.state.node(execution.engine.actor(moment.action))
        if actor.number >= len(held):
            continue  # a service owns nothing
        before, held[actor.number] = held[actor.number], workload.measure(actor.state)
        weights = [(sign, workload.measure_body(body)) for sign, body in changed.get(moment.number, ())]
        if before == held[actor.number]:
            continue
        for good in goods:
            inside[good] += held[actor.number].get(good, 0) - before.get(good, 0)
            between[good] += sum(sign * weight.get(good, 0) for sign, weight in weights)
            in_processes[good].append([moment.number, inside[good]])
            in_channels[good].append([moment.number, between[good]])
    return [
        {
            "unit": good,
            "total": in_processes[good][0][1],
            "processes": in_processes[good],
            "channels": in_channels[good],
        }
        for good in goods
    ]
