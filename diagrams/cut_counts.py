"""How many cuts a run has, and how many of them are consistent, for the page."""

from __future__ import annotations

import math
from typing import Any

from sim.run.execution import Execution, once
from sim.theory.lattice import TooManyCuts, consistent_cuts, frontiers

READABLE = 10**12
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_COMPARED = 20_000  # to count the consistent cuts, whenever a run is drawn: at most about 20 ms
MOST_CLOCKS = 20_000  # events times processes, for the same reason


@once
def cut_counts(execution: Execution) -> dict[str, Any]:
    """How many cuts there are, and how many are consistent, as texts with commas.

    `consistent` is None where nobody counts them; there are more than it says unless `is_all`.
    """
    history = execution.history
    told: dict[str, Any] = {"frontiers": in_words(frontiers(history)), "consistent": None, "is_all": False}
    if len(history.rows) * len(history.processes) > MOST_CLOCKS:
        return told
    try:
        return {**told, "consistent": f"{consistent_cuts(history, MOST_COMPARED):,}", "is_all": True}
    except TooManyCuts as problem:
        return {**told, "consistent": f"{problem.known:,}" if problem.known else None}


def in_words(number: int) -> str:
    """A whole number with commas; one that nobody can read as its power of ten."""
    if number < READABLE:
        return f"{number:,}"
    return "about 10" + str(round(math.log10(number))).translate(SUPERSCRIPTS)
