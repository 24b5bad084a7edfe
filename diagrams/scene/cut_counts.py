"""How many cuts a run has, and how many of them are consistent, for the page."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from diagrams.scene.cut_space import WholeEvents
from sim.run.execution import once
from sim.theory.lattice import TooManyCuts, consistent_cuts, frontiers

READABLE = 10**12
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_COMPARED = 20_000  # to count the consistent cuts, whenever a run is drawn: at most about 20 ms
MOST_CLOCKS = 20_000  # positions times lines, for the same reason


class Counts(NamedTuple):
    """The numbers of cuts and of consistent ones: there are more of these unless `is_all`. None: nobody counts them."""

    cuts: int
    consistent: int | None
    is_all: bool


@once
def counts(events: WholeEvents) -> Counts:
    """How many cuts there are, and how many are consistent, as far as that is counted."""
    order = events.order
    cuts = frontiers(order)
    if sum(map(len, order.lines)) * len(order.lines) > MOST_CLOCKS:
        return Counts(cuts, None, False)
    try:
        return Counts(cuts, consistent_cuts(order, MOST_COMPARED), True)
    except TooManyCuts as problem:
        return Counts(cuts, problem.known or None, False)


def cut_counts(events: WholeEvents) -> dict[str, Any]:
    """The counts for the browser, as texts."""
    cuts, consistent, is_all = counts(events)
    told = None if consistent is None else f"{consistent:,}"
    return {"frontiers": in_words(cuts), "consistent": told, "is_all": is_all}


def in_words(number: int) -> str:
    """A whole number with commas; one that nobody can read as its power of ten."""
    if number < READABLE:
        return f"{number:,}"
    return "about 10" + str(round(math.log10(number))).translate(SUPERSCRIPTS)
