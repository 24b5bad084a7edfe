"""Divides the runs of an ensemble into chunks, and carries out a chunk on a worker.

A worker carries out the runs of its chunk, compiled where it can (pipeline/compiled/). Then it writes their events, and
after that their rows of runs, as one part each. The parts are named after their runs. A chunk is done when a part of
the table runs has its runs. So Spark may retry tasks, and an ensemble be resumed, without repeating finished chunks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow

from pipeline.ensembles.both_ways import quick_rows
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import Row, describe, measure
from pipeline.ensembles.options import ALL, SAMPLE, YES
from pipeline.ensembles.rerun import scenario_of
from pipeline.ensembles.run_costs import with_costs
from pipeline.store.folder import Store
from pipeline.store.schema import DISPUTED, NUMBA, PYTHON, RUN_TYPES, arrow_schema
from pipeline.store.tables import Addition
from sim import VERSION
from sim.core.errors import InputError
from sim.core.model import EVENT_TYPES, Event
from sim.run.execution import Execution, run

CHUNKS = 32  # the least number, if there are enough runs: so all workers finish at about the same time
MOST_CHUNKS = 4_096  # unless runs are very long; readers open every part
LEAST_RUNS, MOST_RUNS = 8, 250  # in a chunk; a killed worker loses its chunk
MOST_ROWS = 500_000  # event rows in a chunk, as estimated; a worker holds all of them


class Plan(NamedTuple):
    """A plan for workers: the folder of the parts (None: rows are not kept), the cells' scenarios as TOML, and the
    division of the runs into chunks of `size` runs.

    Run r of cell c has run_id c * runs + r and seed `seed` + r. For `events` see Grid. `by_numba`: whether the
    compiled kernel may do the runs that it can do. `costs`: whether the costs of snapshots are measured, which only
    Python can do.
    """

    into: Addition | None
    scenario: str | None
    workload: str
    documents: tuple[str, ...]
    runs: int
    seed: int
    events: str
    size: int
    by_numba: bool = True
    costs: bool = False

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
        return part_name(self.run_ids(chunk))


def part_name(run_ids: range) -> str:
    """The name of a part with these runs."""
    return f"runs-{run_ids[0]:08}-{run_ids[-1]:08}"


def run_ids_of(part: str) -> range:
    """The runs that the name of a part stands for; none if the name is no `part_name`."""
    found = re.fullmatch(r"runs-(\d+)-(\d+)", part)
    return range(int(found[1]), int(found[2]) + 1) if found else range(0)


def plan_of(store: Store | None, grid: Grid) -> Plan:
    """The plan of `grid`, the same at every call. Raises InputError for an invalid grid."""
    cells, costs = cells_of(grid), grid.costs == YES
    size = max(1, min(chunk_size(grid.run_count), MOST_ROWS // max(1, *(cell.rows for cell in cells))))
    return Plan(
        into=None if store is None else store.adding(),
        scenario=None if grid.scenario is None else grid.name,
        workload=grid.workload,
        documents=tuple(cell.document for cell in cells),
        runs=grid.runs,
        seed=grid.seed,
        events=grid.events,
        size=size,
        by_numba=not costs,
        costs=costs,
    )


def chunk_size(runs: int) -> int:
    """The number of runs in a chunk of an ensemble with `runs` runs, unless they are very long."""
    return max(min(max(LEAST_RUNS, runs // CHUNKS), MOST_RUNS), -(-runs // MOST_CHUNKS))


# ------------------------------------------------------------------ on a worker


def carry_out(plan: Plan, chunk: int) -> None:
    """Carries out the runs of a chunk and writes their parts. Raises InputError if they cannot be written."""
    assert plan.into is not None
    rows: list[Row] = []
    kept: list[tuple[int, list[Event]]] = []
    by_numba, disputed = _by_numba(plan, plan.run_ids(chunk))
    for run_id in plan.run_ids(chunk):
        engine = DISPUTED if run_id in disputed else PYTHON
        found, execution = (by_numba[run_id], None) if run_id in by_numba else measured(plan, run_id, engine)
        has_events = execution is not None and _wants_events(plan, run_id, found)
        if execution is not None and has_events:
            kept.append((run_id, execution.table))
        rows += ({**row, "has_events": has_events} for row in found)
    if kept:
        plan.into.write_part("events", plan.part(chunk), event_table(kept))
    plan.into.write_part("runs", plan.part(chunk), pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))


def measured(plan: Plan, run_id: int, engine: str = PYTHON) -> tuple[list[Row], Execution | None]:
    """The rows of a run without `has_events`, and its execution (None: it failed, and the row says why)."""
    row = {**_beginning(plan, run_id), "engine": engine}
    scenario = scenario_of(row)
    row |= describe(scenario)
    try:
        execution = run(scenario)
        rows = measure(execution)
        return [{**row, **found} for found in (with_costs(execution, rows) if plan.costs else rows)], execution
    except Exception as problem:  # an error in a user's algorithm fails its run, not the ensemble
        words = str(problem) if isinstance(problem, InputError) else f"{type(problem).__name__}: {problem}"
        return [{**row, "failed": True, "error": words}], None


def _beginning(plan: Plan, run_id: int) -> Row:
    """The cells of a run's row that are known before it is carried out."""
    cell, ordinal = divmod(run_id, plan.runs)
    return {
        "run_id": run_id, "cell": cell, "seed": plan.seed + ordinal, "document": plan.documents[cell],
        "scenario": plan.scenario, "workload": plan.workload, "error": None, "version": VERSION,
    }  # fmt: skip


def _by_numba(plan: Plan, run_ids: Sequence[int]) -> tuple[dict[int, list[Row]], set[int]]:
    """The rows of the runs that the compiled kernel answers, by run_id, and the runs whose rows are not trusted.

    One run of each document is carried out in Python as well.
    """
    found: dict[int, list[Row]] = {}
    disputed: set[int] = set()
    for _, ids in groupby(run_ids, key=lambda run_id: run_id // plan.runs):
        wanted = [_beginning(plan, run_id) for run_id in ids if not _wants_events(plan, run_id, ())]
        if not wanted or not plan.by_numba:
            continue
        quick = quick_rows(wanted[0]["document"], plan.workload, [row["seed"] for row in wanted])
        always = {**describe(scenario_of(wanted[0])), "engine": NUMBA}
        for row, rows in zip(wanted, quick.rows, strict=True):
            if rows is not None:
                found[row["run_id"]] = [{**row, **always, **each} for each in rows]
        if quick.is_disputed:
            disputed.update(row["run_id"] for row in wanted)
    return found, disputed


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
