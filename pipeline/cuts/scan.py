"""One scan of the event table for the runs of some cuts: their sends, and all else that the same columns show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy
import pyarrow

from pipeline.cuts.cut_lines import Cuts
from pipeline.cuts.event_columns import (
    DECIDE,
    Names,
    Numbers,
    RowGroup,
    Texts,
    batches,
    numbers_of,
    segments,
    texts_of,
)
from pipeline.cuts.sends import NEVER, Bools, Codes, Sends
from pipeline.cuts.surviving import marked_rows
from pipeline.cuts.ways import Evidence, Read, Ways
from sim.core.errors import InputError
from sim.core.model import COPIED, SEND


class Scan:
    """One scan of the rows of the runs of `cuts`. `names` are the names of processes: first those in the cuts.

    After the scan `rows` is the number of rows of each run. `has_rows` says whether a name has rows. `is_sorted` says
    whether the rows were in the order of their runs. `ways` has the ways of the messages in marked runs, for cuts that
    know of the restores in `read` (None: no run is marked). A run with a process that takes no part in some cut counts
    as marked, too: sends alone do not show which of its events the others require.
    """

    def __init__(self, groups: Sequence[RowGroup], cuts: Cuts, read: Read) -> None:
        runs = cuts.runs
        self.names = Names(cuts.names)
        self.channels = Names()
        self.rows = numpy.zeros(len(runs), numpy.int64)
        self.is_sorted = True
        self._named = len(cuts.names)
        self._seen: set[int] = set()
        self._targets: list[int] = []
        self._groups, self._runs = groups, runs
        marked = marked_rows(groups, runs, self.names, cuts.have_others)
        self.ways = None if marked is None else Ways(marked, runs, read)

    def evidence(self) -> Iterator[Evidence]:
        """Yield the sends, a batch at a time. Raises InputError for a send without one of the deciding columns."""
        last = -1
        for rows in batches(self._groups, DECIDE):
            found = segments(rows, self._runs)
            is_own = found.places >= 0
            own = found.places[is_own]
            numpy.add.at(self.rows, own, found.lengths[is_own])
            if len(own):
                self.is_sorted &= bool((own[1:] >= own[:-1]).all() and own[0] >= last)
                last = own[-1]
            sends = self._sends_of(rows, found.by_row)
            if self.ways is None:
                yield Evidence(sends)
                continue
            are_marked = self.ways.are_marked[sends.run]
            yield Evidence(sends.where(~are_marked))
            yield from self.ways.of(sends.where(are_marked))

    def has_rows(self, name: str) -> bool:
        """Whether a process that a cut names has rows, or is an end of a channel that carries a message."""
        return self.names.code(name) in self._seen

    def _sends_of(self, rows: pyarrow.RecordBatch, run: Codes) -> Sends:
        """The sends among some rows, whose runs have the places `run`."""
        processes, is_own = texts_of(rows, "process"), run >= 0
        if len(self._seen) < self._named:
            self._note(self.names.codes(processes.where(numpy.flatnonzero(is_own))))
        kinds, is_null = texts_of(rows, "kind"), rows["index"].is_null().to_numpy(False)
        is_send = (kinds.are(SEND) | (kinds.are(COPIED) & ~is_null)) & is_own  # the copy of a marker has no index
        for column in ("process", "channel", "index", "message_id"):
            if rows[column].null_count:
                self._refuse(is_send & rows[column].is_null().to_numpy(False), run, column)
        sends = numpy.flatnonzero(is_send)
        channel = self._channel_codes(texts_of(rows, "channel"), sends)
        target = numpy.array([*self._targets, -1], numpy.int32)[channel]
        if len(self._seen) < self._named:
            self._note(target)
        return Sends(
            run[sends], self.names.codes(processes.where(sends)), target, channel,
            numbers_of(rows, "index", "int32")[sends], numbers_of(rows, "peer_index", "int32", NEVER)[sends],
            numbers_of(rows, "message_id", "int64")[sends],
        )  # fmt: skip

    def _channel_codes(self, texts: Texts, rows: Numbers) -> Codes:
        """The codes of the channels of some rows; new channels get a target."""
        found = self.channels.codes(texts.where(rows))
        for channel in self.channels.all[len(self._targets) :]:
            self._targets.append(self.names.code(channel.rpartition("->")[2]))
        return found

    def _note(self, names: Codes) -> None:
        """Notes the processes that the cuts name and that are among `names`."""
        are_there = numpy.bincount(names[names >= 0], minlength=self._named)[: self._named]
        self._seen.update(numpy.flatnonzero(are_there).tolist())

    def _refuse(self, is_wrong: Bools, run: Codes, column: str) -> None:
        if is_wrong.any():
            run_id = self._runs[run[numpy.argmax(is_wrong)]]
            raise InputError(f"the events of run {run_id} have a send without {column}; give it, or leave the send out")
