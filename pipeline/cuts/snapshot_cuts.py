"""The cuts of the snapshots in an event table, found by the worker that judges them.

What a snapshot has recorded, and when it was complete, sim/run/snapshots.py says from the few rows that tell of it. A
verdict is as of that moment: of the restores that come after it the cut knows nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy
import pyarrow

from pipeline.cuts.cut_lines import LEAST, UNKNOWN, Cuts, packed
from pipeline.cuts.event_columns import RowGroup, batches, numbers_of, texts_of
from pipeline.cuts.sends import Bools
from pipeline.cuts.ways import Read
from pipeline.store.schema import CUT_TYPES, Types, arrow_schema
from sim.core.model import (
    CONTROL_SEND,
    CRASH,
    DECISION,
    JOIN,
    LEAVE,
    MARKER_SEND,
    NOTED,
    RECORD,
    RESTORE,
    SEND,
    SERVICE_KINDS,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    Event,
)
from sim.run.as_of import snapshots_as_of
from sim.run.snapshots import GIVEN_UP

MOST_LINES = 500_000  # of cuts that are found together
_TOLD = (NOTED, DECISION)  # in the body, by a coordinator
_TELLING = (RECORD, SNAPSHOT_COMPLETE, SNAPSHOT_ABORTED, CRASH, RESTORE, JOIN, LEAVE, *_TOLD)
_COLUMNS = ("run_id", "row", "process", "index", "kind", "channel", "snapshot_id")
_LINES: Types = {**CUT_TYPES, "row": "int32"}
_NOTHING = dict.fromkeys(Event._fields)


class OfSnapshots(NamedTuple):
    """The cuts of the snapshots that were not given up, and that everybody who takes part has recorded.

    Those take part who are present at the first recording, of the processes with rows and those to which something is
    in flight. Services, which only exchange control messages, are none. The others are as early as these require.
    """


class Recorded(NamedTuple):
    """Cuts of snapshots, of how many restores of their runs they know, and how many snapshots were left out."""

    cuts: Cuts
    read: Read
    left_out: int


class _Line(NamedTuple):
    run_id: int
    cut_id: str
    process: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed
    row: int


class _Found:
    """Lines of cuts, by layer: in a layer the cuts of a run know of the same restores, as many as `read` says."""

    def __init__(self) -> None:
        self.lines: dict[int, list[_Line]] = {}
        self.read: dict[int, dict[int, int]] = {}
        self.size = self.left_out = 0

    def add(self, run_id: int, events: Sequence[Event], processes: Sequence[str]) -> None:
        """Adds what a run has recorded."""
        restores = [event.row for event in events if event.kind == RESTORE]
        cuts: dict[int, list[_Line]] = {}
        begun = {event.snapshot_id for event in events if event.kind == RECORD}
        for own in snapshots_as_of(events, processes, (), _absent(events), _told):
            if own.status in GIVEN_UP or set(own.local) < set(own.members):
                self.left_out += own.id in begun
                continue
            known = len(restores) if own.end is None else sum(row < own.end for row in restores)
            parts = own.local.items()
            lines = [_Line(run_id, own.id, name, at.inside, at.step) for name, at in parts]
            lines += [_Line(run_id, own.id, name, 0, LEAST) for name in processes if name not in own.members]
            cuts.setdefault(known, []).extend(lines)
        for layer, (known, lines) in enumerate(sorted(cuts.items(), reverse=True)):
            self.lines.setdefault(layer, []).extend(lines)
            self.read.setdefault(layer, {}).update({run_id: known} if known < len(restores) else {})
            self.size += len(lines)

    def packed(self, begin: int) -> Iterator[Recorded]:
        """The cuts, numbered from `begin` on."""
        left_out = self.left_out
        for layer in sorted(self.lines) or [0]:
            lines = [dict(zip(_LINES, line, strict=True)) for line in self.lines.get(layer, ())]
            cuts = packed(pyarrow.Table.from_pylist(lines, arrow_schema(_LINES)), begin)
            yield Recorded(cuts, self.read.get(layer, {}), left_out)
            begin, left_out = begin + cuts.size, 0


def recorded(groups: Sequence[RowGroup], first: int, last: int) -> Iterator[Recorded]:
    """The cuts of the snapshots of the runs from `first` to `last` in row groups, some runs at a time."""
    events, processes = _telling(groups, first, last), _processes(groups, first, last)
    found, begin = _Found(), 0
    for run_id, own in groupby(events, key=attrgetter("run_id")):
        if run_id in processes:
            found.add(run_id, list(own), processes[run_id])
        if found.size > MOST_LINES:
            yield from found.packed(begin)
            found, begin = _Found(), begin + found.size
    if found.size or found.left_out:
        yield from found.packed(begin)


def _telling(groups: Sequence[RowGroup], first: int, last: int) -> list[Event]:
    """The rows that tell of snapshots, by run, in their order; the step of each is its row, if that has a number."""
    is_told = any({*_TOLD}.intersection(texts_of(rows, "kind").values) for rows in batches(groups, ["kind"]))
    columns = (*_COLUMNS, "body") if is_told else _COLUMNS
    found: list[dict[str, Any]] = []
    for rows in batches(groups, columns):
        own = rows.filter(pyarrow.array(_are_of(rows, first, last) & _are(rows, _TELLING)))
        found += own.to_pylist()
    for number, row in enumerate(found):  # where a table does not number its rows they are in order
        row["step"] = row.get("row", UNKNOWN)
        row.setdefault("row", number)
    return sorted((Event(**{**_NOTHING, **row}) for row in found), key=attrgetter("run_id", "row"))


def _are_of(rows: pyarrow.RecordBatch, first: int, last: int) -> Bools:
    """Which rows are of the runs from `first` to `last`."""
    run = numbers_of(rows, "run_id", "int64")
    is_known = rows["run_id"].is_valid().to_numpy(zero_copy_only=False)
    found: Bools = (run >= first) & (run <= last) & is_known
    return found


def _are(rows: pyarrow.RecordBatch, kinds: Collection[str]) -> Bools:
    """Which rows are of some kinds."""
    texts = texts_of(rows, "kind")
    found: Bools = numpy.array([*(value in kinds for value in texts.values), False])[texts.codes]
    return found


def _processes(groups: Sequence[RowGroup], first: int, last: int) -> dict[int, list[str]]:
    """The processes of each run, by name."""
    own, others, there = set[tuple[int, str]](), set[tuple[int, str]](), set[tuple[int, str]]()
    for rows in batches(groups, ("run_id", "process", "kind", "channel", "peer_index")):
        are_of = _are_of(rows, first, last)
        is_service = _are(rows, SERVICE_KINDS)
        is_open = _are(rows, (SEND,)) & rows["peer_index"].is_null().to_numpy(zero_copy_only=False)
        own |= _pairs(rows, "process", are_of & ~is_service)
        own |= _targets(rows, are_of & (_are(rows, (MARKER_SEND,)) | is_open))
        others |= _targets(rows, are_of & _are(rows, (CONTROL_SEND,)))
        there |= _pairs(rows, "process", are_of)
    found: dict[int, list[str]] = {}
    for run_id, name in sorted(own | (others - there)):
        found.setdefault(run_id, []).append(name)
    return found


def _pairs(rows: pyarrow.RecordBatch, column: str, are_own: Bools) -> set[tuple[int, str]]:
    """The runs of some rows, with what is in a column of texts."""
    texts, places = texts_of(rows, column), numpy.flatnonzero(are_own)
    pairs = numpy.stack([numbers_of(rows, "run_id", "int64")[places], texts.codes[places]])
    return {(run, texts.values[code]) for run, code in numpy.unique(pairs, axis=1).T.tolist() if code >= 0}


def _targets(rows: pyarrow.RecordBatch, are_own: Bools) -> set[tuple[int, str]]:
    """The runs of some rows, with the receivers of their channels."""
    return {(run, channel.rpartition("->")[2]) for run, channel in _pairs(rows, "channel", are_own)}


def _told(row: Event) -> Any:
    """The body of a row, if it is needed: not the states that are recorded."""
    return json.loads(row.body or "null") if row.kind in _TOLD else None


def _absent(events: Sequence[Event]) -> set[str]:
    """Who is not there at first: who joins, and has not left before."""
    first: dict[str, str] = {}
    for event in events:
        if event.kind in (JOIN, LEAVE):
            first.setdefault(event.process, event.kind)
    return {name for name, kind in first.items() if kind == JOIN}
