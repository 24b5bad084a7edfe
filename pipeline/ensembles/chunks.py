"""The runs of an ensemble, divided into chunks, and what a worker does with one.

A worker carries out the runs of its chunk, writes their events, then their rows of runs, each as one part whose name is
the chunk's. A chunk is done when its part of runs is there: so a task may be tried again, and an ensemble resumed,
without doing anything twice.
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

CHUNKS = 32  # at least, where there are runs enough: so that all workers end at about the same time
MOST_CHUNKS = 4_096  # unless runs are very long: a reader looks at every part
LEAST_RUNS, MOST_RUNS = 8, 250  # of a chunk: what a killed worker loses
MOST_ROWS = 500_000  # of the event table, of a chunk, as estimated: a worker holds them all


class Plan(NamedTuple):
    """What workers need to know: the folder, the cells' documents, and which runs a chunk has.

    Run r of cell c has the number c * runs + r, and the seed `seed` + r.
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
        """How many runs there are in all cells together."""
        return self.runs * len(self.documents)

    @property
    def chunk_count(self) -> int:
        """How many chunks there are."""
        return -(-self.run_count // self.size)

    def run_ids(self, chunk: int) -> range:
        """The runs of a chunk."""
        return range(chunk * self.size, min((chunk + 1) * self.size, self.run_count))

    def part(self, chunk: int) -> str:
        """The name of a chunk's parts."""
        ids = self.run_ids(chunk)
        return f"runs-{ids[0]:08}-{ids[-1]:08}"


def plan_of(store: Store, grid: Grid) -> Plan:
    """The chunks of `grid`, always the same ones. Raises InputError for a cell that makes no sense."""
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
    """Carry out the runs of a chunk, and commit them. Raises InputError where they cannot be written."""
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
    """The rows of a run but for `has_events`, and the run itself, unless it could not be carried out."""
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
    except Exception as problem:  # of a rule book, whoever wrote it: one run's failure does not end the others
        words = str(problem) if isinstance(problem, InputError) else f"{type(problem).__name__}: {problem}"
        return [{**row, "failed": True, "error": words}], None


def _wants_events(plan: Plan, run_id: int, rows: Sequence[Row]) -> bool:
    if plan.events == SAMPLE:
        return run_id % plan.runs == 0 or any(row["failed"] for row in rows)
    return plan.events == ALL


def event_table(runs: Sequence[tuple[int, Sequence[Event]]]) -> pyarrow.Table:
    """The event table of several runs, by their ids."""
    columns: list[list[Any]] = [[] for _ in EVENT_TYPES]
    for _, events in runs:
        for column, values in zip(columns, zip(*events, strict=True), strict=bool(events)):
            column += values
    columns[0] = [run_id for run_id, events in runs for _ in events]
    return pyarrow.table(columns, arrow_schema(EVENT_TYPES))
