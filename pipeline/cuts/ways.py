"""The ways of messages in runs with recoveries, losses and copies: where each enters its channel and leaves it.

The rules are those of sim/theory/positions.py for one run, here with NumPy for very many. tests/reference checks both:

- A message whose send is gone is in no channel; a surviving receive of it makes a cut inconsistent.
- A receive that is gone counts as none: its message waits in the channel for another receive, or for ever.
- A message that is lost or fenced off on arrival leaves the channel there. That is a *position* of the receiver, which
  lies behind some event and is numbered with the events. If the message was put back, or if a restore took the loss
  back, it counts as lost in transit instead.
- A message that is lost in transit is in its channel, as far as a cut can show: in transit, or lost already.
- A copy is in the channel after the original message has left it, until the copy leaves it.

Joins and leaves play no part: cuts are checked by their messages. Without the column `row` no order shows when a
message was lost: all of them count as lost in transit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from pipeline.cuts.cut_lines import LEAST, Cuts
from pipeline.cuts.event_columns import Names, Numbers
from pipeline.cuts.event_positions import TURN, Events, Lookup, Positions, losses_among
from pipeline.cuts.sends import NEVER, Bools, Sends
from pipeline.cuts.surviving import Rows, surviving
from sim.core.model import APPLICATION_KINDS, COPIED, RECEIVE, RESTORE, SEND

Read = Mapping[int, int]  # by run_id, the number of restores that its cuts know of; those of other runs know of all


class Evidence(NamedTuple):
    """Sends, and what they are evidence of: the content of channels, the consistency of cuts, or both."""

    sends: Sends
    holds: bool = True
    orders: bool = True


class Frontiers(NamedTuple):
    """The numbers of positions inside, by cut and place of a name. The last column, of all other names, is 0.

    A number of events leaves open whether a loss right behind the last event is inside. In `at_most` it is, so no
    channel holds the message; in `at_least` it is not, so the loss makes no cut inconsistent.
    """

    at_most: NDArray[numpy.int32]
    at_least: NDArray[numpy.int32]


class _Needs(NamedTuple):
    """The needs of arrivals for their sends: (target, at) is inside only with (source, put). Sorted by run."""

    run: Numbers
    target: Numbers
    at: Numbers
    source: Numbers
    put: Numbers

    def where(self, rows: Bools) -> _Needs:
        return _Needs(*(column[rows] for column in self))

    def of_run(self, run: int) -> _Needs:
        first, last = numpy.searchsorted(self.run, [run, run + 1])
        return _Needs(*(column[first:last] for column in self))


class Ways:
    """The ways of the messages of some runs, from the rows of marked runs; in other runs a send row decides alone.

    Cuts know of as many restores of each run as `read` says. `are_marked` says by place whether a run is marked.
    """

    def __init__(self, rows: Rows, runs: Numbers, read: Read) -> None:
        self._runs = len(runs)
        self.are_marked = numpy.zeros(len(runs), bool)
        self.are_marked[rows.run] = True
        rows = _until(rows, runs, read)
        self._messages = numpy.unique(rows.message)
        self._left = surviving(rows, len(runs))
        left = rows.of(*APPLICATION_KINDS)
        left = left.where(~self._left.are_gone(left.run, left.name, left.index))
        losses = losses_among(rows, self._keys(rows.run, rows.message), len(runs))
        self._positions = Positions(len(runs), Events(len(runs), left), losses.all)
        own = self._positions.losses
        keys, at = self._keys(own.run, own.message), self._positions.of_losses
        is_last = numpy.isin(own.row + own.run * TURN, losses.last.row + losses.last.run * TURN)
        self._lost = Lookup(keys[is_last], at[is_last])
        receipts = left.of(RECEIVE)
        keys, at = self._keys(receipts.run, receipts.message), self._at(receipts)
        self._first, self._last = Lookup(keys, at), Lookup(keys, at, greatest=True)
        self._original = self._originals(rows)
        self._needs = self._needed(left, receipts, own.where(is_last), self._positions.of_losses[is_last])

    def _at(self, rows: Rows) -> Numbers:
        return self._positions.of_events(rows.run, rows.name, rows.index)

    def _keys(self, run: Numbers, message: Numbers) -> Numbers:
        """A number for each message of a run that some row names; -1 for other messages."""
        place = numpy.minimum(numpy.searchsorted(self._messages, message), len(self._messages) - 1)
        found: Numbers = numpy.where(self._messages[place] == message, place * self._runs + run, -1)
        return found

    def _originals(self, rows: Rows) -> Lookup:
        """A map from the key of a copy to that of its original: the message of the same send on the same channel."""
        copies, sends = rows.of(COPIED), rows.of(SEND)
        copies = copies.where(copies.index >= 0)  # a marker may be copied too
        places = numpy.concatenate([copies.run, sends.run]), numpy.concatenate([copies.channel, sends.channel])
        _, pair = numpy.unique(numpy.stack(places), axis=1, return_inverse=True)
        keys = pair.ravel() * TURN + numpy.concatenate([copies.index, sends.index])
        count = len(copies.run)
        of_send = Lookup(keys[count:], self._keys(sends.run, sends.message), -1)
        return Lookup(self._keys(copies.run, copies.message), of_send(keys[:count]), -1)

    def _needed(self, left: Rows, receipts: Rows, losses: Rows, lost_at: Numbers) -> _Needs:
        """The send that every receipt, and every loss on arrival, needs to be inside."""
        sends = left.of(SEND)
        keys = self._keys(sends.run, sends.message)
        put, source = Lookup(keys, self._at(sends)), Lookup(keys, sends.name)
        run, target = numpy.append(receipts.run, losses.run), numpy.append(receipts.name, losses.name)
        own = self._keys(run, numpy.append(receipts.message, losses.message))
        originals = self._original(own)
        own = numpy.where(originals < 0, own, originals)
        found = _Needs(run, target, numpy.append(self._at(receipts), lost_at), source(own), put(own))
        order = numpy.argsort(run, kind="stable")
        return _Needs(*(column[order] for column in found)).where(put(own)[order] != NEVER)

    # ------------------------------------------------------------------ answers

    def frontiers(self, cuts: Cuts, names: Names) -> Frontiers:
        """The numbers of positions inside; in runs without marks, those of events."""
        given = cuts.frontiers()
        inside = numpy.zeros((cuts.size, len(names) + 1), numpy.int64)
        inside[:, : given.shape[1] - 1] = given[:, :-1]
        marked = numpy.flatnonzero(self.are_marked[cuts.run_of])
        run, name = cuts.run_of[marked].astype(numpy.int64)[:, None], numpy.arange(inside.shape[1])[None, :]
        at_most, at_least = inside.copy(), inside
        own = self._positions.events(run, name, inside[marked])
        at_most[marked] = self._positions.latest(run, name, own)
        at_least[marked] = self._positions.of_events(run, name, own)
        if cuts.rows is not None:
            cut = numpy.repeat(numpy.arange(cuts.size), numpy.diff(cuts.starts))
            line = numpy.flatnonzero(self.are_marked[cuts.run_of[cut]] & (cuts.rows >= 0))
            run, name, row = (at.astype(numpy.int64)[line] for at in (cuts.run_of[cut], cuts.processes, cuts.rows))
            at_most[cut[line], name] = at_least[cut[line], name] = self._positions.before(run, name, row)
            for inside in (at_most, at_least):
                self._stand(cuts, cut, inside)
        return Frontiers(*(numpy.minimum(own, NEVER - 1).astype(numpy.int32) for own in (at_most, at_least)))

    def _stand(self, cuts: Cuts, cut_of: Numbers, inside: Numbers) -> None:
        """Places each process that takes no part as early as the others require."""
        assert cuts.rows is not None
        least = numpy.flatnonzero(cuts.rows == LEAST)
        for cut in numpy.unique(cut_of[least]).tolist():
            others, now = cuts.processes[least[cut_of[least] == cut]], inside[cut]
            now[others] = 0
            needs = self._needs.of_run(int(cuts.run_of[cut]))
            needs = needs.where(numpy.isin(needs.source, others))
            before = None
            while before is None or (now != before).any():
                before = now.copy()
                are_inside = needs.at <= now[needs.target]
                numpy.maximum.at(now, needs.source[are_inside], needs.put[are_inside])

    def of(self, sends: Sends) -> Iterator[Evidence]:
        """Yield the evidence of the sends of marked runs, with positions in place of indices."""
        run, source, index = (column.astype(numpy.int64) for column in (sends.run, sends.source, sends.index))
        is_gone = self._left.are_gone(run, source, index)
        put = numpy.where(is_gone, NEVER, self._positions.of_events(run, source, index))
        keys = self._keys(run, sends.message)
        first, last = self._out(keys, is_gone)
        is_copy = numpy.isin(keys, self._original.keys)
        yield Evidence(_at(sends, put, last).where(~is_copy), orders=False)
        yield Evidence(_at(sends, put, first), holds=False)
        copies = numpy.flatnonzero(is_copy)
        left_at, _ = self._out(self._original(keys[copies]), is_gone[copies])
        own = _at(sends.where(copies), numpy.where(is_gone[copies], NEVER, left_at), last[copies])
        yield Evidence(own._replace(source=own.target), orders=False)

    def _out(self, keys: Numbers, is_gone: Bools) -> tuple[Numbers, Numbers]:
        """The positions of the first and last receive of messages, or of their loss if the send survives."""
        lost = numpy.where(is_gone, NEVER, self._lost(keys))
        first, last = self._first(keys), self._last(keys)
        return numpy.where(first == NEVER, lost, first), numpy.where(last == NEVER, lost, last)


def _at(sends: Sends, put: Numbers, out: Numbers) -> Sends:
    return sends._replace(index=put.astype(numpy.int32), peer=out.astype(numpy.int32))


def _until(rows: Rows, runs: Numbers, read: Read) -> Rows:
    """The rows that the cuts know of: those before the next restore."""
    restores = rows.of(RESTORE).in_order("run", "row")
    end = numpy.full(len(runs), numpy.iinfo(numpy.int64).max)
    for run_id, count in read.items():
        place = int(numpy.searchsorted(runs, run_id))
        later = restores.row[restores.run == place][count:]
        if len(later):
            end[place] = later[0]
    return rows.where(rows.row < end[rows.run])
