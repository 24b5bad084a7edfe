"""The queries of the Ensembles page for a million runs: `python -m bench.pipeline.questions [RUNS [PARTS]]`.

The runs are copies of about a thousand real ones with run_ids of their own, in PARTS parts: 8 as after compaction, or
4,000 as the workers write them. Each query runs three times; the quickest counts. Processor time is that of this
process, without Spark's.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pyarrow

from pipeline.ensembles import queries
from pipeline.ensembles.chunks import measured, part_name, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.queries import FAILED, RunQuery
from pipeline.ensembles.summaries import summarize
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema

RUNS = 1_000_000
PARTS = 8
REAL = 250  # runs of each cell
ROUNDS = 3


def grid() -> Grid:
    """Eight cells: slow and fast markers among four and eight processes."""
    return Grid.read({"processes": "4,8", "marker_delay": "same,2,10,20", "runs": str(REAL)}, {"transfers": "30"})


def million(path: Path, runs: int, parts: int) -> Store:
    """An ensemble of copies of real runs, in order of their cells."""
    of = grid()
    store = Store.create(path, "ensemble", of.to_json())
    plan = plan_of(store, of)
    rows = [{**row, "has_events": False} for run_id in range(plan.run_count) for row in measured(plan, run_id)[0]]
    real = pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES))
    for first in range(0, runs, runs // parts):
        ids = range(first, min(first + runs // parts, runs))
        numbers = numpy.arange(ids.start, ids.stop)
        cells = numbers * of.cell_count // runs
        copied = real.take(cells * REAL + numbers % REAL).combine_chunks()
        store.write_part("runs", part_name(ids), copied.set_column(0, "run_id", pyarrow.array(numbers)))
    store.finish()
    return store


def asked(what: str, question: Callable[[], object], rounds: int = ROUNDS) -> None:
    """Prints how long a question takes."""
    found = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        question()
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = min(found)
    print(f"  {what:48} {wall:8.2f} {cpu:8.2f}", flush=True)


def measure_questions(runs: int = RUNS, parts: int = PARTS) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory(prefix="bench-questions-") as folder:
        store = million(Path(folder) / "million", runs, parts)
        print(
            f"\n{store.count('runs'):,} runs in {len(store.parts('runs')):,} parts {'':16} {'wall, s':>8} {'CPU, s':>8}"
        )
        asked("a table: the first rows", lambda: queries.select_runs(store, RunQuery()))
        asked("a table: the longest first", lambda: queries.select_runs(store, RunQuery(by="latency", descending=True)))
        asked("a table: the longest of a cell", lambda: queries.select_runs(store, RunQuery(cells=(3,), by="latency")))
        asked("a table: those that fail", lambda: queries.select_runs(store, RunQuery(FAILED)))
        asked("a typical run of a cell", lambda: queries.nearest_run(store, 3, "latency", 40.0))
        asked("who finished last", lambda: queries.slowest(store, range(8)))
        asked("one run", lambda: queries.run_of(store, runs // 2, "S1"))
        spark = spark_session.session()
        asked("the overview, summed up by Spark", lambda: queries.load_overview(spark, store), 2)
        asked("summarize", lambda: summarize(spark, store), 2)
        asked("the overview, from summaries", lambda: queries.kept_overview(store))


if __name__ == "__main__":
    try:
        measure_questions(*map(int, sys.argv[1:]))
    finally:
        spark_session.stop()
