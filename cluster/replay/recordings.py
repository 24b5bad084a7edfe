"""The recordings of snapshots in an event table: the epoch and the place of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sim.core.log import to_json
from sim.core.model import RECORD, Channel, Event
from sim.document.scenario import Scenario
from sim.run.as_of import snapshots_as_of
from sim.run.snapshots import Snapshot


@dataclass
class Recording:
    """A snapshot, with the epoch and the place of each of its parts, by process.

    A place is the number of events on the process's line before the recording. `rows` are the numbers of the `record`
    rows.
    """

    snapshot: Snapshot
    rows: frozenset[int]
    epochs: dict[str, int]
    places: dict[str, int] = field(default_factory=dict)

    @property
    def epoch(self) -> int | None:
        """The epoch in which all parts were recorded (None: no part was, or parts in several epochs)."""
        return next(iter(self.epochs.values())) if len({*self.epochs.values()}) == 1 else None

    def kept(self, channel: Channel) -> list[str]:
        """The bodies that were recorded in a channel, as JSON."""
        return [to_json(message.body) for message in self.snapshot.recorded_in(channel.name)]


def recordings(table: Sequence[Event], scenario: Scenario) -> dict[str, Recording]:
    """The recordings of all snapshots, by id. Their places are empty: they follow from the lines."""
    found = snapshots_as_of(table, scenario.processes, [own.name for own in scenario.channels], scenario.absent)
    rows_of: dict[str, list[Event]] = {own.id: [] for own in found}
    local = {own.id: own.local for own in found}
    for row in table:
        if row.kind == RECORD and row.snapshot_id is not None:
            part = local[row.snapshot_id].get(row.process)
            if part is not None and part.step == row.step:
                rows_of[row.snapshot_id].append(row)
    return {
        own.id: Recording(own, frozenset(row.row for row in rows), {row.process: row.epoch for row in rows})
        for own in found
        for rows in [rows_of[own.id]]
    }
