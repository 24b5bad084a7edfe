"""Divides the runs of an ensemble into chunks, and carries out a chunk on a worker.

A worker carries out the runs of its chunk, then writes their events, then their rows of runs, as one part each. The
parts are named after the chunk. A chunk is done when its part of runs exists. So Spark may retry tasks, and an ensemble
may be resumed, without repeating finished chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow

from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import ALL, SAMPLE, Grid
from pipeline.ensembles.measure import Row, describe, measure
from pipeline.ensembles.rerun import scenario_of
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema
from sim import VERSION
from sim.core.errors import InputError
from sim.core.model import EVENT_TYPES, Event
from sim.run.execution import Execution, run

CHUNKS = 32  # at least, if there are enough runs: so that all workers finish at about the same time
MOST_CHUNKS = 4_096  # unless runs are very long; readers open every part
LEAST_RUNS, MOST_RUNS = 8, 250  # in a chunk; a killed worker loses its chunk
MOST_ROWS = 500_000  # event rows in a chunk, as estimated; a worker holds all of them


class Plan(NamedTuple):
    """What workers need: the folder, the documents of the cells, and how runs are divided into chunks of `size` runs.

    Run r of cell c has run_id c * runs + r and seed `seed` + r. For `events` see Grid.
    """

    path: str
    scenario: str | None
    workload: str
    documents: tuple[str, ...]
    runs: int
    seed: int
    events: str
    size: int

    @property
    def run_count(self) -> int:
        """The number of runs of all cells."""
        return self.runs * len(self.documents)

    @property
    def chunk_count(self) -> int:
        """The number of chunks."""
        return -(-self.run_count // self.size)

    def run_ids(self, chunk: int) -> range:
        """The run_ids of a chunk."""
        return range(chunk * self.size, min((chunk + 1) * self.size, self.run_count))

    def part(self, chunk: int) -> str:
        """The name of a chunk's parts."""
        ids = self.run_ids(chunk)
        return f"runs-{ids[0]:08}-{ids[-1]:08}"


def plan_of(store: Store, grid: Grid) -> Plan:
    """The plan of `grid`, the same at every call. Raises InputError for an invalid grid."""
    cells = cells_of(grid)
    size = min(max(LEAST_RUNS, grid.run_count // CHUNKS), MOST_RUNS)
    size = max(size, -(-grid.run_count // MOST_CHUNKS))
    size = max(1, min(size, MOST_ROWS // max(1, *(cell.rows for cell in cells))))
    return Plan(
        path=str(store.path.resolve()),
        scenario=None if grid.scenario is None else grid.name,
        workload=grid.workload,
        documents=tuple(cell.document for cell in cells),
        runs=grid.runs,
        seed=grid.seed,
        events=grid.events,
        size=size,
    )


# ------------------------------------------------------------------ on a worker


def carry_out(plan: Plan, chunk: int) -> None:
    """Carries out the runs of a chunk and writes their parts. Raises InputError if they cannot be written."""
    rows: list[Row] = []
    kept: list[tuple[int, list[Event]]] = []
    for run_id in plan.run_ids(chunk):
        found, execution = measured(plan, run_id)
        has_events = execution is not None and _wants_events(plan, run_id, found)
        if execution is not None and has_events:
            kept.append((run_id, execution.events))
        rows += ({**row, "has_events": has_events} for row in found)
    store = Store(Path(plan.path))
    if kept:
        store.write_part("events", plan.part(chunk), event_table(kept))
    store.write_part("runs", plan.part(chunk), pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))


def measured(plan: Plan, run_id: int) -> tuple[list[Row], Execution | None]:
    """The rows of a run without `has_events`, and its execution; None if it failed, and the row says why."""
    cell, ordinal = divmod(run_id, plan.runs)
    row: Row = {
        "run_id": run_id, "cell": cell, "seed": plan.seed + ordinal, "document": plan.documents[cell],
        "scenario": plan.scenario, "workload": plan.workload, "error": None, "version": VERSION,
    }  # fmt: skip
    scenario = scenario_of(row)
    row |= describe(scenario)
    try:
        execution = run(scenario)
        return [{**row, **found} for found in measure(execution)], execution
    except Exception as problem:  # an error in a user's algorithm fails its run, not the ensemble
        words = str(problem) if isinstance(problem, InputError) else f"{type(problem).__name__}: {problem}"
        return [{**row, "failed": True, "error": words}], None


def _wants_events(plan: Plan, run_id: int, rows: Sequence[Row]) -> bool:
    if plan.events == SAMPLE:
        return run_id % plan.runs == 0 or any(row["failed"] for row in rows)
    return plan.events == ALL


def event_table(runs: Sequence[tuple[int, Sequence[Event]]]) -> pyarrow.Table:
    """The event table of several runs, given as (run_id, events)."""
    columns: list[list[Any]] = [[] for _ in EVENT_TYPES]
    for _, events in runs:
        for column, values in zip(columns, zip(*events, strict=True), strict=bool(events)):
            column += values
    columns[0] = [run_id for run_id, events in runs for _ in events]
    return pyarrow.table(columns, arrow_schema(EVENT_TYPES))
