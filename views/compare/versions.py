"""The versions of a scenario that several algorithms share: one for each edit, so that undo is the version before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sim.core.broken_rule import FIFO
from sim.core.errors import InputError
from sim.core.model import CONTROL, MessageReference
from sim.document.scenario import Scenario
from sim.edit.compared import carried_over, check_names, under
from sim.edit.edits import Edit, apply_edit, checked_run, is_plan, planned
from sim.edit.link import Entry
from sim.edit.words import describe_edit, describe_plan
from sim.run.execution import Execution
from sim.run.price import price_of
from views.compare import words
from views.server.budget import run_of

MOST_COMPARED = 5_000  # steps of a run
WITH = "with"  # the key of an edit's entry that names the algorithm in whose run it was made
IN_EXPLORE = {  # edits that mean one run alone
    "manual": words.CHOOSE_IN_EXPLORE,
    "choose": words.CHOOSE_IN_EXPLORE,
    "lay_bare": words.SEARCH_IN_EXPLORE,
}


class Own(NamedTuple):
    """The part of a scenario that one algorithm has alone: parameters, broken rules, delays of control messages."""

    parameters: Mapping[str, Any]
    broken_rules: tuple[str, ...]
    delays: Mapping[MessageReference, float]

    @classmethod
    def of(cls, scenario: Scenario) -> Own:
        """The part of a scenario's algorithm. Channels that are not FIFO belong to the scenario, not to it."""
        broken_rules = tuple(name for name in scenario.breaks if name != FIFO)
        delays = {reference: delay for reference, delay in scenario.delays.items() if reference.kind == CONTROL}
        return cls(scenario.algorithm_parameters, broken_rules, delays)


@dataclass(frozen=True, eq=False)
class Version:
    """The scenario that all runs share, and the changes that edits have made for one algorithm alone.

    `own`: these changes, by the name of each algorithm other than the scenario's. `entry` is the edit that led here,
    with the algorithm in whose run it was made; `sentence` says it in words.
    """

    scenario: Scenario
    own: Mapping[str, Own] = field(default_factory=dict)
    entry: Entry | None = None
    sentence: str = ""
    before: Version | None = field(default=None, repr=False)

    def under(self, algorithm: str) -> Scenario:
        """The scenario under an algorithm."""
        found = under(self.scenario, algorithm)
        if algorithm not in self.own:
            return found
        own = self.own[algorithm]
        broken_rules, delays = (*found.breaks, *own.broken_rules), {**found.delays, **own.delays}
        return replace(found, algorithm_parameters=own.parameters, breaks=broken_rules, delays=delays)

    def run_under(self, algorithm: str) -> Execution:
        """The run under an algorithm. Raises InputError if it refuses the scenario, or the run is too big."""
        return checked_run(self.under(algorithm), run_compared)

    def edited(self, edit: Edit, now: float) -> Version:
        """The version after an edit. Raises InputError if it is refused."""
        algorithm = edit.get(WITH, self.scenario.algorithm)
        check_names([algorithm])
        plain = {key: value for key, value in edit.items() if key != WITH}
        if plain["do"] in IN_EXPLORE:
            raise InputError(IN_EXPLORE[plain["do"]])
        before = self.under(algorithm)
        try:
            execution = checked_run(before, run_compared)
        except InputError:  # the algorithm is refused: the edit may be what helps
            after, sentence = planned(before, plain, now), describe_plan(before, plain) if is_plan(plain) else ""
        else:
            after, sentence = apply_edit(execution, plain, now, run_compared).scenario, describe_edit(execution, plain)
        own = dict(self.own)
        if algorithm != self.scenario.algorithm:
            own[algorithm] = Own.of(after)
        return Version(carried_over(self.scenario, before, after), own, (edit, now), sentence, self)

    @property
    def line(self) -> list[Version]:
        """The versions that were edited one after the other, up to this one."""
        line, version = [self], self.before
        while version is not None:
            line.append(version)
            version = version.before
        return line[::-1]

    @property
    def edits(self) -> list[Entry]:
        """The edits that led here, the first one first."""
        return [version.entry for version in self.line if version.entry is not None]

    @property
    def sentences(self) -> list[str]:
        """The edits that led here, in words."""
        return [version.sentence for version in self.line if version.entry is not None]


def run_compared(scenario: Scenario) -> Execution:
    """The run of a valid scenario. Raises InputError if it is too big for several of its kind."""
    price_of(scenario).refuse_beyond(MOST_COMPARED, words.THE_PAGE)
    return run_of(scenario)
