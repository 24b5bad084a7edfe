"""The arrangement of the processes in a diagram: hidden ones, folded ones, and the order of their lanes.

An arrangement is a view and changes nothing in a run: records, verdicts and happened-before count every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

FOLDED = 0.3  # the width of a folded lane; that of any other is 1


@dataclass(frozen=True)
class Arrangement:
    """The names of processes and services in their order (the others follow in their own), of hidden, of folded ones.

    Names that a run does not know are ignored. Services lie beyond all processes in every order.
    """

    order: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    def laid_out(self, lanes: Sequence[str], processes: Sequence[str]) -> Layout:
        """The layout of the lanes of a run, those of its processes first. At least one process is always shown."""
        rank = {name: place for place, name in enumerate(dict.fromkeys(self.order))}
        key = {lane: (lane >= len(processes), rank.get(name, len(rank)), lane) for lane, name in enumerate(lanes)}
        ordered = sorted(key, key=lambda lane: key[lane])
        hidden = frozenset(lane for lane, name in enumerate(lanes) if name in self.hidden)
        if hidden >= set(range(len(processes))):
            hidden = frozenset()
        shown = tuple(lane for lane in ordered if lane not in hidden)
        folded = frozenset(lane for lane in shown if lanes[lane] in self.folded)
        widths = [FOLDED if lane in folded else 1.0 for lane in shown]
        apart = accumulate(((one + other) / 2 for one, other in pairwise(widths)), initial=0.0)
        return Layout(tuple(ordered), shown, folded, tuple(round(place, 4) for place in apart))


class Layout(NamedTuple):
    """The numbers of lanes: all in order, those on show in order, the folded ones; `places` of those on show."""

    ordered: tuple[int, ...]
    shown: tuple[int, ...]
    folded: frozenset[int]
    places: tuple[float, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every lane is shown, in its own place, and none is folded."""
        return self.shown == tuple(range(len(self.ordered))) and not self.folded

    def place(self, lane: float) -> float:
        """The place across the time axis of a lane on show, by its number; also between two lanes, or beyond all."""
        if not self.folded:
            return lane
        last = len(self.places) - 1
        if lane < 0 or lane >= last:
            end = 0 if lane < 0 else last
            return self.places[end] + lane - end
        low = int(lane)
        return round(self.places[low] + (lane - low) * (self.places[low + 1] - self.places[low]), 4)

    def seam(self, lane: int) -> float:
        """The number of a lane of the run among those on show; a hidden one lies between its neighbours on show."""
        if lane in self.shown:
            return float(self.shown.index(lane))
        return sum(other in self.shown for other in self.ordered[: self.ordered.index(lane)]) - 0.5
