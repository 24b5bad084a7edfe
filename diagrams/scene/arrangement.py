"""How a diagram arranges the processes: which are hidden, which are folded, and in what order their lanes lie.

It is a view of a run and changes nothing in it: records, verdicts and happened-before count every process.
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

    Names that a run does not know mean nothing to it. Services lie beyond all processes, whatever the order.
    """

    order: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    def laid_out(self, lanes: Sequence[str], processes: Sequence[str]) -> Layout:
        """Where the lanes of a run lie, the first of which are those of its processes. One of these is always shown."""
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
    """Numbers of lanes: all in order, those shown in order, the folded ones. `places` says where those shown lie."""

    ordered: tuple[int, ...]
    shown: tuple[int, ...]
    folded: frozenset[int]
    places: tuple[float, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every lane is shown, in its own place, and none is folded."""
        return self.shown == tuple(range(len(self.ordered))) and not self.folded

    def place(self, lane: float) -> float:
        """Where a lane lies across the time axis, numbered among those shown; also between two lanes, or beyond all."""
        if not self.folded:
            return lane
        last = len(self.places) - 1
        if lane < 0 or lane >= last:
            end = 0 if lane < 0 else last
            return self.places[end] + lane - end
        low = int(lane)
        return round(self.places[low] + (lane - low) * (self.places[low + 1] - self.places[low]), 4)

    def seam(self, lane: int) -> float:
        """The number of a lane of the run among those shown; a hidden one lies between the next ones that are shown."""
        if lane in self.shown:
            return float(self.shown.index(lane))
        return sum(other in self.shown for other in self.ordered[: self.ordered.index(lane)]) - 0.5
