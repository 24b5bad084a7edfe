"""Scene -> the lattice of its consistent cuts: which part of it is drawn, the run's own path, what snapshots recorded.

A cut is a tuple, as in sim/theory/lattice.py. The drawing is in diagrams/lattice_figure.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import networkx as nx

from diagrams.scene import Scene
from sim.core.errors import InputError
from sim.run.execution import Execution, once
from sim.run.predicates import Predicates
from sim.run.snapshots import Snapshot
from sim.theory import lattice as theory
from sim.theory.causality import Clock, History
from sim.theory.lattice import Modality, TooManyCuts
from sim.theory.lattice_parts import around, between

MOST_DRAWN = 2_000  # cuts
MOST_AROUND = 300  # cuts of a part around one of them
MOST_WRITTEN = 12  # processes of a cut that is written out
MOST_COUNTED = 500_000  # comparisons, to count the cuts of a larger one: under a second
MOST_ASKED = 10_000  # cuts of a lattice that a predicate, or the number of orders, is asked of
MOST_LOOKED_AT = 4_000_000  # messages, to find what a predicate says of these cuts


class Mark(NamedTuple):
    """A state of a snapshot in the lattice: what it recorded, or where the run was when it began or ended.

    `role` is "begins", "recorded" or "ends".
    """

    snapshot: str
    rank: int
    role: str
    cut: Clock


class Counts(NamedTuple):
    """The numbers of cuts, of consistent ones, and of orders; `is_all`: whether there are no more consistent ones.

    `orders` is None where there are too many cuts to count them.
    """

    cuts: int
    consistent: int
    is_all: bool
    orders: int | None


@dataclass(frozen=True)
class Asked:
    """A predicate, and what the lattice answers; `problem` is the sentence why an answer is missing."""

    text: str
    problem: str = ""
    possibly: Modality | None = None
    definitely: Modality | None = None
    holds: theory.Predicate = lambda _: False


class Lattice:
    """The lattice of a run, or the part of it around a snapshot, or around the state at `step`."""

    def __init__(self, scene: Scene, step: int, predicate: str = "") -> None:
        self.scene = scene
        self.execution = scene.execution
        self.history = self.execution.history
        self.own = own_path(self.execution)
        self.marks = [mark for rank, own in enumerate(scene.snapshots) for mark in self._marks(own, rank)]
        self.counts = counts(self.execution)
        self.part = "whole"  # or "snapshot" (from its begin to its end), or around: "recorded" (the state), "step"
        whole = _whole(self.execution)
        self.is_whole = whole is not None
        self.graph = whole or graph_of(self.history, self._part(step))
        self.cuts: list[Clock] = list(self.graph)
        self.asked = ask(self.execution, predicate) if predicate.strip() else None

    @cached_property
    def number(self) -> dict[Clock, int]:
        """The number of each cut that is drawn, for the browser."""
        return {cut: number for number, cut in enumerate(self.cuts)}

    def written(self, cut: Clock) -> str:
        """A cut as in a link: in a window of a foreign log, with the log's numbers."""
        log = self.scene.whole_run.log
        return written(log.in_numbers(cut) if log else cut)

    def state_at(self, step: int) -> Clock:
        """The cut of the run after `step`."""
        return self.own[bisect_right(self.own, step, key=lambda reached: reached[0]) - 1][1]

    def _marks(self, snapshot: Snapshot, rank: int) -> list[Mark]:
        """The states of a snapshot, as far as it has come."""
        found = []
        if snapshot.began is not None:
            found.append(Mark(snapshot.id, rank, "begins", self.state_at(snapshot.began - 1)))
        if len(snapshot.local) == len(self.history.processes):
            cut = tuple(snapshot.frontier[name] for name in self.history.processes)
            found.append(Mark(snapshot.id, rank, "recorded", cut))
        if snapshot.completed is not None:
            found.append(Mark(snapshot.id, rank, "ends", self.state_at(snapshot.completed)))
        return found

    def _part(self, step: int) -> list[Clock]:
        """The cuts that are drawn of a lattice that is too large, those with fewer events first."""
        states = {mark.role: mark.cut for mark in self.marks if mark.rank == 0}
        if "ends" in states:
            try:
                self.part = "snapshot"
                return between(self.history, states["begins"], states["ends"], MOST_DRAWN)
            except TooManyCuts:
                pass
        centre = states.get("recorded")
        self.part = "recorded" if centre and self.is_consistent(centre) else "step"
        return around(self.history, centre if centre and self.part == "recorded" else self.state_at(step), MOST_AROUND)

    def is_consistent(self, cut: Clock) -> bool:
        """Whether a cut is consistent."""
        return self.history.is_consistent(dict(zip(self.history.processes, cut, strict=True)))


@once
def own_path(execution: Execution) -> list[tuple[int, Clock]]:
    """The cuts through which a run went, each with the step in which it came there."""
    history = execution.history
    cut = list(theory.bottom(history))
    path = [(0, tuple(cut))]
    for event in history.rows:
        rank, index = history.rank[event.process], event.index or 0
        if index > cut[rank]:
            cut[rank] = index
            path.append((event.step, tuple(cut)))
    return path


def graph_of(history: History, cuts: Iterable[Clock]) -> nx.DiGraph:
    """A lattice, or a part of it: the cuts in their order, and an edge wherever one event leads to another cut."""
    graph = nx.DiGraph()
    graph.add_nodes_from(cuts)
    for cut in list(graph):
        graph.add_edges_from((cut, other) for other in theory.successors(history, cut) if other in graph)
    return graph


@once
def _whole(execution: Execution) -> nx.DiGraph | None:
    """The lattice of a run; None where it has too many cuts to be drawn."""
    try:
        return graph_of(execution.history, theory.lattice(execution.history, MOST_DRAWN))
    except TooManyCuts:
        return None


@once
def counts(execution: Execution) -> Counts:
    """What there is to count in the lattice of a run, as far as that goes."""
    history = execution.history
    cuts = theory.frontiers(history)
    try:
        orders = theory.linearizations(history, MOST_ASKED)
    except TooManyCuts:
        orders = None
    try:
        return Counts(cuts, theory.consistent_cuts(history, MOST_COUNTED), True, orders)
    except TooManyCuts as problem:
        return Counts(cuts, problem.known, False, orders)


def written(cut: Sequence[int]) -> str:
    """A cut as in a link: the number of events inside, by process, as in 2.3.1; shortened where there are many."""
    return ".".join([*map(str, cut[:MOST_WRITTEN]), *["…"] * (len(cut) > MOST_WRITTEN)])


def ask(execution: Execution, text: str) -> Asked:
    """Whether a predicate possibly and definitely holds, as far as each can be answered. What is wrong is said there."""
    asked = Asked(text)
    try:
        read = Predicates(execution).read(text)
        most = min(MOST_ASKED, MOST_LOOKED_AT // (read.work + 1))
        asked = replace(asked, holds=cache(read))
        for question in (theory.possibly, theory.definitely):
            try:
                asked = replace(asked, **{question.__name__: question(execution.history, asked.holds, most)})
            except TooManyCuts as problem:
                asked = replace(asked, problem=_too_many(problem))
    except InputError as problem:
        asked = replace(asked, problem=str(problem))
    return asked


def _too_many(problem: TooManyCuts) -> str:
    return (
        f"this run has more than {problem.known:,} consistent cuts, too many to ask them all here; ask a shorter run"
    )
