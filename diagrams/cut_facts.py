"""What the browser needs of a run for any cut of it: how many there are, and where conserved goods are.

The events and messages themselves are in the columns (diagrams/event_columns.py), from which it computes all else.
"""

from __future__ import annotations

import math
from typing import Any

from sim.core.deadline import in_time
from sim.core.model import APP
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, once
from sim.theory.lattice import TooManyCuts, consistent_cuts, frontiers

READABLE = 10**12
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_COMPARED = 20_000  # to count the consistent cuts, whenever a run is drawn: at most about 20 ms
MOST_CLOCKS = 20_000  # events times processes, for the same reason


@once
def cut_counts(execution: Execution) -> dict[str, Any]:
    """How many cuts there are, and how many are consistent, as texts with commas.

    `consistent` is None where nobody counts them; there are more than it says unless `is_all`.
    """
    history = execution.history
    told: dict[str, Any] = {"frontiers": in_words(frontiers(history)), "consistent": None, "is_all": False}
    if len(history.rows) * len(history.processes) > MOST_CLOCKS:
        return told
    try:
        return {**told, "consistent": f"{consistent_cuts(history, MOST_COMPARED):,}", "is_all": True}
    except TooManyCuts as problem:
        return {**told, "consistent": f"{problem.known:,}" if problem.known else None}


def in_words(number: int) -> str:
    """A whole number with commas; one that nobody can read as its power of ten."""
    if number < READABLE:
        return f"{number:,}"
    return "about 10" + str(round(math.log10(number))).translate(SUPERSCRIPTS)


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
    local = [
        [workload.measure(state) for state in states] for states in in_time(states_at_cuts(execution).local.values())
    ]
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
