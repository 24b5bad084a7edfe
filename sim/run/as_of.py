"""A run as it was when a snapshot was complete: verdicts read nothing that came later.

A later loss or rollback changes no verdict; nor does it make an orphan consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

from sim.core.log import to_json
from sim.core.model import (
    CHANNEL_CLOSED,
    COPIED,
    FENCED,
    LOST,
    RECORD,
    RECORDED,
    RESTORE,
    SNAPSHOT_ABORTED,
    STATE_CHANGED,
    Event,
)
from sim.run.execution import Execution
from sim.run.snapshots import Snapshot, parsed, snapshots_in
from sim.theory.positions import Cut, Order
from sim.theory.surviving import abandoned, renumbered

_UNDOES = frozenset({LOST, FENCED, COPIED, RESTORE})  # kinds of rows that change the meaning of earlier rows
_CHANGES = frozenset({RECORD, RECORDED, STATE_CHANGED, CHANNEL_CLOSED, SNAPSHOT_ABORTED})  # of the snapshot itself


@dataclass(frozen=True)
class AsOf:
    """The rows up to the completion of a snapshot (all if it is not complete), and the snapshot and order in them."""

    execution: Execution
    snapshot: Snapshot
    events: Sequence[Event]
    order: Order

    @cached_property
    def cut(self) -> Cut:
        """The recorded cut; processes that are no members, and losses and copies, stand where causality requires."""
        return self.order.recorded({name: (own.inside, own.step) for name, own in self.snapshot.local.items()})

    @cached_property
    def channels(self) -> list[str]:
        """The channels between two members."""
        members = {*self.snapshot.members}
        return [own.name for own in self.execution.engine.channels if {*own.name.split("->")} <= members]

    def recorded(self, channel: str) -> list[str]:
        """The bodies that were recorded in a channel, as JSON."""
        return self._ordered(channel, [to_json(message.body) for message in self.snapshot.recorded_in(channel)])

    def crossing(self, channel: str, cut: Cut) -> list[str]:
        """The bodies in a channel at a cut, as JSON."""
        messages = self.order.in_channel(channel, cut)
        return self._ordered(channel, [to_json(self.execution.flights[message].body) for message in messages])

    def _ordered(self, channel: str, bodies: list[str]) -> list[str]:
        """The bodies in a channel: in the order of sending, or sorted if it is not FIFO, since it is a bag."""
        return bodies if channel in self._fifo else sorted(bodies)

    @cached_property
    def _fifo(self) -> frozenset[str]:
        return frozenset(own.name for own in self.execution.engine.channels if own.fifo)

    @cached_property
    def right_at(self) -> dict[str, Cut | None]:
        """By channel, a cut with losses and copies inside that makes its recorded state right (None: there is none)."""
        equal: dict[str, dict[str, list[list[int]]]] = {}  # by channel and body, the losses and copies of each message
        for (channel, _), lines in self.order.undecided(self.cut).items():
            body = to_json(self.execution.flights[self.order.lines[lines[0]][0].message or 0].body)
            equal.setdefault(channel, {}).setdefault(body, []).append(lines)
        return {name: self._right_at(name, equal.get(name, {})) for name in self.channels}

    def _right_at(self, channel: str, equal: Mapping[str, list[list[int]]]) -> Cut | None:
        cut, wanted = self.cut, self.recorded(channel)
        for body, messages in equal.items():
            missing = wanted.count(body) - self.crossing(channel, cut).count(body)
            cut = self._with_more(cut, missing, messages)
        return cut if self.crossing(channel, cut) == wanted else None

    def _with_more(self, cut: Cut, count: int, messages: list[list[int]]) -> Cut:
        """The cut with losses and copies of equal messages that add `count` messages, if there is such a cut."""
        ways = {0: cut}  # one for each number
        for lines in messages:
            further: dict[int, Cut] = {}
            for more, own in ways.items():
                for other in self.order.placings(own, lines):
                    kinds = [self.order.lines[line][0].kind for line in lines if other[line]]
                    further.setdefault(more + 2 * kinds.count(COPIED) - len(kinds), other)
            ways = further
        return ways.get(count, cut)

    @cached_property
    def placed(self) -> Cut:
        """The cut with losses and copies so that all channels are right, if there is such a cut."""
        own = [cut for cut in self.right_at.values() if cut is not None]
        is_right = len(own) == len(self.channels)
        return tuple(map(max, zip(*own, self.cut, strict=True))) if is_right else self.cut

    def cut_in(self, order: Order) -> Cut:
        """The placed cut in the order of the complete run, which has more positions."""
        rows = {own.row for line, count in zip(self.order.lines, self.placed, strict=True) for own in line[:count]}
        return tuple(sum(own.row in rows for own in line) for line in order.lines)


def as_of(execution: Execution, snapshot: Snapshot) -> AsOf:
    """The run as it was when `snapshot` was complete."""
    end = snapshot.end
    later = execution.table[end:] if end is not None else ()
    if not any(e.kind in _UNDOES or (e.snapshot_id == snapshot.id and e.kind in _CHANGES) for e in later):
        return AsOf(execution, snapshot, execution.events[:end], execution.order)
    table, own = execution.table[:end], execution.scenario
    events = renumbered(table)
    channels = [channel.name for channel in execution.engine.channels]
    found = snapshots_in(events, own.processes, channels, [snapshot.id], execution.body_of, own.absent)
    then = next(other for other in found if other.id == snapshot.id)
    if snapshot.decided is not None:  # by a coordinator, perhaps later
        then = replace(then, status=snapshot.status)
    return AsOf(execution, then, events, Order(own.processes, events, abandoned(table)))


def snapshots_as_of(
    table: Sequence[Event],
    processes: Sequence[str],
    channels: Sequence[str],
    absent: Collection[str],
    body_of: Callable[[Event], Any] = parsed,
) -> list[Snapshot]:
    """The snapshots in an event table as it was left, each as it was when it was complete.

    A process may record again afterwards, or discard its recording, for instance in a recovery.
    """
    rows_of: dict[str | None, list[Event]] = {}
    for event in table:
        rows_of.setdefault(None if event.kind == RESTORE else event.snapshot_id, []).append(event)
    found = []
    for own in snapshots_in(table, processes, channels, (), body_of, absent):
        rows = rows_of[own.id]
        if own.end is not None and own.decided is None and rows[-1].row >= own.end:
            before = (row for row in (*rows, *rows_of.get(None, ())) if row.row < own.end)
            then = snapshots_in(sorted(before, key=attrgetter("row")), processes, channels, (), body_of, absent)
            found.append(next(other for other in then if other.id == own.id))
        else:
            found.append(own)
    return found
