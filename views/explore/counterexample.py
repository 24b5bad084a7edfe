"""The smallest edit of a run that makes a check fail under its broken rule, and the place to look at then."""

from __future__ import annotations

from typing import NamedTuple

from sim.core.deadline import OutOfTime, at_most, check
from sim.edit.counterexample import smallest_counterexample
from sim.edit.edits import Edit
from sim.run.execution import Execution
from sim.verify.harm import harms
from views.explore import words
from views.server.budget import ANSWER_S

SEARCH = "lay_bare"  # what a browser asks for
SEARCH_S = 0.5 * ANSWER_S


class Found(NamedTuple):
    """An edit, and the step and message (None: none) at which the harm is seen."""

    edit: Edit
    step: int
    message: int | None


def counterexample(execution: Execution) -> Found | str:
    """The smallest edit that makes a check fail; or a sentence on why there is none.

    Raises OutOfTime if the answer around it is out of time.
    """
    if execution.scenario.breaks and harms(execution):
        return words.SHOWS_ALREADY
    try:
        with at_most(SEARCH_S):
            found = smallest_counterexample(execution)
    except OutOfTime:
        check()  # raises if the whole answer is out of time
        return words.not_in_time(SEARCH_S)
    if found is None:
        return words.NOTHING_FOUND
    first = harms(found.execution)[0]
    return Found(found.edit, first.step, first.message)
