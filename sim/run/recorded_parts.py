"""The parts of a snapshot: the recorded states and messages of its members, read row by row from an event table."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from sim.core.model import (
    CHANNEL_CLOSED,
    COLLECTED,
    CRASH,
    LEAVE,
    RECORD,
    RECORDED,
    RESTORE,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    Event,
)


class RecordedState(NamedTuple):
    """The recorded state of a process, the number of its events `inside`, and the `step` of the recording.

    `recorded` is the state as it was recorded. It equals `state`, unless the recording was no copy. Then `changes`
    holds each later state with its step, and `state` is the last of these.
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


class Parts:
    """The recordings of a snapshot's members, row by row.

    A process discards its part if it aborts or records again. It discards it if it goes back to before its part while
    the snapshot is not complete. It also discards it if it leaves, or crashes with a part that is not done: `torn` is
    the first such process.
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
        self._behind: set[str] = set()  # processes that went back to before their part after the snapshot was complete

    def take(self, row: Event) -> None:
        """Take in a row of the snapshot, or one that may end a part of it."""
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
            if self.is_complete and not (self._is_given_up or self._behind):
                self.end = row.row + 1
        elif row.kind == COLLECTED:
            self.collected = row.step

    def _end_part(self, row: Event) -> None:
        """Take in the row of a process that crashes, leaves or goes back."""
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
        """Remove everything that a process has recorded."""
        for channel in [name for name in {*self.kept, *self.closed} if name.partition("->")[2] == process]:
            self.kept.pop(channel, None)
            self.closed.pop(channel, None)
        self.done.pop(process, None)
        self.local.pop(process, None)

    @property
    def is_complete(self) -> bool:
        """Whether every member's part is done, and the snapshot is neither torn nor aborted."""
        return not self.torn and self.aborted is None and all(name in self.done for name in self._members)

    @property
    def completed(self) -> int | None:
        """The step in which the last part was done, if all are."""
        return max(self.done.values()) if self.is_complete else None
