"""All states of a system, spread over Spark's workers: the driver of the search, depth by depth.

The driver alone carries out rules, numbers local states and contents of channels, and sends its tables with each job.
The workers look up the steps of their parts. If a table lacks an entry, the driver fills it, and the part is stepped
again. The driver receives no states except those of violations and of the runs to them.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from pipeline.exploring.part import Files, Lead, Step, Task, Widen, wider_words
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.kinds import kind_of
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.progress import Progress, silent
from pipeline.spark.reaching import check_reach
from pipeline.spark.restarting import ask, carried_out
from pipeline.store.place import Place, reason
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.explore.judging import COMPLETION, Judge
from sim.explore.replay import replayed
from sim.explore.report import Exploration
from sim.explore.search import Explored
from sim.explore.space import Space, Wider
from sim.explore.world import NO_FAULTS, MayHappen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATES_OF_TASK = 200_000  # a depth with fewer states is one task


@dataclass
class SpreadOut(Explored):
    """The result of a search. The levels are in files. The keys in `worst` are places in `words`."""

    words: list[list[int]] = field(default_factory=list)


def explored(
    scenario: Scenario,
    place: Place,
    *,
    own_order: bool,
    parts: int,
    most_states: int,
    progress: Progress = silent,
    session: SparkSession | None = None,
    may: MayHappen = NO_FAULTS,
) -> Exploration:
    """All runs of a scenario without time, as `sim.explore.report.exploration` finds them, on Spark.

    place: an empty folder that all workers reach. Ctrl-C ends the search early, with a problem. `session` and the
    exceptions are those of `carried_out`.
    """
    may.check(scenario)
    space = Space(may.engine(scenario), own_order=own_order, may=may)
    search = SpreadSearch(space, place, parts, most_states)

    def go_on(spark: SparkSession, report: Progress) -> None:
        check_reach(spark, place)
        search.go_on(spark, report)

    try:
        carried_out(go_on, progress, session=session)
    except KeyboardInterrupt as stopped:
        search.found.problem, search.found.stopped = "interrupted", stopped
    runs = {
        check: replayed(scenario, space, ask(partial(search.path_to, depth=depth, key=key), session))
        for check, (depth, key) in search.found.worst.items()
    }
    return Exploration(scenario, search.found, runs)


class SpreadSearch:
    """A search at a place. After an interruption, such as the loss of Spark, it goes on at the same depth."""

    def __init__(self, space: Space, place: Place, parts: int, most_states: int) -> None:
        """`place` is empty, and workers reach it. parts: the number of parts, by the hash of a state's columns."""
        self.space, self.most_states = space, most_states
        self.judge = Judge(space)
        self.found = SpreadOut(space, self.judge.parts)
        self.depth = 0
        space.initial()
        while not self._is_settled():
            space.packing, _ = space.wider()
        self._files = Files(place, parts)
        self._files.send(space, -1, 0, space.initial(), np.ones(1))
        self._senders: Sequence[int] = (0,)
        self._done: dict[int, dict[str, Any]] = {}  # the results of the parts of this depth
        self._narrow: tuple[Files, list[int]] | None = None  # files to be written again, and their widths

    def go_on(self, spark: SparkSession, progress: Progress = silent) -> None:
        """Search until all states are found, or there are too many. `progress` counts states."""
        while self.found.complete:
            self._step(spark)
            states, pairs = (sum(done[what] for done in self._done.values()) for what in ("states", "pairs"))
            if not pairs:
                return
            self.found.per_depth.append(states)
            self.found.pairs += pairs
            if self.found.pairs > self.most_states:
                self.found.problem = f"more than {self.most_states:,} states"
            else:
                self._go_deeper()
            progress(self.found.states, self.most_states)

    def path_to(self, spark: SparkSession, depth: int, key: int) -> list[tuple[int, int]]:
        """The steps of a shortest run to a state of `worst`: the node and its input, from the first one on."""
        steps: list[tuple[int, int]] = []
        words = self.found.words[key]
        for before in reversed(range(depth)):
            results = list(self.results(spark, Lead(self._files, self.space, before, words), self._every))
            step = next(found for _, found in results if found)
            steps.append((step["node"], step["given"]))
            words = step["before"]
        return steps[::-1]

    # ------------------------------------------------------------------ one depth

    @property
    def _every(self) -> Sequence[int]:
        return range(self._files.parts)

    def _step(self, spark: SparkSession) -> None:
        """Step all parts that are not done."""
        self._settle(spark)
        while missing := [part for part in self._every if part not in self._done]:
            step, wanted = Step(self._files, self.space, self.depth, self._senders), defaultdict[int, set[int]](set)
            for part, found in self.results(spark, step, missing):
                if "wanted" not in found:
                    self._done[part] = found
                for place, pairs in found.get("wanted", ()):
                    wanted[place].update(pairs)
            for place, pairs in sorted(wanted.items()):
                self.space.tables[place].fill(np.array(sorted(pairs), np.int64))
            self._settle(spark)

    def _settle(self, spark: SparkSession) -> None:
        """Fill the tables with all entries that workers need, and widen the keys if necessary."""
        if not self._is_settled():
            old = self.space.packing.widths
            self._narrow = self._narrow or (self._files, old)
            self._files = replace(self._files, packing=self._files.packing + 1)
            self.space.packing, _ = self.space.wider()
            new = self.space.packing.widths
            self.found.words = [wider_words(old, new, np.array([own]))[0].tolist() for own in self.found.words]
        if self._narrow is not None:
            self._widen(spark, *self._narrow)
            self._narrow = None

    def _is_settled(self) -> bool:
        try:
            self.space.settle()
        except Wider:
            return False
        return True

    def _widen(self, spark: SparkSession, old: Files, widths: list[int]) -> None:
        """Write all states again. The parts of this depth have sent states in the old packing, so they are not done."""
        self._done.clear()
        for _ in self.results(spark, Widen(self._files, self.space, self.depth, old, widths), self._every):
            pass
        with suppress(OSError):
            old.remove(f"words-{old.packing}")

    def _go_deeper(self) -> None:
        for _, done in sorted(self._done.items()):
            self._note(done)
        with suppress(OSError):
            for what in ("", "-ways", "-starts"):
                self._files.remove(f"sent{what}-{self.depth - 1}")
        self._senders = self._every
        self._done.clear()
        self.depth += 1

    def _note(self, done: dict[str, Any]) -> None:
        found = self.found
        found.stepped += done["pairs"]
        found.transitions += done["transitions"]
        found.is_levelled &= not done["again"]
        found.wrong.update(done["wrong"])
        self.judge.begin()
        for name, rows in done["snapshots"].items():
            ways, *columns = (np.array(column) for column in zip(*rows, strict=True))
            self.judge.count(name, columns, ways)
        found.snapshots.update(self.judge.snapshots)
        for check, words in done["worst"].items():
            if check not in found.worst:
                found.worst[check] = self.depth + (check != COMPLETION), len(found.words)
                found.words.append(words)

    # ------------------------------------------------------------------ jobs

    def results(self, spark: SparkSession, task: Task, parts: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the results of a task with each of some parts. If there are few states, a worker gets several parts."""
        sizes = self.found.per_depth or [1]
        count = min(len(parts), 1 + sizes[min(task.depth, len(sizes) - 1)] // STATES_OF_TASK)
        groups = [list(parts[number::count]) for number in range(count)]
        work = partial(_run_task, task, groups)
        with in_one_sentence(spark), interrupted_by(threading.Event(), spark):
            for row in kind_of(spark).results(work, count, spark_schema(_RESULTS)):
                found = json.loads(row.result)
                if "problem" in found:
                    cure = "look whether all workers reach it, and have room"
                    raise InputError(f"{self._files.place.address}: {found['problem']}; {cure}")
                yield row.part, found


# ------------------------------------------------------------------ on a worker

_RESULTS: Types = {"part": "int32", "result": "string"}  # the result is JSON


def _run_task(task: Task, groups: Sequence[Sequence[int]], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Any]:
    """Carries out a task with the parts of the groups in `batches`. Results report the errors of the system."""
    for part in (own for batch in batches for index in batch.column(0).to_pylist() for own in groups[index]):
        try:
            result = task.carry_out(part)
        except OSError as problem:
            result = {"problem": reason(problem)}
        rows = {"part": [part], "result": [json.dumps(result)]}
        yield pyarrow.RecordBatch.from_pydict(rows, arrow_schema(_RESULTS))
