"""A run as it was when a snapshot was complete: verdicts read nothing that came later.

What is lost or rolled back afterwards changes no verdict; nor does it make an orphan consistent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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
from sim.run.snapshots import Snapshot, snapshots_in
from sim.theory.positions import Cut, Order
from sim.theory.surviving import abandoned, renumbered

_UNDOES = frozenset({LOST, FENCED, COPIED, RESTORE})  # what changes the meaning of rows before it
_CHANGES = frozenset({RECORD, RECORDED, STATE_CHANGED, CHANNEL_CLOSED, SNAPSHOT_ABORTED})  # of the snapshot itself


@dataclass(frozen=True)
class AsOf:
    """The rows up to the completion of a snapshot (of one that is not complete: all), and what they say of it."""

    execution: Execution
    snapshot: Snapshot
    events: Sequence[Event]
    order: Order

    @cached_property
    def cut(self) -> Cut:
        """The recorded cut; processes that take no part, and losses and copies, stand where causality requires."""
        return self.order.recorded({name: (own.inside, own.step) for name, own in self.snapshot.local.items()})


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
