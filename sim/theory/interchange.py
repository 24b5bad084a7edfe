"""Dijkstra's argument that a snapshot's state is possible: neighbouring actions are interchanged until it is met.

The actions of a run stand in a row, in the order in which they happened. They are the positions of its `Order`: steps
of the application, and faults. An action inside the snapshot's cut is white, one outside it red. A red action and a
white one right after it belong to different processes. They commute unless the red one is a direct cause of the white
one: for instance, it sends the message that the white one accepts. Interchanging them lowers the number of inversions
by one, and no process notices. At zero inversions all white actions come first, then all red ones. Between them the
system is in the very state that the snapshot recorded (EWD864a). It works if and only if the cut is consistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.theory.causes import Place
from sim.theory.positions import ACTS, Cut, Order

MOST_SWAPS = 1_000_000


class TooManySwaps(ValueError):
    """The row has more than MOST_SWAPS inversions."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_SWAPS:,} interchanges are needed")


class ColouredAction(NamedTuple):
    """One action of a run: a step of the application at one process, or a fault.

    `place` is its place in the order of the run. `kind` is ACTS or the kind of its row, which has the number `row`.
    `process` is "" for a loss or a copy in transit. `first` and `last` are the indices of its application events, from
    1 (a fault has none: `last` is less). `message` is the message that is lost or copied. `causes` are the places of
    its direct causes on other lines, each with the message in between.
    """

    place: Place
    step: int
    row: int
    kind: str
    process: str
    is_red: bool
    first: int
    last: int
    message: int | None
    causes: Mapping[Place, int]


class Forbidden(NamedTuple):
    """A red action that stays before a white one in every order, and the message that makes it so."""

    message: int
    red: ColouredAction
    white: ColouredAction


def coloured_actions(order: Order, cut: Cut) -> list[ColouredAction]:
    """The actions of a run in their order, coloured by a cut."""
    found = []
    for line, (own, count) in enumerate(zip(order.lines, cut, strict=True)):
        process, inside = (*order.processes[line : line + 1], "")[0], 0
        for number, at in enumerate(in_time(own), start=1):
            place, last = (line, number), at.inside if at.kind == ACTS else inside
            causes = order.causes.get(place, {})
            found.append(
                ColouredAction(
                    place, at.step, at.row, at.kind, process, number > count, inside + 1, last, at.message, causes
                )
            )
            inside = at.inside
    return sorted(found, key=lambda action: action.row)


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
    return white.causes.get(red.place)


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
    """The red actions directly before white ones, in the order of the white ones: none in a consistent cut."""
    at = {action.place: action for action in row}
    return [
        Forbidden(message, at[cause], white)
        for white in at.values()
        for cause, message in sorted(white.causes.items(), key=lambda pair: pair[1])
        if not white.is_red and at[cause].is_red
    ]
