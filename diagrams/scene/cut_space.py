"""The cuts of a scene and their number: those of its run, or in a window of a foreign log those between its events.

An event of a log with several partners is several events of the scene, its parts. A cut holds all parts, or none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from diagrams.scene.foreign_log import ForeignLog, LogPredicates
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, once
from sim.run.predicates import Predicates
from sim.theory.cut_names import CutNames
from sim.theory.lattice import TooManyCuts, consistent_cuts, frontiers
from sim.theory.positions import Cut, Order

READABLE = 10**12
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_COMPARED = 20_000  # cuts, to count the consistent ones whenever a run is drawn: at most about 20 ms
MOST_CLOCKS = 20_000  # positions times lines, for the same reason


class CutSpace:
    """The positions of a run between which its cuts lie, and the names of the cuts."""

    def __init__(self, execution: Execution, log: ForeignLog | None) -> None:
        self.execution, self.log = execution, log

    @cached_property
    def order(self) -> Order:
        """The positions of the run; in a window of a log each event is one position with all its parts."""
        if self.log is None:
            return self.execution.order
        numbers = self.log.numbers
        return Order(
            self.execution.scenario.processes,
            self.execution.events,
            together=lambda event: numbers[event.process][(event.index or 0) - 1],
        )

    @cached_property
    def names(self) -> CutNames:
        """The names of the cuts."""
        return CutNames(self.order)

    def cut(self, name: Sequence[int]) -> Cut | None:
        """The cut with a name, which counts events of the scene; None if it divides a position."""
        found = self.names.cut(name)
        return found if self.order.inside(found) == tuple(name[: len(self.order.processes)]) else None

    def numbers(self, cut: Cut) -> tuple[int, ...]:
        """The numbers of events inside, as a link has them: in a window of a log, the log's numbers."""
        inside = self.order.inside(cut)
        return tuple(self.log.in_numbers(inside)) if self.log else inside

    @cached_property
    def predicates(self) -> Predicates:
        """The predicates that may be asked at a cut."""
        states = states_at_cuts(self.execution)
        return Predicates(states) if self.log is None else LogPredicates(replace(states, order=self.order), self.log)


class Counts(NamedTuple):
    """The number of cuts, and of consistent ones: a lower bound unless `is_all`, None if they are not counted."""

    cuts: int
    consistent: int | None
    is_all: bool


@once
def counts(space: CutSpace) -> Counts:
    """The number of cuts, and of the consistent ones as far as they are counted."""
    order = space.order
    cuts = frontiers(order)
    if sum(map(len, order.lines)) * len(order.lines) > MOST_CLOCKS:
        return Counts(cuts, None, False)
    try:
        return Counts(cuts, consistent_cuts(order, MOST_COMPARED), True)
    except TooManyCuts as problem:
        return Counts(cuts, problem.known or None, False)


def cut_counts(space: CutSpace) -> dict[str, Any]:
    """The counts for the browser, as texts."""
    cuts, consistent, is_all = counts(space)
    told = None if consistent is None else f"{consistent:,}"
    return {"frontiers": in_words(cuts), "consistent": told, "is_all": is_all}


def in_words(number: int) -> str:
    """A whole number with commas; an unreadably long one as its power of ten."""
    if number < READABLE:
        return f"{number:,}"
    return "about 10" + str(round(math.log10(number))).translate(SUPERSCRIPTS)
