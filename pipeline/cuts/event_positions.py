"""The positions of events and losses on the lines of their processes, in very many runs: one order of both.

A message that is lost or fenced off on arrival has a position at its receiver: the loss lies behind some event, and is
numbered with the events. It takes the message out of its channel, unless the message was put back, or a restore took
the loss back.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy

from pipeline.cuts.event_columns import Numbers
from pipeline.cuts.sends import NEVER
from pipeline.cuts.surviving import Rows, Surviving
from sim.core.model import FENCED, LOST, PUT_BACK, RECORD, RESTORE

TURN = 2**32
_HALF = 2**31  # added to an index: none is negative then, and each fits into the lower half of a key


class Lookup:
    """A map from keys to numbers, with `instead` for other keys.

    Of several numbers for a key the least counts, or with `greatest` the greatest.
    """

    def __init__(self, keys: Numbers, values: Numbers, instead: int = NEVER, *, greatest: bool = False) -> None:
        order = numpy.lexsort((-values if greatest else values, keys))
        self.keys, first = numpy.unique(keys[order], return_index=True)
        self._values, self._instead = values[order][first], instead

    def __call__(self, keys: Numbers) -> Numbers:
        """The numbers of `keys`."""
        if not len(self.keys):
            return numpy.full(len(keys), self._instead, numpy.int64)
        place = numpy.minimum(numpy.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: Numbers = numpy.where(self.keys[place] == keys, self._values[place], self._instead)
        return found


class Events:
    """The surviving events of each process, by row."""

    def __init__(self, runs: int, left: Rows) -> None:
        self._runs = runs
        keys = self._keys(left.run, left.name, left.row)
        order = numpy.argsort(keys)
        self._rows, self._index = keys[order], left.index[order]
        self._indices = numpy.sort(self._keys(left.run, left.name, left.index))

    def before(self, run: Numbers, name: Numbers, row: Numbers) -> Numbers:
        """The index of the last event before a row (0: there is none)."""
        if not len(self._rows):
            return numpy.zeros_like(row)
        place = numpy.searchsorted(self._rows, self._keys(run, name, row)) - 1
        is_own = place >= numpy.searchsorted(self._rows, self._keys(run, name, numpy.zeros_like(row)))
        return numpy.where(is_own, self._index[place], 0)

    def until(self, run: Numbers, name: Numbers, index: Numbers) -> Numbers:
        """The index of the last surviving event up to an index (0: there is none)."""
        if not len(self._indices):
            return numpy.zeros_like(index)
        first = self._keys(run, name, numpy.zeros_like(index))
        place = numpy.searchsorted(self._indices, first + index, "right") - 1
        is_own = (place >= 0) & (self._indices[place] >= first)
        return numpy.where(is_own, self._indices[place] - first, 0)

    def _keys(self, run: Numbers, name: Numbers, row: Numbers) -> Numbers:
        found: Numbers = (numpy.asarray(name, numpy.int64) * self._runs + run) * TURN + row
        return found


class Positions:
    """The positions on the lines of processes: their events and the messages lost on arrival, in one order.

    The position of an event is its index, plus one for each message that was lost before it.
    """

    def __init__(self, runs: int, events: Events, losses: Rows) -> None:
        self._runs, self._events = runs, events
        losses = losses._replace(index=events.before(losses.run, losses.name, losses.row))
        self.losses = losses.where(numpy.lexsort((losses.row, self._pairs(losses.run, losses.name))))
        self._pair = self._pairs(self.losses.run, self.losses.name)
        self._behind = self._pair * TURN + self.losses.index + _HALF
        self._row = self._pair * TURN + self.losses.row + _HALF

    @property
    def of_losses(self) -> Numbers:
        """The positions of `losses`."""
        number = numpy.arange(len(self._pair)) - numpy.searchsorted(self._pair, self._pair)
        return self.losses.index + 1 + number

    def of_events(self, run: Numbers, name: Numbers, index: Numbers) -> Numbers:
        """The positions of events."""
        return index + self._count(self._behind, run, name, index, "left")

    def latest(self, run: Numbers, name: Numbers, inside: Numbers) -> Numbers:
        """The last positions with this number of events inside."""
        return inside + self._count(self._behind, run, name, inside, "right")

    def events(self, run: Numbers, name: Numbers, index: Numbers) -> Numbers:
        """The indices of the last surviving events up to an index."""
        return self._events.until(run, name, index)

    def before(self, run: Numbers, name: Numbers, row: Numbers) -> Numbers:
        """The last positions before rows."""
        return self._events.before(run, name, row) + self._count(self._row, run, name, row, "left")

    def _count(
        self, keys: Numbers, run: Numbers, name: Numbers, value: Numbers, side: Literal["left", "right"]
    ) -> Numbers:
        """The number of losses of a process with keys up to a value."""
        pair = self._pairs(run, name)
        return numpy.searchsorted(keys, pair * TURN + value + _HALF, side) - numpy.searchsorted(self._pair, pair)

    def _pairs(self, run: Numbers, name: Numbers) -> Numbers:
        """A number for each process of a run."""
        return numpy.asarray(name, numpy.int64) * self._runs + run


class Losses(NamedTuple):
    """All messages that were lost or fenced off on arrival, and those that stay lost."""

    all: Rows
    last: Rows


def losses_among(rows: Rows, keys: Numbers, runs: int) -> Losses:
    """The losses among `rows`; `keys` are the numbers of the messages of `rows`."""
    is_loss = rows.are(LOST, FENCED) & (rows.message >= 0)
    is_back = rows.are(PUT_BACK)
    back = Lookup(keys[is_back], rows.row[is_back], -1, greatest=True)(keys)
    holds = is_loss & numpy.where(rows.are(FENCED), back < 0, rows.row > back)
    last = Lookup(keys[holds], rows.row[holds], -1, greatest=True)(keys)
    arrives = is_loss & (rows.name == rows.target) & (rows.row >= 0)
    gone = _taken_back(rows, runs).are_gone(rows.run, rows.name, rows.row)
    return Losses(rows.where(arrives), rows.where(arrives & holds & (rows.row == last) & ~gone))


def _taken_back(rows: Rows, runs: int) -> Surviving:
    """The rows that restores have taken back: those since the recording to which their process goes back.

    That is its part of the snapshot that the restore names; with uncoordinated checkpoints, perhaps of another one.
    """
    records = rows.of(RECORD).in_order("run", "row")
    parts: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for run, name, index, row, snapshot in zip(
        *(column.tolist() for column in (records.run, records.name, records.index, records.row, records.snapshot)),
        strict=True,
    ):
        parts.setdefault((run, name, index), []).append((row, snapshot))
    removed = []
    restores = rows.of(RESTORE)
    for run, name, index, row, snapshot in zip(
        *(column.tolist() for column in (restores.run, restores.name, restores.index, restores.row, restores.snapshot)),
        strict=True,
    ):
        own = [part for part in parts.get((run, name, index), ()) if part[0] < row]
        named = [part for part in own if part[1] == snapshot]
        removed.append((run, name, [(-1, -1), *(named or own)][-1][0], row))
    return Surviving(runs, removed)
