"""The costs of the algorithms in a comparison, as `python -m sim compare` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sim.edit.compared import Compared
from sim.explain.costs import FIGURES, Measured, measured, read_with_unit
from sim.explain.words import small
from sim.run.costs import all_costs, without_snapshots
from sim.run.execution import Execution, run

_DIGITS = 9  # of times, after the point: sums of times show no more


def comparison_report(own: Compared) -> dict[str, Any]:
    """One entry of `compare --json`. Times are in time units; if the algorithm is refused, all values are null.

    For several snapshots: the longest latency, and the sums of everything else.
    """
    found: dict[str, Any] = {"algorithm": own.algorithm}
    if own.execution is None:
        names = ("status", "latency", "blocked_time", "markers", "control_messages", "recorded_messages",
                 "recorded_bytes", "stored_bytes")  # fmt: skip
        return {**found, **dict.fromkeys(names), "refused": own.refused}
    costs = all_costs(own.execution)
    return {
        **found,
        "status": costs.status,
        "latency": None if costs.duration is None else round(costs.duration, _DIGITS),
        "blocked_time": round(costs.blocked_time, _DIGITS),
        "markers": costs.markers,
        "control_messages": costs.controls,
        "recorded_messages": costs.persisted.messages,
        "recorded_bytes": costs.persisted.bytes,
        "stored_bytes": costs.stored,
        "refused": None,
    }


def comparison_in_words(found: Sequence[Compared]) -> Iterator[str]:
    """All figures of all algorithms, in lines for a terminal."""
    for own in found:
        yield own.title
        if own.execution is None:
            yield f"  refused: {own.refused}"
            if own.remedy is not None:
                yield f"  what helps: {small(own.remedy.words)}"
            continue
        costs = measured_of(own.execution)
        yield f"  {'status':26} {costs.costs.status}"
        for figure in FIGURES:
            yield f"  {figure.title.lower():26} {read_with_unit(figure, costs)}"


def measured_of(execution: Execution) -> Measured:
    """The costs of a run's snapshots, compared with the same run without them."""
    without = without_snapshots(execution.scenario)
    return measured(execution, None if without is None else run(without))
