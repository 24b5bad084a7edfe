"""Measures the storage and the recoveries of a run: some of the columns of RUN_TYPES."""

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
    """The storage's part in `snapshot`, which began at step `began`.

    The columns are the number of refused uploads; whether its manifest is written, how many time units after the first
    recording, and the bytes that it names. Uncoordinated checkpoints have no manifest.
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
    """The number of recoveries, and their costs.

    The costs are the mean time from the crash (else from the beginning) to the last restore, over the recoveries with
    a restore; the number of application events that they took back; and the number of messages that they put back.
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
