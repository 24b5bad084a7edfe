"""Dijkstra's argument that a snapshot's state is possible: neighbouring actions are interchanged until it is met.

The actions of a run stand in a row, in the order in which they happened. An action inside the snapshot's cut is white,
one outside it red. Where a red action is followed by a white one, the two are at different processes, and they commute
unless the white one accepts a message that the red one has sent. Interchanging them lowers the number of inversions by
one, and no process notices. At zero inversions all white actions come first, then all red ones, and between them the
system is in the very state that the snapshot recorded (EWD864a). It works if and only if the cut is consistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.model import RECEIVE, SEND
from sim.theory.causality import Frontier, History

MOST_SWAPS = 1_000_000


class TooManySwaps(ValueError):
    """The row has more than MOST_SWAPS inversions."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_SWAPS:,} interchanges are needed")


class ColouredAction(NamedTuple):
    """One action of the application: a step, or the part of a step on one side of the cut.

    `first` and `last` are the indices of its events at its process, from 1. `sent` and `accepted` are ids of messages.
    """

    step: int
    process: str
    first: int
    last: int
    is_red: bool
    label: str
    sent: frozenset[int]
    accepted: frozenset[int]


class Forbidden(NamedTuple):
    """The message that keeps a red action before a white one, and the steps in which it was sent and accepted."""

    message: int
    sent: int
    accepted: int


def coloured_actions(history: History, cut: Frontier) -> list[ColouredAction]:
    """The actions of a run in their order, coloured by a cut."""
    found: list[ColouredAction] = []
    sent_by: dict[tuple[str, int | None], frozenset[int]] = {}  # a send sends the copies of its message, too
    for message, send in history.sends.items():
        own = send.process, send.index
        sent_by[own] = sent_by.get(own, frozenset()) | {message}
    for event in in_time(history.rows):
        index, came = event.index or 0, event.message_id
        is_red = index > cut.get(event.process, 0)
        accepted = frozenset([came] if event.kind == RECEIVE and came is not None and came in history.sends else [])
        sent = sent_by.get((event.process, index), frozenset()) if event.kind == SEND else frozenset[int]()
        last = found[-1] if found else None
        if last and (last.step, last.process, last.is_red) == (event.step, event.process, is_red):
            found[-1] = last._replace(last=index, sent=last.sent | sent, accepted=last.accepted | accepted)
        else:
            found.append(
                ColouredAction(event.step, event.process, index, index, is_red, event.label or "", sent, accepted)
            )
    return found


def inversions(row: Iterable[ColouredAction]) -> int:
    """The number of pairs of a red action and a white one after it."""
    red = found = 0
    for action in row:
        if action.is_red:
            red += 1
        else:
            found += red
    return found


def forbids(red: ColouredAction, white: ColouredAction) -> int | None:
    """The message that forbids to interchange a red action with the white one after it; None: they commute."""
    return min(red.sent & white.accepted, default=None)


def interchanges(row: Sequence[ColouredAction]) -> Iterator[int]:
    """The interchanges that are possible, one after the other: the place of the red action of each pair.

    White actions move to the front in their order, each as far as it can. So where the cut is consistent the row ends
    without an inversion; else it ends where no pair of neighbours commutes. Raises TooManySwaps.
    """
    if inversions(row) > MOST_SWAPS:
        raise TooManySwaps
    now = list(row)
    for start in in_time(range(1, len(now))):
        place = start
        while place and now[place - 1].is_red and not now[place].is_red and forbids(now[place - 1], now[place]) is None:
            now[place - 1], now[place] = now[place], now[place - 1]
            place -= 1
            yield place


def rearranged(row: Sequence[ColouredAction], places: Iterable[int]) -> list[ColouredAction]:
    """The row after the interchanges at these places."""
    now = list(row)
    for place in places:
        now[place], now[place + 1] = now[place + 1], now[place]
    return now


def forbidden(row: Iterable[ColouredAction]) -> list[Forbidden]:
    """The red messages that are accepted in white actions, in the order of the actions: none in a consistent cut."""
    sent_in: dict[int, ColouredAction] = {}
    found = []
    for action in row:
        sent_in.update(dict.fromkeys(action.sent, action))
        for message in sorted(action.accepted):
            if not action.is_red and message in sent_in and sent_in[message].is_red:
                found.append(Forbidden(message, sent_in[message].step, action.step))
    return found
