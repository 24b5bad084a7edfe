"""The names of cuts: the number of events inside by process and, if several cuts share these, the faults inside.

A name is a tuple: the events inside by process, in their order, and then perhaps 0 or 1 for each fault of the run.
Faults are the positions that are no steps of the application. The events alone name the latest cut with these numbers.
It contains every fault of a process after its last event inside. It contains a loss or a copy in transit only if
something inside follows it. In letters a name is `2.3.1` or `2.3.1~1.4`, with the numbers of the faults inside, from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from sim.core.notation import SIGNS
from sim.theory.causes import Place
from sim.theory.positions import ACTS, Cut, Order, is_inside

Name = tuple[int, ...]
FAULTS = "~"  # before the numbers of the faults inside


class CutNames:
    """The names of the cuts of a run."""

    def __init__(self, order: Order) -> None:
        self.order = order

    @cached_property
    def faults(self) -> list[Place]:
        """The places of the faults, in the order of the run."""
        lines = enumerate(self.order.lines)
        own = [(at.row, (line, n)) for line, whole in lines for n, at in enumerate(whole, 1) if at.kind != ACTS]
        return [place for _, place in sorted(own)]

    def cut(self, name: Sequence[int]) -> Cut:
        """The cut with a name. Faults that have to be inside are, and those that cannot be are not."""
        count = len(self.order.processes)
        events, chosen = name[:count], name[count:]
        if not chosen:
            return self.order.at(events)
        inside = {place for place, is_chosen in zip(self.faults, chosen, strict=True) if is_chosen}
        least = self.order.around([self._positions(line, most, inside) for line, most in enumerate(events)])
        cut = least
        for line, number in self.faults:  # causes come first
            placed = (*cut[:line], number, *cut[line + 1 :])
            if line >= count and (line, number) in inside and self._fits(line, placed):
                cut = placed
        return cut

    def _fits(self, line: int, cut: Cut) -> bool:
        """Whether the causes of a fault on its way are inside."""
        return all(known <= count for known, count in zip(self.order.clocks[line][0], cut, strict=True))

    def _positions(self, line: int, most: int, chosen: set[Place]) -> int:
        """The number of positions of a process inside, given its events and the chosen faults after the last one."""
        found = 0
        for number, at in enumerate(self.order.lines[line], start=1):
            if at.inside > most:
                break
            if at.kind == ACTS or (found == number - 1 and (line, number) in chosen):
                found = number
        return found

    def name(self, cut: Cut) -> Name:
        """The name of a cut, with its faults if there are any in the run."""
        return (*self.order.inside(cut), *(int(is_inside(place, cut)) for place in self.faults))

    def is_latest(self, cut: Cut) -> bool:
        """Whether its events alone name a cut."""
        return self.order.at(self.order.inside(cut)) == cut

    def written(self, cut: Cut) -> str:
        """The name of a cut in letters, as a link has it."""
        events = ".".join(map(str, self.order.inside(cut)))
        inside = [str(number) for number, place in enumerate(self.faults, start=1) if is_inside(place, cut)]
        return events if self.is_latest(cut) else f"{events}{FAULTS}{'.'.join(inside)}"

    def signs(self, cut: Cut) -> tuple[list[str], str]:
        """The signs of the faults that matter: by process, and of those on their way."""
        own = ["" for _ in self.order.lines]
        for line, number in self.that_matter(cut):
            own[line] += SIGNS[self.order.lines[line][number - 1].kind]
        count = len(self.order.processes)
        return own[:count], "".join(own[count:])

    def that_matter(self, cut: Cut) -> list[Place]:
        """The faults inside that tell a cut from others with as many events: no event of their process follows."""
        found = []
        for line, (own, inside) in enumerate(zip(self.order.lines, cut, strict=True)):
            last = next((number for number in range(inside, 0, -1) if own[number - 1].kind == ACTS), 0)
            found += [(line, number) for number in range(last + 1, inside + 1)]
        return found
