"""The event table of a run that is followed: parts of SEGMENT rows, the last of which grows.

A part is written again when it gets rows, or when one of its messages is received: then the send row gets the index of
its partner. A batch that is carried out again writes the same rows: later rows of a part are dropped first. Each part
knows the cuts that it can matter to, so a cut needs only a few parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as of_each
from typing import Any

import numpy
import pyarrow
from pyarrow import compute
from pyarrow.dataset import Expression, field

from pipeline.cuts.event_columns import RowGroup
from pipeline.store.folder import Store
from pipeline.store.parquet_files import as_dataset
from pipeline.store.schema import arrow_schema
from pipeline.streaming.run import Batch, Sent
from sim.core.model import COPIED, EVENT_TYPES, SEND

SEGMENT = 50_000  # rows of a part: the audit has few parts, and a batch writes little again
_COLUMNS = ("row", "process", "index", "kind", "channel", "peer_index", "message_id")


@dataclass
class Segment:
    """A part of the table: its number of rows; by process, the lowest and highest index of an end of its messages."""

    rows: int = 0
    least: dict[str, int] = of_each(default_factory=dict)
    most: dict[str, int] = of_each(default_factory=dict)

    def note(self, process: str, index: int) -> None:
        """Notes an end of one of its messages."""
        self.least[process] = min(index, self.least.get(process, index))
        self.most[process] = max(index, self.most.get(process, index))

    def may_cross(self, frontier: Mapping[str, int], *, has_open: bool) -> bool:
        """Whether one of its messages may cross a cut or be in a channel; `has_open`: one is not received yet."""
        is_inside = all(index <= frontier.get(name, 0) for name, index in self.most.items())
        is_outside = all(index > frontier.get(name, 0) for name, index in self.least.items())
        return bool(self.most) and not is_outside and (has_open or not is_inside)


class Events:
    """The parts of run number `run` in a folder."""

    def __init__(self, store: Store, run: int, segments: list[Segment] | None = None) -> None:
        self._store, self._run = store, run
        self.segments = segments or []

    def name(self, number: int) -> str:
        """The name of a part."""
        return f"followed-{self._run:06}-{number:06}"

    def add(self, batch: Batch) -> None:
        """Writes the rows of a batch, and the partners that it has found."""
        dirty: dict[int, dict[int, int | None]] = {}
        for row, peer in batch.patches.items():
            dirty.setdefault(row // SEGMENT, {})[row] = peer
        new = dict[int, list[list[Any]]]()
        for cells in batch.rows:
            new.setdefault(cells[0] // SEGMENT, []).append(cells)
        self.segments += [Segment() for _ in range(max(new, default=-1) + 1 - len(self.segments))]
        for sent in batch.received.values():
            assert sent.peer is not None
            self.segments[sent.row // SEGMENT].note(sent.target, sent.peer)
        for number in sorted(dirty.keys() | new.keys()):
            self._write(number, dirty.get(number, {}), new.get(number, []))

    def _write(self, number: int, patches: Mapping[int, int | None], new: list[list[Any]]) -> None:
        segment = self.segments[number]
        tables = []
        if segment.rows:
            before = self._read(number, list(EVENT_TYPES)).slice(0, segment.rows)
            tables.append(_patched(before, patches, number * SEGMENT))
        if new:
            columns: list[Any] = [[self._run] * len(new), *zip(*new, strict=True)]
            tables.append(pyarrow.table(columns, schema=arrow_schema(EVENT_TYPES)))
        segment.rows += len(new)
        for row in new:
            if row[5] == SEND or (row[5] == COPIED and row[4] is not None):
                segment.note(row[3] if row[5] == SEND else row[6].partition("->")[0], row[4])
        self._store.write_part("events", self.name(number), pyarrow.concat_tables(tables))

    def _read(self, number: int, columns: list[str]) -> pyarrow.Table:
        place = self._store.place
        file = f"events/{self.name(number)}.parquet"
        return as_dataset(place, [file], {name: EVENT_TYPES[name] for name in columns}).to_table(columns)

    def receipts(self, process: str, kept: int) -> dict[int, Sent]:
        """The messages that a process has received after event number `kept`, by message_id."""
        is_own = (field("peer_index") > kept) & compute.ends_with(field("channel"), f"->{process}")
        numbers = [number for number, own in enumerate(self.segments) if own.most.get(process, 0) > kept]
        return dict(self._sends(numbers, is_own))

    def sent(self, message: int) -> Sent | None:
        """A message."""
        found = self._sends(range(len(self.segments) - 1, -1, -1), field("message_id") == message)
        return next((own for _, own in found), None)

    def _sends(self, numbers: Iterable[int], is_own: Expression) -> Iterator[tuple[int, Sent]]:
        """Messages of some parts, with their ids."""
        is_known = (field("kind").isin([SEND, COPIED])) & field("index").is_valid() & is_own
        for number in numbers:
            table = self._read(number, list(_COLUMNS))
            for row in table.slice(0, self.segments[number].rows).filter(is_known).to_pylist():
                source, _, target = row["channel"].partition("->")
                yield row["message_id"], Sent(row["row"], source, row["index"], target, row["peer_index"])

    def groups(self, frontiers: Collection[Mapping[str, int]], open_rows: Collection[int]) -> list[RowGroup]:
        """The row groups that matter to cuts; `open_rows` are the sends of messages that are not received yet."""
        with_open = {row // SEGMENT for row in open_rows}
        return [
            group
            for number, (segment, group) in enumerate(zip(self.segments, self.all_groups(), strict=True))
            if any(segment.may_cross(own, has_open=number in with_open) for own in frontiers)
        ]

    def all_groups(self) -> list[RowGroup]:
        """All row groups."""
        run, place = self._run, self._store.place
        return [
            RowGroup(f"events/{self.name(number)}.parquet", 0, segment.rows, run, run, place)
            for number, segment in enumerate(self.segments)
        ]

    def names(self) -> Iterator[str]:
        """The names of the parts."""
        return map(self.name, range(len(self.segments)))


def _patched(table: pyarrow.Table, patches: Mapping[int, int | None], first: int) -> pyarrow.Table:
    """The rows with the partners that were found; row number `first` is the first one."""
    if not patches:
        return table
    place = table.schema.get_field_index("peer_index")
    column = table["peer_index"].combine_chunks()
    peers = column.fill_null(0).to_numpy(zero_copy_only=False).copy()
    nulls = column.is_null().to_numpy(zero_copy_only=False).copy()
    at = numpy.array(list(patches), numpy.int64) - first
    peers[at] = [0 if peer is None else peer for peer in patches.values()]
    nulls[at] = [peer is None for peer in patches.values()]
    return table.set_column(place, table.schema.field(place), pyarrow.array(peers, pyarrow.int32(), mask=nulls))
