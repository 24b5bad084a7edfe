"""The counts of sim/verify/delivery.py, computed independently, from the event table alone, as it is exported.

A table holds what a recovery has taken back, too: an event is gone if a later restore of its process keeps fewer. Where
a message is at the end, the last row about it says: it is in its channel where that is its send or `put_back`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from sim.core.model import (
    COMMITTED,
    CONTROL_RECEIVE,
    COPIED,
    FENCED,
    LOST,
    OUTPUT,
    PUT_BACK,
    RECEIVE,
    RECORD,
    RECOVERY,
    RESTORE,
    SEND,
    Event,
)
from sim.verify.delivery import Counts, Delivery

_PLACES = (SEND, COPIED, PUT_BACK, RECEIVE, LOST, FENCED)  # what becomes of a message
Named = tuple[str, str, str, int]  # of a record: the process where it is, its source, its key and its number there


def delivery_from_table(table: Sequence[Event], channels: Collection[str], *, is_transactional: bool) -> Delivery:
    """What has become of the records of a run. `channels` holds all names; `is_transactional`: so are the sinks."""
    passing = {name.partition("->")[0] for name in channels}
    gone = set(_gone(table))
    left = [row for row in table if row.row not in gone]
    emitted = {named[1:] for row, named in _named(left, SEND) if named[0] == named[1]}
    ends = [named for row, named in _named(left, RECEIVE) if "hops" not in _body(row) or row.process not in passing]
    on_the_way = [named for row, named in _named(_last_rows(table, gone), SEND, COPIED, PUT_BACK)]
    records = _counted(emitted, emitted, ends, on_the_way)
    receipts = [(row, named) for row, named in _named(left, RECEIVE) if row.process not in passing]
    due = dict(_due(table, left)) if is_transactional else None
    wanted = {named[1:] for row, named in receipts if due is None or (row.index or 0) <= due.get(row.process, 0)}
    given = [named for _, named in _named(table, OUTPUT)]
    return Delivery(records, _counted(wanted, {named[1:] for _, named in receipts}, given, []))


def _body(row: Event) -> Any:
    return json.loads(row.body or "null")


def _named(rows: Iterable[Event], *kinds: str) -> Iterator[tuple[Event, Named]]:
    for row in rows:
        if row.kind in kinds:
            body = _body(row)
            yield row, (row.process, body["source"], body["key"], body["number"])


def _gone(table: Sequence[Event]) -> Iterator[int]:
    """The rows of the events that a restore takes back. Read from the end, as what counts comes later."""
    kept: dict[str, int] = {}
    for row in reversed(table):
        if row.kind == RESTORE:
            kept[row.process] = min(row.index or 0, kept.get(row.process, row.index or 0))
        elif row.index is not None and row.process in kept and row.index > kept[row.process]:
            yield row.row


def _last_rows(table: Sequence[Event], gone: Collection[int]) -> list[Event]:
    """The last row about each application message. A fence keeps out those of earlier epochs, and those taken back."""
    is_fenced = any(row.kind == RECOVERY and _body(row).get("fence", True) for row in table)
    epochs = {row.process: row.epoch for row in table} if is_fenced else {}
    taken_back = {row.message_id for row in table if row.kind in (SEND, COPIED) and row.row in gone and is_fenced}
    last: dict[int | None, Event] = {}
    for row in table:
        is_marker = row.kind == COPIED and row.index is None
        if row.kind in _PLACES and row.message_id not in taken_back and not is_marker:
            last[row.message_id] = row
    return [row for row in last.values() if row.epoch >= epochs.get((row.channel or "").partition("->")[2], 0)]


def _due(table: Sequence[Event], left: Sequence[Event]) -> Iterator[tuple[str, int]]:
    """By sink, up to which of its events it should have given its outputs."""
    valid = {row.snapshot_id for row in table if row.kind == COMMITTED}
    heard = {
        (row.process, row.snapshot_id)
        for row in table
        if row.kind == CONTROL_RECEIVE and row.snapshot_id in valid and '"committed"' in (row.body or "")
    }
    found: defaultdict[str, int] = defaultdict(int)
    for row in left:
        if row.kind == RESTORE or (row.kind == RECORD and (row.process, row.snapshot_id) in heard):
            found[row.process] = max(found[row.process], row.index or 0)
    yield from found.items()


def _counted(
    expected: set[tuple[str, str, int]], known: set[tuple[str, str, int]], there: Sequence[Named],
    under_way: Sequence[Named],
) -> Counts:  # fmt: skip
    """The counts, from sorted lists: a record is there twice where it stands beside itself."""
    found = sorted(named[1:] for named in (*there, *under_way))
    late = 0
    for _, group in groupby(sorted(there, key=lambda named: named[:3]), key=lambda named: named[:3]):
        numbers = [named[3] for named in group]  # sorted() leaves equals in their order
        firsts = [number for place, number in enumerate(numbers) if number not in numbers[:place]]
        late += sum(number < max(firsts[:place]) for place, number in enumerate(firsts) if place)
    return Counts(
        expected=len(expected),
        lost=sum(record not in found for record in expected),
        duplicated=sum(one == other for one, other in pairwise(found)),
        out_of_order=late,
        unfounded=len({*found} - known),
    )
