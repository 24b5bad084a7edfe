"""All states of a system, spread over Spark's workers: the driver of the search, depth by depth.

The driver alone carries out rules, numbers local states and contents of channels, and sends its tables with each job.
The workers look up the steps of their parts. Where a table lacks something, a part is stepped again after the driver
has filled it. No states pass through the driver but those of violations and of the runs to them.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from pipeline.exploring.part import Files, Lead, Step, Task, Widen
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.progress import Progress, silent
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim.core.errors import InputError
from sim.explore.judging import COMPLETION, Judge
from sim.explore.packing import packing_of
from sim.explore.search import Explored
from sim.explore.space import Space, Wider

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATES_OF_TASK = 50_000  # a depth with fewer states is one task


@dataclass
class SpreadOut(Explored):
    """What was found. The levels are in files: by_depth has their sizes; the keys of `worst` are places in `states_of`."""

    by_depth: list[int] = field(default_factory=list)
    states_of: list[list[int]] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        """The number of states by depth."""
        return self.by_depth


class SpreadSearch:
    """A search in a folder. Where it was interrupted, also by the loss of Spark, it goes on at the same depth."""

    def __init__(self, space: Space, folder: Path, parts: int, most_states: int) -> None:
        """`folder` is empty; workers have to see it. `parts`: of the states, by the hash of their columns."""
        self.space, self.most_states = space, most_states
        self.judge = Judge(space)
        self.found = SpreadOut(space, self.judge.parts)
        self.depth = 0
        self._files = Files(folder, parts)
        self._files.send(space.packing, -1, 0, space.initial(), np.ones(1))
        self._senders: Sequence[int] = (0,)
        self._done: dict[int, dict[str, Any]] = {}  # what came of the parts of this depth
        self._narrow: tuple[Files, list[int]] | None = None  # files that have to be written anew, and their packing

    def go_on(self, spark: SparkSession, progress: Progress = silent) -> None:
        """Search until all is found, or a bound is reached. `progress` counts states."""
        while self.found.complete:
            self._step(spark)
            states = sum(done["states"] for done in self._done.values())
            if not states:
                return
            self.found.by_depth.append(states)
            progress(self.found.states, self.most_states)
            if self.found.states > self.most_states:
                self.found.problem = f"more than {self.most_states:,} states"
            else:
                self._go_deeper()

    def path_to(self, spark: SparkSession, depth: int, key: int) -> list[tuple[int, int]]:
        """The steps of a shortest run to a state: the node and its input, from the first one on."""
        steps: list[tuple[int, int]] = []
        words = self.found.states_of[key]
        for before in reversed(range(depth)):
            results = self._results(spark, Lead(self._files, self.space, before, words), range(self._files.parts))
            step = next(found for _, found in list(results) if found)
            steps.append((step["node"], step["given"]))
            words = step["before"]
        return steps[::-1]

    # ------------------------------------------------------------------ one depth

    def _step(self, spark: SparkSession) -> None:
        """Step all parts that are not done."""
        self._settle(spark)
        while missing := [part for part in range(self._files.parts) if part not in self._done]:
            wanted: dict[int, set[int]] = {}
            for part, found in self._results(spark, Step(self._files, self.space, self.depth, self._senders), missing):
                if "wanted" not in found:
                    self._done[part] = found
                for place, pairs in found.get("wanted", ()):
                    wanted.setdefault(place, set()).update(pairs)
            for place, pairs in sorted(wanted.items()):
                self.space.tables[place].fill(np.array(sorted(pairs), np.int64))
            self._settle(spark)

    def _settle(self, spark: SparkSession) -> None:
        """Have all that workers need in the tables, and keys that are wide enough."""
        try:
            self.space.settle()
        except Wider:
            self._narrow = self._narrow or (self._files, self.space.packing.widths)
            self._files = replace(self._files, packing=self._files.packing + 1)
            old = self.space.packing
            self.space.widen()
            self.found.states_of = [self._repacked(old.widths, words) for words in self.found.states_of]
        if self._narrow is not None:
            self._done.clear()  # what these parts have sent is in the old packing
            ...

    def _go_deeper(self) -> None:
        for _, done in sorted(self._done.items()):
            self._note(done)
        for path in self._files.folder.glob(f"sent*-{self.depth - 1}-*.npy"):
            path.unlink()
        self._senders = range(self._files.parts)
        self._done.clear()
        self.depth += 1

    def _note(self, done: dict[str, Any]) -> None:
        found = self.found
        found.stepped += done["states"]
