"""One scenario under several algorithms: the run of each, and a remedy if an algorithm refuses it.

The runs share the scenario and its seed, and nothing else: a snapshot that stops something changes the run itself.

A comparison edits one scenario. An edit is made to the run of one algorithm and carried over to the scenario
(`carried_over`), and so to the runs of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, nearest
from sim.core.model import CONTROL
from sim.core.network import LAYER_FIFO
from sim.core.topology import EVERY_CHANNEL
from sim.document.scenario import Scenario
from sim.edit.another_algorithm import Remedy, remedy_of_order, remedy_of_refused
from sim.edit.edits import checked_run, planned
from sim.edit.words import describe_plan
from sim.explain.words import capital
from sim.run.execution import Execution, run

MOST_AT_ONCE = 4  # algorithms that a page shows beside each other

# The keys of a scenario on its algorithm alone: an edit of the run of another one leaves them.
_OWN = ("algorithm", "algorithm_parameters", "breaks")


@dataclass(frozen=True, eq=False)
class Compared:
    """A scenario under one algorithm: its run, or the reason of its refusal.

    `remedy` is an edit that helps: against the refusal, or if the algorithm needs FIFO channels and has none.
    """

    algorithm: str
    execution: Execution | None = None
    refused: str | None = None
    remedy: Remedy | None = None

    @property
    def title(self) -> str:
        """The title of the algorithm."""
        return ALGORITHMS[self.algorithm].title


def check_names(names: Sequence[str]) -> None:
    """Raises InputError unless `names` are algorithms, each of them once."""
    for number, name in enumerate(names):
        if name not in ALGORITHMS:
            raise InputError(f"there is no algorithm {name!r}; {nearest(name, list(ALGORITHMS))}")
        if name in names[:number]:
            raise InputError(f"the algorithm {name} is named twice; name each once")
    if not names:
        raise InputError("no algorithm is named; name one or more, such as chandy_lamport,lai_yang")


def under(scenario: Scenario, algorithm: str) -> Scenario:
    """The scenario with this algorithm; with its own one it is the scenario as it is. Raises InputError."""
    return scenario if algorithm == scenario.algorithm else planned(scenario, _edit(algorithm), 0.0)


def compared(scenario: Scenario, algorithm: str, running: Callable[[Scenario], Execution] = run) -> Compared:
    """The run of a scenario under one algorithm, by `running`, or the reason of its refusal, with a remedy."""
    return checked(scenario, algorithm, lambda: checked_run(under(scenario, algorithm), running), running)


def checked(
    scenario: Scenario,
    algorithm: str,
    made: Callable[[], Execution],
    running: Callable[[Scenario], Execution] = run,
) -> Compared:
    """The run that `made` makes of a scenario under an algorithm, or the reason of its refusal, with a remedy."""
    try:
        execution = made()
    except InputError as problem:
        remedy = _remedy(scenario, algorithm, str(problem), running)
        return Compared(algorithm, refused=remedy.why if remedy else str(problem), remedy=remedy)
    return Compared(algorithm, execution, remedy=remedy_of_order(execution.scenario))


def all_compared(
    scenario: Scenario, algorithms: Sequence[str], running: Callable[[Scenario], Execution] = run
) -> list[Compared]:
    """The run of a scenario under each of these algorithms. Raises InputError if one is unknown."""
    check_names(algorithms)
    return [compared(scenario, algorithm, running) for algorithm in algorithms]


def carried_over(scenario: Scenario, before: Scenario, after: Scenario) -> Scenario:
    """`scenario` after an edit that has led from `before`, the same under another algorithm, to `after`.

    Keys that the edit has changed are as in `after`, all others as in `scenario`. Keys on the algorithm alone stay.
    """
    changed = {
        own.name: getattr(after, own.name)
        for own in fields(Scenario)
        if own.name not in _OWN and getattr(after, own.name) != getattr(before, own.name)
    }
    if scenario.algorithm == before.algorithm:
        changed |= {name: getattr(after, name) for name in _OWN}
    elif "delays" in changed:  # those of control messages are of the algorithm alone
        own = {reference: delay for reference, delay in scenario.delays.items() if reference.kind == CONTROL}
        shared = {reference: delay for reference, delay in after.delays.items() if reference.kind != CONTROL}
        changed["delays"] = {**own, **shared}
    return replace(scenario, **changed)


def _edit(algorithm: str) -> dict[str, Any]:
    return {"do": "algorithm", "kind": algorithm}


def _remedy(scenario: Scenario, algorithm: str, why: str, running: Callable[[Scenario], Execution]) -> Remedy | None:
    """The first edit after which the algorithm can run, by itself or with one more (None: none is known)."""
    source = _source(scenario, algorithm, running)
    if source is not None:
        return source
    attempts = [(edit, planned(scenario, edit, 0.0)) for edit in _attempts(scenario)]
    for edit, after in attempts:
        if _can_run(after, algorithm, running):
            return Remedy(why, capital(describe_plan(scenario, edit)), edit)
    for edit, after in attempts:
        has_source = _source(after, algorithm, running) is not None
        if has_source or any(_can_run(planned(after, own, 0.0), algorithm, running) for own in _attempts(after)):
            return Remedy(why, capital(describe_plan(scenario, edit)), edit)
    return None


def _source(scenario: Scenario, algorithm: str, running: Callable[[Scenario], Execution]) -> Remedy | None:
    """The edit that makes a source if there is none (None: there is one, or the workload needs those channels)."""
    found = remedy_of_refused(scenario, _edit(algorithm))
    if found is None:
        return None
    after = planned(scenario, found.edit, 0.0)
    attempts = (planned(after, own, 0.0) for own in _attempts(after))
    helps = _can_run(after, algorithm, running) or any(_can_run(own, algorithm, running) for own in attempts)
    return found if helps else None


def _can_run(scenario: Scenario, algorithm: str, running: Callable[[Scenario], Execution]) -> bool:
    try:
        checked_run(under(scenario, algorithm), running)
    except InputError:
        return False
    return True


def _attempts(scenario: Scenario) -> Iterator[Mapping[str, Any]]:
    """Edits that may help an algorithm which refuses a scenario."""
    if scenario.network.is_raw:
        yield {"do": "network", "layer": LAYER_FIFO}
    if scenario.not_fifo:
        yield {"do": "fifo", "channel": EVERY_CHANNEL, "fifo": True}
    if scenario.coordinator is not None:
        yield {"do": "coordinator", "on": False}
    if scenario.topology.capacity:
        yield {"do": "capacity", "channel": EVERY_CHANNEL, "capacity": None}
    if scenario.all_faults or scenario.absent:
        yield {"do": "no_faults"}
