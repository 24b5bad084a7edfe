"""Dijkstra's argument for one snapshot (EWD864a): the run's actions as a row of white and red, interchanged in pairs.

An action is white where its process has not recorded yet, else red. The n-th action of the row lies at place n of the
time axis. A process turns red where it records; it may do so anywhere between its last white action and its first red
one, and nobody notices. After all interchanges the row can be straightened: all processes turn red at one instant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from sim.core.errors import InputError
from sim.core.model import Event
from sim.explain.words import Words, words_of
from sim.run.as_of import as_of
from sim.run.execution import Execution
from sim.run.rearranged import chosen_snapshot, cut_of, recorded_state, state_at
from sim.run.snapshots import Snapshot
from sim.theory.interchange import ColouredAction, coloured_actions, forbidden, forbids, interchanges, inversions

STRAIGHT = "straight"
MOST_ACTIONS = 1_000  # on show
AROUND = 3  # actions on show before the first red one, and after the last white one, where the row is cropped
APART = 0.3  # of a place: by this much straightened white actions lie earlier, and red ones later

Swaps = int | str | tuple[int, ...]  # so many interchanges (those that Play makes, in this order), STRAIGHT, or places


class Places(NamedTuple):
    """Where a row lies after some interchanges: every action on show, in the order of the run; every turn to red."""

    actions: list[float]
    turns: list[float]


class Proof:
    """The actions of a run around the cut of a snapshot.

    `actions` are those on show, in the order of the run; the first of them has place `first`, and the run has `total`.
    `whites` is the number of white actions of the whole run. `begin` and `end` are the places, between two actions, of
    Dijkstra's S0 (before the snapshot began) and S1 (when it was complete, else the end of the run).
    """

    def __init__(self, execution: Execution, snapshot: Snapshot) -> None:
        """Raises InputError where the snapshot has no cut, or too many actions lie around it."""
        self.execution, self.snapshot = execution, snapshot
        self.frontier = cut_of(execution, snapshot)
        row = coloured_actions(execution.history, self.frontier)
        self.total = len(row)
        self.whites = sum(not action.is_red for action in row)
        self._steps = [action.step for action in row]
        self.begin = self._before(snapshot.began or 0)
        self.end = self.total + 0.5 if snapshot.completed is None else self._before(snapshot.completed + 1)
        start, stop = self._on_show(row)
        self.actions, self.first = row[start:stop], start + 1
        self._whole = row

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
    def place_of(self) -> dict[tuple[str, int], tuple[int, float]]:
        """By event on show, as (process, index): the index of its action, and how far before its place it is drawn."""
        found = {}
        for number, action in enumerate(self.actions):
            count = action.last - action.first + 1
            for index in range(action.first, action.last + 1):
                found[action.process, index] = (number, 0.5 * (action.last - index) / count)
        return found

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

    def is_red(self, event: Event) -> bool:
        """Whether an application event is outside the cut."""
        return (event.index or 0) > self.frontier.get(event.process, 0)

    def places(self, swaps: Swaps = 0) -> Places:
        """Where everything lies after some interchanges; STRAIGHT: after all, and all processes turn red at once."""
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
        """Whether a red message is accepted in a white action, so that no row ends without inversions."""
        return bool(self.forbidden)

    @cached_property
    def forbidden(self) -> list[dict[str, Any]]:
        """The red messages that are accepted in white actions: id and name, the two events by their labels, who."""
        sent, received = self.execution.history.sends, self.execution.history.receives
        return [
            {
                "message": found.message,
                "name": words_of(self.execution).message(self.execution.flights[found.message]),
                "sent": sent[found.message].label,
                "accepted": received[found.message].label,
                "sender": sent[found.message].process,
                "acceptor": received[found.message].process,
            }
            for found in forbidden(self._whole)
        ]

    @cached_property
    def turns(self) -> list[float]:
        """The place at which each process turned red in the run, between two actions, by lane.

        It stays there: interchanges move its white actions to the front only, and its red ones to the end.
        """
        local = self.snapshot.local
        divided = Counter((own.process, own.step) for own in self._whole if not own.is_red)  # by a recording in a step
        names = self.execution.scenario.processes
        return [self._before(local[name].step) + divided[name, local[name].step] for name in names]

    def _before(self, step: int) -> float:
        """The place before all actions of a step and later ones."""
        return bisect_left(self._steps, step) + 0.5

    def compared(self) -> list[dict[str, Any]]:
        """What the snapshot recorded beside the state after all white actions.

        None for `equal` where the state of a channel is still being recorded.
        """
        words = words_of(self.execution)
        found, recorded = state_at(self.execution, self.snapshot), recorded_state(self.execution, self.snapshot)
        processes = [
            {
                "name": name,
                "recorded": words.state(recorded.processes[name], self.snapshot.events[name]),
                "found": words.state(state, self._labels(name)),
                "equal": recorded.processes[name] == state,
            }
            for name, state in found.processes.items()
        ]
        order = self.execution.order
        cut = as_of(self.execution, self.snapshot).cut_in(order)
        channels = [
            self._channel(words, name, order.in_channel(name, cut), recorded.channels[name] == bodies)
            for name, bodies in found.channels.items()
        ]
        return [*processes, *channels]

    def _labels(self, process: str) -> list[str]:
        """The events of a process in white actions."""
        return [event.label or "" for event in self.execution.history.of[process][: self.frontier[process]]]

    def _channel(self, words: Words, name: str, found: Sequence[int], is_equal: bool) -> dict[str, Any]:
        """A channel of `compared`, with the messages that are `found` in it, by their ids."""
        kept = [message.id for message in self.snapshot.recorded_in(name)]
        is_known = name in self.snapshot.channels
        recorded, there = ([words.label(self.execution.flights[own]) for own in ids] for ids in (kept, found))
        return {
            "name": words.channel(name),
            "recorded": _listed(recorded) if is_known else "still recording",
            "found": _listed(there),
            "equal": is_equal if is_known else None,
        }


def _listed(names: Sequence[str]) -> str:
    return f"<{', '.join(names) or 'empty'}>"


def proof_of(execution: Execution, snapshot: str | None = None) -> Proof:
    """The argument for a snapshot by its id (None: the first with a cut). Raises InputError where it has no cut."""
    return Proof(execution, chosen_snapshot(execution, snapshot))
