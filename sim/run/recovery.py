"""The recovery lines of a run whose processes make copies without coordination."""

from __future__ import annotations

from collections.abc import Mapping

from sim.core.model import RECORD
from sim.run.execution import Execution, once
from sim.theory.recovery import Recovery, recovery_line
from sim.theory.surviving import is_gone


@once
def recoveries_of(execution: Execution) -> Mapping[str, Recovery]:
    """By snapshot: the recovery line of all its copies. Empty where the algorithm coordinates what is recorded.

    Copies that a recovery has taken back are left out: they are of a life that is over.
    """
    if execution.engine.algorithm.coordinated:
        return {}
    copies: dict[str, dict[str, list[int]]] = {}
    for row in execution.events:
        if row.kind == RECORD and not is_gone(row):
            copies.setdefault(row.snapshot_id or "", {}).setdefault(row.process, []).append(row.index or 0)
    return {name: recovery_line(execution.history, own) for name, own in copies.items()}
