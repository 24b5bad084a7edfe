"""What an execution recorded: its snapshots, put together from what each process recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.execution import Execution, once
from sim.model import (
    APPLICATION_KINDS,
    MARKER_SEND,
    RECORD,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    Event,
    LocalSnapshot,
    Message,
)


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of one execution; everything by name.

    `local` holds what each process recorded (missing: it has not); `channels` the messages recorded
    in each closed channel, `open` those recorded so far in each that is still being recorded when the
    run ends. `began` and `completed` are steps; `markers` counts markers sent.
    """

    id: str
    initiators: tuple[str, ...]
    status: str
    local: dict[str, LocalSnapshot]
    events: dict[str, tuple[str, ...]]
    channels: dict[str, tuple[Message, ...]]
    open: dict[str, tuple[Message, ...]]
    began: int | None
    completed: int | None
    markers: int

    @property
    def frontier(self) -> dict[str, int]:
        """The cut: per process that has recorded, the number of its application events inside."""
        return {name: local.inside for name, local in self.local.items()}

    @property
    def recorded_messages(self) -> list[Message]:
        """All messages recorded in channels, closed or open, by channel, in order of receipt."""
        return [message for messages in (*self.channels.values(), *self.open.values()) for message in messages]

    def to_json(self, algorithm: str, verdicts: list[dict[str, Any]]) -> dict[str, Any]:
        """This snapshot as `python -m sim run --json` prints it."""
        return {
            "id": self.id,
            "algorithm": algorithm,
            "initiators": list(self.initiators),
            "status": self.status,
            "processes": {
                name: {"state": local.state, "events": list(self.events[name])} for name, local in self.local.items()
            },
            "channels": {name: [m.body for m in messages] for name, messages in self.channels.items()},
            "verdicts": verdicts,
        }


@once
def snapshots_of(execution: Execution) -> list[Snapshot]:
    """Every snapshot that was asked for, in the order of their first recording (never begun: last)."""
    asked = dict.fromkeys(start.snapshot for start in execution.scenario.snapshots)
    rows_of: dict[str, list[Event]] = {name: [] for name in asked}
    labels: dict[str, list[str]] = {process: [] for process in execution.scenario.processes}
    for event in execution.events:
        if event.snapshot_id is not None:
            rows_of.setdefault(event.snapshot_id, []).append(event)
        elif event.kind in APPLICATION_KINDS:
            labels[event.process].append(event.label or "")
    found = [_assemble(execution, name, rows, labels) for name, rows in rows_of.items()]
    return sorted(found, key=lambda s: rows_of[s.id][0].row if rows_of[s.id] else len(execution.events))


def _assemble(execution: Execution, name: str, rows: list[Event], labels: dict[str, list[str]]) -> Snapshot:
    processes = execution.final.processes
    local = {p.name: p.snapshots[name] for p in processes if name in p.snapshots}
    closed = {c: messages for part in local.values() for c, messages in part.channels.items()}
    finished = len(local) == len(execution.engine.processes) and all(part.complete for part in local.values())
    aborted = any(row.kind == SNAPSHOT_ABORTED for row in rows)
    starts = {row.step for row in rows if row.kind == RECORD}
    own_markers = [row for row in rows if row.kind == MARKER_SEND]
    began = {(step, action.process) for step, _, action in execution.initiations if action.snapshot == name}
    number_of = execution.engine.number_of
    joined = {row.process for row in rows if row.kind == RECORD and (row.step, number_of[row.process]) in began}
    return Snapshot(
        id=name,
        initiators=tuple(process for process in execution.scenario.processes if process in joined),
        status="complete" if finished else "aborted" if aborted else "recording",
        local=local,
        events={process: tuple(labels[process][: part.inside]) for process, part in local.items()},
        channels={c.name: closed[c] for c in execution.engine.channels if c in closed},
        open={c.name: p.recording[c][name] for p in processes for c in p.recording if name in p.recording[c]},
        began=min(starts, default=None),
        completed=max(row.step for row in rows if row.kind == SNAPSHOT_COMPLETE) if finished else None,
        markers=len(own_markers),
    )
