"""Cost of Spark for ensembles, against a plain pool of processes: `python -m bench.pipeline.ensembles [RUNS]`.

The pool carries out the same chunks with the same engine, measures them in the same way and writes the same parts;
start-up is not counted. They take turns, so that slow moments of the machine affect both; the result is the median of
the ratios. How many runs a core makes is counted in processor time of the pool, so that others at work on the machine
matter little. Compiled runs are more, and runs with events fewer, so that all take about as long. What only Spark does
then, joining the parts and summing up the runs, is timed by itself.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline.compiled.runs import compiled
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.chunks import Plan, carry_out, plan_of
from pipeline.ensembles.compacting import compact
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import ALL, NONE
from pipeline.ensembles.run import run_ensemble, run_on_workers
from pipeline.ensembles.summaries import summarize
from pipeline.spark import local_server
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 3
RUNS = 3_000
WITH_FAULTS = 10_000
FAULTS = {"crash": "0.005", "restart": "0.2", "sever": "0.002", "mend": "0.2", "lose": "0.01", "copy": "0.01"}
CLICK = 1_000  # runs for the time from a click to the charts


class Kind(NamedTuple):
    """A row of the table: which events are kept, who does the runs, how many times RUNS; the aims, where there are."""

    words: str
    events: str
    by_numba: bool
    times: float
    most: float | None  # of the ratio
    least: int | None  # runs a second and core


IN_PYTHON = (
    Kind("verdicts, in Python", NONE, False, 1, 1.25, 330),
    Kind("all events, in Python", ALL, False, 0.4, 1.8, None),
)
COMPILED = Kind("verdicts, compiled", NONE, True, 10, None, None)


class Times(NamedTuple):
    """The seconds of the pool and of Spark for the same runs; the pool's runs per second and core; joining and sums."""

    pool: float
    spark: float
    speed: float
    after: float


def grid(runs: int, events: str) -> Grid:
    """Transfers among 8 processes, some 500 events a run, with a snapshot in the middle."""
    return Grid.read({"processes": "8", "runs": str(runs), "events": events})


def processor_time(plan: Plan, chunk: int) -> float:
    """The work of a pool's process: carries out a chunk. Returns the seconds of its processor."""
    begin = time.process_time()
    carry_out(plan, chunk)
    return time.process_time() - begin


def by_pool(pool: Pool, plan: Plan) -> float:
    """The ensemble by a pool. Returns the runs per second and core."""
    return plan.run_count / sum(pool.imap_unordered(partial(processor_time, plan), range(plan.chunk_count)))


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


def compared(spark: SparkSession, pool: Pool, kind: Kind, runs: int) -> Times:
    """The pool and Spark, one after the other, with the same runs."""
    of = grid(round(runs * kind.times), kind.events)
    speed: list[float] = []
    with new_store(of) as store:
        plan = plan_of(store, of)._replace(by_numba=kind.by_numba)
        plainly = seconds(lambda: speed.append(by_pool(pool, plan)))
    with new_store(of) as store:
        plan = plan_of(store, of)._replace(by_numba=kind.by_numba)
        ours = seconds(lambda: list(run_on_workers(spark, plan, range(plan.chunk_count), threading.Event())))
        after = seconds(lambda: compact(spark, store)) + seconds(lambda: summarize(spark, store))
    return Times(plainly, ours, speed[0], after)


def to_charts(spark: SparkSession, store: Store, of: Grid) -> None:
    """The work of a page between a click and its charts: the runs, and a few numbers per cell."""
    run_ensemble(spark, store, of)
    store.read(spark, "runs").groupBy("cell").agg({"latency": "avg", "recorded_messages": "max"}).collect()


def against_pool(spark: SparkSession, pool: Pool, runs: int) -> None:
    """Prints the times of the pool and of Spark for ensembles of each kind."""
    print(f"\nruns of 8 processes and some 500 events, on {local_server.cores()} cores")
    print(f"  {'':22} {'runs':>7} {'pool, s':>8} {'Spark, s':>9} {'ratio':>6} {'at most':>8} ", end="")
    print(f"{'runs/s, core':>13} {'at least':>9} {'then joining, sums, s':>22}")
    for kind in kinds():
        compared(spark, pool, kind, 200)  # the first time costs more
        rounds = [compared(spark, pool, kind, runs) for _ in range(ROUNDS)]
        quickest = Times(*(min(column) for column in zip(*rounds, strict=True)))
        ratio = statistics.median(one.spark / one.pool for one in rounds)
        speed = max(one.speed for one in rounds)
        print(f"  {kind.words:22} {round(runs * kind.times):7,} {quickest.pool:8.2f} {quickest.spark:9.2f} ", end="")
        print(
            f"{ratio:6.2f} {kind.most or '':>8} {speed:13,.0f} {kind.least or '':>9} {quickest.after:22.2f}", flush=True
        )


def kinds() -> tuple[Kind, ...]:
    """The rows of the table: compiled runs only where Numba works."""
    return (*IN_PYTHON, COMPILED) if compiled(cells_of(Grid.read({}))[0].scenario) else IN_PYTHON


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


def beside_faults(spark: SparkSession, runs: int = WITH_FAULTS) -> None:
    """Prints the runs per second of the same grid without and with faults at random, in Python, one after the other."""
    plain = {"processes": "8", "runs": str(runs), "events": NONE}
    speeds = []
    for more in ({}, FAULTS):
        of = Grid.read({**plain, **more})
        with new_store(of) as store:
            plan = plan_of(store, of)._replace(by_numba=False)
            work = partial(run_on_workers, spark, plan, range(plan.chunk_count), threading.Event())
            speeds.append(runs / seconds(lambda work=work: list(work())))  # type: ignore[misc]
    print(f"\n{runs:,} runs: {speeds[0]:,.0f} runs/s without faults, {speeds[1]:,.0f} with them, ", end="")
    print(f"{speeds[1] / speeds[0]:.2f} of that")


def measure_ensembles(runs: int = RUNS) -> None:
    """Prints the table, and the time after a click."""
    spark = spark_session.session()
    with multiprocessing.get_context("spawn").Pool(local_server.cores()) as pool:
        against_pool(spark, pool, runs)
    after_a_click(spark)
    beside_faults(spark)


if __name__ == "__main__":
    try:
        measure_ensembles(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
    finally:
        spark_session.stop()
