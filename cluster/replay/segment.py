"""A segment of a live run as an execution, as diagrams take it: what its logs say from one time to another.

An execution begins with the first event of each process, so the events of the segment are numbered anew. They keep the
names that they have in the run. The segment has lines for everything that began before it and is not over: a message in
transit, a snapshot under way, a process that is down, a severed channel. If there are many messages, only a share of
them is drawn, and all that snapshots have recorded in channels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from cluster.node.event_log import Entry
from cluster.replay.following import SENDS, Follower
from sim.core.log import Log
from sim.core.model import (
    APPLICATION_KINDS,
    COMMITTED,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    CRASH,
    DECISION,
    DOWN,
    FROZEN,
    INTERNAL,
    JOIN,
    LEAVE,
    MARKER_RECEIVE,
    NOTED,
    PUT_BACK,
    RECEIVE,
    RECORD,
    RECORDED,
    RECOVERY,
    RESTORE,
    SEND,
    SNAPSHOT_COMPLETE,
    THAWED,
    TIMER,
    UP,
    label_of,
)
from sim.run.execution import Execution

MOST_LINES = 6_000  # lines that are read for a segment; a longer one begins later
MOST_MESSAGES = 90  # messages that are drawn, beside those that a snapshot has recorded
_PROCESS, _INDEX, _KIND, _CHANNEL, _PEER, _MESSAGE, _LABEL, _BODY, _SNAPSHOT = range(9)
_TALK = frozenset({CONTROL_SEND, CONTROL_RECEIVE, TIMER, NOTED})  # of services and with them
_ENDS = {RESTORE: (CRASH, FROZEN), THAWED: (FROZEN,), CRASH: (FROZEN,), LEAVE: (FROZEN,), UP: (DOWN,), JOIN: (LEAVE,)}
_NEEDS_SEND = frozenset({RECEIVE, MARKER_RECEIVE, CONTROL_RECEIVE, RECORDED, PUT_BACK})

Row = list[Any]


class Segment(NamedTuple):
    """The run from `begin` to `end`, in seconds since the cluster began. One of `every` messages is in the execution.

    `unsent` counts the receipts that are left out, since no log has the sends of their messages.
    """

    begin: float
    end: float
    every: int
    execution: Execution
    unsent: int


def segment(
    follower: Follower, begin: float, end: float, *, with_services: bool, whole: bool = False,
    still: Mapping[str, float] = MappingProxyType({}), most: int | None = None,
) -> Segment:  # fmt: skip
    """The run from `begin` to `end`, in seconds.

    `still` has the processes that stand still now, each with the time since when: their logs say so only later. `most`
    bounds the lines that are read (None: MOST_LINES). `with_services` adds control messages. With `whole`, the
    segment has every message, even one that is in transit all the time. Then its events have only the names that the
    processes gave them.
    """
    begin = follower.most_recent(begin, end, most or MOST_LINES)
    entries = follower.entries(begin, end)
    every = 1 if whole else _share(entries)
    kept = _recorded(entries)
    drawn = [_thinned(entry, every, kept, with_services=with_services) for entry in entries]
    frozen = [_freezes(follower, name, since) for name, since in still.items() if since < end]
    known = [*_from_before(follower, begin, entries), *(entry for entry in drawn if entry.rows)]
    known = sorted([*known, *frozen], key=lambda entry: entry.time) if frozen else known
    on_the_way = (
        {number for own in follower.ledger.before(begin).channels.values() for number in own} if whole else set()
    )
    known = [*_sends_before(follower, known, on_the_way), *known]
    return Segment(begin, end, every, *_execution(follower, known, named=not whole))


def _freezes(follower: Follower, process: str, since: float) -> Entry:
    """The line that the log of a process will have once the process no longer stands still."""
    row = [process, None, FROZEN, None, None, None, None, None, None]
    return Entry(0, since / follower.unit, follower.system.names.index(process), [FROZEN], [row], 0, 0)


def _share(entries: Iterable[Entry]) -> int:
    """The share of the messages that is drawn: one of the number returned."""
    messages = {row[_MESSAGE] for entry in entries for row in entry.rows if row[_KIND] in (SEND, RECEIVE)}
    return -(-len(messages) // MOST_MESSAGES) or 1


def _recorded(entries: Iterable[Entry]) -> set[int]:
    """The messages that snapshots have recorded in channels, or recoveries have put back."""
    return {row[_MESSAGE] for entry in entries for row in entry.rows if row[_KIND] in (RECORDED, PUT_BACK)}


def _thinned(entry: Entry, every: int, kept: set[int], *, with_services: bool) -> Entry:
    """The line without the messages that are not drawn."""

    def is_drawn(row: Row) -> bool:
        if row[_KIND] in _TALK:
            return with_services
        if row[_KIND] in (SEND, RECEIVE):
            number = row[_MESSAGE]
            return every == 1 or number in kept or number * 2654435761 % 2**32 % every == 0  # as if drawn by lot
        return row[_KIND] != INTERNAL or every == 1

    return entry._replace(rows=[row for row in entry.rows if is_drawn(row)])


def _from_before(follower: Follower, begin: float, entries: Sequence[Entry]) -> list[Entry]:
    """Lines for everything that began before `begin` and is not over then."""
    shown = {row[_SNAPSHOT] for entry in entries for row in entry.rows if row[_SNAPSHOT] is not None}
    shown -= {
        row[_SNAPSHOT]
        for entry in follower.marks
        for row in entry.rows
        if row[_KIND] in (DECISION, COMMITTED) and entry.time * follower.unit < begin
    }
    restored = {row[_BODY]["epoch"] for entry in entries for row in entry.rows if row[_KIND] == RESTORE}
    found: dict[tuple[Any, ...], Entry] = {}
    for entry in follower.marks:
        if entry.time * follower.unit >= begin:
            continue
        for row in entry.rows:
            kind, about = row[_KIND], row[_CHANNEL] if row[_KIND] in (DOWN, UP) else row[_PROCESS]
            own = entry._replace(rows=[row])
            if kind in (RECORD, SNAPSHOT_COMPLETE) and row[_SNAPSHOT] in shown:
                found[kind, about, row[_SNAPSHOT]] = own
            for begun in _ENDS.get(kind, ()):
                found.pop((begun, about), None)
            is_under_way = kind == RECOVERY and row[_BODY]["epoch"] in restored
            if kind in (CRASH, DOWN, LEAVE, FROZEN) or is_under_way:
                found[kind, about] = own
    return sorted(found.values(), key=lambda entry: (entry.clock, entry.actor))


def _sends_before(follower: Follower, entries: Sequence[Entry], others: set[int]) -> list[Entry]:
    """The lines that sent the messages in `entries`, and `others`, before all of these lines."""
    rows = [row for entry in entries for row in entry.rows]
    sent = {row[_MESSAGE] for row in rows if row[_KIND] in SENDS}
    missing = ({row[_MESSAGE] for row in rows if row[_KIND] in _NEEDS_SEND} | others) - sent - {None}
    found = []
    for number in sorted(missing):
        entry = follower.sending(number)
        own = [row for row in entry.rows if row[_KIND] in SENDS and row[_MESSAGE] == number] if entry else []
        if entry is not None and own:
            found.append(entry._replace(rows=own))
    return sorted(found, key=lambda entry: (entry.clock, entry.actor))


def _execution(follower: Follower, entries: Sequence[Entry], *, named: bool) -> tuple[Execution, int]:
    """The lines as an execution, with times in seconds, and the number of receipts that it lacks."""
    scenario, engine = follower.system.scenario, follower.system.engine
    log = Log()
    numbers = _numbers(entries)
    ids: dict[int, int] = {}
    now, unsent = 0.0, 0
    for entry in entries:
        rows = [own for row in entry.rows for own in _renumbered(row, numbers, ids, named=named)]
        if rows:
            now = max(now, entry.time * follower.unit)  # a step is not earlier than the one before
            for row in rows:
                log.rows += row
            log.ends.append(len(log.rows))
            log.times.append(now)
        unsent += sum(row[_KIND] == RECEIVE and row[_MESSAGE] not in ids for row in entry.rows)
    return Execution(scenario, engine, log, {}, {}, engine.initial()), unsent


def _numbers(entries: Iterable[Entry]) -> dict[str, list[int]]:
    """The numbers that the events of the segment have in the run, ascending, by process."""
    found: dict[str, set[int]] = {}
    for entry in entries:
        for row in entry.rows:
            if row[_KIND] in APPLICATION_KINDS:
                found.setdefault(row[_PROCESS], set()).add(row[_INDEX])
    return {process: sorted(own) for process, own in found.items()}


def _renumbered(row: Row, numbers: Mapping[str, list[int]], ids: dict[int, int], *, named: bool) -> list[Row]:
    """The row with the numbers of its event and its message in the segment; none if its send is not in it."""
    row = list(row)
    kind, process = row[_KIND], row[_PROCESS]
    if row[_MESSAGE] is not None:
        if kind in SENDS:
            ids[row[_MESSAGE]] = len(ids)
        elif row[_MESSAGE] not in ids:
            return []
        row[_MESSAGE] = ids[row[_MESSAGE]]
    if kind in APPLICATION_KINDS and named:
        row[_LABEL] = row[_LABEL] or label_of(process, row[_INDEX], None)
    if row[_INDEX] is not None:
        row[_INDEX] = bisect_right(numbers.get(process, []), row[_INDEX])
    if kind == RECEIVE and row[_PEER] is not None:
        row[_PEER] = bisect_right(numbers.get(row[_CHANNEL].partition("->")[0], []), row[_PEER])
    return [row]
