"""Breadth first through all states of a system: how many there are, which snapshots they record, and what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sim.core import deadline
from sim.explore.judging import COMPLETION, Judge, Recorded
from sim.explore.packing import Keys, distinct
from sim.explore.space import Move, Space, Wider

MOST_STATES = 20_000_000


@dataclass
class Explored:
    """What was found.

    levels: the keys of the states by depth, sorted. transitions: how many steps lead from a state to a state.
    problem: why these are not all; "" if they are. snapshots: the recorded states, each with the number of
    steps that complete it. worst: for each check that does not hold somewhere, a state of least depth in which it
    does not: the depth and the key.
    """

    space: Space
    levels: list[Keys] = field(default_factory=list)
    transitions: int = 0
    problem: str = ""
    snapshots: Counter[Recorded] = field(default_factory=Counter)
    worst: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every state that can be reached was."""
        return not self.problem

    @property
    def states(self) -> int:
        """The number of distinct states."""
        return sum(map(len, self.levels))


def explore(
    space: Space, most_states: int = MOST_STATES, progress: Callable[[Explored], None] = lambda found: None
) -> Explored:
    """All states that can be reached, each once, at its least depth. `progress` is called after each level."""
    found, judge = Explored(space), Judge(space)
    frontier = seen = space.initial()
    while len(frontier):
        found.levels.append(frontier)
        deadline.check()
        if len(seen) > most_states:
            found.problem = f"more than {most_states:,} states"
            break
        try:
            progress(found)
            new, frontier, seen = _step(found, judge, frontier, seen)
        except KeyboardInterrupt:
            found.problem = "interrupted"
            break
        places = np.searchsorted(seen, new)
        places[places == len(seen)] = 0
        frontier = new[seen[places] != new]
        seen = np.concatenate([seen, frontier])
        seen.sort(kind="stable")  # two sorted parts are merged
    return found


def _step(found: Explored, judge: Judge, frontier: Keys, seen: Keys) -> tuple[Keys, Keys, Keys]:
    """The states after a level, sorted, and its own and those seen in the packing in which these are."""
    space = found.space
    while True:
        judge.begin()
        try:
            reached, has_left, transitions = [frontier[:0]], np.zeros(len(frontier), bool), 0
            for move, after in space.successors(frontier):
                has_left[move.places] = True
                transitions += len(after)
                reached.append(after)
                judge.look(move, after)
            new = distinct(np.concatenate(reached))
            judge.look_at_ends(frontier[~has_left])
            break
        except Wider:
            repacked = space.widen()
            frontier, seen = repacked(frontier), repacked(seen)
            found.levels = [repacked(level) for level in found.levels]
            found.worst = {
                check: (depth, int(repacked(np.array([key]))[0])) for check, (depth, key) in found.worst.items()
            }
    found.transitions += transitions
    found.snapshots.update(judge.snapshots)
    depth = len(found.levels)
    for check, key in judge.worst.items():
        found.worst.setdefault(check, (depth - (check == COMPLETION), key))
    return new, frontier, seen


def path_to(found: Explored, depth: int, key: int) -> list[tuple[int, int]]:
    """The steps of a shortest run to a state: the node and its input, from the first one on."""
    steps: list[tuple[int, int]] = []
    for level in reversed(found.levels[:depth]):
        move, place = next(_leading_to(found.space, level, key))
        steps.append((move.node, int(move.given[place])))
        key = int(move.keys[place])
    return steps[::-1]


def _leading_to(space: Space, level: Keys, key: int) -> Iterator[tuple[Move, int]]:
    for move, after in space.successors(level):
        for place in np.flatnonzero(after == key)[:1].tolist():
            yield move, place
