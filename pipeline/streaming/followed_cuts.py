"""The cuts of the snapshots of a run that is followed: complete ones, and those that need a verdict, perhaps again.

A cut is checked as soon as every process has recorded and all events inside are released. Later rows may change its
channels, such as the receipt of a message in them. Then it is checked again. So the tables are at every moment what an
audit of the events so far would write. Once the run has marks (pipeline.cuts.surviving), its rows determine the cuts,
as in that audit (`found`).

After its verdict only a snapshot's name and frontier stay in memory, 4 bytes for each process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy
from numpy.typing import NDArray

CHUNK = 256  # cuts in a part of the tables


class FollowedCuts:
    """The cuts of a run. `ids` are those with a verdict (None: aborted since), `dirty` those to be checked now."""

    def __init__(self) -> None:
        self.recorded: dict[str, dict[str, int]] = {}  # by snapshot without a verdict: events inside, by process
        self.aborted: set[str] = set()
        self.ids: list[str | None] = []
        self.dirty: set[int] = set()
        self._number: dict[str, int] = {}
        self._names: dict[str, int] = {}  # of processes: the column in the frontiers
        self._frontiers: NDArray[numpy.int32] = numpy.full((64, 4), -1, numpy.int32)  # -1: has not recorded

    def record(self, snapshot: str, process: str, index: int) -> None:
        """Notes that a process has recorded. Of several recordings the last counts."""
        if snapshot in self.aborted:
            return
        own = self.recorded.get(snapshot)
        if own is None:
            number = self._number.get(snapshot)
            own = {} if number is None else self.frontier(number)
        own[process] = max(index, own.get(process, 0))
        self.recorded[snapshot] = own

    def abort(self, snapshot: str) -> None:
        """Notes that a snapshot is aborted, so it is no cut."""
        self.aborted.add(snapshot)
        self.recorded.pop(snapshot, None)
        if snapshot in self._number:
            self._remove(snapshot)

    def _remove(self, snapshot: str) -> None:
        number = self._number.pop(snapshot)
        self.ids[number] = None
        self._frontiers[number] = -1
        self.dirty.add(number)

    def decide(self, members: Iterable[str]) -> None:
        """Makes snapshots that all members have recorded dirty cuts: a recording is released after its events."""
        needed = list(members)
        for snapshot, own in list(self.recorded.items()):
            if all(name in own for name in needed):
                self.add(snapshot, own)
                self.dirty.add(self._number[snapshot])
                del self.recorded[snapshot]

    def found(self, cuts: Mapping[str, Mapping[str, int]]) -> None:
        """Replaces all cuts by these, given by snapshot; all of them have to be checked."""
        for snapshot in self._number.keys() - cuts.keys():
            self._remove(snapshot)
        for snapshot, own in cuts.items():
            self.add(snapshot, own)
        self.dirty.update(self._number.values())

    def add(self, snapshot: str, own: Mapping[str, int], number: int | None = None) -> None:
        """Adds or replaces a cut; a cut that was written before has its `number`."""
        if number is not None:
            self.ids += [None] * (number + 1 - len(self.ids))
            self.ids[number], self._number[snapshot] = snapshot, number
        elif snapshot not in self._number:
            self._number[snapshot] = len(self.ids)
            self.ids.append(snapshot)
        number = self._number[snapshot]
        for name in own:
            self._names.setdefault(name, len(self._names))
        self._make_room(number, len(self._names))
        for name, index in own.items():
            self._frontiers[number, self._names[name]] = index

    def _make_room(self, number: int, names: int) -> None:
        rows, columns = self._frontiers.shape
        if number >= rows or names > columns:
            wider = numpy.full((max(rows, 2 * number), max(columns, 2 * names)), -1, numpy.int32)
            wider[:rows, :columns] = self._frontiers
            self._frontiers = wider

    def change(self, least: Mapping[str, int]) -> None:
        """Makes cuts dirty after a change in the past of processes: those with an event inside from `least` on."""
        first = numpy.full(self._frontiers.shape[1], numpy.iinfo(numpy.int32).max)
        for name, index in least.items():
            if name in self._names:
                first[self._names[name]] = index
        own = self._frontiers[: len(self.ids)]
        self.dirty.update(numpy.flatnonzero((own >= first).any(axis=1)).tolist())

    def frontier(self, number: int) -> dict[str, int]:
        """The events inside a cut, by process."""
        row = self._frontiers[number]
        return {name: int(row[column]) for name, column in self._names.items() if row[column] >= 0}
