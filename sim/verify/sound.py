"""Snapshots in which nothing is wrong, judged straight from the log: without an event table, clocks or witnesses.

An ensemble judges thousands of runs, and in nearly all of them every check holds. Of any other run nothing is said
here: sim/verify/checks.py finds the witness. Tests compare the two, with all algorithms, also broken ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sim.core import deadline
from sim.core.log import KIND
from sim.core.model import (
    COPIED,
    CRASH,
    LEAVE,
    LOST,
    MARKER_CARRIED,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    RECORDED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
)
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE
from sim.verify.checks import checks_of, conserved_by


@dataclass(frozen=True)
class SoundSnapshot:
    """A complete snapshot of which all `checks` hold. What Snapshot has as well has the same name there.

    `bodies` are those of the recorded messages.
    """

    id: str
    checks: Sequence[str]
    began: int
    completed: int
    slowest: str
    bodies: Sequence[Any]
    markers: int

    status: ClassVar[str] = COMPLETE


def sound_snapshots(execution: Execution) -> list[SoundSnapshot] | None:
    """All snapshots of a run, in the order of `snapshots_of`; None unless each is complete and every check holds.

    Runs with a crash, a loss or a copy are not judged here, nor runs with a coordinator, a storage or recoveries.
    """
    deadline.check()
    checks = checks_of(execution)
    own = execution.scenario
    if own.absent or own.coordinator is not None or own.has_storage:
        return None
    if not _HOLDS.keys() >= set(checks):
        return None
    kinds = execution.log.column(KIND)
    if not {CRASH, LEAVE, LOST, COPIED}.isdisjoint(kinds):  # then checks may be undecided
        return None
    messages, rows_of = _read_log(execution)
    found = []
    for name in dict.fromkeys([*rows_of, *(start.snapshot for start in execution.scenario.snapshots)]):
        parts = _read_parts(execution, rows_of.get(name, ()))
        if parts is None or not all(_HOLDS[check](execution, parts, messages) for check in checks):
            return None
        found.append(
            SoundSnapshot(
                id=name,
                checks=checks,
                began=parts.began,
                completed=max(parts.done.values()),
                slowest=max(parts.done, key=parts.done.__getitem__),
                bodies=parts.bodies,
                markers=len(parts.markers),
            )
        )
    return found


# ------------------------------------------------------------------ reading the log

Rows = Sequence[tuple[int, tuple[Any, ...]]]  # rows of the log with their numbers


# Of a message that was received: its id, its channel, the sender and the receiver with the numbers of their events.
Receipt = tuple[int, str, str, int, str, int]


class _Messages(NamedTuple):
    """The application messages of a run; of those never received the sender and the number of its event."""

    receipts: list[Receipt]
    unreceived: Collection[tuple[str, int]]


class _Parts(NamedTuple):
    """The recordings of all processes for one snapshot: the cut, their states, and the messages by channel.

    `kept` holds the ids of the messages, `bodies` their bodies. `markers` holds the channel of every marker sent,
    `carried` the channel of every marker that rode on a message. `done` is the step at which each process was done.
    """

    cut: dict[str, int]
    states: list[Any]
    kept: dict[str, list[int]]
    bodies: list[Any]
    markers: list[str]
    carried: list[str]
    began: int
    done: dict[str, int]


def _read_log(execution: Execution) -> tuple[_Messages, dict[str, Rows]]:
    """The messages of a run, and the rows of each of its snapshots."""
    processes, channels = execution.engine.processes, execution.engine.channels
    sender = {channel.name: processes[channel.source] for channel in channels}
    receipts: list[Receipt] = []
    sends: dict[int, tuple[str, int]] = {}
    rows_of: dict[str, list[tuple[int, tuple[Any, ...]]]] = {}
    for number, row in enumerate(execution.log.each()):
        process, index, kind, channel, peer, message, _, _, snapshot = row
        if snapshot is not None:
            rows_of.setdefault(snapshot, []).append((number, row))
        elif kind == SEND:
            sends[message] = process, index
        elif kind == RECEIVE:
            receipts.append((message, channel, sender[channel], peer, process, index))
            sends.pop(message, None)
    return _Messages(receipts, sends.values()), dict(rows_of)


def _read_parts(execution: Execution, rows: Rows) -> _Parts | None:
    """Return the recordings in `rows` of one snapshot; None unless every process records once and is done, and none
    aborts.

    Of uncoordinated checkpoints the last ones count, and no channel is recorded.
    """
    again = not execution.engine.algorithm.coordinated
    cut: dict[str, int] = {}
    states: dict[str, Any] = {}
    bodies, markers, carried = [], [], []
    kept: dict[str, list[int]] = {}
    done: dict[str, int] = {}
    began = None
    step_of = execution.log.step_of
    for number, (process, index, kind, channel, _, message, _, body, _) in rows:
        if kind == MARKER_SEND:
            markers.append(channel)
        elif kind == MARKER_CARRIED:
            carried.append(channel)
        elif kind == RECORDED:
            kept.setdefault(channel, []).append(message)
            bodies.append(body)
        elif kind == SNAPSHOT_COMPLETE:
            done[process] = step_of(number)
        elif kind == RECORD and (again or process not in cut):
            cut[process] = index
            states[process] = body
            began = began or step_of(number)
        elif kind in _NOT_READ:
            return None
    is_complete = all(process in cut and process in done for process in execution.engine.processes)
    if not began or not is_complete:
        return None
    return _Parts(cut, list(states.values()), kept, bodies, markers, carried, began, done)


_NOT_READ = {RECORD, STATE_CHANGED, SNAPSHOT_ABORTED}  # what a process recorded before is not what counts


# ------------------------------------------------------------------ the checks


def _completion(execution: Execution, parts: _Parts, messages: _Messages) -> bool:
    """Only complete snapshots are judged here."""
    return True


def _one_marker(execution: Execution, parts: _Parts, messages: _Messages) -> bool:
    names = {channel.name for channel in execution.engine.channels}
    found = parts.markers + parts.carried
    return len(found) == len(names) and names == set(found)


def _consistency(execution: Execution, parts: _Parts, messages: _Messages) -> bool:
    cut = parts.cut
    return all(
        sent <= cut[sender] or received > cut[receiver] for _, _, sender, sent, receiver, received in messages.receipts
    )


def _channel_states(execution: Execution, parts: _Parts, messages: _Messages) -> bool:
    """The very messages that cross the cut were recorded, in their order; all of them were received in the end."""
    cut = parts.cut
    crossing: dict[str, list[int]] = {}
    for message, channel, sender, sent, receiver, received in messages.receipts:
        if sent <= cut[sender] and received > cut[receiver]:
            crossing.setdefault(channel, []).append(message)
    return crossing == parts.kept and all(sent > cut[sender] for sender, sent in messages.unreceived)


def _conservation(execution: Execution, parts: _Parts, messages: _Messages) -> bool:
    workload, total = execution.engine.workload, conserved_by(execution)
    found: Counter[str] = Counter()
    for state in parts.states:
        found.update(workload.measure(state))
    for body in parts.bodies:
        found.update(workload.measure_body(body))
    return all(found[good] == amount for good, amount in total.items())


_HOLDS: Mapping[str, Callable[[Execution, _Parts, _Messages], bool]] = {
    "completion": _completion, "one_marker": _one_marker, "consistency": _consistency,
    "channel_states": _channel_states, "conservation": _conservation,
}  # fmt: skip
