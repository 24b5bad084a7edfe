"""Breadth first through all states of a system: how many there are, which snapshots they record, and what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sim.core import deadline
from sim.explore.judging import COMPLETION, Judge, Recorded
from sim.explore.machine import Numbers
from sim.explore.packing import Keys, Ways, merged
from sim.explore.space import Move, Space, Wider

MOST_STATES = 20_000_000
CHUNK = 1 << 20  # states of a level that are stepped together


@dataclass
class Explored:
    """What was found.

    levels: the keys of the states by depth. stepped: of how many states all steps are known. transitions: how many
    steps lead from a state to a state. problem: why these are not all; "" if they are; stopped: what interrupted it.
    snapshots: the recorded states (their parts are numbered by `parts`), each with the number of runs up to the step
    that completes it, exact below 2**53; is_levelled: whether all runs to a state are equally long, else these numbers
    mean nothing. worst: for each check that does not hold somewhere, a state of least depth in which it does not: the
    depth and the key.
    """

    space: Space
    parts: Numbers
    levels: list[Keys] = field(default_factory=list)
    stepped: int = 0
    transitions: int = 0
    problem: str = ""
    stopped: KeyboardInterrupt | None = None
    snapshots: Counter[Recorded] = field(default_factory=Counter)
    is_levelled: bool = True
    worst: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every state that can be reached was."""
        return not self.problem

    @property
    def sizes(self) -> list[int]:
        """The number of states by depth."""
        return list(map(len, self.levels))

    @property
    def states(self) -> int:
        """The number of distinct states."""
        return sum(self.sizes)


def explore(
    space: Space, most_states: int = MOST_STATES, progress: Callable[[Explored], None] = lambda found: None
) -> Explored:
    """All states that can be reached, each once, at its least depth.

    It ends early, with a problem, where there are more than `most_states`, on Ctrl-C and at a deadline. `progress` is
    called after each level, and while a large one is stepped.
    """
    search = Search(space, progress)
    found = search.found
    try:
        while len(search.frontier):
            found.levels.append(search.frontier)
            if found.states > most_states:
                found.problem = f"more than {most_states:,} states"
                break
            search.step()
    except KeyboardInterrupt as stopped:
        found.problem, found.stopped = "interrupted", stopped
    except deadline.OutOfTime:
        found.problem = "out of time"
    search.widen()  # what was begun last may have brought new numbers
    return found


class Search:
    """The level that is stepped next, with the number of runs to each of its states, and all that were seen."""

    def __init__(self, space: Space, progress: Callable[[Explored], None]) -> None:
        self.space, self.progress, self.judge = space, progress, Judge(space)
        self.found = Explored(space, self.judge.parts)
        self.frontier = self.seen = space.initial()
        self.ways: Ways = np.ones(1)
        self._new: list[tuple[Keys, Ways]] = []  # of this level, chunk by chunk

    def step(self) -> None:
        """Go on to the states after the frontier that were not seen."""
        self.progress(self.found)
        self._new = []
        for begin in range(0, len(self.frontier), CHUNK):
            deadline.check()
            reached = self._step(slice(begin, begin + CHUNK))
            self._new.append(reached)
            self.progress(self.found)
        new, ways = merged(self._new) if len(self._new) > 1 else self._new[0]
        places = np.searchsorted(self.seen, new)
        places[places == len(self.seen)] = 0
        is_new = self.seen[places] != new
        self.found.is_levelled &= bool(is_new.all())
        self.frontier, self.ways = new[is_new], ways[is_new]
        self.seen = np.concatenate([self.seen, self.frontier])
        self.seen.sort(kind="stable")  # two sorted parts are merged

    def _step(self, chunk: slice) -> tuple[Keys, Ways]:
        """The states after a part of the frontier, sorted, and the number of runs to each."""
        while True:
            keys, ways = self.frontier[chunk], self.ways[chunk]
            self.judge.begin()
            try:
                reached, transitions = stepped(self.space, self.judge, keys, ways)
                break
            except Wider:
                self.widen()
        self._note(len(keys), transitions)
        return merged(reached)

    def _note(self, states: int, transitions: int) -> None:
        found, depth = self.found, len(self.found.levels)
        found.stepped += states
        found.transitions += transitions
        found.snapshots.update(self.judge.snapshots)
        for check, key in self.judge.worst.items():
            found.worst.setdefault(check, (depth - (check == COMPLETION), key))

    def widen(self) -> None:
        """Make columns wider that need it, in all keys."""
        repacked = self.space.widen()
        self.frontier, self.seen = repacked(self.frontier), np.sort(repacked(self.seen), kind="stable")
        self._new = [(repacked(keys), ways) for keys, ways in self._new]
        self.found.levels = [repacked(level) for level in self.found.levels]
        self.found.worst = {
            check: (depth, int(repacked(np.array([key]))[0])) for check, (depth, key) in self.found.worst.items()
        }


def stepped(space: Space, judge: Judge, keys: Keys, ways: Ways) -> tuple[list[tuple[Keys, Ways]], int]:
    """The states after these, each as often as steps lead to it, with runs; the number of steps. `judge` looks at all."""
    has_left, transitions = np.zeros(len(keys), bool), 0
    reached = [(keys[:0], ways[:0])]
    for move, after in space.successors(keys):
        has_left[move.places] = True
        transitions += len(after)
        reached.append((after, ways[move.places]))
        judge.look(move, *reached[-1])
    judge.look_at_ends(keys[~has_left])
    return reached, transitions


def path_to(found: Explored, depth: int, key: int) -> list[tuple[int, int]]:
    """The steps of a shortest run to a state: the node and its input, from the first one on."""
    steps: list[tuple[int, int]] = []
    for level in reversed(found.levels[:depth]):
        move, place = next(leading_to(found.space, level, key))
        steps.append((move.node, int(move.given[place])))
        key = int(move.keys[place])
    return steps[::-1]


def leading_to(space: Space, level: Keys, key: int) -> Iterator[tuple[Move, int]]:
    """The moves from a level to a state, each with the place in it of a state before."""
    for begin in range(0, len(level), CHUNK):
        for move, after in space.successors(level[begin : begin + CHUNK]):
            for place in np.flatnonzero(after == key)[:1].tolist():
                yield move, place
