"""The cuts of an audit, checked, sorted and packed: 8 bytes for each line, so that a few million of them fit anywhere.

A cut is given as lines (CUT_TYPES): one for each process, with the number of its events inside the cut. A recording
lies before a row, `row`; any other cut lies as late as its numbers of events allow. More than MOST_LINES lines are
taken in slices. A first query counts the lines of each run. Later queries take the lines of some runs at a time, or a
part of the cuts of one run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray
from pyarrow import compute

from pipeline.cuts.event_columns import Names, Numbers, fits, numbers_of, texts_of
from pipeline.cuts.sends import NEVER
from pipeline.store.schema import CUT_TYPES
from sim.core.errors import InputError

MOST_LINES = 2_000_000  # at a time: a job carries them to every worker
UNKNOWN, LEAST = -1, -2  # in place of a row: it is unknown; the process is as early as the others require

Codes = NDArray[numpy.int32]


class Cuts(NamedTuple):
    """Cuts, sorted by run and cut_id. `begin` is the number of their first cut among all cuts of the audit.

    Cut c is cut ids[id_codes[c]] of run runs[run_of[c]]; runs is sorted. Its lines are those from starts[c] to
    starts[c + 1]. In a line, processes[line] is a place in `names`; indices[line] is the number of events inside;
    rows[line] is the row before which the cut lies, or UNKNOWN or LEAST.
    """

    begin: int
    runs: Numbers
    run_of: Codes
    ids: pyarrow.Array
    id_codes: Codes
    starts: Numbers
    names: list[str]
    processes: Codes
    indices: Codes
    rows: Codes | None = None

    @property
    def size(self) -> int:
        """The number of cuts."""
        return len(self.run_of)

    @property
    def have_others(self) -> NDArray[numpy.bool_]:
        """By run: whether in some cut a process takes no part, and is as early as the others require."""
        found = numpy.zeros(len(self.runs), bool)
        if self.rows is not None:
            cut = numpy.repeat(numpy.arange(self.size), numpy.diff(self.starts))
            found[self.run_of[cut[self.rows == LEAST]]] = True
        return found

    def part(self, first: int, last: int) -> Cuts:
        """The cuts with the places from `first` up to `last`, which is excluded."""
        lines = slice(self.starts[first], self.starts[last])
        runs, run_of = numpy.unique(self.run_of[first:last], return_inverse=True)
        ids, id_codes = numpy.unique(self.id_codes[first:last], return_inverse=True)
        names, processes = numpy.unique(self.processes[lines], return_inverse=True)
        return Cuts(
            self.begin + first, self.runs[runs], run_of.astype(numpy.int32), self.ids.take(pyarrow.array(ids)),
            id_codes.astype(numpy.int32), self.starts[first : last + 1] - self.starts[first],
            [self.names[name] for name in names], processes.astype(numpy.int32), self.indices[lines],
            None if self.rows is None else self.rows[lines],
        )  # fmt: skip

    def frontiers(self) -> NDArray[numpy.int32]:
        """The number of events inside, by cut and place in `names`. The last column, of all other processes, is 0."""
        found = numpy.zeros((self.size, len(self.names) + 1), numpy.int32)
        inside = numpy.minimum(self.indices, NEVER - 1)  # all events; a message that is never received is not inside
        found[numpy.repeat(numpy.arange(self.size), numpy.diff(self.starts)), self.processes] = inside
        return found

    def name(self, cut: int) -> tuple[int, str]:
        """The run_id and cut_id of a cut."""
        return int(self.runs[self.run_of[cut]]), self.ids[int(self.id_codes[cut])].as_py()

    def each(self) -> Iterator[tuple[str, dict[str, int]]]:
        """The cut_id of each cut, and the events inside, by process."""
        for cut in range(self.size):
            lines = range(int(self.starts[cut]), int(self.starts[cut + 1]))
            yield self.name(cut)[1], {self.names[self.processes[at]]: int(self.indices[at]) for at in lines}


def slices_of(given: pyarrow.Table) -> Iterator[Cuts]:
    """Yield the given cuts in the order of runs, at most MOST_LINES lines at a time, unless one cut has more.

    Raises InputError for missing values, negative indices, repeated processes, and if there are no cuts.
    """
    begin = 0
    for table in _tables_of(given):
        if table.num_rows:
            cuts = packed(table, begin)
            begin += cuts.size
            yield cuts
    if not begin:
        raise InputError("there are no cuts to audit; give lines of run_id, cut_id, process, index")


def _tables_of(lines: pyarrow.Table) -> Iterator[pyarrow.Table]:
    """Slices of a table."""
    if lines.num_rows <= MOST_LINES:
        yield lines
        return
    _refuse_missing(sum(column.null_count for column in (lines["run_id"], lines["cut_id"])))
    sizes = lines.group_by("run_id").aggregate([("run_id", "count")])
    for first, last, parts in _ranges(sizes):
        own = lines.filter((compute.field("run_id") >= first) & (compute.field("run_id") <= last))
        if parts == 1:
            yield own
        else:
            ranks, ids = _sorted_texts(own, "cut_id")
            for part in range(parts):
                yield own.filter(pyarrow.array(ranks.astype(numpy.int64) * parts // len(ids) == part))


def _ranges(sizes: pyarrow.Table) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of runs, from the lines of each run: the first run, the last run, and the number of their parts."""
    order = numpy.argsort(numbers_of(sizes, "run_id", "int64"))
    runs = numbers_of(sizes, "run_id", "int64")[order]
    ends = numpy.cumsum(numbers_of(sizes, "run_id_count", "int64")[order])
    first, before = 0, 0
    while first < len(runs):
        last = max(first + 1, int(numpy.searchsorted(ends, before + MOST_LINES, "right")))
        size = int(ends[last - 1]) - before
        yield int(runs[first]), int(runs[last - 1]), -(-size // MOST_LINES)
        first, before = last, int(ends[last - 1])


# ------------------------------------------------------------------ packing and checks


def packed(lines: pyarrow.Table, begin: int) -> Cuts:
    """The cuts of a table of lines. Raises InputError for lines that make no sense."""
    for name, kind in CUT_TYPES.items():
        if name not in lines.column_names or not fits(lines[name].type, kind):
            raise InputError(f"the cuts need a column {name!r} of {kind}; a table has {', '.join(CUT_TYPES)}")
    missing = [compute.is_null(lines[name]).to_numpy() for name in CUT_TYPES if lines[name].null_count]
    _refuse_missing(int(numpy.logical_or.reduce(missing).sum()) if missing else 0)
    run = numbers_of(lines, "run_id", "int64")
    id_codes, ids = _sorted_texts(lines, "cut_id")
    processes, names = _sorted_texts(lines, "process")
    indices = numbers_of(lines, "index", "int32")
    order = numpy.lexsort((processes, id_codes, run))
    run, id_codes, processes, indices = run[order], id_codes[order], processes[order], indices[order]
    rows = numbers_of(lines, "row", "int32")[order] if "row" in lines.column_names else None
    is_new_run = _differs(run)
    is_new_cut = is_new_run | _differs(id_codes)
    starts = numpy.flatnonzero(is_new_cut)
    run_of = (numpy.cumsum(is_new_run) - 1)[starts]
    found = Cuts(
        begin, run[is_new_run], run_of.astype(numpy.int32), pyarrow.array(ids, pyarrow.string()), id_codes[starts],
        numpy.append(starts, len(run)), names, processes, indices, rows,
    )  # fmt: skip
    _refuse(found, indices < 0, "has a negative index; it is the number of events inside, from 0 on")
    is_twice = ~(is_new_cut | _differs(processes))
    _refuse(found, is_twice, "is there twice; give one line for each process of a cut")
    return found


def _sorted_texts(lines: pyarrow.Table, name: str) -> tuple[Codes, list[str]]:
    """A column as places in the sorted list of its texts, and that list."""
    found = Names()
    codes = found.codes(texts_of(lines, name))
    names = sorted(found.all)
    ranks = {text: rank for rank, text in enumerate(names)}
    return numpy.array([ranks[text] for text in found.all], numpy.int32)[codes], names


def _differs(column: NDArray[numpy.int64] | Codes) -> NDArray[numpy.bool_]:
    """Whether each value differs from the one before it; the first value counts as different."""
    return numpy.append(numpy.ones(min(1, len(column)), bool), column[1:] != column[:-1])


def _refuse_missing(count: int) -> None:
    if count:
        raise InputError(f"{count} lines of the cuts lack a run_id, cut_id, process or index; give all four")


def _refuse(cuts: Cuts, is_wrong: NDArray[numpy.bool_], why: str) -> None:
    """Raises InputError for the first line that is wrong."""
    if is_wrong.any():
        line = int(numpy.argmax(is_wrong))
        run_id, cut_id = cuts.name(int(numpy.searchsorted(cuts.starts, line, "right")) - 1)
        raise InputError(f"run {run_id}, cut {cut_id}, process {cuts.names[cuts.processes[line]]} {why}")
