"""Runs of one scenario under many seeds, by the compiled kernel: in columns, and as rows of the table runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.listed import is_listed, snapshot_ids
from pipeline.store.schema import WITHOUT_RECOVERY, WITHOUT_STORAGE
from sim.core.algorithm import SnapshotAlgorithm
from sim.document.scenario import Scenario
from sim.run.snapshots import COMPLETE
from sim.verify.checks import CHECKS

log = logging.getLogger("pipeline")

Numbers = NDArray[Any]
_broken = threading.Event()  # set once Numba has failed in this process


class Found(NamedTuple):
    """The results of runs, a row for each: see pipeline/compiled/memory.py for the columns.

    `answered` says of each run whether every snapshot is complete and every check holds. Nothing is known of the other
    runs: they are done in Python.
    """

    answered: Numbers  # bool[run]
    of_runs: Numbers  # int64[run, column]
    durations: Numbers  # float64[run]
    of_snapshots: Numbers  # int64[run, snapshot, column]
    latencies: Numbers  # float64[run, snapshot]


class Compiled:
    """A listed scenario, for runs with any seed. Raises every exception of Numba if that does not work."""

    def __init__(self, scenario: Scenario) -> None:
        from pipeline.compiled import kernel, memory
        from pipeline.compiled.system import system_of

        self._kernel, self._memory = kernel, memory
        self._scenario = scenario
        self.system = system_of(scenario)

    def found(self, seeds: Sequence[int]) -> Found:
        """The results of the runs with these seeds; none is answered if Numba fails.

        Other threads go on meanwhile. The first call compiles, or loads earlier compiled code; so only then it is known
        whether Numba works.
        """
        found = self.room(len(seeds))
        try:
            if is_usable():
                own = self._memory.memory_of(self.system)
                self._kernel.carry_out(self.system, own, np.array(seeds, np.int64), *found)
        except Exception as problem:
            _give_up(problem)
            return self.room(len(seeds))
        return found

    def room(self, count: int) -> Found:
        """Room for the results of `count` runs."""
        snapshots = self.system.snapshots
        return Found(
            np.zeros(count, np.bool_),
            np.zeros((count, self._memory.OF_RUN), np.int64),
            np.zeros(count),
            np.zeros((count, snapshots, self._memory.OF_SNAPSHOT), np.int64),
            np.zeros((count, snapshots)),
        )

    def rows(self, seeds: Sequence[int]) -> Iterator[list[dict[str, Any]] | None]:
        """The rows of each run as `measure` gives them (pipeline/ensembles/measure.py); None if it is not answered."""
        ids, names = snapshot_ids(self._scenario), self._scenario.processes
        starts = [sum(start.snapshot == name for start in self._scenario.snapshots) for name in ids]
        checks = {check: True if check in SnapshotAlgorithm.checks else None for check in CHECKS}
        if self.system.conserved < 0:
            checks["conservation"] = None
        always = {"status": COMPLETE, **checks, "failed": False, "witness": None}
        columns = (column.tolist() for column in self.found(seeds))
        for answered, of_run, duration, of_snapshots, latencies in zip(*columns, strict=True):
            if not answered:
                yield None
                continue
            events, steps, messages, peak, *_ = of_run
            run = {"events": events, "steps": steps, "duration": duration, "messages": messages, "in_flight_peak": peak}
            run |= {"faults": 0, "lost": 0, **WITHOUT_RECOVERY}
            rows = []
            for number in sorted(range(len(ids)), key=lambda number: of_snapshots[number][0]):  # as they began
                _, recorded, size, markers, slowest, _ = of_snapshots[number]
                rows.append({
                    **run, "snapshot_id": ids[number], "initiators": starts[number], "latency": latencies[number],
                    "recorded_messages": recorded, "recorded_bytes": size, "markers": markers,
                    "slowest": names[slowest], **WITHOUT_STORAGE, **always,
                })  # fmt: skip
            yield rows or [{**run, "failed": False}]


@cache
def is_installed() -> bool:
    """Whether Numba is installed. It is imported only where it is used."""
    return find_spec("numba") is not None


def is_usable() -> bool:
    """Whether Numba is installed and has not failed in this process."""
    return is_installed() and not _broken.is_set()


def _give_up(problem: Exception) -> None:
    """Makes this process carry out all later runs in Python."""
    if not _broken.is_set():
        _broken.set()
        log.warning("Numba does not work, so runs are done in Python: %s: %s", type(problem).__name__, problem)


def compiled(scenario: Scenario) -> Compiled | None:
    """`scenario` for the kernel; None if the kernel may not run it, or Numba does not work."""
    if not is_usable() or not is_listed(scenario):
        return None
    try:
        return Compiled(scenario)
    except Exception as problem:  # such as a Numba without its libraries, or of another version
        _give_up(problem)
        return None
