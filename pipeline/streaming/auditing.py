"""Judges the cuts of a run that is followed, with the kernel of the batch audit, and writes them into its tables.

The kernel is given the few parts of the event table that may matter, and what is left of the run after recoveries. The
tables audits, channels and cuts have a part for CHUNK cuts; it is written anew when one of them is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy
import pyarrow
from pyarrow import compute

from pipeline.cuts.cut_lines import packed
from pipeline.cuts.event_columns import Names
from pipeline.cuts.judging import audits_table, channels_table, crossings_of
from pipeline.cuts.surviving import Surviving
from pipeline.cuts.tasks import Task
from pipeline.store.folder import Store
from pipeline.store.parquet_files import as_dataset
from pipeline.store.schema import CUT_TYPES, TABLES, arrow_schema
from pipeline.streaming.events import Events
from pipeline.streaming.followed_cuts import CHUNK
from pipeline.streaming.run import Run

TOGETHER = 64  # cuts that are judged at a time


class Judged(NamedTuple):
    """A verdict: the snapshot, whether its cut is consistent, the message that decides else, messages in channels."""

    run: int
    cut: str
    consistent: bool
    witness: int | None
    messages: int


def audit(store: Store, run: Run, events: Events) -> list[Judged]:
    """Judges the dirty cuts of a run, and writes them. Returns the verdicts, in the order of the cuts."""
    verdicts: list[Judged] = []
    chunks: dict[int, list[int]] = {}
    for number in sorted(run.cuts.dirty):
        chunks.setdefault(number // CHUNK, []).append(number)
    for chunk, numbers in chunks.items():
        own = [number for number in numbers if run.cuts.ids[number] is not None]
        audits, channels = [], []
        for begin in range(0, len(own), TOGETHER):
            for one, other in _judged(run, events, own[begin : begin + TOGETHER]):
                audits.append(one)
                channels.append(other)
        new = {"audits": audits, "channels": channels, "cuts": [_lines(run, own)]}
        kept = _others(run, chunk, set(numbers))
        for table, parts in new.items():
            _write(store, table, part_name(run, chunk), parts, kept)
        verdicts += _verdicts(run.number, audits, channels)
    run.cuts.dirty.clear()
    return verdicts


def part_name(run: Run, chunk: int) -> str:
    """The name of a part of the tables."""
    return f"followed-{run.number:06}-{chunk:06}"


def _lines(run: Run, numbers: Sequence[int]) -> pyarrow.Table:
    """Cuts as lines: CUT_TYPES."""
    rows = [
        (run.number, run.cuts.ids[number], name, index)
        for number in numbers
        for name, index in run.cuts.frontier(number).items()
    ]
    schema = arrow_schema(CUT_TYPES)
    return pyarrow.Table.from_pylist([dict(zip(CUT_TYPES, row, strict=True)) for row in rows], schema)


def _judged(run: Run, events: Events, numbers: Sequence[int]) -> Iterator[tuple[pyarrow.Table, pyarrow.Table]]:
    """The rows of audits and channels of some cuts."""
    if not numbers:
        return
    cuts = packed(_lines(run, numbers), 0)
    waiting = [sent.row for message, sent in run.open.items() if message not in run.ended]
    task = Task(cuts, events.groups([run.cuts.frontier(number) for number in numbers], waiting), {})
    found = crossings_of(task, lambda names: _left(run, names))
    if found is None:
        half = len(numbers) // 2
        yield from _judged(run, events, numbers[:half])
        yield from _judged(run, events, numbers[half:])
        return
    scan, crossings = found
    yield audits_table(cuts, crossings), channels_table(task, scan.channels, crossings.held)


def _left(run: Run, names: Names) -> Surviving | None:
    """What is left of the run."""
    removed = [
        (0, names.code(name), kept, last)
        for name, process in run.releasing.processes.items()
        for kept, last in process.restores
    ]
    if not removed and not run.ended:
        return None
    ended = numpy.fromiter(run.ended, numpy.int64, len(run.ended))
    return Surviving(1, removed, pyarrow.table({"run": numpy.zeros(len(ended), numpy.int32), "message": ended}))


def _others(run: Run, chunk: int, numbers: set[int]) -> pyarrow.Array:
    """The names of the other cuts of a part."""
    last = min((chunk + 1) * CHUNK, len(run.cuts.ids))
    own = (run.cuts.ids[number] for number in range(chunk * CHUNK, last) if number not in numbers)
    return pyarrow.array([one for one in own if one is not None], pyarrow.string())


def _write(store: Store, table: str, part: str, new: Sequence[pyarrow.Table], kept: pyarrow.Array) -> None:
    """Writes a part: the rows of the cuts in `kept`, as they are, and new ones."""
    tables = list(new)
    if len(kept):
        (file,) = [one.file for one in store.parts(table) if one.name == part]
        before = as_dataset(store.place, [file], TABLES[table]).to_table()
        tables.insert(0, before.filter(compute.is_in(before["cut_id"], kept)))
    store.write_part(table, part, pyarrow.concat_tables([arrow_schema(TABLES[table]).empty_table(), *tables]))


def _verdicts(run: int, audits: Sequence[pyarrow.Table], channels: Sequence[pyarrow.Table]) -> Iterator[Judged]:
    """The verdicts of cuts, from their rows."""
    messages: dict[str, int] = {}
    for table in channels:
        for cut, own in zip(table["cut_id"].to_pylist(), table["messages"].to_pylist(), strict=True):
            messages[cut] = messages.get(cut, 0) + len(own)
    for table in audits:
        columns = (table[name].to_pylist() for name in ("cut_id", "consistent", "witness"))
        for cut, consistent, witness in zip(*columns, strict=True):
            yield Judged(run, cut, consistent, witness, messages.get(cut, 0))
