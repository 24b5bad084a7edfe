"""Scene -> the lattice of its consistent cuts: the drawn part, the run's own path, the states of snapshots.

A cut is a tuple, as in sim/theory/lattice.py. The drawing is in diagrams/panels/lattice/figure.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import networkx as nx

from diagrams.scene.composition import Scene
from diagrams.scene.cut_space import Counts, CutSpace, counts
from diagrams.scene.export_options import PREDICATE
from diagrams.scene.view import View
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.run.as_of import as_of
from sim.run.execution import once
from sim.run.snapshots import Snapshot
from sim.theory import lattice as theory
from sim.theory.lattice import Modality, TooManyCuts, frontiers
from sim.theory.lattice_parts import around, between
from sim.theory.positions import Cut, Order

MOST_DRAWN = 2_000  # cuts
MOST_AROUND = 300  # cuts of a part around one of them
MOST_WRITTEN = 12  # processes of a cut that is written out
MOST_ASKED = 10_000  # cuts of a lattice, to evaluate a predicate or count the orders
MOST_LOOKED_AT = 4_000_000  # messages, to evaluate a predicate at these cuts

Question = Callable[[Order, theory.Predicate, int], Modality]


class Mark(NamedTuple):
    """A state of a snapshot in the lattice: the recorded one, or that of the run when the snapshot began or ended.

    `role` is "begins", "recorded" or "ends".
    """

    snapshot: str
    rank: int
    role: str
    cut: Cut


@dataclass(frozen=True)
class Answers:
    """A predicate, and the answers of the lattice; `problem` is the reason why an answer is missing."""

    text: str
    problem: str = ""
    possibly: Modality | None = None
    definitely: Modality | None = None
    holds: theory.Predicate = lambda _: False


class Lattice:
    """The lattice of a run, or the part of it around a snapshot, or around the state at `step`."""

    def __init__(self, scene: Scene, step: int, predicate: str = "") -> None:
        self.scene, self.step = scene, step
        self.execution = scene.execution
        self.events = scene.whole_run.cut_space
        self.order = self.events.order
        self.own = own_path(self.events)
        self.marks = [mark for rank, own in enumerate(scene.snapshots) for mark in self._marks(own, rank)]
        self.part = "whole"  # or "snapshot" (from its begin to its end), or around: "recorded" (the state), "step"
        self.around = ""  # the snapshot of this part
        whole = whole_graph(self.events)
        self.is_whole = whole is not None
        self.graph = whole or graph_of(self.order, self._part())
        self.cuts: list[Cut] = list(self.graph)
        self.counts = Counts(frontiers(self.order), len(self.cuts), True) if whole else counts(self.events)
        self.orders = _orders(self.events)
        self.answers: Answers | None = None
        self.holding: frozenset[Cut] = frozenset()  # the drawn cuts at which the predicate holds
        if predicate.strip():
            self._ask(predicate)

    def _ask(self, text: str) -> None:
        """Evaluate a predicate on the lattice, and at all cuts that are drawn."""
        self.answers = ask(self.events, text)
        if self.answers.possibly or self.answers.definitely:
            try:
                self.holding = frozenset(cut for cut in in_time(self.cuts) if self.answers.holds(cut))
            except InputError as problem:  # the predicate has no value at some cut
                self.answers = Answers(text, str(problem))

    @cached_property
    def number(self) -> dict[Cut, int]:
        """The number of each cut that is drawn, for the browser."""
        return {cut: number for number, cut in enumerate(self.cuts)}

    def written(self, cut: Cut) -> str:
        """The events inside by process (in a window of a log, with its numbers), with the signs of relevant faults.

        These are the faults of a process after its last event inside, and losses and copies of messages in transit.
        """
        own, on_their_way = self.events.names.signs(cut)
        return written([f"{n}{signs}" for n, signs in zip(self.events.numbers(cut), own, strict=True)]) + on_their_way

    def state_at(self, step: int) -> Cut:
        """The cut of the run after `step`."""
        return self.own[bisect_right(self.own, step, key=lambda reached: reached[0]) - 1][1]

    def _marks(self, snapshot: Snapshot, rank: int) -> list[Mark]:
        """The states that a snapshot has reached."""
        found = []
        if snapshot.began is not None:
            found.append(Mark(snapshot.id, rank, "begins", self.state_at(snapshot.began - 1)))
        if len(snapshot.local) == len(self.order.processes) and not snapshot.is_over:
            found.append(Mark(snapshot.id, rank, "recorded", as_of(self.execution, snapshot).cut_in(self.order)))
        if snapshot.completed is not None:
            found.append(Mark(snapshot.id, rank, "ends", self.state_at(snapshot.completed)))
        return found

    def _part(self) -> list[Cut]:
        """The drawn cuts of a lattice that is too large, those with fewer positions first."""
        states: dict[str, dict[str, Cut]] = {mark.snapshot: {} for mark in self.marks}
        for mark in self.marks:
            states[mark.snapshot][mark.role] = mark.cut
        whole = next((name for name, own in states.items() if "ends" in own), None)
        if whole is not None:
            try:
                self.part, self.around = "snapshot", whole
                return between(self.order, states[whole]["begins"], states[whole]["ends"], MOST_DRAWN)
            except TooManyCuts:
                pass
        recorded = ((name, own["recorded"]) for name, own in states.items() if "recorded" in own)
        near = next(((name, cut) for name, cut in recorded if self.is_consistent(cut)), None)
        self.part, self.around = ("recorded", near[0]) if near else ("step", "")
        return around(self.order, near[1] if near else self.state_at(self.step), MOST_AROUND)

    def is_consistent(self, cut: Cut) -> bool:
        """Whether a cut is consistent."""
        return self.order.is_consistent(cut)


def lattice_of(scene: Scene, view: View) -> Lattice:
    """The lattice that a picture shows. Raises InputError for a predicate that cannot be evaluated."""
    lattice = Lattice(scene, view.step, PREDICATE.of(view))
    if lattice.answers and lattice.answers.problem:
        raise InputError(f"--{PREDICATE.name}: {lattice.answers.problem}")
    return lattice


@once
def own_path(events: CutSpace) -> list[tuple[int, Cut]]:
    """The cuts through which a run went, each with the step of its last position."""
    return [*events.order.path]


def graph_of(order: Order, cuts: Iterable[Cut]) -> nx.DiGraph:
    """A lattice, or a part of it: the cuts in their order, and an edge for each position that leads to another cut."""
    graph = nx.DiGraph()
    graph.add_nodes_from(cuts)
    for cut in list(graph):
        graph.add_edges_from((cut, other) for other in theory.successors(order, cut) if other in graph)
    return graph


@once
def whole_graph(events: CutSpace) -> nx.DiGraph | None:
    """The lattice of a run; None if it has too many cuts to be drawn."""
    try:
        return graph_of(events.order, theory.lattice(events.order, MOST_DRAWN))
    except TooManyCuts:
        return None


@once
def _orders(events: CutSpace) -> int | None:
    """The number of possible orders of the events; None if there are too many cuts to count them."""
    try:
        return theory.linearizations(events.order, MOST_ASKED)
    except TooManyCuts:
        return None


def written(cut: Sequence[int | str]) -> str:
    """A cut as in a link: the numbers of events inside, by process, such as 2.3.1; shortened if there are many."""
    return ".".join([*map(str, cut[:MOST_WRITTEN]), *["…"] * (len(cut) > MOST_WRITTEN)])


def ask(events: CutSpace, text: str) -> Answers:
    """Evaluate whether a predicate possibly and definitely holds; `problem` says why an answer is missing."""
    try:
        read = events.predicates.read(text)
    except InputError as problem:
        return Answers(text, str(problem))
    holds = cache(read)
    most = min(MOST_ASKED, MOST_LOOKED_AT // (read.work + 1))
    possibly, problem_of_one = _answer(theory.possibly, events.order, holds, most)
    definitely, problem_of_other = _answer(theory.definitely, events.order, holds, most)
    return Answers(text, problem_of_one or problem_of_other, possibly, definitely, holds)


def _answer(question: Question, order: Order, holds: theory.Predicate, most: int) -> tuple[Modality | None, str]:
    """The answer; or None, and the reason why there is none."""
    try:
        return question(order, holds, most), ""
    except InputError as problem:
        return None, str(problem)
    except TooManyCuts as problem:
        known = f"this run has more than {problem.known:,} consistent cuts"
        return None, f"{known}, too many to evaluate all of them here; use a shorter run"
