"""The findings of an exploration, as the JSON output of `python -m sim explore`, and in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.model import Crash
from sim.core.topology import Topology
from sim.document.scenario import Initiation, Scenario, SchedulerChoice
from sim.document.validate import fitting_initiations, validate
from sim.explore.judging import Part
from sim.explore.replay import replayed
from sim.explore.search import MOST_STATES, Explored, explore, path_to
from sim.explore.space import Space
from sim.explore.symmetry import Symmetry
from sim.explore.world import NO_FAULTS, MayHappen

FEWEST, MOST_PROCESSES = 2, 8
MOST_RECORDED, MOST_LISTED = 1_000, 20  # snapshots in the JSON output, and in words
EXACT = 2**53  # up to here, sums of floats are whole numbers


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of some runs: the recorded state by process, the recorded bodies by channel.

    ways: the number of runs up to the step that completes it; approximate above 2**53; None if it is not known.
    """

    id: str
    processes: dict[str, Any]
    channels: dict[str, list[Any]]
    ways: int | None

    @property
    def is_exact(self) -> bool:
        """Whether `ways` is the very number."""
        return self.ways is not None and self.ways <= EXACT

    def to_json(self) -> dict[str, Any]:
        """An entry of the JSON output."""
        return {
            "id": self.id, "processes": self.processes, "channels": self.channels, "ways": self.ways,
            "exact": self.is_exact,
        }  # fmt: skip


@dataclass(frozen=True)
class Exploration:
    """An exploration and its findings. `runs` holds, for each check that fails in some run, a shortest such run."""

    scenario: Scenario
    found: Explored
    runs: dict[str, Scenario]

    def to_json(self) -> dict[str, Any]:
        """The JSON output of the command line."""
        found = self.found
        return {
            "states": found.states,
            "transitions": found.transitions,
            "explored": found.pairs,
            "complete": found.complete,
            "depth": self.depth,
            "per_depth": found.per_depth,
            "problem": found.problem or None,
            "snapshots": len(found.snapshots),
            "recorded": [snapshot.to_json() for snapshot in self.recorded[:MOST_RECORDED]],
            "recorded_left_out": max(0, len(self.recorded) - MOST_RECORDED),
            "violations": [{"check": check, "steps": steps} for check, steps in self.shortest()],
        }

    @property
    def depth(self) -> int:
        """The number of steps to the states that are farthest from the beginning, of those that were found."""
        return max((depth for depth, states in enumerate(self.found.per_depth) if states), default=0)

    @cached_property
    def recorded(self) -> list[Snapshot]:
        """The different snapshots that were recorded, the most frequent first."""
        parts = self.found.parts
        empty: dict[str, list[Any]] = {channel.name: [] for channel in self.scenario.channels}
        snapshots = []
        for (name, *told), ways in self.found.snapshots.items():
            own: list[Part] = [parts.things[parts.of[part]] for part in told]
            channels = empty | {channel: bodies for part in own for channel, bodies in part.channels.items()}
            count = round(ways) if self.found.is_levelled else None
            snapshots.append(Snapshot(str(name), {part.process: part.state for part in own}, channels, count))
        return sorted(snapshots, key=lambda own: (-(own.ways or 0), json.dumps(own.to_json(), sort_keys=True)))

    def shortest(self) -> list[tuple[str, int]]:
        """The checks that do not hold, each with the steps of a shortest run, the shortest first."""
        return sorted(((check, depth) for check, (depth, _) in self.found.worst.items()), key=lambda own: own[1])

    def in_words(self) -> Iterator[str]:
        """The findings as lines for a terminal."""
        found = self.found
        states = counted(found.states, "state")
        yield f"{states}, {counted(found.transitions, 'transition')}, depth {self.depth}"
        yield from self._pairs_in_words()
        if not found.complete:
            so_far = "" if found.worst else ", no violation so far"
            yield f"not all explored ({found.problem}): depth {self.depth}, {states}{so_far}"
        yield from self._recorded_in_words()
        for check, steps in self.shortest():
            ways = f" ({found.wrong[check]:,.0f} ways)" if found.is_levelled and found.wrong[check] else ""
            yield f"{check} does not hold{ways}: the shortest such run has {steps} steps"
            yield from (f"  {number:3}  {choice}" for number, choice in enumerate(self.runs[check].scheduler.order, 1))
        if not found.worst and found.complete:
            yield "every check holds in every run" if self.scenario.snapshots else "no run takes a snapshot"
        if _may_lose(self.found.space):
            yield "of runs that lose a state or a message, only complete snapshots were checked, and not conservation"
        if self.found.space.may.losses:
            yield "a snapshot whose marker is lost is never complete: that is no violation"
        if not self.scenario.rules.coordinated:
            yield "consistency and channel states were not checked: the checkpoints are uncoordinated"
        elif not self.scenario.rules.records_once:
            yield "consistency and channel states were not checked: a process may record a second time"

    def _pairs_in_words(self) -> Iterator[str]:
        found = self.found
        if found.pairs != found.states:
            yield f"{counted(found.pairs, 'pair')} of a state and what the checks know of its past were explored"
        if found.symmetry:
            yield f"one state stands for those that differ in names: {found.symmetry.in_words()}"

    def _recorded_in_words(self) -> Iterator[str]:
        listed, more = self.recorded[:MOST_LISTED], len(self.recorded) - MOST_LISTED
        how = "and the number of runs that lead to each" if self.found.is_levelled else (
            "but not the number of runs that lead to each, because runs of different lengths lead to the same state"
        )  # fmt: skip
        what = counted(len(self.recorded), "different snapshot")
        yield f"{what} can be recorded, {how}:" if listed else f"{what} can be recorded"
        for snapshot in listed:
            yield "  " + self._snapshot_in_words(snapshot)
        if more > 0:
            yield f"  and {more:,} more"

    def _snapshot_in_words(self, snapshot: Snapshot) -> str:
        """Such as `32 ways  S1: P1 790, P2 190, P1->P2 holds 30`."""
        workload = self.found.space.engine.workload
        told = [f"{name} {workload.state_words(own)}" for name, own in snapshot.processes.items() if own is not None]
        told += [
            f"{channel} holds {', '.join(workload.body_words(body) or 'a message' for body in bodies)}"
            for channel, bodies in snapshot.channels.items()
            if bodies
        ]
        if not any(snapshot.channels.values()):
            told.append("all channels empty")
        return f"{ways_in_words(snapshot)}{snapshot.id}: {', '.join(told)}"


def _may_lose(space: Space) -> bool:
    """Whether in some run a state or a message is lost."""
    return space.may.takes_away or any(isinstance(item.action, Crash) for item in space.engine.agenda)


def ways_in_words(snapshot: Snapshot) -> str:
    """The number of runs that lead to a snapshot, in words; empty if it is not known."""
    if snapshot.ways is None:
        return ""
    told = f"{snapshot.ways:,}" if snapshot.is_exact else f"about {snapshot.ways:.1e}"
    return f"{told} {'way' if snapshot.ways == 1 else 'ways'}  "


def counted(count: int, what: str) -> str:
    """`1 state`, `1,900 states`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def exploration(
    scenario: Scenario, *, own_order: bool = False, symmetry: bool = False, most_states: int = MOST_STATES,
    progress: Callable[[Explored], None] = lambda found: None, may: MayHappen = NO_FAULTS,
) -> Exploration:  # fmt: skip
    """All runs of a scenario without time. Script lines keep their order, or (`own_order`) each process's own.

    may: the faults that may happen at any moment. Raises InputError if the scenario does not go with them.
    """
    may.check(scenario)
    space = Space(may.engine(scenario), own_order=own_order, may=may)
    found = explore(space, most_states, progress, Symmetry(scenario, space) if symmetry else None)
    runs = {check: replayed(scenario, space, path_to(found, depth, key)) for check, (depth, key) in found.worst.items()}
    return Exploration(scenario, found, runs)


def complete_graph(count: int, sends: int) -> Scenario:
    """`count` processes, each of which may send `sends` messages to any other at any time; P1 may initiate once.

    Raises InputError for a number out of range.
    """
    if not FEWEST <= count <= MOST_PROCESSES:
        raise InputError(f"--complete {count}: give a number of processes from {FEWEST} to {MOST_PROCESSES}")
    if sends < 0:
        raise InputError(f"--sends {sends}: give a number of messages, 0 or more")
    names = tuple(f"P{number + 1}" for number in range(count))
    return Scenario(
        name=f"complete-{count}-{sends}",
        title=f"{count} processes that send {counted(sends, 'message')} each",
        processes=names,
        topology=Topology("complete"),
        workload="units",
        parameters={"sends": sends},
        scheduler=SchedulerChoice("manual"),
        snapshots=(Initiation("S1", names[0]),),
    )


def changed(scenario: Scenario, algorithm: str | None, *, not_fifo: bool) -> Scenario:
    """The scenario with another algorithm or a broken rule, and with channels that are not FIFO. Raises InputError.

    If snapshots begin at sources, a complete graph without a script keeps its channels to later processes only.
    """
    if algorithm is not None and algorithm in BROKEN_RULES:
        scenario = replace(scenario, breaks=(algorithm,), algorithm_parameters={})
        not_fifo = not_fifo or algorithm == "fifo"
    elif algorithm is not None and algorithm in ALGORITHMS:
        scenario = replace(scenario, breaks=(), algorithm=algorithm, algorithm_parameters={})
        if scenario.rules.initiators == SOURCES and scenario.topology.kind == "complete" and not scenario.script:
            title = f"{scenario.title}, to later ones only"
            scenario = replace(scenario, title=title, topology=replace(scenario.topology, kind="dag"))
        scenario = replace(scenario, snapshots=fitting_initiations(scenario))
    elif algorithm is not None:
        known = f"{', '.join(ALGORITHMS)}, and the broken rules {', '.join(BROKEN_RULES)}"
        raise InputError(f"--algorithm {algorithm!r}: no such algorithm; there are {known}")
    if not_fifo:
        every = tuple(channel.name for channel in scenario.channels)
        breaks = ("fifo",) if scenario.rules.needs_fifo and "fifo" not in scenario.breaks else ()
        scenario = replace(scenario, not_fifo=every, breaks=(*breaks, *scenario.breaks))
    validate(scenario)
    return scenario
