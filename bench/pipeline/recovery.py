"""The costs of a recovery, by the interval of checkpoints: `python -m bench.pipeline.recovery [RUNS]`, through Spark.

Eight processes send transfers to each other. A coordinator takes a snapshot each `interval`, and one process crashes,
once, at a time drawn evenly between two snapshots. The measures are those of `measure`. The cost model:

- Events rolled back: those since the recording of the last valid snapshot. At a crash that recording is, in the mean,
  half an interval old, plus the time from a recording to its manifest. The other processes go on until they are
  restored: until the crash is detected and their parts are fetched.
- Time to recover: the times to detect the crash, to call the storage, and to fetch all parts one after another.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pyarrow

from pipeline.ensembles.measure import measure
from pipeline.spark import session as spark_session
from pipeline.spark.kinds import kind_of
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim.core import randomness
from sim.core.model import APPLICATION_KINDS, RECORD
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario
from sim.run.execution import Execution, run

RUNS = 400  # of each interval
TASK = 25  # runs
INTERVALS = (10.0, 20.0, 40.0, 80.0)
PROCESSES, DETECT, LATENCY, BANDWIDTH, MANIFEST = 8, 2.0, 0.25, 20.0, 5
FIRST_CRASH = 160.0  # after two snapshots at least
SYSTEM = f"""
processes = {PROCESSES}
workload = {{ kind = "bank", balance = 1000, transfers = 125, pace = 2 }}
delay = {{ kind = "uniform", low = 0.5, high = 1.5 }}
control_delay = {{ value = 0.25 }}
coordinator = {{ timeout = 100, until = 250 }}
storage = {{ bandwidth = {BANDWIDTH}, latency = {LATENCY}, manifest = {MANIFEST} }}
recovery = {{ on = "crash", detect = {DETECT} }}
"""


class Cost(NamedTuple):
    """The measures of one run: columns of `measure`, and the inputs of the cost model.

    rate: events per time unit before the crash. to_manifest: the mean time from a recording to the manifest of its
    snapshot. bytes: the size of the fetched parts.
    """

    rolled_back: float
    recovery_time: float
    rate: float
    to_manifest: float
    bytes: float

    def expected(self, interval: float) -> tuple[float, float]:
        """The events rolled back and the time to recover, as predicted."""
        fetched = 2 * LATENCY + self.bytes / BANDWIDTH
        others = self.rate * (PROCESSES - 1) / PROCESSES
        waiting = DETECT + 2 * LATENCY + self.bytes / BANDWIDTH * (PROCESSES + 1) / (2 * PROCESSES)
        return self.rate * (interval / 2 + self.to_manifest) + others * waiting, DETECT + fetched


COST_TYPES: Types = dict.fromkeys(Cost._fields, "float64")


def scenario(interval: float, seed: int) -> Scenario:
    """A run with a crash of a process at a time, both drawn by the seed."""
    system = parse_toml(SYSTEM, "recovery")
    draws = randomness.key(seed, "bench", "recovery")
    at = FIRST_CRASH + interval * randomness.unit(draws, 0)
    crash = FaultLine("crash", at=at, process=system.processes[randomness.bits(draws, 1) % PROCESSES])
    return replace(system, seed=seed, coordinator={**(system.coordinator or {}), "interval": interval}, faults=(crash,))


def cost(execution: Execution) -> Cost:
    """The costs of a run with one crash."""
    rows = measure(execution)
    crashed = execution.scenario.faults[0].at
    kinds = execution.table
    before = sum(row.kind in APPLICATION_KINDS and row.time < crashed for row in kinds)
    recorded: dict[str | None, list[float]] = {}
    for row in kinds:
        if row.kind == RECORD and row.time < crashed:
            recorded.setdefault(row.snapshot_id, []).append(row.time)
    ages = [
        min(recorded[row["snapshot_id"]]) + row["commit_latency"] - statistics.mean(recorded[row["snapshot_id"]])
        for row in rows
        if row["commit_latency"] is not None and len(recorded.get(row["snapshot_id"], ())) == PROCESSES
    ]
    goal = next(row.snapshot_id for row in kinds if row.kind == "recovery")
    stored = next(row["stored_bytes"] for row in rows if row["snapshot_id"] == goal)
    own = rows[0]
    return Cost(own["rolled_back"], own["recovery_time"], before / crashed, statistics.mean(ages), stored - MANIFEST)


def measure_recovery(runs: int = RUNS) -> None:
    """Prints for each interval the measured means, those of the cost model, and their ratios."""
    spark = spark_session.session()
    print(f"{PROCESSES} processes, {runs} runs of each interval, one crash in each; means")
    print("interval   events rolled back   model   ratio   time to recover   model   ratio   to the manifest   rate")
    for interval in INTERVALS:
        work = partial(_tasks, interval, runs)
        found = kind_of(spark).results(work, -(-runs // TASK), spark_schema(COST_TYPES))
        costs = [Cost(*(row[name] for name in Cost._fields)) for row in found]
        mean = Cost(*(statistics.mean(values) for values in zip(*costs, strict=True)))
        events, time = mean.expected(interval)
        print(
            f"{interval:8.0f}   {mean.rolled_back:18.1f} {events:7.1f} {mean.rolled_back / events:7.3f}   "
            f"{mean.recovery_time:15.2f} {time:7.2f} {mean.recovery_time / time:7.3f}   {mean.to_manifest:15.2f} "
            f"{mean.rate:6.2f}",
            flush=True,
        )


def _tasks(interval: float, runs: int, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        seeds = range(number * TASK, min(runs, (number + 1) * TASK))
        costs: list[Mapping[str, float]] = [cost(run(scenario(interval, seed)))._asdict() for seed in seeds]
        yield pyarrow.RecordBatch.from_pylist(costs, arrow_schema(COST_TYPES))


if __name__ == "__main__":
    try:
        measure_recovery(*map(int, sys.argv[1:2]))
    finally:
        spark_session.stop()
