"""Makes scenarios of the runs and executions in data folders; the app, `sim` and `diagrams` open them."""

from __future__ import annotations

from pyarrow.dataset import field

from pipeline.cuts import one_execution
from pipeline.ensembles.rerun import scenario_of
from pipeline.store.folder import Store
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.exchange.reconstruct import reconstruct


def scenario_of_run(store: Store, run_id: int) -> Scenario:
    """The scenario of run `run_id` of an ensemble. Raises InputError if there is none, or another version made it."""
    found = store.rows("runs").to_table(filter=field("run_id") == run_id).to_pylist()
    if not found:
        raise InputError(
            f"{store.address}: has no run {run_id}; the runs have the numbers that DIR/runs lists as run_id"
        )
    return scenario_of(found[0])


def scenario_of_window(store: Store, run_id: int, first_row: int, rows: int) -> Scenario:
    """A scenario reconstructed from `rows` rows of execution `run_id`, from `first_row` on.

    Only the events that survive recoveries are in it. Raises InputError.
    """
    events = one_execution.window(store, run_id, first_row, rows)
    if not events:
        raise InputError(f"{store.address}: execution {run_id} has no row {first_row}; rows are numbered from 0")
    processes = list(one_execution.event_counts(store, run_id))
    own = one_execution.WhatIsLeft(store, run_id).events(events)
    return reconstruct(own, processes, f"{store.name}-{run_id}")
