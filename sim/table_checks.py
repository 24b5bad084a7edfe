"""The checks of sim/checks.py, computed from the event table alone: the second code path.

Nothing here touches messages, states, clocks or the code that made them; a table from elsewhere will
do. A snapshot's cut is read off its `record` rows, its channels off its `channel_closed` rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sim.checks import Verdict
from sim.model import CHANNEL_CLOSED, MARKER_SEND, RECORD, SEND, SNAPSHOT_ABORTED, Event

Measure = Callable[[Any], dict[str, int]]


class Conserved:
    """What a workload conserves: the total it starts with, and how to weigh a state and a body (parsed JSON)."""

    def __init__(self, total: dict[str, int], state: Measure, body: Measure) -> None:
        self.total, self.state, self.body = total, state, body


def verdicts_from_table(
    events: Sequence[Event], processes: Sequence[str], channels: Sequence[str], snapshot: str, conserved: Conserved
) -> list[Verdict]:
    """The verdicts on `snapshot`; `processes` and `channels` are the names of all there are."""
    rows = _kept([event for event in events if event.snapshot_id == snapshot])
    cut = {row.process: row.index or 0 for row in rows if row.kind == RECORD}
    closed = {row.channel or "": row.body or "[]" for row in rows if row.kind == CHANNEL_CLOSED}
    missing = [f"{name} has not recorded" for name in processes if name not in cut]
    missing += [f"{name} is not closed" for name in channels if name not in closed]
    verdicts = [_verdict("completion", missing), _verdict("one_marker", _miscounted(rows, channels, not missing))]
    if len(cut) == len(processes):
        verdicts.append(_verdict("consistency", _backward(events, cut)))
    if not missing:
        verdicts.append(_verdict("channel_states", _misrecorded(events, cut, closed, channels)))
        if conserved.total:
            verdicts.append(_verdict("conservation", _lost(rows, closed, conserved)))
    return verdicts


def _kept(rows: Sequence[Event]) -> list[Event]:
    """Without the recordings that a process threw away later."""
    aborted = {row.process: row.row for row in rows if row.kind == SNAPSHOT_ABORTED}
    own = (RECORD, CHANNEL_CLOSED)
    return [row for row in rows if row.kind not in own or row.row > aborted.get(row.process, -1)]


def _verdict(check: str, witnesses: Iterable[str]) -> Verdict:
    witness = next(iter(witnesses), None)
    return Verdict(check, witness is None, witness)


def _miscounted(rows: Sequence[Event], channels: Sequence[str], complete: bool) -> Iterable[str]:
    sent = [row.channel for row in rows if row.kind == MARKER_SEND]
    for name in channels:
        count = sent.count(name)
        if count > 1 or (complete and count == 0):
            yield f"{name} carried {count} markers"


def _target(channel: str | None) -> str:
    return (channel or "").partition("->")[2]


def _backward(events: Sequence[Event], cut: dict[str, int]) -> Iterable[str]:
    """One scan of the send rows decides: sent outside, received inside."""
    for row in events:
        if row.kind != SEND or row.peer_index is None or row.index is None:
            continue
        if row.index > cut[row.process] and row.peer_index <= cut[_target(row.channel)]:
            yield f"message {row.label} on {row.channel}"


def _misrecorded(
    events: Sequence[Event], cut: dict[str, int], closed: dict[str, str], channels: Sequence[str]
) -> Iterable[str]:
    crossing: dict[str, list[Event]] = {name: [] for name in channels}
    for row in events:
        if row.kind != SEND or (row.index or 0) > cut[row.process]:
            continue
        if row.peer_index is None or row.peer_index > cut[_target(row.channel)]:
            crossing[row.channel or ""].append(row)
    for name, rows in crossing.items():
        rows.sort(key=lambda row: (row.peer_index is None, row.peer_index, row.message_id))
        found = f"[{','.join(row.body or 'null' for row in rows)}]"
        if found != closed[name]:
            yield f"{name} recorded {closed[name]}, the cut finds {found}"


def _lost(rows: Sequence[Event], closed: dict[str, str], conserved: Conserved) -> Iterable[str]:
    states = {row.process: row.body or "null" for row in rows if row.kind == RECORD}
    weights = [conserved.state(json.loads(state)) for state in states.values()]
    weights += [conserved.body(body) for bodies in closed.values() for body in json.loads(bodies)]
    for good in sorted(conserved.total):
        found = sum(weight.get(good, 0) for weight in weights)
        if found != conserved.total[good]:
            yield f"{found} {good} recorded of {conserved.total[good]}"
