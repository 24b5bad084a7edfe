"""The search, breadth first, through all states of a system: their number, their snapshots, and their violations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.core import deadline
from sim.explore.judging import COMPLETION, Judge, Recorded
from sim.explore.numbers import Numbers
from sim.explore.packing import Keys, Ways, are_first, are_missing, distinct, merged
from sim.explore.space import Space, Wider
from sim.explore.symmetry import Symmetry

MOST_STATES = 20_000_000
CHUNK = 1 << 19  # states of a level that are stepped together


@dataclass
class Explored:
    """The findings of a search.

    levels: the keys of the pairs of a state and an account (sim/explore/numbers.py) by depth; with symmetry of their
    representatives. pairs: their number. per_depth: the number of states, by the fewest steps that lead to them.
    stepped: the number of pairs whose steps are all known. ahead: the number of pairs found so far of the next level,
    those of two chunks twice. transitions: the number of steps from a state to a state. problem: the reason why these
    are not all; "" if they are. stopped: the exception that interrupted it.

    snapshots: the recordings (parts are numbered by `parts`), each with the number of runs up to the step that
    completes it, exact below 2**53. is_levelled: whether all runs to a pair are equally long; else these numbers mean
    nothing. worst: for each check that fails somewhere, the depth and the key of a pair of least depth in which it
    fails. wrong: for each check, the number of runs up to a step that completes a snapshot that fails it, likewise.
    """

    space: Space
    parts: Numbers
    symmetry: Symmetry | None = None
    levels: list[Keys] = field(default_factory=list)
    per_depth: list[int] = field(default_factory=list)
    pairs: int = 0
    stepped: int = 0
    ahead: int = 0
    transitions: int = 0
    problem: str = ""
    stopped: KeyboardInterrupt | None = None
    snapshots: Counter[Recorded] = field(default_factory=Counter)
    is_levelled: bool = True
    worst: dict[str, tuple[int, int]] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def complete(self) -> bool:
        """Whether every state that can be reached was."""
        return not self.problem

    @property
    def states(self) -> int:
        """The number of distinct states."""
        return sum(self.per_depth)


def explore(
    space: Space, most_states: int = MOST_STATES, progress: Callable[[Explored], None] = lambda found: None,
    symmetry: Symmetry | None = None,
) -> Explored:  # fmt: skip
    """All states that can be reached, each at its least depth.

    It ends early, with a problem, where more than `most_states` pairs would be held, on Ctrl-C and at a deadline.
    `progress` is called after each level, and while a large one is stepped. With `symmetry`, one pair of each orbit is
    explored.
    """
    search = Search(space, most_states, progress, symmetry)
    found = search.found
    try:
        while len(search.frontier):
            found.levels.append(search.frontier)
            found.pairs += len(search.frontier)
            found.per_depth.append(int(search.counts.sum()))
            if found.pairs > most_states:
                found.problem = f"more than {most_states:,} states"
                break
            search.step()
    except KeyboardInterrupt as stopped:
        found.problem, found.stopped = "interrupted", stopped
    except deadline.OutOfTime:
        found.problem = "out of time"
    if symmetry:
        with suppress(Wider):
            symmetry.prepare()
    search.widen()  # what was begun last may have brought new numbers
    if symmetry:
        found.snapshots = symmetry.expanded(found.snapshots, found.parts)
    return found


class Search:
    """The level that is stepped next, and all pairs of a state and an account that were seen.

    counts: for how many states each pair of the level stands. Of pairs with the same state one stands for it, and the
    others for none. With symmetry it stands for an orbit, and the number of runs is that to all pairs of the orbit.
    """

    def __init__(
        self, space: Space, most_states: int, progress: Callable[[Explored], None], symmetry: Symmetry | None
    ) -> None:
        self.space, self.most_states, self.progress, self.symmetry = space, most_states, progress, symmetry
        self.judge = Judge(space)
        self.found = Explored(space, self.judge.parts, symmetry)
        self.frontier = space.initial()
        self.seen, self._levels_seen = self.frontier[:0], 0  # the states of the first levels, sorted
        self.ways: Ways = np.ones(1)
        self.counted, self._levels_counted = self.frontier[:0], 0  # the states of the first levels, without accounts
        self.counts = self._counts()
        self._new: list[tuple[Keys, Ways]] = []  # of this level, chunk by chunk

    def step(self) -> None:
        """Go on to the states after the frontier that were not seen; to some of them, where these are too many."""
        self.progress(self.found)
        self._new = []
        for begin in range(0, len(self.frontier), CHUNK):
            deadline.check()
            reached = self._step(slice(begin, begin + CHUNK))
            self._new.append(reached)
            self.found.ahead += len(reached[0])
            self.progress(self.found)
            if self._are_too_many():
                break
        self.found.ahead = 0
        deadline.check()
        new, ways = merged(self._new) if len(self._new) > 1 else self._new[0]
        is_new = self._are_new(new)
        self.found.is_levelled &= bool(is_new.all())
        self.frontier, self.ways = new[is_new], ways[is_new]
        self.counts = self._counts()

    def _counts(self) -> Keys:
        """For how many states, for which no pair has stood so far, each pair of the frontier stands."""
        states, counts = self._states(self.frontier)
        return counts * are_first(states, self._counted()) if self.space.has_accounts else counts

    def _states(self, keys: Keys) -> tuple[Keys, Keys]:
        """Pairs without their accounts, and for how many states each stands; with symmetry, representatives."""
        states = self.space.without_accounts(keys)
        return self.symmetry.least(states, with_accounts=False) if self.symmetry else (states, np.ones_like(states))

    def _counted(self) -> Keys:
        """The states of earlier levels, sorted; none where no run to a state is longer than another one."""
        if self.space.holds_one_age:
            return self.counted
        levels = self.found.levels[self._levels_counted :]
        self.counted = np.concatenate([self.counted, *(self._states(level)[0] for level in levels)])
        self.counted = distinct(self.counted)
        self._levels_counted += len(levels)
        return self.counted

    def _are_too_many(self) -> bool:
        """Whether the states that are held and those of the next level are too many; chunks are merged to count."""
        held = self.found.pairs
        if held + sum(len(keys) for keys, _ in self._new) <= self.most_states:
            return False
        deadline.check()
        self._new = [merged(self._new)]
        return held + int(self._are_new(self._new[0][0]).sum()) > self.most_states

    def _are_new(self, keys: Keys) -> NDArray[np.bool_]:
        """Whether each of these states is new: all are if no run to a state is longer than another one."""
        if self.space.is_levelled and not self.symmetry:
            return np.ones(len(keys), bool)
        levels = self.found.levels
        self.seen = np.concatenate([self.seen, *levels[self._levels_seen :]])
        self.seen.sort(kind="stable")  # sorted parts are merged
        self._levels_seen = len(levels)
        return are_missing(keys, self.seen)

    def _step(self, chunk: slice) -> tuple[Keys, Ways]:
        """The states after a part of the frontier, sorted, and the number of runs to each."""
        while True:
            keys, ways, counts = self.frontier[chunk], self.ways[chunk], self.counts[chunk]
            self.judge.begin()
            try:
                new, ways, transitions = stepped(self.space, self.judge, keys, ways, counts)
                if self.symmetry:
                    new, ways = merged([(self.symmetry.least(new)[0], ways)])
                break
            except Wider:
                self.widen()
        self._note(len(keys), transitions)
        return new, ways

    def _note(self, states: int, transitions: int) -> None:
        found, depth = self.found, len(self.found.levels)
        found.stepped += states
        found.transitions += transitions
        found.snapshots.update(self.judge.snapshots)
        found.wrong.update(self.judge.wrong)
        for check, key in self.judge.worst.items():
            found.worst.setdefault(check, (depth - (check == COMPLETION), key))

    def widen(self) -> None:
        """Make columns wider that need it, in all keys, and at the end all at once: Ctrl-C may come at any moment."""
        found = self.found
        packing, repacked = self.space.wider()
        if packing.widths == self.space.packing.widths:
            return
        frontier = repacked(self.frontier)
        seen, counted = (np.sort(repacked(own), kind="stable") for own in (self.seen, self.counted))
        new = [(repacked(keys), ways) for keys, ways in self._new]
        levels = [repacked(level) for level in found.levels]
        worst = {check: (depth, int(repacked(np.array([key]))[0])) for check, (depth, key) in found.worst.items()}
        self.space.packing, self.frontier, self._new = packing, frontier, new
        self.seen, self.counted = seen, counted
        found.levels, found.worst = levels, worst


def stepped(space: Space, judge: Judge, keys: Keys, ways: Ways, counts: Keys) -> tuple[Keys, Ways, int]:
    """The states after these, sorted, the number of runs to each, and the number of steps; `judge` looks at them.

    counts: for how many states each stands.
    """
    has_left, transitions = np.zeros(len(keys), bool), 0
    reached = [(keys[:0], ways[:0])]
    for move, after in space.successors(keys):
        deadline.check()
        has_left[move.places] = True
        transitions += int(counts.take(move.places).sum())
        reached.append((after, ways.take(move.places)))
        judge.look(move, *reached[-1])
    judge.end(keys[~has_left])
    return *merged(reached), transitions


def path_to(found: Explored, depth: int, key: int) -> list[tuple[int, int]]:
    """The steps of a shortest run to a state: the node and its input, from the first one on.

    With symmetry the run leads to some state of the orbit.
    """
    moves: list[tuple[int, int, int, int]] = []  # node, local state, input, and the place of its end among images
    for level in reversed(found.levels[:depth]):
        images = found.symmetry.images(key) if found.symmetry else [key]
        step = next(leading_to(found.space, level, images))
        moves.append((step.node, step.local, step.given, images.index(step.after)))
        key = step.before
    if not found.symmetry:
        return [(node, given) for node, _, given, _ in moves[::-1]]
    return list(_renamed(found.symmetry, moves[::-1]))


def _renamed(symmetry: Symmetry, moves: Sequence[tuple[int, int, int, int]]) -> Iterator[tuple[int, int]]:
    """Moves between representatives as the steps of one run: each goes on in the names in which the last one ended."""
    renaming = symmetry.renamings[0]
    for node, local, given, image in moves:
        taken = renaming.input(node, local, given)
        assert taken is not None
        yield renaming.places[node], taken
        renaming = symmetry.after(symmetry.renamings[image], renaming)


class Step(NamedTuple):
    """A node in a local state takes an input; `before` and `after` are the keys of the states."""

    node: int
    local: int
    given: int
    before: int
    after: int


def leading_to(space: Space, level: Keys, keys: Sequence[int]) -> Iterator[Step]:
    """Steps from a level to one of the keys, at most one of each move."""
    for chunk in (level[begin : begin + CHUNK] for begin in range(0, len(level), CHUNK)):
        for move, after in space.successors(chunk):
            for place in np.flatnonzero(np.isin(after, keys))[:1].tolist():
                case, before = move.cases[place], chunk[move.places[place]]
                yield Step(move.node, int(move.locals[case]), int(move.given[case]), int(before), int(after[place]))
