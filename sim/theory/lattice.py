"""The lattice of consistent cuts: counted, listed, and asked whether a predicate possibly or definitely holds.

A cut is a tuple: for each process, in the order of `History.processes`, the number of its events inside. The consistent
cuts of a run form a lattice (Mattern 1989, section 4); its bottom is the empty cut, its top has every event. A path
from the bottom to the top, one event after the other, is a linearization: an order in which the run may have happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sim.core.deadline import EVERY, check, in_time
from sim.theory.causality import Clock, History

MOST_CUTS = 100_000  # of a lattice that is listed
MOST_COMPARED = 200_000_000  # numbers of events, to find them
MOST_COUNTED = 3_000_000  # comparisons, to count cuts without listing them
MOST_NESTED = 200  # processes with events, whose cuts are counted

Predicate = Callable[[Clock], bool]


class TooManyCuts(ValueError):
    """The run has more than `known` consistent cuts."""

    def __init__(self, known: int) -> None:
        super().__init__(f"this execution has more than {known} consistent cuts")
        self.known = known


class Modality(NamedTuple):
    """Whether a predicate possibly or definitely holds, and why.

    `cut` is a cut at which it holds; of "definitely", where the first linearization meets it. None: there is none to
    show. `avoiding` is a path from bottom to top along which it never holds; empty unless it does not definitely hold.
    """

    holds: bool
    cut: Clock | None
    avoiding: tuple[Clock, ...] = ()


def bottom(history: History) -> Clock:
    """The empty cut."""
    return (0,) * len(history.processes)


def top(history: History) -> Clock:
    """The cut that has every event."""
    return tuple(len(own) for own in history.of.values())


def frontiers(history: History) -> int:
    """The number of all cuts, consistent or not."""
    return math.prod(len(own) + 1 for own in history.of.values())


def successors(history: History, cut: Clock) -> Iterator[Clock]:
    """The consistent cuts with one more event than the consistent `cut`."""
    for rank, name in enumerate(history.processes):
        if cut[rank] < len(history.of[name]):
            clock = history.clocks[name, cut[rank] + 1]
            if all(known <= inside for i, (known, inside) in enumerate(zip(clock, cut, strict=True)) if i != rank):
                yield (*cut[:rank], cut[rank] + 1, *cut[rank + 1 :])


def each(history: History, cuts: Iterable[Clock]) -> Iterator[Clock]:
    """The cuts of one level, from each of which the next one is made: that compares processes with processes.

    Levels may be many and narrow, so the clock is looked at when one begins, and then after so many comparisons.
    """
    check()
    return in_time(cuts, max(1, EVERY // len(history.processes) ** 2))


def affordable(history: History, most: int) -> int:
    """`most` cuts, or fewer where there are many processes: to go on from a cut compares each with each."""
    return min(most, MOST_COMPARED // len(history.processes) ** 2)


def levels(history: History, most: int = MOST_CUTS) -> Iterator[dict[Clock, int]]:
    """The consistent cuts of 0, 1, 2, ... events, each with the number of ways to reach it from the bottom.

    Raises TooManyCuts after `most` cuts, or after those that are affordable.
    """
    most = affordable(history, most)
    level, found = {bottom(history): 1}, 1
    while level:
        yield level
        above: dict[Clock, int] = {}
        for cut in each(history, level):
            for successor in successors(history, cut):
                above[successor] = above.get(successor, 0) + level[cut]
            if found + len(above) > most:
                raise TooManyCuts(most)
        found += len(above)
        level = above


def lattice(history: History, most: int = MOST_CUTS) -> dict[Clock, int]:
    """Every consistent cut, level by level, with the number of ways to reach it from the bottom. Raises TooManyCuts."""
    return {cut: ways for level in levels(history, most) for cut, ways in level.items()}


def linearizations(history: History, most: int = MOST_CUTS) -> int:
    """The number of orders in which the run could have happened. Only two levels are kept. Raises TooManyCuts."""
    last: dict[Clock, int] = {}
    for level in levels(history, most):
        last = level
    return last[top(history)]


def consistent_cuts(history: History, most: int = MOST_COUNTED) -> int:
    """The number of consistent cuts, without the lattice. Raises TooManyCuts after `most` comparisons.

    Where all processes but one have their places, the places that are left for that one are an interval. So only the
    cuts of the others are visited, and the one left out has the most events.
    """
    return _Counting(history, most).after(())


class _Counting:
    """Counts the consistent cuts: gives places to one process after the other, those with few events first."""

    def __init__(self, history: History, most: int) -> None:
        names = sorted((name for name, own in history.of.items() if own), key=lambda name: len(history.of[name]))
        self.events = [len(history.of[name]) for name in names]
        self.found, self.compared, self.most = 0, 0, most
        if len(names) > MOST_NESTED or len(names) * sum(self.events) > most:
            raise TooManyCuts(self.known)
        self.bounds = [[_Bounds(history, other, name) for other in names[:rank]] for rank, name in enumerate(names)]

    @property
    def known(self) -> int:
        """There are more cuts than so many: those found, and at least those that the run itself went through."""
        return max(self.found, sum(self.events))

    def after(self, chosen: tuple[int, ...]) -> int:
        """The number of cuts that begin with the places in `chosen`."""
        rank = len(chosen)
        if rank == len(self.events):
            return 1
        self.compared += rank + 1
        if self.compared > self.most:
            raise TooManyCuts(self.known)
        low, high = 0, self.events[rank]
        for bounds, inside in zip(self.bounds[rank], chosen, strict=True):
            low, high = max(low, bounds.least[inside]), min(high, bounds.most[inside])
        if rank < len(self.events) - 1:
            check()
            return sum(self.after((*chosen, inside)) for inside in in_time(range(low, high + 1)))
        self.found += high - low + 1
        return high - low + 1


class _Bounds:
    """How far process `name` may be, for each number of events of process `other`: at least and at most."""

    def __init__(self, history: History, other: str, name: str) -> None:
        check()
        mine, theirs = history.rank[name], history.rank[other]
        self.least = [0, *(history.clock(event)[mine] for event in in_time(history.of[other]))]
        needs = [history.clock(event)[theirs] for event in in_time(history.of[name])]  # ascends
        self.most = []
        fits = 0
        for inside in range(len(history.of[other]) + 1):
            while fits < len(needs) and needs[fits] <= inside:
                fits += 1
            self.most.append(fits)


# --------------------------------------------------------------------------- possibly, definitely


def possibly(history: History, holds: Predicate, most: int = MOST_CUTS) -> Modality:
    """Whether some consistent cut satisfies a predicate (Cooper and Marzullo 1991). Raises TooManyCuts."""
    for level in levels(history, most):
        for cut in in_time(level):
            if holds(cut):
                return Modality(True, cut)
    return Modality(False, None)


def definitely(history: History, holds: Predicate, most: int = MOST_CUTS) -> Modality:
    """Whether every linearization passes through a cut that satisfies a predicate (Cooper and Marzullo 1991).

    From the bottom on, only cuts that do not satisfy it are visited; it does not hold if the top is reached.
    Raises TooManyCuts after `most` visits.
    """
    most = affordable(history, most)
    start = bottom(history)
    if holds(start):
        return Modality(True, start)
    came_from: dict[Clock, Clock] = {}
    level, met, visited = [start], None, 1
    while level and level[0] != top(history):
        above: dict[Clock, Clock] = {}
        for cut in each(history, level):
            for successor in successors(history, cut):
                above.setdefault(successor, cut)
            if visited + len(above) > most:
                raise TooManyCuts(most)
        visited += len(above)
        outside = {cut: cause for cut, cause in in_time(above.items()) if not holds(cut)}
        met = met or next((cut for cut in above if cut not in outside), None)
        came_from |= outside
        level = list(outside)
    if not level:
        return Modality(True, met)
    path = [level[0]]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return Modality(False, None, tuple(reversed(path)))
