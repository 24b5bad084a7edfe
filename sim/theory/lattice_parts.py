"""Parts of the lattice of consistent cuts, where the whole of it is too large to be listed."""

from __future__ import annotations

from collections.abc import Iterator

from sim.theory.lattice import TooManyCuts, affordable, each, successors
from sim.theory.positions import Cut, Order


def predecessors(order: Order, cut: Cut) -> Iterator[Cut]:
    """The consistent cuts with one position less than the consistent `cut`: none of the rest may depend on it."""
    last = [order.clocks[rank][inside - 1] for rank, inside in enumerate(cut) if inside]
    for rank, inside in enumerate(cut):
        if inside and sum(clock[rank] >= inside for clock in last) == 1:  # the position itself
            yield (*cut[:rank], inside - 1, *cut[rank + 1 :])


def between(order: Order, low: Cut, high: Cut, most: int) -> list[Cut]:
    """The consistent cuts from `low` to `high` (both consistent), the smaller ones first; they form a lattice.

    Raises TooManyCuts where there are more than `most`, or than are affordable.
    """
    most = affordable(order, most)
    found: list[Cut] = []
    level = {low: None}
    while level:
        found += level
        above: dict[Cut, None] = {}
        for cut in each(order, level):
            for successor in successors(order, cut):
                if all(inside <= limit for inside, limit in zip(successor, high, strict=True)):
                    above[successor] = None
            if len(found) + len(above) > most:
                raise TooManyCuts(most)
        level = above
    return found


def around(order: Order, centre: Cut, most: int) -> list[Cut]:
    """The consistent cuts nearest to the consistent `centre`, at most `most`, those with fewer positions first.

    Near are those to which few positions lead, forwards or backwards. Cuts that are equally near are taken together or
    not at all.
    """
    return sorted(_near(order, centre, affordable(order, most)), key=lambda cut: (sum(cut), cut))


def _near(order: Order, centre: Cut, most: int) -> set[Cut]:
    found, ring = {centre}, {centre}
    while ring:
        beyond: set[Cut] = set()
        for cut in each(order, ring):
            others = (*successors(order, cut), *predecessors(order, cut))
            beyond.update(other for other in others if other not in found)
            if len(found) + len(beyond) > most:
                return found
        found |= beyond
        ring = beyond
    return found
