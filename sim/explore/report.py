"""What an exploration found, as the JSON document of `python -m sim explore`, and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.slip import SLIPS
from sim.core.topology import Topology
from sim.document.scenario import Initiation, Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.explore.replay import replayed
from sim.explore.search import MOST_STATES, Explored, explore
from sim.explore.space import Space

FEWEST, MOST_PROCESSES = 2, 8


@dataclass(frozen=True)
class Exploration:
    """What was explored and found. `runs` holds, for each check that some run does not keep, a shortest such run."""

    scenario: Scenario
    found: Explored
    runs: dict[str, Scenario]

    def to_json(self) -> dict[str, Any]:
        """The document of the command line."""
        found = self.found
        return {
            "states": found.states,
            "transitions": found.transitions,
            "complete": found.complete,
            "snapshots": len(found.snapshots),
            "violations": [{"check": check, "steps": steps} for check, steps in self.shortest()],
        }

    def shortest(self) -> list[tuple[str, int]]:
        """The checks that do not hold, each with the steps of a shortest run, the shortest first."""
        return sorted(((check, depth) for check, (depth, _) in self.found.worst.items()), key=lambda own: own[1])

    def in_words(self) -> Iterator[str]:
        """The same for people."""
        found, depth = self.found, len(self.found.levels) - 1
        yield f"{found.states:,} states, {found.transitions:,} transitions, depth {depth}"
        if not found.complete:
            so_far = "" if found.worst else ", no violation so far"
            yield f"not all explored ({found.problem}): depth {depth}, {found.states:,} states{so_far}"
        yield f"{len(found.snapshots):,} different snapshots are recorded"
        for check, steps in self.shortest():
            yield f"{check} does not hold: the shortest such run has {steps} steps"
            yield from (f"  {number:3}  {choice}" for number, choice in enumerate(self.runs[check].scheduler.order, 1))
        if not found.worst and found.complete:
            yield "every check holds in every run"


def exploration(
    scenario: Scenario, *, own_order: bool = False, most_states: int = MOST_STATES,
    progress: Callable[[Explored], None] = lambda found: None,
) -> Exploration:  # fmt: skip
    """All runs of a scenario without time. Script lines keep their order, or (`own_order`) each process's its own."""
    found = explore(Space(scenario.engine(), own_order=own_order), most_states, progress)
    runs = {check: replayed(scenario, found, depth, key) for check, (depth, key) in found.worst.items()}
    return Exploration(scenario, found, runs)


def complete_graph(count: int, sends: int) -> Scenario:
    """`count` processes, each of which may send `sends` messages to anyone at any time; P1 may initiate once."""
    if not FEWEST <= count <= MOST_PROCESSES:
        raise InputError(f"--complete {count}: give a number of processes from {FEWEST} to {MOST_PROCESSES}")
    if sends < 0:
        raise InputError(f"--sends {sends}: give a number of messages, 0 or more")
    names = tuple(f"P{number + 1}" for number in range(count))
    return Scenario(
        name=f"complete-{count}-{sends}",
        title=f"{count} processes that send {sends} messages each",
        processes=names,
        topology=Topology("complete"),
        workload="units",
        parameters={"sends": sends},
        scheduler=SchedulerChoice("manual"),
        snapshots=(Initiation("S1", names[0]),),
    )


def changed(scenario: Scenario, algorithm: str | None, *, not_fifo: bool) -> Scenario:
    """The scenario with another algorithm or a broken rule, and with channels that are not FIFO. Raises InputError."""
    if algorithm is not None and algorithm in SLIPS:
        scenario = replace(scenario, breaks=(algorithm,), algorithm_parameters={})
        not_fifo = not_fifo or algorithm == "fifo"
    elif algorithm is not None and algorithm in ALGORITHMS:
        scenario = replace(scenario, breaks=(), algorithm=algorithm, algorithm_parameters={})
    elif algorithm is not None:
        known = f"{', '.join(ALGORITHMS)}, and the broken rules {', '.join(SLIPS)}"
        raise InputError(f"--algorithm {algorithm!r}: no such algorithm; there are {known}")
    if not_fifo:
        every = tuple(channel.name for channel in scenario.channels)
        breaks = ("fifo",) if scenario.rules.needs_fifo and "fifo" not in scenario.breaks else ()
        scenario = replace(scenario, not_fifo=every, breaks=(*breaks, *scenario.breaks))
    validate(scenario)
    return scenario
