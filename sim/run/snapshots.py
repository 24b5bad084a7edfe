"""The snapshots of an execution, reconstructed from the rows of its event table.

Nothing but the rows is used, so this works on any event table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    CHANNEL_CLOSED,
    COLLECTED,
    CONTROL_SEND,
    CRASH,
    DECISION,
    JOIN,
    LEAVE,
    MARKER_CARRIED,
    MARKER_SEND,
    NOTED,
    RECEIVED,
    RECORD,
    RECORDED,
    RESTORE,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    TIMER,
    Event,
)
from sim.document.scenario import STATUSES
from sim.run.execution import Execution, once
from sim.theory.surviving import GONE, is_gone

COMPLETE, RECORDING, ABORTED, EXPIRED, FAILED = STATUSES
GIVEN_UP = frozenset({ABORTED, EXPIRED, FAILED})


class RecordedState(NamedTuple):
    """The recorded state of a process, the number of its events `inside`, and the `step` of the recording.

    `recorded` is the state as it was recorded. It is `state` as well, unless that was no copy: then `changes` holds
    what it became afterwards, each time with the step, and `state` is the last of these.
    """

    state: Any
    inside: int
    step: int
    recorded: Any
    changes: tuple[tuple[int, Any], ...] = ()


class RecordedMessage(NamedTuple):
    """A message in the recorded state of the channel named `channel`, and the step of its recording."""

    id: int
    channel: str
    body: Any
    step: int


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of one execution. Processes and channels are given by name.

    `status` is complete, recording (not complete when the run ends) or aborted. With a coordinator it is what that has
    decided, for a `reason` if it is expired or failed, of which `detail` says more. `triggered` is the step in which
    somebody asked for it, and `decided` that of the decision (None: there is no coordinator, or no decision). `torn` is
    the first process that left before it was complete, or lost a part that was not done in a crash (empty: none did).

    `local` holds the recorded states (missing: the process has not recorded), and `events` the labels of the events
    inside. `channels` holds the recorded messages of every closed channel, `open` those of channels not closed when the
    run ends. `closed` holds the step at which each channel was closed. `began`, `completed` and `aborted` are steps
    (None: never); `slowest` is the process that completed it, the last to finish. `markers` and `controls` count the
    markers and control messages sent for this snapshot, `carried` the markers that rode on messages. `collected` is the
    step at which its initiator knew that every part was there (None: never, as with algorithms that do not bring the
    parts together). `members` are the processes that take part: those that were present at the first recording, or that
    a coordinator named. `end` is the number of the row after which no verdict reads anything, since it was complete
    (None: it never was). `forgetful` are those that recorded, and then forgot it in a crash.
    """

    id: str
    initiators: tuple[str, ...]
    status: str
    local: dict[str, RecordedState]
    events: dict[str, tuple[str, ...]]
    channels: dict[str, tuple[RecordedMessage, ...]]
    open: dict[str, tuple[RecordedMessage, ...]]
    closed: dict[str, int]
    began: int | None
    completed: int | None
    slowest: str | None
    aborted: int | None
    members: tuple[str, ...]
    markers: int
    controls: int
    carried: int = 0
    collected: int | None = None
    reason: str = ""
    detail: str = ""
    torn: str = ""
    triggered: int | None = None
    decided: int | None = None
    end: int | None = None
    forgetful: tuple[str, ...] = ()

    @property
    def frontier(self) -> dict[str, int]:
        """The cut: for each process that has recorded, the number of its application events inside."""
        return {name: local.inside for name, local in self.local.items()}

    @property
    def is_over(self) -> bool:
        """Whether it belongs to an epoch that is over: its cut contains events that a recovery has taken back."""
        return any(inside > GONE for inside in self.frontier.values())

    @property
    def recorded_messages(self) -> list[RecordedMessage]:
        """All recorded messages, of closed channels and then of open ones, by channel, in the order of recording."""
        return [message for messages in (*self.channels.values(), *self.open.values()) for message in messages]

    def recorded_in(self, channel: str) -> list[RecordedMessage]:
        """The recorded messages of a channel, in the order of recording."""
        return [*self.channels.get(channel, ()), *self.open.get(channel, ())]

    def to_json(self, algorithm: str, verdicts: list[dict[str, Any]]) -> dict[str, Any]:
        """This snapshot as `python -m sim run --json` prints it."""
        return {
            "id": self.id,
            "algorithm": algorithm,
            "initiators": list(self.initiators),
            "status": self.status,
            **({"reason": self.reason} if self.reason else {}),
            "processes": {
                name: {"state": local.state, "events": list(self.events[name])} for name, local in self.local.items()
            },
            "channels": {name: [m.body for m in messages] for name, messages in self.channels.items()},
            "verdicts": verdicts,
        }


@once
def snapshots_of(execution: Execution) -> list[Snapshot]:
    """Every snapshot of the scenario, in the order of their first rows. Those that never began come last."""
    asked = (start.snapshot for start in execution.scenario.snapshots)
    channels = [channel.name for channel in execution.engine.channels]
    own = execution.scenario
    return snapshots_in(execution.events, own.processes, channels, asked, execution.body_of, own.absent)


@once
def first_recordings(execution: Execution) -> dict[tuple[str, str], int]:
    """By snapshot and process, the step in which the process recorded for the first time."""
    found: dict[tuple[str, str], int] = {}
    for row in in_time(execution.events):
        if row.kind == RECORD and row.snapshot_id is not None:
            found.setdefault((row.snapshot_id, row.process), row.step)
    return found


def start_steps(execution: Execution, snapshot: Snapshot) -> dict[str, int]:
    """The step in which each process that starts a snapshot does so; a service, which records nothing, has none."""
    first = first_recordings(execution)
    return {name: first[snapshot.id, name] for name in snapshot.initiators if (snapshot.id, name) in first}


def parsed(row: Event) -> Any:
    """The body of a row."""
    return None if row.body is None else json.loads(row.body)


def snapshots_in(
    events: Sequence[Event],
    processes: Sequence[str],
    channels: Sequence[str],
    asked: Iterable[str] = (),
    body_of: Callable[[Event], Any] = parsed,
    absent: Collection[str] = (),
) -> list[Snapshot]:
    """The snapshots in an event table, in the order of their first rows, then those `asked` for that have no rows.

    `processes` and `channels` hold all names, in their order. `body_of` returns the body of a row as a value. `absent`:
    who is not there at first.
    """
    rows_of: dict[str, list[Event]] = {name: [] for name in asked}
    ends = [event for event in events if event.kind in (CRASH, LEAVE, RESTORE)]
    comings = [event for event in events if event.kind in (JOIN, LEAVE)]
    labels: dict[str, list[str]] = {process: [] for process in processes}
    triggered: set[int] = set()  # the steps in which a message was received or a timer went off
    for event in in_time(events):
        if event.snapshot_id is not None:
            rows_of.setdefault(event.snapshot_id, []).append(event)
        elif event.kind in APPLICATION_KINDS and not is_gone(event):
            labels[event.process].append(event.label or "")
        if event.kind in RECEIVED or event.kind == TIMER:
            triggered.add(event.step)
    table = _EventTable(processes, channels, labels, _labels_then(events), triggered, ends, comings, absent, body_of)
    found = [table.snapshot(name, rows) for name, rows in in_time(rows_of.items(), every=1)]
    return sorted(found, key=lambda s: rows_of[s.id][0].row if rows_of[s.id] else len(events))


def _labels_then(events: Sequence[Event]) -> dict[tuple[str, int], tuple[str, ...]]:
    """The labels of the events inside each cut of a life that is over, by process and step of the recording."""
    cuts = {event.row for event in events if event.kind == RECORD and is_gone(event)}
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    so_far: dict[str, list[tuple[int, str]]] = {}
    for event in events if cuts else ():
        own = so_far.setdefault(event.process, [])
        if event.kind in APPLICATION_KINDS:
            own.append((event.index or 0, event.label or ""))
        elif event.kind == RESTORE:
            so_far[event.process] = [pair for pair in own if pair[0] <= (event.index or 0)]
        elif event.row in cuts:
            found[event.process, event.step] = tuple(label for _, label in own)
    return found


class _EventTable(NamedTuple):
    """What all snapshots of one event table share. `labels`: the application events of each process, in order.

    `labels_then` holds them as they were when a process recorded, by process and step, for the parts of a snapshot that
    belong to a life that is over.

    `ends` holds the rows of crashes and departures: a process discards what it has recorded then, unless its part is
    done. It remembers nothing, so it may record once more; but its markers have come and gone, and the snapshot is
    never complete. It also holds the rows of processes that go back, perhaps to before what they have recorded.
    `comings` holds the rows of those who join and leave, and `absent` who is not there at first.
    """

    processes: Sequence[str]
    channels: Sequence[str]
    labels: dict[str, list[str]]
    labels_then: dict[tuple[str, int], tuple[str, ...]]
    triggered: set[int]
    ends: Sequence[Event]
    comings: Sequence[Event]
    absent: Collection[str]
    body_of: Callable[[Event], Any]

    def snapshot(self, name: str, rows: list[Event]) -> Snapshot:
        """Snapshot `name` from its `rows`."""
        begun, decision = self._coordinated(rows)
        decided = None if decision is None else self.body_of(decision)
        members = tuple(begun["among"]) if begun else self._members(rows)
        own = _Parts(members, self.body_of, is_given_up=decided is not None and decided["outcome"] != COMPLETE)
        for row in merge(rows, self.ends, key=lambda row: row.row) if self.ends else rows:
            if row.process in members or row.process not in self.processes:  # who joins later takes no part
                own.take(row)
        status, completed, aborted = own.status, own.completed, own.aborted
        if decision is not None and decided is not None:
            status = decided["outcome"]
            completed, aborted = (decision.step, None) if status == COMPLETE else (None, decision.step)
        elif begun:
            status, completed = RECORDING, None
        channels = dict.fromkeys(self.channels if len(members) == len(self.processes) else self._between(members))
        return Snapshot(
            id=name,
            initiators=tuple(begun["starts"]) if begun else self._initiators(rows, own.starts),
            status=status,
            reason=decided["reason"] if decided else "",
            detail=decided["detail"] if decided else "",
            torn=own.torn,
            triggered=rows[0].step if begun else None,
            decided=decision.step if decision is not None else None,
            local={process: own.local[process] for process in self.processes if process in own.local},
            events={process: self._inside(process, part) for process, part in own.local.items()},
            channels={channel: tuple(own.kept.get(channel, ())) for channel in channels if channel in own.closed},
            open={at: tuple(kept) for at, kept in own.kept.items() if at in channels and at not in own.closed},
            closed=own.closed,
            began=min((step for _, step in own.starts), default=None),
            completed=completed,
            slowest=max(own.done, key=own.done.__getitem__, default=None) if completed is not None else None,
            aborted=aborted,
            members=members,
            markers=sum(row.kind == MARKER_SEND for row in rows),
            controls=sum(row.kind == CONTROL_SEND for row in rows),
            carried=sum(row.kind == MARKER_CARRIED for row in rows),
            collected=own.collected,
            end=own.end,
            forgetful=tuple(own.forgetful),
        )

    def _coordinated(self, rows: Sequence[Event]) -> tuple[dict[str, Any] | None, Event | None]:
        """What a coordinator noted when it started the snapshot, and its decision (None: there is none)."""
        notes = (self.body_of(row) for row in rows if row.kind == NOTED and row.process not in self.processes)
        begun = next((body for body in notes if isinstance(body, dict) and "among" in body), None)
        return begun, next((row for row in rows if row.kind == DECISION), None)

    def _inside(self, process: str, part: RecordedState) -> tuple[str, ...]:
        """The labels of the events of `process` in its part of a snapshot."""
        then = self.labels_then.get((process, part.step))
        return tuple(self.labels[process][: part.inside]) if then is None else then

    def _members(self, rows: Sequence[Event]) -> tuple[str, ...]:
        """Who was present at the first recording for the snapshot of `rows`, in the order of the processes."""
        first = next((row.row for row in rows if row.kind == RECORD), rows[0].row if rows else 0)
        there = {process: process not in self.absent for process in self.processes}
        there.update((row.process, row.kind == JOIN) for row in self.comings if row.row <= first)
        return tuple(process for process in self.processes if there[process])

    def _between(self, members: Collection[str]) -> list[str]:
        """The channels from members to members."""
        return [name for name in self.channels if {*name.split("->")} <= {*members}]

    def _initiators(self, rows: list[Event], starts: list[tuple[str, int]]) -> tuple[str, ...]:
        """The service whose row is the first; else the processes that recorded without receiving anything."""
        began = {process for process, step in starts if step not in self.triggered}
        service = [rows[0].process] if rows and rows[0].process not in self.processes else []
        return tuple(service or [process for process in self.processes if process in began])


class _Parts:
    """What the members have recorded for a snapshot, row by row.

    Who aborts, records again, or goes back behind its part before all is complete discards what it had recorded; so
    does who leaves, or crashes with a part that is not done. `torn` is the first of these two.
    """

    def __init__(self, members: Collection[str], body_of: Callable[[Event], Any], *, is_given_up: bool) -> None:
        self._members, self._body_of, self._is_given_up = members, body_of, is_given_up
        self.local: dict[str, RecordedState] = {}
        self.kept: dict[str, list[RecordedMessage]] = {}
        self.closed: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self.starts: list[tuple[str, int]] = []
        self.torn = ""
        self.forgetful: dict[str, None] = {}
        self.aborted: int | None = None
        self.collected: int | None = None
        self.end: int | None = None
        self._behind: set[str] = set()  # who has gone back behind its part after all was complete

    def take(self, row: Event) -> None:
        """A row of the snapshot, or one that may end a part of it."""
        process, channel = row.process, row.channel or ""
        if row.kind in (CRASH, LEAVE, RESTORE):
            self._end_part(row)
        elif row.kind == RECORD:
            self._discard(process)
            self._behind.discard(process)
            state = self._body_of(row)
            self.local[process] = RecordedState(state, row.index or 0, row.step, state)
            self.starts.append((process, row.step))
        elif row.kind == SNAPSHOT_ABORTED:
            self._discard(process)
            self.aborted = row.step if self.aborted is None else self.aborted
        elif row.kind == STATE_CHANGED:
            state, own = self._body_of(row), self.local[process]
            self.local[process] = own._replace(state=state, changes=(*own.changes, (row.step, state)))
        elif row.kind == RECORDED:
            message = RecordedMessage(row.message_id or 0, channel, self._body_of(row), row.step)
            self.kept.setdefault(channel, []).append(message)
        elif row.kind == CHANNEL_CLOSED:
            self.closed[channel] = row.step
        elif row.kind == SNAPSHOT_COMPLETE:
            self.done[process] = row.step
            if self._is_complete and not (self._is_given_up or self._behind):
                self.end = row.row + 1
        elif row.kind == COLLECTED:
            self.collected = row.step

    def _end_part(self, row: Event) -> None:
        """A process crashes, leaves or goes back."""
        process = row.process
        has_part = process in self.local
        if row.kind == RESTORE:
            if has_part and self.local[process].inside > (row.index or 0):
                if self.end is None:
                    self._discard(process)
                else:
                    self._behind.add(process)
            return
        if row.kind == CRASH and has_part:
            self.forgetful[process] = None
        if row.kind == LEAVE and self.starts and self.end is None:
            self.torn = self.torn or process
        if process not in self.done:
            self._discard(process)
            if row.kind == CRASH and has_part:
                self.torn = self.torn or process

    def _discard(self, process: str) -> None:
        """Removes everything that a process has recorded."""
        for channel in [name for name in {*self.kept, *self.closed} if name.partition("->")[2] == process]:
            self.kept.pop(channel, None)
            self.closed.pop(channel, None)
        self.done.pop(process, None)
        self.local.pop(process, None)

    @property
    def _is_complete(self) -> bool:
        return not self.torn and self.aborted is None and all(name in self.done for name in self._members)

    @property
    def completed(self) -> int | None:
        """The step in which the last part was done, if all are."""
        return max(self.done.values()) if self._is_complete else None

    @property
    def status(self) -> str:
        """What the parts come to, if nobody has decided."""
        return ABORTED if self.aborted is not None else COMPLETE if self._is_complete else RECORDING
