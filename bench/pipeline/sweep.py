"""A sweep of snapshots through the pipeline: `python -m bench.pipeline.sweep [RUNS] [ALGORITHM ...]`.

By default it has a million runs.

A grid of bank transfers, under Chandy-Lamport or each of the algorithms named ("all": every one), over sizes, networks
and delays, on channels that are FIFO and, where the algorithm needs none, on others. It runs like any ensemble: on
Spark's workers, into a data folder. Every snapshot must be complete and pass every check of its algorithm; else the
status is 1. Before that, the cost of a compiled run on one core, and of the keys of its draws.

`python -m bench.pipeline.sweep --faults [RUNS] [ALGORITHM ...]`: 20,000 runs, by default of every algorithm, with
faults that it allows, at rates drawn for each run. A third are on the same systems, the others on those with fewer
transfers, so that more faults meet a snapshot. Every complete snapshot must pass every check, but that a process that
has started again may send a second marker; and every one must be complete that nothing has failed for good to prevent.
Else the status is 1.
`python -m bench.pipeline.sweep --again ALGORITHM SEED` prints one of these runs, as the TOML of its scenario.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from bench.pipeline import faulty
from pipeline.compiled.runs import Compiled, compiled
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import FAULT_KINDS
from pipeline.ensembles.options import NONE
from pipeline.ensembles.run import run_ensemble
from pipeline.spark import local_server
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from pipeline.store.schema import DISPUTED, NUMBA
from sim import VERSION
from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.model import LOST
from sim.core.randomness import key
from sim.document.writing import dumps

RUNS = 1_000_000
ONE_CORE = 20_000  # runs for the cost on one core
WITH_FAULTS = 20_000
SHORT = {"transfers": "3,10"}  # of each process; for 500 events 31 to 83
VARIED = {
    "workload": "bank", "topology": "complete,ring,line,star", "processes": "3,5,8",
    "delay": "uniform:1:9,exponential:5", "marker_delay": "same,fixed:1,uniform:0:40", "events": NONE,
}  # fmt: skip


def grid(runs: int, algorithm: str, parameters: Mapping[str, str] | None = None) -> Grid:
    """At least so many runs, in cells of all sizes, networks and delays. `parameters` are those of the transfers."""
    rules = ALGORITHMS[algorithm]
    varied = VARIED | {"algorithm": algorithm, "fifo": "yes" if rules.needs_fifo else "yes,no"}
    if rules.initiators == SOURCES:
        varied["topology"] = "dag"
    return Grid.read(varied | {"runs": str(-(-runs // Grid.read(varied).cell_count))}, parameters)


def on_one_core() -> None:
    """Prints the cost of a compiled run of 8 processes and some 500 events, and of its keys in Python."""
    scenario = cells_of(Grid.read({}))[0].scenario
    quick = compiled(scenario)
    if quick is None:
        print("Numba is not installed (make fast): all runs are done in Python")
        return
    quick.found([0])
    begin = time.process_time()
    found = quick.found(range(ONE_CORE))
    spent = time.process_time() - begin
    events = int(found.of_runs[:, 0].sum())
    print(f"compiled, on one core: {spent / ONE_CORE * 1e6:.1f} us a run of {events // ONE_CORE} events, ", end="")
    print(f"{events / spent / 1e6:.1f} M events/s; {_rows_s(quick):.1f} us more for a row; ", end="")
    print(f"{_keys_s(quick):.0f} us for its keys, were they made in Python")


def _rows_s(quick: Compiled) -> float:
    """Microseconds for a run's row as a dictionary."""
    begin = time.process_time()
    quick.found(range(ONE_CORE))
    between = time.process_time()
    for _ in quick.rows(range(ONE_CORE)):
        pass
    return max(0.0, (time.process_time() - between) - (between - begin)) / ONE_CORE * 1e6


def _keys_s(quick: Compiled) -> float:
    """Microseconds for the keys of a run by hashlib."""
    names = ["\x1f"] * len(quick.system.lengths)
    begin = time.process_time()
    for seed in range(100):
        for name in names:
            key(seed, "delay", name)
    return (time.process_time() - begin) / 100 * 1e6


def measure_sweeps(runs: int = RUNS, *algorithms: str) -> bool:
    """Prints what a run costs on one core, and what a sweep of each algorithm took and found; whether none fails."""
    on_one_core()
    names = tuple(ALGORITHMS) if algorithms == ("all",) else algorithms or ("chandy_lamport",)
    asked = " ".join([str(runs), *algorithms])
    print(f"version {VERSION}, seeds from 0; the command: python -m bench.pipeline.sweep {asked}")
    are_right = [measure_sweep(runs, name) for name in names]
    return all(are_right)


def measure_sweep(runs: int, algorithm: str) -> bool:
    """Prints what a sweep took and found; whether no snapshot fails."""
    wanted = grid(runs, algorithm)
    spark = spark_session.session()
    with tempfile.TemporaryDirectory(prefix="bench-sweep-") as folder:
        store = Store.create(Path(folder) / "sweep", "ensemble", wanted.to_json())
        begin = time.perf_counter()
        run_ensemble(spark, store, wanted)
        spent = time.perf_counter() - begin
        found = store.rows("runs").to_table(["failed", "engine", "status", "events"])
    failed, engines = pc.sum(found["failed"]).as_py(), found["engine"].to_numpy(zero_copy_only=False)
    share, disputed = np.mean(engines == NUMBA), int(np.sum(engines == DISPUTED))
    events = pc.sum(found["events"]).as_py()
    print(
        f"{algorithm}: {found.num_rows:,} runs in {wanted.cell_count} cells, {events:,} events: {spent:.1f} s on ",
        end="",
    )
    print(f"{local_server.cores()} cores, {found.num_rows / spent:,.0f} runs/s, {events / spent / 1e6:.2f} M events/s")
    print(f"by Numba: {share:.2%}; runs in which it differed from Python: {disputed}; violations: {failed}")
    return failed == 0 and disputed == 0


def with_faults(algorithm: str) -> faulty.Swept:
    """The runs of an algorithm with faults: on the systems of the sweep, and on those with fewer transfers."""
    return faulty.Swept(algorithm, (grid(1, algorithm), grid(1, algorithm, SHORT)))


def measure_faults(runs: int = WITH_FAULTS, *algorithms: str) -> bool:
    """Prints what runs with faults of each algorithm took and found; whether none is wrong."""
    names = tuple(ALGORITHMS) if algorithms in ((), ("all",)) else algorithms
    told = " ".join(["--faults", str(runs), *algorithms])
    print(f"version {VERSION}, seeds from 0; the command: python -m bench.pipeline.sweep {told}", flush=True)
    are_right = [measure_faults_of(runs, name) for name in names]
    return all(are_right)


def measure_faults_of(runs: int, algorithm: str) -> bool:
    """Prints what runs with faults took and found; whether none is wrong."""
    spark = spark_session.session()
    begin = time.perf_counter()
    found, problems = faulty.sweep(spark, with_faults(algorithm), runs)
    spent = time.perf_counter() - begin
    faults = ", ".join(f"{found[kind]:,} {kind}" for kind in (*FAULT_KINDS, LOST) if found[kind])
    print(f"{algorithm}: {found['runs']:,} runs, {found['raw']:,} of them on a raw network, ", end="")
    print(f"{found['events']:,} events: {spent:.1f} s on {local_server.cores()} cores, {runs / spent:,.0f} runs/s")
    print(f"  rows of faults: {faults or 'none'}")
    print(f"  snapshots: {found['complete']:,} complete, something failed during {found['met']:,} of them; ", end="")
    print(f"{found['incomplete']:,} not; second markers after a restart: {found['again']:,}; ", end="")
    print(f"violations: {len(problems)}", flush=True)
    for problem in problems:
        print(f"  {problem}")
    return not problems


def main(*given: str) -> bool:
    """Does what the command line asks for; whether nothing is wrong."""
    if given[:1] == ("--again",):
        print(dumps(with_faults(given[1]).scenario(int(given[2]))))
        return True
    measured, wanted = (measure_faults, given[1:]) if given[:1] == ("--faults",) else (measure_sweeps, given)
    return measured(int(wanted[0]), *wanted[1:]) if wanted else measured()


if __name__ == "__main__":
    try:
        is_right = main(*sys.argv[1:])
    finally:
        spark_session.stop()
    sys.exit(0 if is_right else 1)
