"""The checks of sim/verify/checks.py, computed independently, from the event table alone.

Messages, states and clocks are not used, so this works on any event table. The `record` rows of a snapshot give its
cut, and the `channel_closed` rows its channel states. The algorithm declares which checks apply, and its word for a
marker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from sim.core.algorithm import BY_NOTHING, SnapshotAlgorithm
from sim.core.model import (
    CHANNEL_CLOSED,
    CRASH,
    LOST,
    MARKER_CARRIED,
    MARKER_SEND,
    RECORD,
    RECORDED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    Event,
)
from sim.core.notation import caption, message_sent
from sim.verify.checks import Verdict

Measure = Callable[[Any], dict[str, int]]


class Conserved:
    """The conserved goods of a workload: the total, and functions that measure a state and a body (parsed JSON)."""

    def __init__(self, total: dict[str, int], state: Measure, body: Measure) -> None:
        self.total, self.state, self.body = total, state, body


def verdicts_from_table(
    events: Sequence[Event],
    processes: Sequence[str],
    channels: Sequence[str],
    snapshot: str,
    conserved: Conserved,
    algorithm: SnapshotAlgorithm,
) -> list[Verdict]:
    """The verdicts on `snapshot`. `processes` and `channels` hold all names."""
    own = [event for event in events if event.snapshot_id == snapshot]
    crashes = [event for event in events if event.kind == CRASH]
    lost = {event.message_id for event in events if event.kind == LOST}
    rows = _without_discarded(own, crashes)
    cut = {row.process: row.index or 0 for row in rows if row.kind == RECORD}
    closed = {row.channel or "": row.body or "[]" for row in rows if row.kind == CHANNEL_CLOSED}
    contents = {**_recorded(rows, closed), **closed}
    missing = [f"{name} has not recorded" for name in processes if name not in cut]
    if algorithm.closes_by != BY_NOTHING:
        missing += [f"{caption(processes, name)} is not closed" for name in channels if name not in closed]
    found = {
        "completion": missing,
        "one_marker": _miscounted(own, processes, channels, not missing, algorithm.marker),
        "consistency": _orphans(events, processes, cut) if len(cut) == len(processes) else None,
        "channel_states": None if missing else _misrecorded(events, cut, contents, processes, channels, lost),
        "conservation": None if missing or crashes or lost else _lost(rows, contents, conserved),
    }
    is_aborted = any(row.kind == SNAPSHOT_ABORTED for row in own)
    return [
        _verdict(check, None if is_aborted else witnesses)
        for check, witnesses in found.items()
        if check in algorithm.checks and (check != "conservation" or conserved.total)
    ]


def _without_discarded(rows: Sequence[Event], crashes: Sequence[Event]) -> list[Event]:
    """`rows` without the recordings that a process discarded later, when it aborted or recorded again.

    `crashes`: a process that crashes before its part is done has discarded it as well.
    """
    last: dict[str, int] = {}
    done = {row.process: row.row for row in rows if row.kind == SNAPSHOT_COMPLETE}
    for row in crashes:
        if done.get(row.process, row.row) >= row.row:
            last[row.process] = row.row
    for row in rows:
        if row.kind in (RECORD, SNAPSHOT_ABORTED):
            last[row.process] = max(row.row, last.get(row.process, 0))
    own = (RECORD, STATE_CHANGED, RECORDED, CHANNEL_CLOSED)
    return [row for row in rows if row.kind not in own or row.row >= last.get(row.process, 0)]


def _recorded(rows: Sequence[Event], closed: dict[str, str]) -> dict[str, str]:
    """The messages recorded in channels that are not closed: the JSON list of their bodies, by channel."""
    open_rows = [row for row in rows if row.kind == RECORDED and row.channel not in closed]
    names = dict.fromkeys(row.channel or "" for row in open_rows)
    return {name: f"[{','.join(row.body or 'null' for row in open_rows if row.channel == name)}]" for name in names}


def _verdict(check: str, witnesses: Iterable[str] | None) -> Verdict:
    """The verdict whose witness is the first of `witnesses`; undecided if `witnesses` is None."""
    if witnesses is None:
        return Verdict(check, None)
    witness = next(iter(witnesses), None)
    return Verdict(check, witness is None, witness)


def _miscounted(
    rows: Sequence[Event], processes: Sequence[str], channels: Sequence[str], complete: bool, marker: str
) -> Iterable[str]:
    sent = [row.channel for row in rows if row.kind in (MARKER_SEND, MARKER_CARRIED)]
    for name in channels:
        count = sent.count(name)
        if count > 1 or (complete and count == 0):
            yield f"{caption(processes, name)} carried {count} {marker}s"


def _target(channel: str | None) -> str:
    return (channel or "").partition("->")[2]


def _orphans(events: Sequence[Event], processes: Sequence[str], cut: dict[str, int]) -> Iterable[str]:
    """The messages sent outside and received inside."""
    for row in events:
        if row.kind != SEND or row.peer_index is None or row.index is None:
            continue
        if row.index > cut[row.process] and row.peer_index <= cut[_target(row.channel)]:
            name = caption(processes, row.channel or "")
            yield f"{message_sent(row)} on {name} is received inside the cut, but sent outside it"


def _misrecorded(
    events: Sequence[Event], cut: dict[str, int], closed: dict[str, str], processes: Sequence[str],
    channels: Sequence[str], lost: Container[int | None],
) -> Iterable[str]:  # fmt: skip
    crossing: dict[str, list[Event]] = {name: [] for name in channels}
    for row in events:
        if row.kind != SEND or (row.index or 0) > cut[row.process] or row.message_id in lost:
            continue
        if row.peer_index is None or row.peer_index > cut[_target(row.channel)]:
            crossing[row.channel or ""].append(row)
    for name, rows in crossing.items():
        rows.sort(key=lambda row: (row.peer_index is None, row.peer_index, row.message_id))
        found = f"[{','.join(row.body or 'null' for row in rows)}]"
        recorded = closed.get(name, "[]")
        if found != recorded:
            yield f"{caption(processes, name)} recorded {recorded}, but {found} crosses the cut"


def _lost(rows: Sequence[Event], closed: dict[str, str], conserved: Conserved) -> Iterable[str]:
    states = {row.process: row.body or "null" for row in rows if row.kind in (RECORD, STATE_CHANGED)}  # the last ones
    weights = [conserved.state(json.loads(state)) for state in states.values()]
    weights += [conserved.body(body) for bodies in closed.values() for body in json.loads(bodies)]
    for good in sorted(conserved.total):
        found = sum(weight.get(good, 0) for weight in weights)
        if found != conserved.total[good]:
            yield f"{found} {good} recorded of {conserved.total[good]}"
