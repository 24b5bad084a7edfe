"""Finds the messages that cross cuts: those that a channel holds, and those that violate a cut.

A cut is a number of events per process, and a send row has the index of its receive (`peer_index`). So two numbers of
the cut decide on a message. If it is sent inside but not received inside, it is in the channel. If it is received
inside but not sent inside, it violates the cut. sim.theory.causality.History does the same for one run.

In runs with few cuts every message is compared with every cut. In runs with many cuts a search finds the messages that
a cut can cross:

- The messages of a channel are sorted by the index of the send. Those sent inside come first, up to a place that a
  binary search finds.
- Among these, all messages before the first one with a receive outside are received inside. The running maximum of the
  indices of receives never falls, so a binary search finds that message.
- Among the others, the running minimum from the end shows in the same way after which message no receive is inside.

The messages that are never received form a channel of their own: all that are sent inside are in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from pipeline.cuts.cut_lines import Cuts
from pipeline.cuts.event_columns import Numbers
from pipeline.cuts.sends import NEVER, Bools, Codes, Sends
from pipeline.cuts.ways import Evidence, Frontiers

FEW = 8  # cuts of a run: for fewer, sorting its messages takes longer than comparing them with each cut
MOST_PAIRS = 2_000_000  # pairs of a cut and a message that are compared together
MOST_HELD = 4_000_000  # messages in channels, of all cuts that are checked together
_HALF = 2**31  # added to an index: none is negative then, and each fits into the lower half of a key


class TooManyHeldError(Exception):
    """The channels hold more than MOST_HELD messages: fewer cuts have to be checked together."""


class Held(NamedTuple):
    """Messages in channels, a row for each: number of the cut, code of the channel, index of the receive, message."""

    cut: Numbers
    channel: Codes
    peer: Codes
    message: Numbers


class Crossings:
    """The messages that cross `cuts`, collected from their sends.

    `is_violated` says which cuts some message violates; `witness` is the smallest id among those messages.
    """

    def __init__(self, cuts: Cuts, frontiers: Frontiers) -> None:
        """`frontiers` are the events inside, or other positions that sends count by."""
        self._frontiers = frontiers
        runs = len(cuts.runs)
        self._first = numpy.searchsorted(cuts.run_of, numpy.arange(runs))  # the first cut of each run
        self._counts = numpy.bincount(cuts.run_of, minlength=runs)
        self.is_violated = numpy.zeros(cuts.size, bool)
        self.witness = numpy.full(cuts.size, numpy.iinfo(numpy.int64).max)
        self._held: list[Held] = []
        self._size = 0
        self._holds = self._orders = True
        self._inside_now = frontiers.at_most

    @property
    def held(self) -> Held:
        """All messages in channels."""
        none = Held(numpy.zeros(0, numpy.int64), *(numpy.zeros(0, kind) for kind in ("int32", "int32", "int64")))
        return Held(*(numpy.concatenate(columns) for columns in zip(none, *self._held, strict=True)))

    def add(self, evidence: Evidence) -> None:
        """Checks the cuts against some sends. Raises TooManyHeldError, unless there is one cut only."""
        sends, self._holds, self._orders = evidence
        self._inside_now = self._frontiers.at_most if self._holds else self._frontiers.at_least
        has_few = self._counts[sends.run] <= FEW
        if has_few.all():
            self._add_few(sends)
            return
        self._add_few(sends.where(has_few))
        self._add_many(sends.where(~has_few))

    def _add_few(self, sends: Sends) -> None:
        """Compares every send with every cut of its run."""
        number = 0
        while len(sends.run):
            cut = self._first[sends.run] + number
            inside, received = self._inside(cut, sends.source), self._inside(cut, sends.target)
            is_sent, is_received = sends.index <= inside, sends.peer <= received
            rows = numpy.flatnonzero(is_sent != is_received)
            self._take(cut[rows], sends.where(rows), is_sent[rows])
            number += 1
            sends = sends.where(self._counts[sends.run] > number)

    def _add_many(self, sends: Sends) -> None:
        """Searches each channel for the messages that a cut can cross."""
        channels = _Channels(sends)
        heads = channels.heads
        for channel, place in _expanded(self._counts[heads.run]):
            cut = self._first[heads.run[channel]] + place
            inside = self._inside(cut, heads.source[channel])
            received = self._inside(cut, heads.target[channel])
            end = channels.sent_until(channel, inside)
            for first, last, is_sent in (
                (channels.received_until(channel, received), end, True),
                (end, channels.received_after(channel, received), False),
            ):
                for query, offset in _expanded(numpy.maximum(last - first, 0)):
                    rows = first[query] + offset
                    found = channels.sends.where(rows)
                    crosses = (found.peer <= received[query]) != is_sent
                    self._take(cut[query][crosses], found.where(crosses), numpy.full(crosses.sum(), is_sent))

    def _inside(self, cut: Numbers, name: Codes) -> Codes:
        """The number of a process's events inside; 0 for a process that no cut names."""
        width = self._inside_now.shape[1]
        found: Codes = self._inside_now.ravel()[cut * width + numpy.minimum(name, width - 1)]
        return found

    def _take(self, cut: Numbers, sends: Sends, is_held: Bools) -> None:
        """Adds messages that cross: a channel holds them, or else they violate the cut."""
        if self._orders:
            violated = cut[~is_held]
            self.is_violated[violated] = True
            numpy.minimum.at(self.witness, violated, sends.message[~is_held])
        if self._holds:
            self._held.append(Held(cut[is_held], sends.channel[is_held], sends.peer[is_held], sends.message[is_held]))
            self._size += len(self._held[-1].cut)
        if self._size > MOST_HELD and len(self.is_violated) > 1:
            raise TooManyHeldError


class _Channels:
    """Sends, sorted by channel and index; a channel is (run, channel, source, whether its messages are ever received).

    Keys of 64 bits are the number of the channel and an index. `heads` is the first send of each channel.
    """

    def __init__(self, sends: Sends) -> None:
        never = sends.peer == NEVER
        order = numpy.lexsort((sends.index, never, sends.source, sends.channel, sends.run))
        self.sends, never = sends.where(order), never[order]
        own = (self.sends.run, self.sends.channel, self.sends.source, never)
        is_first = numpy.ones(len(order), bool)
        is_first[1:] = numpy.logical_or.reduce([column[1:] != column[:-1] for column in own])
        self.heads = self.sends.where(is_first)
        channel = numpy.cumsum(is_first) - 1
        self._index = _keys(channel, self.sends.index)
        peer = _keys(channel, self.sends.peer)
        self._most = numpy.maximum.accumulate(peer)
        self._least = numpy.minimum.accumulate(peer[::-1])[::-1]

    def sent_until(self, channel: Numbers, inside: Codes) -> Numbers:
        """The place after the last message that is sent inside."""
        return numpy.searchsorted(self._index, _keys(channel, inside), "right")

    def received_until(self, channel: Numbers, inside: Codes) -> Numbers:
        """The place of the first message that is received outside: all before it are received inside."""
        return numpy.searchsorted(self._most, _keys(channel, inside), "right")

    def received_after(self, channel: Numbers, inside: Codes) -> Numbers:
        """The place after the last message that is received inside."""
        return numpy.searchsorted(self._least, _keys(channel, inside), "right")


def _keys(channel: Numbers, index: Codes) -> Numbers:
    return (channel << 32) + index + _HALF


def _expanded(counts: NDArray[numpy.int64]) -> Iterator[tuple[Numbers, Numbers]]:
    """For counts (3, 0, 2): (0, 0, 0, 2, 2) and (0, 1, 2, 0, 1), about MOST_PAIRS at a time; one count stays whole."""
    ends = numpy.cumsum(counts)
    first, before = 0, 0
    while first < len(counts):
        last = max(first + 1, int(numpy.searchsorted(ends, before + MOST_PAIRS, "right")))
        own = counts[first:last]
        which = numpy.repeat(numpy.arange(first, last), own)
        yield which, numpy.arange(len(which)) - (ends[which] - counts[which] - before)
        first, before = last, int(ends[last - 1])
