"""The lattice of consistent cuts: counted, listed, and asked whether a predicate possibly or definitely holds.

A cut is a tuple: for each line of an `Order` the number of its positions inside. The consistent cuts of a run form a
lattice (Mattern 1989); its bottom is the empty cut, its top has every position. A path from the bottom to the top, one
position after the other, is a linearization: an order in which the run may have happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sim.core.deadline import EVERY, check, in_time
from sim.theory.positions import Cut, Order

MOST_CUTS = 100_000  # of a lattice that is listed
MOST_COMPARED = 200_000_000  # numbers of positions, to find them
MOST_COUNTED = 3_000_000  # comparisons, to count cuts without listing them
MOST_NESTED = 200  # lines with positions, whose cuts are counted

Predicate = Callable[[Cut], bool]


class TooManyCuts(ValueError):
    """The run has more than `known` consistent cuts."""

    def __init__(self, known: int) -> None:
        super().__init__(f"this execution has more than {known} consistent cuts")
        self.known = known


class Modality(NamedTuple):
    """Whether a predicate possibly or definitely holds, and why.

    `cut` is a cut at which it possibly holds. `barrier` are the cuts at which it holds that no path from bottom to top
    avoids, so that it definitely holds. `avoiding` is a path along which it never holds.
    """

    holds: bool
    cut: Cut | None = None
    barrier: tuple[Cut, ...] = ()
    avoiding: tuple[Cut, ...] = ()


def bottom(order: Order) -> Cut:
    """The empty cut."""
    return (0,) * len(order.lines)


def top(order: Order) -> Cut:
    """The cut that has every position."""
    return tuple(map(len, order.lines))


def frontiers(order: Order) -> int:
    """The number of all cuts, consistent or not."""
    return math.prod(len(own) + 1 for own in order.lines)


def successors(order: Order, cut: Cut) -> Iterator[Cut]:
    """The consistent cuts with one more position than the consistent `cut`."""
    for rank, clocks in enumerate(order.clocks):
        if cut[rank] < len(clocks):
            clock = clocks[cut[rank]]
            if all(known <= inside for i, (known, inside) in enumerate(zip(clock, cut, strict=True)) if i != rank):
                yield (*cut[:rank], cut[rank] + 1, *cut[rank + 1 :])


def each(order: Order, cuts: Iterable[Cut]) -> Iterator[Cut]:
    """The cuts of one level, from each of which the next one is made: that compares lines with lines.

    Levels may be many and narrow, so the clock is looked at when one begins, and then after so many comparisons.
    """
    check()
    return in_time(cuts, max(1, EVERY // len(order.lines) ** 2))


def affordable(order: Order, most: int) -> int:
    """`most` cuts, or fewer where there are many lines: to go on from a cut compares each with each."""
    return min(most, MOST_COMPARED // len(order.lines) ** 2)


def levels(order: Order, most: int = MOST_CUTS) -> Iterator[dict[Cut, int]]:
    """The consistent cuts of 0, 1, 2, ... positions, each with the number of ways to reach it from the bottom.

    Raises TooManyCuts after `most` cuts, or after those that are affordable.
    """
    most = affordable(order, most)
    level, found = {bottom(order): 1}, 1
    while level:
        yield level
        above: dict[Cut, int] = {}
        for cut in each(order, level):
            for successor in successors(order, cut):
                above[successor] = above.get(successor, 0) + level[cut]
            if found + len(above) > most:
                raise TooManyCuts(most)
        found += len(above)
        level = above


def lattice(order: Order, most: int = MOST_CUTS) -> dict[Cut, int]:
    """Every consistent cut, level by level, with the number of ways to reach it from the bottom. Raises TooManyCuts."""
    return {cut: ways for level in levels(order, most) for cut, ways in level.items()}


def linearizations(order: Order, most: int = MOST_CUTS) -> int:
    """The number of orders in which the run could have happened. Only two levels are kept. Raises TooManyCuts.

    None, where it has received what a recovery has not let be sent.
    """
    last: dict[Cut, int] = {}
    for level in levels(order, most):
        last = level
    return last.get(top(order), 0)


def consistent_cuts(order: Order, most: int = MOST_COUNTED) -> int:
    """The number of consistent cuts, without the lattice. Raises TooManyCuts after `most` comparisons.

    Where all lines but one have their places, the places that are left for that one are an interval. So only the
    cuts of the others are visited, and the one left out has the most positions.
    """
    return _Counting(order, most).after(())


class _Counting:
    """Counts the consistent cuts: gives places to one line after the other, those with few positions first."""

    def __init__(self, order: Order, most: int) -> None:
        lengths = order.reached
        lines = sorted((line for line, length in enumerate(lengths) if length), key=lengths.__getitem__)
        self.lengths = [lengths[line] for line in lines]
        self.found, self.compared, self.most = 0, 0, most
        if len(lines) > MOST_NESTED or len(lines) * sum(self.lengths) > most:
            raise TooManyCuts(self.known)
        self.bounds = [[_Bounds(order, other, line) for other in lines[:rank]] for rank, line in enumerate(lines)]

    @property
    def known(self) -> int:
        """There are more cuts than the bound: those found, and at least those that the run itself went through."""
        return max(self.found, sum(self.lengths))

    def after(self, chosen: tuple[int, ...]) -> int:
        """The number of cuts that begin with the places in `chosen`."""
        rank = len(chosen)
        if rank == len(self.lengths):
            return 1
        self.compared += rank + 1
        if self.compared > self.most:
            raise TooManyCuts(self.known)
        low, high = 0, self.lengths[rank]
        for bounds, inside in zip(self.bounds[rank], chosen, strict=True):
            low, high = max(low, bounds.least[inside]), min(high, bounds.most[inside])
        if rank < len(self.lengths) - 1:
            check()
            return sum(self.after((*chosen, inside)) for inside in in_time(range(low, high + 1)))
        left = max(0, high - low + 1)
        self.found += left
        return left


class _Bounds:
    """The least and the most positions of line `mine`, for each number of positions of line `other`."""

    def __init__(self, order: Order, other: int, mine: int) -> None:
        check()
        self.least = [0, *(clock[mine] for clock in in_time(order.clocks[other]))]
        needs = [clock[other] for clock in in_time(order.clocks[mine])]  # ascends
        self.most = []
        fits = 0
        for inside in range(order.reached[other] + 1):
            while fits < len(needs) and needs[fits] <= inside:
                fits += 1
            self.most.append(fits)


# --------------------------------------------------------------------------- possibly, definitely


def possibly(order: Order, holds: Predicate, most: int = MOST_CUTS) -> Modality:
    """Whether some consistent cut satisfies a predicate (Cooper and Marzullo 1991). Raises TooManyCuts."""
    for level in levels(order, most):
        for cut in in_time(level):
            if holds(cut):
                return Modality(True, cut)
    return Modality(False)


def definitely(order: Order, holds: Predicate, most: int = MOST_CUTS) -> Modality:
    """Whether every linearization passes through a cut that satisfies a predicate (Cooper and Marzullo 1991).

    From the bottom on, only cuts that do not satisfy it are visited; it does not hold if the top is reached.
    Raises TooManyCuts after `most` visits.
    """
    most = affordable(order, most)
    start = bottom(order)
    if holds(start):
        return Modality(True, barrier=(start,))
    came_from: dict[Cut, Cut] = {}
    met: list[Cut] = []
    level, visited = [start], 1
    while level and level[0] != top(order):
        above: dict[Cut, Cut] = {}
        for cut in each(order, level):
            for successor in successors(order, cut):
                above.setdefault(successor, cut)
            if visited + len(above) > most:
                raise TooManyCuts(most)
        visited += len(above)
        outside = {cut: cause for cut, cause in in_time(above.items()) if not holds(cut)}
        met += (cut for cut in above if cut not in outside)
        came_from |= outside
        level = list(outside)
    if not level:
        return Modality(True, barrier=tuple(met))
    path = [level[0]]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return Modality(False, avoiding=tuple(reversed(path)))
