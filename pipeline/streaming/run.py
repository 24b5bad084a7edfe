"""A run that is followed: its released rows, which message is where, and which snapshots may be judged.

Everything that later batches need is in here, and little of it: no event that is behind, only messages that are on
their way, what waits, and a few numbers for each process and each snapshot. All else is in the tables of the folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from pipeline.cuts.surviving import MARKS
from pipeline.logs.growing import Grown
from pipeline.streaming.followed_cuts import FollowedCuts
from pipeline.streaming.releasing import Releasing, Unit, is_sent
from sim.core.errors import InputError
from sim.core.model import (
    APPLICATION_KINDS,
    DOWN,
    JOIN,
    LEAVE,
    MARKER_SEND,
    NOTED,
    RECEIVE,
    RECORD,
    RECOVERY,
    RESTORE,
    SEND,
    SERVICE_KINDS,
    SNAPSHOT_ABORTED,
    UP,
)

PEER = 7  # the place of peer_index in a row of `Batch.rows`
_NO_MEMBERS = SERVICE_KINDS | {DOWN, UP, JOIN, LEAVE}


def _among(row: Grown) -> list[str] | None:
    """The processes among which a coordinator starts a snapshot (None: the row says something else)."""
    body = json.loads(row.body or "null")
    return list(body["among"]) if isinstance(body, dict) and "among" in body else None


class Sent(NamedTuple):
    """A message: the row of its send, both of its processes, and the indices of its ends (None: not received)."""

    row: int
    source: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed
    target: str
    peer: int | None = None


class Past(Protocol):
    """What the tables have of the run so far."""

    def receipts(self, process: str, kept: int) -> dict[int, Sent]:
        """The messages to a process that were received after so many of its events, by message_id."""

    def sent(self, message: int) -> Sent | None:
        """A message."""


@dataclass
class Batch:
    """What a batch adds to a run: rows, from row number `first` on, and the new peer_index of rows before them.

    A row has the columns of the event table after run_id. `least` says from which of its events on the past of a
    process has changed. `received` are the messages that were received in the batch, `forgotten` those that nobody is
    expected to receive any more.
    """

    first: int
    rows: list[list[Any]] = field(default_factory=list)
    patches: dict[int, int | None] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    received: dict[int, Sent] = field(default_factory=dict)
    forgotten: dict[int, Sent] = field(default_factory=dict)

    def changed(self, process: str, index: int) -> None:
        """The past of a process has changed, from an event on."""
        self.least[process] = min(index, self.least.get(process, index))

    def set_peer(self, row: int, peer: int | None) -> None:
        """Fills in the partner of a row."""
        if row >= self.first:
            self.rows[row - self.first][PEER] = peer
        else:
            self.patches[row] = peer


class Run:
    """A run, called `name`. `key` tells it from the others that are followed, `number` is its run_id."""

    def __init__(self, key: str, name: str, number: int) -> None:
        self.key, self.name, self.number = key, name, number
        self.releasing = Releasing()
        self.open: dict[int, Sent] = {}  # by message_id, what was sent and not received
        self.is_marked = False  # by a recovery, a loss, a copy, a join or a leave: sends and receives do not tell all
        self.members: dict[str, None] = {}  # the processes of the run
        self.named: list[str] | None = None  # by a coordinator, for every snapshot so far (None: there is none)
        self.cuts = FollowedCuts()
        self.rows, self.steps, self.events, self.messages, self.time = 0, 0, 0, 0, 0.0

    def advance(self, past: Past) -> Batch:
        """Releases what can be released."""
        batch = Batch(self.rows)
        for unit in self.releasing.released(self.open, lambda message: self._find(message, batch, past)):
            self._release(unit, batch, past)
        self.rows += len(batch.rows)
        self.releasing.check_size()
        self.cuts.decide(self.members)
        self.cuts.change(batch.least)
        return batch

    def _find(self, message: int, batch: Batch, past: Past) -> bool:
        """Whether a message was forgotten, since a recovery took back its send; then it is open again."""
        if not any(process.restores for process in self.releasing.processes.values()):
            return False
        own = batch.forgotten.pop(message, None) or past.sent(message)
        if own is not None:
            self.open[message] = own._replace(peer=None)
        return own is not None

    def _release(self, unit: Unit, batch: Batch, past: Past) -> None:
        self.steps += 1
        for row in unit.rows:
            process = self.releasing.process(row.process)
            if row.kind in APPLICATION_KINDS:
                index = row.index or 0
                if index > process.count + 1:
                    lacks = f"event {process.count + 1} of {row.process} is missing before it"
                    raise InputError(f"{unit.file}: has event {index} of {row.process} in a line where {lacks}")
                if index > process.count:
                    process.count = index
                    self.events += 1
                else:  # the event has another partner
                    batch.changed(row.process, index)
            self._note(row, batch, past)
            if row.time is not None:
                self.time = max(self.time, row.time)  # the clocks of nodes differ
            time = self.time if row.time is not None else float(self.steps)
            batch.rows.append([
                batch.first + len(batch.rows), self.steps, time, row.process, row.index, row.kind, row.channel,
                None, row.message, row.label, row.body, row.snapshot_id, row.state_size,
                process.epoch if row.epoch is None else row.epoch,
            ])  # fmt: skip
            if is_sent(row):
                self._send(unit, row, batch)
            elif row.kind == RECEIVE:
                self._receive(unit, row, batch)

    def _send(self, unit: Unit, row: Grown, batch: Batch) -> None:
        assert row.message is not None and row.index is not None and row.channel is not None
        if row.message in self.open or row.message in batch.received:
            raise InputError(f"{unit.file}: sends message {row.message} again; every message has its own message_id")
        source, _, target = row.channel.partition("->")
        self.open[row.message] = Sent(batch.first + len(batch.rows) - 1, source, row.index, target)
        self.messages += 1

    def _receive(self, unit: Unit, row: Grown, batch: Batch) -> None:
        assert row.message is not None and row.index is not None
        sent = self.open.pop(row.message)
        channel = f"{sent.source}->{sent.target}"
        if row.channel != channel:
            was = f"receives from {row.channel} message {row.message}, which was sent on {channel}"
            raise InputError(f"{unit.file}: {was}; they have to agree")
        batch.set_peer(sent.row, row.index)
        batch.rows[-1][PEER] = sent.index
        batch.received[row.message] = sent._replace(peer=row.index)
        batch.changed(sent.source, sent.index)

    # ------------------------------------------------------------------ what control rows tell

    def _note(self, row: Grown, batch: Batch, past: Past) -> None:
        kind, name = row.kind, row.process
        if kind not in _NO_MEMBERS:
            self.members[name] = None
            if kind in (SEND, MARKER_SEND) and row.channel:
                self.members[row.channel.partition("->")[2]] = None
        if kind == NOTED and (among := _among(row)) is not None:
            self.named = [own for own in among if self.named is None or own in self.named]
        is_left_out = self.named is not None and not self.members.keys() <= {*self.named}
        self.is_marked |= kind in MARKS or is_left_out
        if kind == RECORD and row.snapshot_id is not None:
            self.cuts.record(row.snapshot_id, name, row.index or 0)
        elif kind == SNAPSHOT_ABORTED and row.snapshot_id is not None:
            self.cuts.abort(row.snapshot_id)
        elif kind == RESTORE:
            self._restore(row, batch, past)
        elif kind == RECOVERY and row.epoch is not None:
            body = json.loads(row.body or "{}")
            for node in (*body.get("services", ()), *body.get("keeps", ())):
                self.releasing.process(node).epoch = row.epoch

    def _restore(self, row: Grown, batch: Batch, past: Past) -> None:
        """A process goes back: its later events are gone, and what they received is on its way again."""
        name, kept = row.process, row.index or 0
        process = self.releasing.process(name)
        process.epoch = process.epoch + 1 if row.epoch is None else row.epoch
        process.restores.append((kept, process.count))
        batch.changed(name, kept + 1)
        again = {key: sent for key, sent in past.receipts(name, kept).items() if sent.row not in batch.patches}
        again |= {key: sent for key, sent in batch.received.items() if sent.target == name}
        for message, sent in again.items():
            if not kept < (sent.peer or 0) <= process.count:  # a batch that is carried out again may see its own future
                continue
            batch.set_peer(sent.row, None)
            batch.received.pop(message, None)
            batch.changed(sent.source, sent.index)
            self.open[message] = sent._replace(peer=None)
        for message in [message for message, sent in self.open.items() if self._is_over(message, sent)]:
            batch.forgotten[message] = self.open.pop(message)

    def _is_over(self, message: int, sent: Sent) -> bool:
        """Whether a message is gone, and its receiver in a later life too: if all is well nobody receives it."""
        source, target = (self.releasing.process(name) for name in (sent.source, sent.target))
        is_gone = self.is_gone(sent.source, sent.index) and target.epoch >= source.epoch
        return is_gone and not self.releasing.is_awaited(message)

    def is_gone(self, process: str, index: int) -> bool:
        """Whether a recovery has taken back an event."""
        return any(kept < index <= last for kept, last in self.releasing.process(process).restores)
