"""Runs with faults at random, each with rates of its own, and what their snapshots have to keep (sweep.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import FAULT_KINDS, measure
from pipeline.spark.kinds import kind_of
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim.core import randomness
from sim.core.algorithm import BY_COUNT
from sim.core.model import CRASH, LOST, RESTART
from sim.core.network import RAW, Network
from sim.document.fault_rates import FaultRates
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE
from sim.verify.checks import CHECKS, verdicts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_FAULTS = 6.0  # of a run, in the mean
ON_RAW = 1 / 3  # the share of the runs on a raw network, of algorithms that need no FIFO
WITH_EACH = 0.7  # the share of the runs in which faults of a kind happen
FOR_GOOD = 0.15  # the share of the runs in which nothing that is down comes up again
LEAST_HEALS, MOST_HEALS = 0.02, 0.5  # rates at which it does in the others
TASK = 100  # runs


class Swept(NamedTuple):
    """Runs of one algorithm: those with the seeds from 0 on, on the systems of `grids` in turn."""

    algorithm: str
    grids: tuple[Grid, ...]

    def scenario(self, seed: int) -> Scenario:
        """The run with this seed, with the faults that its algorithm allows. Raises InputError if it is invalid."""
        systems = [cell.scenario for grid in self.grids for cell in cells_of(grid)]
        system = systems[seed % len(systems)]
        key = randomness.key(seed, "sweep", self.algorithm)
        draws = (randomness.unit(key, ordinal) for ordinal in count(1))
        is_raw = next(draws) < ON_RAW and not system.rules.needs_fifo
        network = Network(RAW) if is_raw else system.network
        found = replace(system, seed=seed, network=network, fault_rates=_rates(system, draws, is_raw=is_raw))
        validate(found)
        return found


def _rates(system: Scenario, draws: Iterator[float], *, is_raw: bool) -> FaultRates:
    """Rates by which a run of `system` has up to MOST_FAULTS faults in the mean, of all kinds together."""
    duration = 2 * system.snapshots[0].at  # it is in the middle
    messages = system.parameters["transfers"] * len(system.processes) + len(system.channels)
    kinds = ["sever", "lose"]
    if system.rules.allows_crashes:
        kinds.append("crash")
    if not is_raw or system.rules.closes_by != BY_COUNT:
        kinds.append("copy")
    faults = MOST_FAULTS * next(draws)
    weights = {kind: next(draws) if next(draws) < WITH_EACH else 0.0 for kind in kinds}
    total = sum(weights.values()) or 1.0
    of = {kind: faults * weight / total for kind, weight in weights.items()}
    heals = [LEAST_HEALS + (MOST_HEALS - LEAST_HEALS) * next(draws) if next(draws) >= FOR_GOOD else 0.0 for _ in "ab"]
    ends = [2 if rate else 1 for rate in heals]  # a fault that ends is two
    return FaultRates(
        crash=of.get("crash", 0.0) / ends[0] / len(system.processes) / duration,
        restart=heals[0],
        sever=of["sever"] / ends[1] / len(system.channels) / duration,
        mend=heals[1],
        until=duration,
        lose=min(1.0, of["lose"] / messages),
        copy=min(1.0, of.get("copy", 0.0) / messages),
    )


# ------------------------------------------------------------------ what is found

COUNTS = (
    "runs", "raw", "events", *FAULT_KINDS, LOST,
    "complete", "met",  # snapshots; of those the ones during which something failed
    "incomplete",
    "again",  # complete ones with a channel that carried a second marker, since its sender had started again
)  # fmt: skip


def judged(swept: Swept, seed: int) -> tuple[Counter[str], list[str]]:
    """The counts of a run, by COUNTS, and sentences about its problems."""
    try:
        execution = run(swept.scenario(seed))
        found, problems = _judged(execution)
    except Exception as problem:  # in the rules, the engine or the checks: a finding
        found, problems = Counter(runs=1), [f"{type(problem).__name__}: {problem}"]
    return found, [f"{swept.algorithm}, seed {seed}: {problem}" for problem in problems]


def _judged(execution: Execution) -> tuple[Counter[str], list[str]]:
    rows = list(execution.log.each())
    kinds = Counter(row[2] for row in rows)
    faults = [number for number, row in enumerate(rows) if row[2] in (*FAULT_KINDS, LOST)]
    restarts = [number for number in faults if rows[number][2] == RESTART]
    is_raw = execution.scenario.network.is_raw
    found = Counter({"runs": 1, "raw": int(is_raw), **{kind: kinds[kind] for kind in (*FAULT_KINDS, LOST)}})
    problems: list[str] = []
    for snapshot in measure(execution):
        name = snapshot["snapshot_id"]
        found["events"] = snapshot["events"]
        own = [number for number, row in enumerate(rows) if row[-1] == name]
        if snapshot["status"] != COMPLETE:
            found["incomplete"] += 1
            if not (kinds[CRASH] or execution.final.severed or (is_raw and kinds[LOST])):
                problems.append(f"{name}: {snapshot['status']}, and nothing has failed for good")
            continue
        found["complete"] += 1
        found["met"] += any(own[0] < number < own[-1] for number in faults)
        broken = {check for check in CHECKS if snapshot[check] is False}
        if "one_marker" in broken and any(number > own[0] for number in restarts):
            found["again"] += 1
            broken.remove("one_marker")
        if broken:
            verdicts = verdicts_of(execution)[name]
            problems += (f"{name}: {own.check}: {own.witness}" for own in verdicts if own.check in broken)
    return found, problems


# ------------------------------------------------------------------ on Spark's workers

_RESULT_TYPES: Types = {**dict.fromkeys(COUNTS, "int64"), "problems": "list<string>"}


def sweep(spark: SparkSession, swept: Swept, runs: int) -> tuple[Counter[str], list[str]]:
    """The counts of `runs` runs, and sentences about their problems, as `judged` gives them."""
    found: Counter[str] = Counter()
    problems: list[str] = []
    work = partial(_tasks, swept, runs)
    for row in kind_of(spark).results(work, -(-runs // TASK), spark_schema(_RESULT_TYPES)):
        found.update({name: row[name] for name in COUNTS})
        problems += row["problems"]
    return found, problems


def _tasks(swept: Swept, runs: int, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        yield _task(swept, range(number * TASK, min(runs, (number + 1) * TASK)))


def _task(swept: Swept, seeds: range) -> pyarrow.RecordBatch:
    found: Counter[str] = Counter()
    problems: list[str] = []
    for seed in seeds:
        counted, wrong = judged(swept, seed)
        found.update(counted)
        problems += wrong
    values: dict[str, list[Any]] = {**{name: [found[name]] for name in COUNTS}, "problems": [problems]}
    return pyarrow.RecordBatch.from_pydict(values, arrow_schema(_RESULT_TYPES))
