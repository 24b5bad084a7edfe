"""The surviving line of a run: what is left of it after its recoveries.

`epoch` numbers the lives of a system between two recoveries, from 0. A `restore` row belongs to the epoch that it
begins; its `index` is the last event that its process keeps. The rule:

- An event is gone if a restore of its process, of a later epoch, keeps fewer events: index > the index of the restore.
  A process without a restore keeps all its events. Indices go on after a restore, and none is used twice: so the events
  that a restore removes are those from its index to the last one of earlier epochs.
- The message of a send that is gone is in no channel and violates no cut.
- A receive that is gone is none: its message waits in the channel for another one, or for ever.
- A message that is `lost` or `fenced`, and for which there is no receive that survives, is in no channel. (Where there
  is one, a copy was lost, or the first attempt; the message itself was on its way until it was received.)

Tables without the column `epoch` have the epoch 0 everywhere: nothing in them is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy
import pyarrow
from pyarrow import compute

from pipeline.cuts.event_columns import Names, Numbers, RowGroup, batches, numbers_of, stretches, texts_of
from pipeline.cuts.sends import NEVER, Bools, Codes, Sends
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, FENCED, LOST, RESTORE

_MARKS = (RESTORE, LOST, FENCED)
_TELLING = (*_MARKS, *sorted(APPLICATION_KINDS))
_COLUMNS = ("run_id", "process", "index", "kind", "message_id", "epoch")
_HALF = 2**31  # added to an index: none is negative then, and each fits into the lower half of a key


class Surviving:
    """The surviving line of some runs: which events are gone, and which messages are lost or fenced.

    Runs and names are codes. `removed` holds, for each restore, (run, name, last event kept, last event removed);
    `ended` the (run, message_id) of the messages.
    """

    def __init__(self, runs: int, removed: Sequence[tuple[int, int, int, int]], ended: pyarrow.Table) -> None:
        self._runs = runs
        spans = numpy.array(sorted((self._pair(*one[:2]), *one[2:]) for one in removed), numpy.int64).reshape(-1, 3)
        self._after = (spans[:, 0] << 32) + spans[:, 1] + _HALF
        self._until = numpy.maximum.accumulate((spans[:, 0] << 32) + spans[:, 2] + _HALF)
        run, message = (ended[name].to_numpy() for name in ("run", "message"))
        self._messages = numpy.unique(message)
        self._ended = numpy.unique(numpy.searchsorted(self._messages, message) * runs + run)

    def among(self, sends: Sends) -> Sends:
        """The sends that survive and are not lost; the index of a receive that is gone becomes NEVER."""
        own = sends.where(~self.are_gone(sends.run, sends.source, sends.index))
        is_gone = self.are_gone(own.run, own.target, own.peer) & (own.peer != NEVER)
        own = own._replace(peer=numpy.where(is_gone, NEVER, own.peer).astype(numpy.int32))
        return own.where((own.peer != NEVER) | ~self._have_ended(own))

    def are_gone(self, run: Codes, name: Codes, index: Codes) -> Bools:
        """Whether events are gone, by run, name and index."""
        if not len(self._after):
            return numpy.zeros(len(run), bool)
        key = (self._pair(run, name) << 32) + index + _HALF
        span = numpy.searchsorted(self._after, key) - 1
        return (span >= 0) & (key <= self._until[span])

    def _have_ended(self, sends: Sends) -> Bools:
        """Whether messages are lost or fenced."""
        if not len(self._messages):
            return numpy.zeros(len(sends.run), bool)
        place = numpy.minimum(numpy.searchsorted(self._messages, sends.message), len(self._messages) - 1)
        is_known = self._messages[place] == sends.message
        found: Bools = is_known & numpy.isin(place * self._runs + sends.run, self._ended)
        return found

    def _pair(self, run: Codes | int, name: Codes | int) -> Numbers:
        """A number for a process of a run."""
        return numpy.asarray(name, numpy.int64) * self._runs + run


def surviving_line(groups: Sequence[RowGroup], runs: Numbers, names: Names) -> Surviving | None:
    """The surviving line of `runs`, which is sorted; None if no row tells of a recovery or a lost message."""
    if not any(set(_MARKS).intersection(texts_of(rows, "kind").values) for rows in batches(groups, ["kind"])):
        return None
    marks, ends = [], []
    for rows in batches(groups, _COLUMNS):
        told = _told(rows, runs, names)
        is_mark = compute.less(told["kind"], len(_MARKS))
        marks.append(told.filter(is_mark))
        events = told.filter(compute.invert(is_mark))
        ends.append(events.group_by(["run", "name", "epoch"]).aggregate([("index", "max")]))
    both = pyarrow.concat_tables(marks)
    is_restore = compute.equal(both["kind"], _MARKS.index(RESTORE))
    removed = _removed(both.filter(is_restore), pyarrow.concat_tables(ends))
    return Surviving(len(runs), removed, both.filter(compute.invert(is_restore)))


def _removed(restores: pyarrow.Table, ends: pyarrow.Table) -> list[tuple[int, int, int, int]]:
    """The events that each restore removes, from the last events of every run, name and epoch."""
    last: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for run, name, epoch, index in _rows(ends, "run", "name", "epoch", "index_max"):
        last.setdefault((run, name), []).append((epoch, index))
    found = []
    for run, name, epoch, kept in _rows(restores, "run", "name", "epoch", "index"):
        before = [index for other, index in last.get((run, name), []) if other < epoch]
        found.append((run, name, kept, max(before, default=0)))
    return found


def _rows(table: pyarrow.Table, *columns: str) -> Iterator[tuple[int, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _told(rows: pyarrow.RecordBatch, runs: Numbers, names: Names) -> pyarrow.Table:
    """The marks and events of `runs` among some rows, in codes; the codes of _MARKS come first."""
    kind = Names(_TELLING).codes(texts_of(rows, "kind"))
    run = stretches(rows, runs).by_row
    is_own = (run >= 0) & (kind >= 0) & (kind < len(_TELLING))
    has_epoch = "epoch" in rows.schema.names
    is_odd = is_own & (kind == _MARKS.index(RESTORE)) & rows["index"].is_null().to_numpy(zero_copy_only=False)
    if is_odd.any():
        raise InputError(
            f"run {runs[run[numpy.argmax(is_odd)]]} has a restore without an index; give the number of events it keeps"
        )
    columns = {
        "run": run,
        "name": names.codes(texts_of(rows, "process")),
        "kind": kind,
        "epoch": numbers_of(rows, "epoch", "int32") if has_epoch else numpy.zeros(len(rows), numpy.int32),
        "index": numbers_of(rows, "index", "int32"),
        "message": numbers_of(rows, "message_id", "int64", -1),
    }
    return pyarrow.table({name: column[is_own] for name, column in columns.items()})
