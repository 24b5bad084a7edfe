"""Dijkstra's argument for one snapshot (EWD864a): the run's actions as a row of white and red, interchanged in pairs.

An action is a step of the application, or a fault. It is white if its process has not recorded yet, else red. The loss
or the copy of a message in transit has the colour with which the snapshot is right. The n-th action of the row lies at
place n of the time axis. A process turns red when it records. It may do so anywhere between its last white action and
its first red one, since no other process can tell the difference. After all interchanges the row can be straightened:
all processes turn red at one instant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, Event
from sim.explain.actions import ActionWords, action_in_words
from sim.explain.words import Words, words_of
from sim.run.execution import Execution
from sim.run.rearranged import ColouredRun, coloured_run
from sim.run.snapshots import COMPLETE
from sim.theory.interchange import ColouredAction, Forbidden, forbidden, forbids, interchanges, inversions

STRAIGHT = "straight"
MOST_ACTIONS = 1_000  # on show
AROUND = 3  # actions on show before the first red one, and after the last white one, if the row is cropped
APART = 0.3  # of a place: by this much straightened white actions lie earlier, and red ones later

Swaps = int | str | tuple[int, ...]  # a number of interchanges (in Play's order), STRAIGHT, or places


class Places(NamedTuple):
    """The places after some interchanges: of the actions on show, in the order of the run, and of the turns to red."""

    actions: list[float]
    turns: list[float]


class Proof:
    """The actions of a run around the cut of a snapshot.

    `actions` are those on show, in the order of the run; the first of them has place `first`, and the run has `total`.
    `whites` is the number of white actions of the whole run. `begin` and `end` are the places of Dijkstra's S0 and S1,
    each between two actions: before the snapshot began, and after it was complete, else the end of the run.
    """

    def __init__(self, run: ColouredRun) -> None:
        """Raises InputError if too many actions lie around the cut."""
        self.execution, self.run = run.execution, run
        self.snapshot = snapshot = run.snapshot
        row = self.run.row
        self.total = len(row)
        self.whites = sum(not action.is_red for action in row)
        self._steps = [action.step for action in row]
        self.begin = self._before(snapshot.began or 0)
        self.end = self.total + 0.5 if snapshot.completed is None else self._before(snapshot.completed + 1)
        start, stop = self._on_show(row)
        self.actions, self.first = row[start:stop], start + 1

    @property
    def is_whole(self) -> bool:
        """Whether all actions of the run are on show."""
        return len(self.actions) == self.total

    @cached_property
    def inversions(self) -> int:
        """The pairs of a red action and a white one after it."""
        return inversions(self.actions)

    @cached_property
    def swaps(self) -> list[int]:
        """The interchanges that are possible, one after the other: indices of the red action of each pair, on show."""
        return list(interchanges(self.actions))

    @cached_property
    def _number_of(self) -> dict[int, int]:
        """By the number of a row, the index of its action among those on show."""
        at = {action.place: number for number, action in enumerate(self.actions)}
        return {row: at[place] for row, place in self.run.order.place_of.items() if place in at}

    def place_of(self, row: Event) -> tuple[int, float] | None:
        """The index of a row's action on show, and the distance of the row before its place; None if not drawn."""
        number = self._number_of.get(row.row)
        if number is None or row.kind not in APPLICATION_KINDS:
            return None if number is None else (number, 0.0)
        action = self.actions[number]
        return number, 0.5 * (action.last - (row.index or 0)) / (action.last - action.first + 1)

    def told(self, action: ColouredAction) -> ActionWords:
        """An action in words."""
        return action_in_words(self.execution, action)

    def _on_show(self, row: Sequence[ColouredAction]) -> tuple[int, int]:
        """The part of a row that is shown: all; else S0 to S1; else from the first red action to the last white one."""
        first_red = next((number for number, action in enumerate(row) if action.is_red), len(row))
        after_white = next((number for number in range(len(row), 0, -1) if not row[number - 1].is_red), 0)
        inner = min(first_red, after_white) - AROUND, max(first_red, after_white) + AROUND
        outer = min(inner[0], int(self.begin) - AROUND), max(inner[1], int(self.end) + AROUND)
        for start, stop in ((0, len(row)), outer, inner):
            if min(len(row), stop) - max(0, start) <= MOST_ACTIONS:
                return max(0, start), min(len(row), stop)
        raise InputError(
            f"{self.snapshot.id}: from the first red action to the last white one there are {inner[1] - inner[0]:,}, "
            f"and a page holds {MOST_ACTIONS:,}; choose a shorter snapshot, or run python -m sim interchange"
        )

    def is_red(self, row: Event) -> bool:
        """Whether a row is outside the cut."""
        line, number = self.run.order.place_of[row.row]
        return number > self.run.cut[line]

    def places(self, swaps: Swaps = 0) -> Places:
        """The places after some interchanges; STRAIGHT: after all, with all processes turning red at once."""
        order = list(range(len(self.actions)))
        for place in self._interchanges(swaps):
            order[place], order[place + 1] = order[place + 1], order[place]
        actions = [0.0] * len(order)
        for place, number in enumerate(order, start=self.first):
            actions[number] = float(place)
        if swaps == STRAIGHT and not self.is_forbidden:
            moved = [at + (APART if own.is_red else -APART) for at, own in zip(actions, self.actions, strict=True)]
            return Places(moved, [self.whites + 0.5] * len(self.execution.scenario.processes))
        return Places(actions, self.turns)

    def _interchanges(self, swaps: Swaps) -> Iterable[int]:
        """Indices of the first action of each pair, on show."""
        if isinstance(swaps, tuple):
            return [place - self.first for place in swaps]
        return islice(self.swaps, None if swaps == STRAIGHT else int(swaps))

    def are_possible(self, places: Iterable[int]) -> bool:
        """Whether the actions at each of these places and after it may be interchanged, one pair after the other."""
        row = list(self.actions)
        for place in places:
            at = place - self.first
            if not 0 <= at < len(row) - 1:
                return False
            one, following = row[at], row[at + 1]
            if not one.is_red or following.is_red or forbids(one, following) is not None:
                return False
            row[at], row[at + 1] = following, one
        return True

    @property
    def is_forbidden(self) -> bool:
        """Whether a white action accepts a red message, so that no row ends without inversions."""
        return bool(self.forbidden)

    @cached_property
    def forbidden(self) -> list[Forbidden]:
        """The red actions that stay before white ones in every order."""
        return forbidden(self.run.row)

    @cached_property
    def turns(self) -> list[float]:
        """The place at which each process turned red in the run, between two actions, by lane.

        A turn stays in place, since interchanges move white actions only to the front, and red ones to the end. A
        process that takes no part turns red after its last white action, or at the beginning of the snapshot.
        """
        last = {own.process: place + 0.5 for place, own in enumerate(self.run.row, start=1) if not own.is_red}
        local = self.snapshot.local
        began = {name: self._before(local[name].step) if name in local else self.begin for name in self.run.frontier}
        return [max(began[name], last.get(name, 0.0)) for name in self.run.frontier]

    def _before(self, step: int) -> float:
        """The place before all actions of a step and later ones."""
        return bisect_left(self._steps, step) + 0.5

    def compared(self) -> list[dict[str, Any]]:
        """The recorded states beside the states after all white actions.

        `equal` is None for a channel whose recording goes on, or never begins.
        """
        words, run = words_of(self.execution), self.run
        processes = [
            {
                "name": name,
                "recorded": words.state(state, self.snapshot.events[name]),
                "found": words.state(run.met.processes[name], self._labels(name)),
                "equal": run.is_equal(name),
            }
            for name, state in run.recorded.processes.items()
        ]
        return [*processes, *(self._channel(words, name) for name in run.channels)]

    def _labels(self, process: str) -> list[str]:
        """The events of a process in white actions."""
        own = self.execution.history.of[process][: self.run.frontier[process]]
        return [event.label or "" for event in own]

    def _channel(self, words: Words, name: str) -> dict[str, Any]:
        """A channel of `compared`."""
        kept = [message.id for message in self.snapshot.recorded_in(name)]
        found = self.run.order.in_channel(name, self.run.cut)
        recorded, there = ([words.label(self.execution.flights[own]) for own in ids] for ids in (kept, found))
        is_known = name in self.snapshot.channels
        why = "not recorded" if self.snapshot.status == COMPLETE else "still recording"
        return {
            "name": words.channel(name),
            "recorded": _listed(recorded) if is_known else why,
            "found": _listed(there),
            "equal": self.run.is_equal(name),
        }


def _listed(names: Sequence[str]) -> str:
    return f"<{', '.join(names) or 'empty'}>"


def proof_of(execution: Execution, snapshot: str | None = None) -> Proof:
    """The argument for a snapshot by its id (None: the first with a cut). Raises InputError if it has no cut."""
    return Proof(coloured_run(execution, snapshot))
