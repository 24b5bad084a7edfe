"""Checks the cuts of a run that is followed, with the code of the batch audit, and writes the verdicts into its tables.

The audit reads the few parts of the event table that may matter. In a run with marks all parts matter, and its cuts are
found as by the batch audit. The tables audits, channels and cuts have a part for CHUNK cuts, which is written again
whenever one of them is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow
from pyarrow import compute

from pipeline.cuts.cut_lines import packed
from pipeline.cuts.judging import audits_table, channels_table, crossings_of
from pipeline.cuts.snapshot_cuts import recorded
from pipeline.cuts.tasks import Task
from pipeline.store.folder import Store
from pipeline.store.parquet_files import as_dataset
from pipeline.store.schema import CUT_TYPES, TABLES, arrow_schema
from pipeline.streaming.followed_cuts import CHUNK
from pipeline.streaming.read_events import Events
from pipeline.streaming.run import Run

TOGETHER = 64  # cuts that are checked at a time


Rows = tuple[pyarrow.Table, pyarrow.Table]  # of audits and channels


class Judged(NamedTuple):
    """A verdict: the snapshot, whether its cut is consistent, the witness if not, and the messages in channels."""

    run: int
    cut: str
    consistent: bool
    witness: int | None
    messages: int


def audit(store: Store, run: Run, events: Events) -> list[Judged]:
    """Checks the dirty cuts of a run, and writes the verdicts. Returns the new ones, in the order of the cuts."""
    every = _every(run, events) if run.is_marked else None
    verdicts: list[Judged] = []
    chunks: dict[int, list[int]] = {}
    for number in sorted(run.cuts.dirty):
        chunks.setdefault(number // CHUNK, []).append(number)
    for chunk, numbers in chunks.items():
        own = [number for number in numbers if run.cuts.ids[number] is not None]
        found = list(_judged(run, events, own)) if every is None else [_of(run, own, rows) for rows in every]
        new = {
            "audits": [one for one, _ in found],
            "channels": [other for _, other in found],
            "cuts": [_lines(run, own)],
        }
        name, kept = part_name(run, chunk), _others(run, chunk, set(numbers))
        before = _verdicts(run.number, *([*_written(store, table, name)] for table in ("audits", "channels")))
        known = {*before}
        for table, parts in new.items():
            _write(store, table, name, parts, kept)
        verdicts += [one for one in _verdicts(run.number, new["audits"], new["channels"]) if one not in known]
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


def _judged(run: Run, events: Events, numbers: Sequence[int]) -> Iterator[Rows]:
    """Yield the rows of some cuts of a run without marks."""
    for begin in range(0, len(numbers), TOGETHER):
        own = numbers[begin : begin + TOGETHER]
        waiting = [sent.row for sent in run.open.values()]
        groups = events.groups([run.cuts.frontier(number) for number in own], waiting)
        yield from _rows(Task(packed(_lines(run, own), 0), groups, {}))


def _every(run: Run, events: Events) -> list[Rows]:
    """The rows of all cuts of a run with marks, which get their numbers."""
    groups = events.all_groups()
    cuts: dict[str, dict[str, int]] = {}
    rows: list[Rows] = []
    for found in recorded(groups, run.number, run.number):
        cuts |= dict(found.cuts.each())
        rows += _rows(Task(found.cuts, groups, {}, found.read)) if found.cuts.size else ()
    run.cuts.found(cuts)
    return rows


def _rows(task: Task) -> Iterator[Rows]:
    """Yield the rows of the cuts of a task."""
    found = crossings_of(task)
    if found is None:
        for half in task.halves():
            yield from _rows(half)
        return
    scan, crossings = found
    yield audits_table(task.cuts, crossings), channels_table(task, scan.channels, crossings.held)


def _of(run: Run, numbers: Sequence[int], rows: Rows) -> Rows:
    """The rows of some cuts."""
    ids = pyarrow.array([run.cuts.ids[number] for number in numbers], pyarrow.string())
    audits, channels = (table.filter(compute.is_in(table["cut_id"], ids)) for table in rows)
    return audits, channels


def _others(run: Run, chunk: int, numbers: set[int]) -> pyarrow.Array:
    """The names of the other cuts of a part."""
    last = min((chunk + 1) * CHUNK, len(run.cuts.ids))
    own = (run.cuts.ids[number] for number in range(chunk * CHUNK, last) if number not in numbers)
    return pyarrow.array([one for one in own if one is not None], pyarrow.string())


def _written(store: Store, table: str, part: str) -> Iterator[pyarrow.Table]:
    """Yield the present rows of a part, if it exists."""
    for own in store.parts(table) if store.has(table) else ():
        if own.name == part:
            yield as_dataset(store.place, [own.file], TABLES[table]).to_table()


def _write(store: Store, table: str, part: str, new: Sequence[pyarrow.Table], kept: pyarrow.Array) -> None:
    """Writes a part: the rows of the cuts in `kept`, as they are, and new ones."""
    before = [own.filter(compute.is_in(own["cut_id"], kept)) for own in _written(store, table, part)]
    tables = [arrow_schema(TABLES[table]).empty_table(), *before, *new]
    store.write_part(table, part, pyarrow.concat_tables(tables))


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
