"""A finished run on a time axis: the facts of the whole run from which the elements of a scene are made."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Any

from diagrams.scene.cut_space import CutSpace
from diagrams.scene.event_columns import columns
from diagrams.scene.foreign_log import ForeignLog
from diagrams.scene.positions import kept_apart, positions_of_rows, positions_of_steps
from sim.core.model import RECORD, Event
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.rollbacks import rollbacks_of, taken_back
from sim.run.snapshots import snapshots_of

MOST_TEXTS = 40  # events of a log's window, beside which their texts are written


class TimedRun:
    """A finished run on a time axis: lanes, positions, words, and the rows behind them.

    There is a lane for each process, then one for each service. `captions` are those of channels by their names, also
    for pairs of processes that only control messages join. `log` is the foreign log of which the run is a window, if
    any; `cut_space` holds the cuts of the run.
    """

    def __init__(self, execution: Execution, log: ForeignLog | None = None) -> None:
        self.execution, self.log = execution, log
        self.cut_space = CutSpace(execution, log)
        self.processes = execution.scenario.processes
        self.lanes = execution.engine.nodes
        self.words = words_of(execution)
        self.lane_of = {name: lane for lane, name in enumerate(self.lanes)}
        self.times = execution.times
        self.positions = kept_apart(execution.events, positions_of_steps(self.times))
        self.snapshots = snapshots_of(execution)
        ways = {flight.channel.name: flight.channel.name for flight in execution.flights}
        self.captions = {**ways, **self.words.caption}

    def position(self, row: Event) -> float:
        """The position of a row on the time axis: its step's, or a little earlier if more rows of the step follow."""
        return self._rows_apart.get(row.row, self.positions[row.step])

    @cached_property
    def _rows_apart(self) -> dict[int, float]:
        """The positions of rows that lie before their step's, by row number."""
        return positions_of_rows(self.execution.events, self.positions)

    @cached_property
    def is_crowded(self) -> bool:
        """Whether the texts of events in a window of a log would hide each other."""
        return len(self.execution.history.rows) > MOST_TEXTS

    def number_in_log(self, event: Event) -> str | None:
        """The number beside an event in a window of a log with many events; None elsewhere."""
        if self.log is None or not self.is_crowded:
            return None
        return str(self.log.numbers[event.process][(event.index or 1) - 1])

    @cached_property
    def lists_events(self) -> bool:
        """Whether states are named by their events, all of which have to be seen then."""
        workload, processes = self.words.workload, self.processes
        return any(workload.state_words(workload.initial(process)) is None for process in processes)

    @cached_property
    def recorders(self) -> dict[int, dict[str, int]]:
        """The snapshots that record each message in its channel, each with the step, by message id."""
        found: dict[int, dict[str, int]] = {}
        for snapshot in self.snapshots:
            for message in snapshot.recorded_messages:
                found.setdefault(message.id, {})[snapshot.id] = message.step
        return found

    def gone_at(self, row: Event) -> int | None:
        """The step from which on a recovery has taken back the event of a row (None: none does)."""
        back = taken_back(self.execution).get(row.row)
        if back is None:
            return None
        return back.step if row.step < back.step else back.restores[row.process].step

    @cached_property
    def recording_rows(self) -> dict[tuple[str, str], Event]:
        """The row of each recording that counts, by snapshot and process; empty if nothing is taken back."""
        if not rollbacks_of(self.execution):
            return {}
        steps = {(own.id, name): local.step for own in self.snapshots for name, local in own.local.items()}
        rows = (row for row in self.execution.events if row.kind == RECORD)
        own = (((row.snapshot_id or "", row.process), row) for row in rows)
        return {key: row for key, row in own if steps.get(key) == row.step}

    @cached_property
    def columns(self) -> dict[str, Any]:
        """All rows of the event table in columns, for the browser's list and search."""
        return columns(self.execution, self.position, self.positions)

    @cached_property
    def steps_of_rows(self) -> list[int]:
        """The step of every row of the event table; steps ascend."""
        return [event.step for event in self.execution.events]

    def rows(self, first: int, last: int) -> list[Event]:
        """The rows of the steps `first` to `last`."""
        start, end = bisect_left(self.steps_of_rows, first), bisect_left(self.steps_of_rows, last + 1)
        return self.execution.events[start:end]
