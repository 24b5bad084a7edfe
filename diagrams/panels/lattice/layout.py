"""The places of the consistent cuts in a Hasse diagram: the height of a cut is the number of its events.

Cuts in which the first processes are ahead lie to the left, those in which the last ones are ahead to the right. So
edges of the same process are nearly parallel, and the lattice of two processes is a grid that stands on its corner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from sim.theory.causality import Clock

Place = tuple[float, int]


def places(cuts: Iterable[Clock]) -> dict[Clock, Place]:
    """The place of each cut, (across, up), two on a level at least 1 apart; `cuts` are of one run, and not empty."""
    ascending = sorted(cuts, key=sum)
    low, high = ascending[0], ascending[-1]
    lean = (_aside(high) - _aside(low)) / (sum(high) - sum(low) or 1)  # subtracted, so that the top is above the bottom
    found = {}
    for events, level in groupby(ascending, key=sum):
        wished = sorted((_aside(cut) - _aside(low) - lean * (events - sum(low)), cut) for cut in level)
        for (_, cut), across in zip(wished, apart([across for across, _ in wished]), strict=True):
            found[cut] = (round(across, 3), events)
    return found


def _aside(cut: Clock) -> float:
    """The lead of the last processes over the first ones."""
    middle = (len(cut) - 1) / 2
    return sum(inside * (rank - middle) for rank, inside in enumerate(cut)) / (middle or 1)


def apart(wished: Sequence[float]) -> list[float]:
    """The numbers nearest to `wished` (ascending) of which each is at least 1 more than the one before.

    Neighbours that come too close are a block around their mean: pool adjacent violators (Ayer et al. 1955).
    """
    blocks: list[tuple[float, int]] = []  # each with the mean of wish - rank, and how many numbers are in it
    for rank, wish in enumerate(wished):
        mean, size = wish - rank, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    shifts = [mean for mean, size in blocks for _ in range(size)]
    return [shift + rank for rank, shift in enumerate(shifts)]
