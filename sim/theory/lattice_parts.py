"""Parts of the lattice of consistent cuts, where the whole of it is too large to be listed."""

from __future__ import annotations

from collections.abc import Iterator

from sim.theory.causality import Clock, History
from sim.theory.lattice import TooManyCuts, affordable, each, successors


def predecessors(history: History, cut: Clock) -> Iterator[Clock]:
    """The consistent cuts with one event less than the consistent `cut`: none of the rest may depend on that event."""
    last = [history.clocks[name, inside] for name, inside in zip(history.processes, cut, strict=True) if inside]
    for rank, inside in enumerate(cut):
        if inside and sum(clock[rank] >= inside for clock in last) == 1:  # the event itself
            yield (*cut[:rank], inside - 1, *cut[rank + 1 :])


def between(history: History, low: Clock, high: Clock, most: int) -> list[Clock]:
    """The consistent cuts from `low` to `high` (both consistent), those with fewer events first; they form a lattice.

    Raises TooManyCuts where there are more than `most`, or than are affordable.
    """
    most = affordable(history, most)
    found: list[Clock] = []
    level = {low: None}
    while level:
        found += level
        above: dict[Clock, None] = {}
        for cut in each(history, level):
            for successor in successors(history, cut):
                if all(inside <= limit for inside, limit in zip(successor, high, strict=True)):
                    above[successor] = None
            if len(found) + len(above) > most:
                raise TooManyCuts(most)
        level = above
    return found


def around(history: History, centre: Clock, most: int) -> list[Clock]:
    """The consistent cuts nearest to the consistent `centre`, at most `most`, those with fewer events first.

    Near are those to which few events lead, forwards or backwards. Cuts equally near are taken together or not at all.
    """
    return sorted(_near(history, centre, affordable(history, most)), key=lambda cut: (sum(cut), cut))


def _near(history: History, centre: Clock, most: int) -> set[Clock]:
    found, ring = {centre}, {centre}
    while ring:
        beyond: set[Clock] = set()
        for cut in each(history, ring):
            others = (*successors(history, cut), *predecessors(history, cut))
            beyond.update(other for other in others if other not in found)
            if len(found) + len(beyond) > most:
                return found
        found |= beyond
        ring = beyond
    return found
