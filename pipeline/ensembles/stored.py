"""Measures what a storage and recoveries came to in a run: some of the columns of RUN_TYPES."""

from __future__ import annotations

from typing import Any

from pipeline.store.schema import WITHOUT_RECOVERY, WITHOUT_STORAGE
from sim.core.log import BODY, KIND
from sim.core.model import COMMITTED, CONTROL_SEND, PUT_BACK, RECOVERY
from sim.run.costs import mean_recovery_time
from sim.run.execution import Execution
from sim.services.storage_words import NAME
from sim.services.uploads import BUSY
from sim.theory.surviving import surviving


def of_snapshot(execution: Execution, snapshot: str, began: int | None) -> dict[str, Any]:
    """What the storage did for `snapshot`, which began at step `began`.

    How many uploads it has refused; whether its manifest is written, how many time units after the first recording, and
    the bytes that it names. Copies that nobody coordinates have no manifest.
    """
    if not execution.scenario.has_storage:
        return WITHOUT_STORAGE
    own = [(number, row) for number, row in enumerate(execution.log.each()) if row[-1] == snapshot]
    refused = [row for _, row in own if row[0] == NAME and row[KIND] == CONTROL_SEND and row[BODY] == BUSY]
    found: dict[str, Any] = {**WITHOUT_STORAGE, "refusals": len(refused)}
    if not execution.engine.algorithm.coordinated:
        return found
    written = next(((number, row) for number, row in own if row[KIND] == COMMITTED), None)
    found["committed"] = written is not None
    if written is not None and began is not None:
        number, row = written
        found["commit_latency"] = _time(execution, number) - execution.times[began]
        found["stored_bytes"] = row[BODY]["bytes"]
    return found


def of_run(execution: Execution) -> dict[str, Any]:
    """How many recoveries there were, and what they cost.

    The mean time from the crash (else from the beginning) to the last process that goes back, of those recoveries in
    which one does; the application events that they took back, and the messages that they put back.
    """
    kinds = execution.log.column(KIND)
    if RECOVERY not in kinds:
        return WITHOUT_RECOVERY
    left = sum(map(len, surviving(execution.table).values()))
    return {
        "recoveries": kinds.count(RECOVERY),
        "recovery_time": mean_recovery_time(execution),
        "rolled_back": sum(process.index for process in execution.final.processes) - left,
        "put_back": kinds.count(PUT_BACK),
    }


def _time(execution: Execution, row: int) -> float:
    return execution.times[execution.log.step_of(row)]
