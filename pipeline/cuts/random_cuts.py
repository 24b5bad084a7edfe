"""Random cuts that are often consistent, drawn by the worker that checks them.

A cut is drawn in two steps. The first is a moment of the run, in the order of its rows: the events before it form a
consistent cut. Then, in three cuts of four, each process gets up to JITTER events more or fewer: its recording is a
little too late or too early. Draws are hashes of the seed, the run, the number of the cut and the name of the process.
So they do not depend on how a table is stored, as long as its rows are in order, or numbered by a column `row`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray

from pipeline.cuts.cut_lines import Cuts, packed
from pipeline.cuts.event_columns import Names, Numbers, RowGroup, Segments, batches, numbers_of, segments, texts_of
from pipeline.store.schema import CUT_TYPES
from sim.core.model import APPLICATION_KINDS, SERVICE_KINDS

JITTER = 3  # events
MOST_LINES = 500_000  # of cuts that are drawn together
_COLUMNS = ("run_id", "process", "index", "kind", "row")
_KINDS = (*sorted(APPLICATION_KINDS), *sorted(SERVICE_KINDS))

Unsigned = NDArray[numpy.uint64]


class AtRandom(NamedTuple):
    """A request for `count` cuts of each run, named random-1, random-2, ..."""

    each: int
    seed: int


class _Ends(NamedTuple):
    """Processes of runs, sorted by run: the place of the run, the code of the process, and its number of events.

    `runs` is sorted, and has `rows` rows each.
    """

    runs: Numbers
    rows: Numbers
    run: Numbers
    process: Numbers
    end: Numbers

    def of_runs(self, first: int, last: int) -> _Ends:
        """The processes of the runs from place `first` up to place `last`, which is excluded."""
        own = slice(*numpy.searchsorted(self.run, [first, last]))
        return _Ends(
            self.runs[first:last], self.rows[first:last], self.run[own] - first, self.process[own], self.end[own]
        )


def drawn(groups: Sequence[RowGroup], first: int, last: int, wanted: AtRandom) -> Iterator[Cuts]:
    """Yield the cuts of the runs from `first` to `last` whose events are in `groups`, some runs at a time, in order.

    Every process with rows is in the cuts of its run. Services, which only exchange control messages, are no processes.
    """
    names, begin = Names(), 0
    ends = _ends(groups, first, last, names)
    lines = numpy.cumsum(numpy.bincount(ends.run, minlength=len(ends.runs))) * wanted.each
    place = 0
    while place < len(ends.runs):
        before = int(lines[place - 1]) if place else 0
        end = max(place + 1, int(numpy.searchsorted(lines, before + MOST_LINES, "right")))
        cuts = packed(_lines(groups, ends.of_runs(place, end), names, wanted), begin)
        begin += cuts.size
        place = end
        yield cuts


def _ends(groups: Sequence[RowGroup], first: int, last: int, names: Names) -> _Ends:
    """The processes of the runs from `first` to `last`."""
    found = []
    for rows in batches(groups, _COLUMNS):
        run, kind = numbers_of(rows, "run_id", "int64"), Names(_KINDS).codes(texts_of(rows, "kind"))
        is_event = (kind >= 0) & (kind < len(APPLICATION_KINDS))
        nothing = numpy.zeros(len(run), numpy.int32)
        columns = {
            "run": run,
            "process": names.codes(texts_of(rows, "process")),
            "index": numpy.where(is_event, numbers_of(rows, "index", "int32"), 0),
            "is_own": (is_event | (kind >= len(_KINDS)) | (kind < 0)).astype(numpy.int32),
            "row": numbers_of(rows, "row", "int32") if "row" in rows.schema.names else nothing,
        }
        is_wanted = (run >= first) & (run <= last)
        if rows["run_id"].null_count:
            is_wanted &= rows["run_id"].is_valid().to_numpy(False)
        table = pyarrow.table({name: column[is_wanted] for name, column in columns.items()})
        sums = [("index", "max"), ("is_own", "max"), ("row", "max"), ("run", "count")]
        found.append(table.group_by(["run", "process"]).aggregate(sums))
    if not found:
        return _Ends(*(numpy.zeros(0, numpy.int64) for _ in _Ends._fields))
    sums = [("index_max", "max"), ("is_own_max", "max"), ("row_max", "max"), ("run_count", "sum")]
    both = pyarrow.concat_tables(found).group_by(["run", "process"]).aggregate(sums)
    both = both.sort_by([("run", "ascending"), ("process", "ascending")])
    run, process, end, is_own, row, count = (
        both[name].to_numpy()
        for name in ("run", "process", "index_max_max", "is_own_max_max", "row_max_max", "run_count_sum")
    )
    runs, place = numpy.unique(run, return_inverse=True)
    size = numpy.bincount(place, count, len(runs)).astype(numpy.int64)
    numpy.maximum.at(size, place, row.astype(numpy.int64) + 1)
    own = (is_own > 0) & (process >= 0)
    return _Ends(runs, size, place[own], process[own].astype(numpy.int64), end[own].astype(numpy.int64))


def _lines(groups: Sequence[RowGroup], ends: _Ends, names: Names, wanted: AtRandom) -> pyarrow.Table:
    """The cuts of some runs: CUT_TYPES."""
    inside = _inside(groups, ends, names, wanted)  # by process of a run, and number of the cut
    numbers = numpy.arange(1, wanted.each + 1)
    key = _process_keys(ends, names, wanted.seed)[:, None]
    run_key = _run_keys(ends.runs, wanted.seed)[ends.run][:, None]
    is_shaken = _mixed(run_key, numbers, 1) % 4 != 0
    shift = (_mixed(key, numbers) % (2 * JITTER + 1)).astype(numpy.int64) - JITTER
    index = numpy.clip(inside + numpy.where(is_shaken, shift, 0), 0, ends.end[:, None])
    process = numpy.repeat(ends.process.astype(numpy.int32), wanted.each)
    cut = numpy.tile(numpy.arange(wanted.each, dtype=numpy.int32), len(ends.run))
    columns = [
        pyarrow.array(numpy.repeat(ends.runs[ends.run], wanted.each)),
        pyarrow.DictionaryArray.from_arrays(cut, pyarrow.array([f"random-{number}" for number in numbers.tolist()])),
        pyarrow.DictionaryArray.from_arrays(process, pyarrow.array(names.all, pyarrow.string())),
        pyarrow.array(index.ravel().astype(numpy.int32)),
    ]
    return pyarrow.table(columns, list(CUT_TYPES))


def _inside(groups: Sequence[RowGroup], ends: _Ends, names: Names, wanted: AtRandom) -> Numbers:
    """The number of events of each process of a run at the moment of each cut."""
    count, runs = wanted.each, len(ends.runs)
    draws = _mixed(_run_keys(ends.runs, wanted.seed)[:, None], numpy.arange(1, count + 1), 0)
    moments = (draws % (ends.rows[:, None] + 1).astype(numpy.uint64)).astype(numpy.int64)  # rows before it
    order = numpy.argsort(moments, axis=1)
    keys = (numpy.take_along_axis(moments, order, 1) + (numpy.arange(runs) << 32)[:, None]).ravel()
    own = ends.run * len(names) + ends.process  # sorted
    most = numpy.zeros((len(own), count + 1), numpy.int64)  # by number of moments before an event, the last such event
    over = numpy.zeros(runs, numpy.int64)  # rows of each run, before a batch
    for rows in batches(groups, _COLUMNS):
        found = segments(rows, ends.runs)
        run, kind = found.by_row.astype(numpy.int64), Names(_KINDS).codes(texts_of(rows, "kind"))
        row = numbers_of(rows, "row", "int32") if "row" in rows.schema.names else _counted(found, over)
        events = numpy.flatnonzero((run >= 0) & (kind >= 0) & (kind < len(APPLICATION_KINDS)))
        run, row = run[events], row[events]
        process = numpy.searchsorted(own, run * len(names) + names.codes(texts_of(rows, "process").where(events)))
        begun = numpy.searchsorted(keys, (run << 32) + row, "right") - run * count
        numpy.maximum.at(most, (process, begun), numbers_of(rows, "index", "int32")[events])
    sorted_inside = numpy.maximum.accumulate(most, axis=1)[:, :-1]
    inside = numpy.empty_like(sorted_inside)
    numpy.put_along_axis(inside, order[ends.run], sorted_inside, 1)
    return inside


def _counted(found: Segments, over: Numbers) -> Numbers:
    """The numbers of rows within their runs, by their order; `over` counts earlier rows of each run, and is updated."""
    number = numpy.zeros(int(found.lengths.sum()), numpy.int64)
    begin = 0
    for place, length in zip(found.places.tolist(), found.lengths.tolist(), strict=True):
        if place >= 0:
            number[begin : begin + length] = numpy.arange(over[place], over[place] + length)
            over[place] += length
        begin += length
    return number


# ------------------------------------------------------------------ draws


def _run_keys(runs: Numbers, seed: int) -> Unsigned:
    return _mixed(numpy.uint64(seed % 2**64), runs)


def _process_keys(ends: _Ends, names: Names, seed: int) -> Unsigned:
    """A number for each process of a run, which depends on nothing else in the table."""
    hashes = [hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names.all]
    own = numpy.array([int.from_bytes(found, "little") for found in hashes], numpy.uint64)
    return _mixed(_run_keys(ends.runs, seed)[ends.run], own[ends.process])


def _mixed(*parts: Any) -> Unsigned:
    """Numbers that look random, from some others (SplitMix64: Steele, Lea and Flood 2014)."""
    state = numpy.zeros(1, numpy.uint64)
    for part in parts:
        state = (state ^ numpy.asarray(part).astype(numpy.uint64)) + numpy.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        state ^= state >> numpy.uint64(31)
    return state
