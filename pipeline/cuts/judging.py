"""Checks the cuts of a task on a worker, which writes its parts of both tables, and returns counts.

If channels hold too much, or a run has very many processes, the cuts are halved, and each half is checked by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import pyarrow

from pipeline.cuts.crossings import Crossings, Held, TooManyHeldError
from pipeline.cuts.cut_lines import Cuts
from pipeline.cuts.event_columns import Names
from pipeline.cuts.scan import Scan
from pipeline.cuts.tasks import DrawnTask, Task
from pipeline.cuts.ways import Frontiers
from pipeline.store.schema import AUDIT_TYPES, CHANNEL_TYPES, Types, arrow_schema
from pipeline.store.tables import Replacement
from sim.core.errors import InputError

MOST_CELLS = 16_000_000  # of the table of frontiers: cuts times processes

# A worker's result for some cuts: the number of the task; the counts of cuts and of inconsistent ones, and the first of
# those; the messages in channels; the first run without events; the named processes that have rows; whether the table
# is sorted by run; its part of both tables, and the rows of that of channels; the number of snapshots left out.
# Otherwise `problem` says why it could not check them.
FOUND_TYPES: Types = {
    "task": "int64", "cuts": "int64", "inconsistent": "int64", "run_id": "int64", "cut_id": "string",
    "witness": "int64", "messages": "int64", "missing": "int64", "seen": "list<string>", "is_sorted": "bool",
    "part": "string", "channels": "int64", "left_out": "int64", "problem": "string",
}  # fmt: skip


_NOTHING = {"cuts": 0, "inconsistent": 0, "messages": 0, "seen": [], "is_sorted": True}  # the result without cuts


def judge(
    new: Replacement, tasks: Sequence[Task] | Sequence[DrawnTask], batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Carries out the tasks whose numbers are in `batches`, into the tables of `new`.

    Rows report problems, since Spark would retry after an error.
    """
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        try:
            for task in tasks[number].of_cuts():
                if task.cuts.size:
                    for row in _judged(new, number, task):
                        yield _as_batch(row)
                if task.left_out:
                    yield _as_batch({**_NOTHING, "task": number, "left_out": task.left_out})
        except InputError as problem:
            yield _as_batch({"problem": str(problem)})


def _as_batch(row: dict[str, Any]) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([row], arrow_schema(FOUND_TYPES))


def _judged(new: Replacement, number: int, task: Task) -> Iterator[dict[str, Any]]:
    cuts = task.cuts
    if cuts.size > 1 and cuts.size * (len(cuts.names) + 1) > MOST_CELLS:
        found = None
    else:
        found = crossings_of(task)
    if found is None:
        for half in task.halves():
            yield from _judged(new, number, half)
        return
    scan, crossings = found
    part = f"cuts-{number:06}-{cuts.begin:012}"  # the same when Spark tries a task again
    held = channels_table(task, scan.channels, crossings.held)
    new.write_part("channels", part, held)
    new.write_part("audits", part, audits_table(cuts, crossings))
    wrong = numpy.flatnonzero(crossings.is_violated)
    first = int(wrong[0]) if len(wrong) else None
    run_id, cut_id = (None, None) if first is None else cuts.name(first)
    missing = numpy.flatnonzero(scan.rows == 0)
    yield {
        "task": number, "cuts": cuts.size, "inconsistent": len(wrong), "run_id": run_id, "cut_id": cut_id,
        "witness": None if first is None else int(crossings.witness[first]), "messages": _size(held),
        "missing": int(cuts.runs[missing[0]]) if len(missing) else None,
        "seen": [name for name in cuts.names if scan.has_rows(name)], "is_sorted": scan.is_sorted,
        "part": part, "channels": held.num_rows, "left_out": 0,
    }  # fmt: skip


def crossings_of(task: Task) -> tuple[Scan, Crossings] | None:
    """The messages that cross the cuts of a task; None if they are too many."""
    cuts = task.cuts
    scan = Scan(task.groups, cuts, task.read)
    events = cuts.frontiers()
    found = Crossings(cuts, Frontiers(events, events) if scan.ways is None else scan.ways.frontiers(cuts, scan.names))
    try:
        for evidence in scan.evidence():
            found.add(evidence)
    except TooManyHeldError:
        return None
    return scan, found


def _size(held: pyarrow.Table) -> int:
    """The number of messages in channels."""
    return sum(len(messages.flatten()) for messages in held["messages"].chunks)


def audits_table(cuts: Cuts, found: Crossings) -> pyarrow.Table:
    """The table audits of some cuts: AUDIT_TYPES."""
    consistent = pyarrow.array(~found.is_violated)
    columns = [
        *_named(cuts, numpy.arange(cuts.size)),
        consistent,
        pyarrow.array(found.witness, mask=~found.is_violated),
    ]
    return pyarrow.table(columns, schema=arrow_schema(AUDIT_TYPES))


def channels_table(task: Task, names: Names, held: Held) -> pyarrow.Table:
    """The table channels: CHANNEL_TYPES. Messages are in the order of their receipt."""
    ranks = numpy.argsort(numpy.argsort(numpy.array(names.all, dtype=object)))
    rank = ranks[held.channel] if len(ranks) else held.channel
    order = numpy.lexsort((held.message, held.peer, rank, held.cut))
    cut, channel, message = held.cut[order], held.channel[order], held.message[order]
    is_first = numpy.ones(len(order), bool)
    is_first[1:] = (cut[1:] != cut[:-1]) | (channel[1:] != channel[:-1])
    starts = numpy.flatnonzero(is_first)
    offsets = numpy.append(starts, len(order)).astype(numpy.int32)
    messages = pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(message))
    channels = pyarrow.array(names.all, pyarrow.string()).take(pyarrow.array(channel[starts]))
    columns = [*_named(task.cuts, cut[starts]), channels, messages]
    found = pyarrow.table(columns, schema=arrow_schema(CHANNEL_TYPES))
    return _with_unknown(task, names, found, cut[starts], channel[starts]) if task.unknown else found


def _with_unknown(task: Task, names: Names, found: pyarrow.Table, cut: Any, channel: Any) -> pyarrow.Table:
    """The table channels with null for the messages of unknown channels, for every cut of their run."""
    cuts = task.cuts
    runs, hidden = [], []
    for place, run_id in enumerate(cuts.runs.tolist()):
        for name in task.unknown.get(run_id, ()):
            runs.append(place)
            hidden.append(names.code(name))
    width = len(names)
    keys = numpy.array(runs, numpy.int64) * width + numpy.array(hidden, numpy.int64)
    known = found.filter(pyarrow.array(~numpy.isin(cuts.run_of[cut].astype(numpy.int64) * width + channel, keys)))
    rows = [
        (int(one), name)
        for place, name in zip(runs, hidden, strict=True)
        for one in numpy.flatnonzero(cuts.run_of == place)
    ]
    named = _named(cuts, numpy.array([one for one, _ in rows], numpy.int64))
    channels = pyarrow.array([names.all[name] for _, name in rows], pyarrow.string())
    nulls = pyarrow.nulls(len(rows), pyarrow.list_(pyarrow.int64()))
    return pyarrow.concat_tables([known, pyarrow.table([*named, channels, nulls], schema=arrow_schema(CHANNEL_TYPES))])


def _named(cuts: Cuts, numbers: Any) -> list[pyarrow.Array]:
    """The columns run_id and cut_id of some cuts."""
    ids = cuts.ids.take(pyarrow.array(cuts.id_codes[numbers]))
    return [pyarrow.array(cuts.runs[cuts.run_of[numbers]]), ids]
