"""The recovery lines of a run with uncoordinated checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from sim.core.model import RECORD
from sim.core.recovery_line import Recovery
from sim.run.execution import Execution, once
from sim.theory.recovery_line import recovery_line
from sim.theory.surviving import is_gone


@once
def recoveries_of(execution: Execution) -> Mapping[str, Recovery]:
    """The recovery line of each snapshot's checkpoints, by snapshot. Empty if the algorithm coordinates its recordings.

    Checkpoints that a recovery has taken back are left out: they belong to an old epoch.
    """
    if execution.engine.algorithm.coordinated:
        return {}
    checkpoints: dict[str, dict[str, list[int]]] = {}
    for row in execution.events:
        if row.kind == RECORD and not is_gone(row):
            checkpoints.setdefault(row.snapshot_id or "", {}).setdefault(row.process, []).append(row.index or 0)
    failed = failed_in(execution)
    return {name: recovery_line(execution.history, own, failed) for name, own in checkpoints.items()}


def failed_in(execution: Execution) -> tuple[str, ...]:
    """The processes that fail at the end of a run: those that its algorithm names (none: all) or that are down."""
    processes = execution.scenario.processes
    named = execution.engine.algorithm.failed or processes
    down = down_at_the_end(execution)
    return tuple(name for name in processes if name in named or name in down)


def down_at_the_end(execution: Execution) -> frozenset[str]:
    """The processes that have crashed and not started again: they have no present state to keep."""
    return frozenset(own.name for own in execution.final.processes if own.present and not own.alive)
