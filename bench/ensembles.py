"""Cost of Spark for ensembles, against a plain pool of processes: `python -m bench.ensembles [RUNS]`.

Both carry out the same runs with the same engine and measure them in the same way; start-up is not counted. The pool
returns its rows to the parent and writes events with plain pyarrow; Spark's workers commit every part. They take turns,
so that slow moments of the machine affect both; the result is the median of the ratios.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from typing import TYPE_CHECKING

from pyarrow import parquet

from pipeline.ensembles.chunks import Plan, event_table, measured, plan_of
from pipeline.ensembles.grid import ALL, NONE, Grid
from pipeline.ensembles.measure import Row
from pipeline.ensembles.run import run_ensemble
from pipeline.spark import local_server, spark_session
from pipeline.store.folder import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 3
RUNS = 10_000
CLICK = 1_000  # runs for the time from a click to the charts
LIMITS = {NONE: 1.25, ALL: 1.8}


def grid(runs: int, events: str) -> Grid:
    """Transfers among 8 processes, some 500 events a run, with a snapshot in the middle."""
    return Grid.read({"processes": "8", "runs": str(runs), "events": events})


def rows_of(plan: Plan, run_id: int) -> list[Row]:
    """The work of a pool's process for one run's verdicts."""
    return measured(plan, run_id)[0]


def events_of(plan: Plan, folder: Path, chunk: int) -> int:
    """The work of a pool's process for one chunk's events: writes a file. Returns the rows."""
    found = []
    for run_id in plan.run_ids(chunk):
        _, execution = measured(plan, run_id)
        found.append((run_id, execution.events if execution else []))
    table = event_table(found)
    parquet.write_table(table, folder / f"{chunk}.parquet")
    return table.num_rows


def by_pool(pool: Pool, plan: Plan, events: str, folder: Path) -> int:
    """The ensemble by a pool. Returns the rows."""
    if events == ALL:
        return sum(pool.imap_unordered(partial(events_of, plan, folder), range(plan.chunk_count)))
    return sum(map(len, pool.imap_unordered(partial(rows_of, plan), range(plan.run_count), chunksize=32)))


def seconds(work: Callable[[], object]) -> float:
    """The wall time of `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def new_store(of: Grid) -> Iterator[Store]:
    """A store in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="bench-ensembles-") as folder:
        yield Store.create(Path(folder) / "ensemble", "ensemble", of.to_json())


def compared(spark: SparkSession, pool: Pool, of: Grid) -> tuple[float, float]:
    """The seconds that the pool and Spark took, one after the other."""
    with new_store(of) as store:
        plan = plan_of(store, of)
        plainly = seconds(lambda: by_pool(pool, plan, of.events, store.path))
    with new_store(of) as store:
        return plainly, seconds(lambda: run_ensemble(spark, store, of))


def to_charts(spark: SparkSession, store: Store, of: Grid) -> None:
    """The work of a page between a click and its charts: the runs, and a few numbers per cell."""
    run_ensemble(spark, store, of)
    store.read(spark, "runs").groupBy("cell").agg({"latency": "avg", "recorded_messages": "max"}).collect()


def against_pool(spark: SparkSession, pool: Pool, runs: int) -> None:
    """Prints the times of the pool and of Spark for an ensemble."""
    print(f"\n{runs:,} runs of 8 processes and some 500 events, on {local_server.cores()} cores")
    print(f"  {'':24} {'pool, s':>10} {'Spark, s':>10} {'ratio':>8} {'at most':>8}")
    for events, limit in LIMITS.items():
        pairs = [compared(spark, pool, grid(runs, events)) for _ in range(ROUNDS)]
        plainly, ours = (min(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(ours / plainly for plainly, ours in pairs)
        words = "all events written" if events == ALL else "verdicts only"
        print(f"  {words:24} {plainly:10.2f} {ours:10.2f} {ratio:8.2f} {limit:8.2f}")


def after_a_click(spark: SparkSession) -> None:
    """Prints the time from a click to the charts."""
    few = Grid.read({"processes": "8", "runs": str(CLICK // 4), "marker_delay": "same,10,20,30"})
    found = []
    for _ in range(ROUNDS):
        with new_store(few) as store:
            found.append(seconds(partial(to_charts, spark, store, few)))
    print(
        f"\nfrom a click to the numbers of a chart of {few.run_count:,} runs: {statistics.median(found):.2f} s (median)"
    )


def measure_ensembles(runs: int = RUNS) -> None:
    """Prints both tables."""
    spark = spark_session.session()
    with multiprocessing.get_context("spawn").Pool(local_server.cores()) as pool:
        for events in LIMITS:  # the first time costs more
            compared(spark, pool, grid(200, events))
        against_pool(spark, pool, runs)
    after_a_click(spark)


if __name__ == "__main__":
    try:
        measure_ensembles(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
    finally:
        spark_session.stop()
