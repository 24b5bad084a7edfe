"""The checks of sim/verify/checks.py, computed independently, from the event table alone.

Messages, states and clocks are not used, so this works on any event table. The `record` rows of a snapshot give its
cut, and the `channel_closed` rows its channel states. The algorithm declares which checks apply, and its word for a
marker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sim.core.algorithm import BY_NOTHING, SnapshotAlgorithm
from sim.core.model import (
    CHANNEL_CLOSED,
    COPIED,
    CRASH,
    DECISION,
    FENCED,
    JOIN,
    LEAVE,
    LOST,
    MARKER_CARRIED,
    MARKER_SEND,
    NOTED,
    RECEIVE,
    RECORD,
    RECORDED,
    RESTART,
    RESTORE,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    Event,
)
from sim.core.notation import caption, message_sent
from sim.verify.checks import Verdict, unbalanced

Measure = Callable[[Any], dict[str, int]]


class Conserved:
    """The conserved goods of a workload: what each process has of them at first, and how to measure a state and a body.

    States and bodies are given as parsed JSON.
    """

    def __init__(self, initial: Mapping[str, Mapping[str, int]], state: Measure, body: Measure) -> None:
        self.initial, self.state, self.body = initial, state, body

    def total(self, processes: Iterable[str]) -> dict[str, int]:
        """The total of each good that these processes have at first."""
        found: Counter[str] = Counter()
        for process in processes:
            found.update(self.initial[process])
        return found


def verdicts_from_table(
    events: Sequence[Event],
    processes: Sequence[str],
    channels: Sequence[str],
    snapshot: str,
    conserved: Conserved,
    algorithm: SnapshotAlgorithm,
    absent: Collection[str] = (),
) -> list[Verdict]:
    """The verdicts on `snapshot`. `processes` and `channels` hold all names; `absent`: who is not there at first."""
    own = [event for event in events if event.snapshot_id == snapshot]
    crashes = [event for event in events if event.kind in (CRASH, LEAVE)]
    rows = _without_discarded(own, crashes)
    records = [row for row in rows if row.kind == RECORD]
    cut = {row.process: row.index or 0 for row in records}
    restores = [event for event in events if event.kind == RESTORE]
    is_over = any(_is_taken_back(row, restores) for row in records)  # a recovery has gone back to before it
    if restores:
        events = [row for row in events if row.index is None or not _is_taken_back(row, restores)]
    lost = {event.message_id for event in events if event.kind in (LOST, FENCED)}
    by_network = {event.message_id for event in events if event.kind == LOST and event.process == _source(event)}
    everybody, all_there = processes, conserved.total(processes)
    processes = _members(events, own, processes, absent, cut)
    others = frozenset(everybody) - frozenset(processes)
    channels = [name for name in channels if not others & {*name.split("->")}]
    has_cut = len(cut) == len(processes)
    is_down = any(not any(row.process == own.process and row.row > own.row for row in restores) for own in crashes)
    adds_up = has_cut and not (is_down or _has_dealings(events, others, cut))
    closed = {row.channel or "": row.body or "[]" for row in rows if row.kind == CHANNEL_CLOSED}
    contents = {**_recorded(rows, closed), **closed}
    missing = [f"{name} has not recorded" for name in processes if name not in cut]
    missing += [f"{name} has lost its part in a crash" for name in _torn(own, crashes)]
    if algorithm.closes_by != BY_NOTHING:
        missing += [f"{caption(everybody, name)} is not closed" for name in channels if name not in closed]
    found = {
        "completion": missing,
        "one_marker": _miscounted(own, everybody, channels, not missing, algorithm.marker),
        "consistency": _orphans(events, everybody, _closed(events, others, cut)) if has_cut else None,
        "channel_states": None if missing else _misrecorded(events, cut, contents, everybody, channels, lost),
        "conservation": _unbalanced(rows, contents, conserved, processes, _by_network(events, cut, by_network))
        if adds_up and not missing
        else None,
    }
    outcomes = [json.loads(row.body or "{}")["outcome"] for row in own if row.kind == DECISION]
    is_aborted = any(row.kind == SNAPSHOT_ABORTED for row in own) or outcomes not in ([], ["complete"])
    if len(outcomes) > 1:
        found["one_outcome"] = [f"{snapshot} is decided {len(outcomes)} times"]
    else:
        down = _not_up(events, everybody, absent)
        keepers = [name for name in everybody if name in cut and name not in down] if is_aborted else []
        found["one_outcome"] = [f"{name} keeps its part" for name in keepers]
    found["conservation"] = found.pop("conservation")  # the last one
    return [
        _verdict(check, None if is_over or (is_aborted and check != "one_outcome") else witnesses)
        for check, witnesses in found.items()
        if check in algorithm.checks and (check != "conservation" or all_there)
    ]


def _is_taken_back(row: Event, restores: Sequence[Event]) -> bool:
    """Whether a later restore of its process keeps fewer events than the index of a row."""
    later = (own.index or 0 for own in restores if own.process == row.process and own.row > row.row)
    return any(kept < (row.index or 0) for kept in later)


def _source(row: Event) -> str:
    return (row.channel or "").partition("->")[0]


def _torn(rows: Sequence[Event], crashes: Sequence[Event]) -> Iterator[str]:
    """Who had recorded and was not done when it crashed or left."""
    for crash in crashes:
        own = [row.kind for row in rows if row.process == crash.process and row.row < crash.row]
        parts = [kind for kind in own if kind in (RECORD, SNAPSHOT_COMPLETE, SNAPSHOT_ABORTED)]
        if parts and parts[-1] == RECORD:
            yield crash.process


def _members(
    events: Sequence[Event],
    own: Sequence[Event],
    processes: Sequence[str],
    absent: Collection[str],
    cut: Container[str],
) -> list[str]:
    """Who takes part in the snapshot with the rows `own`: whom a coordinator has named when it started it.

    Without one, who is there at the first row, and who has recorded.
    """
    named = (json.loads(row.body or "null") for row in own if row.kind == NOTED and row.process not in processes)
    for body in named:
        if isinstance(body, dict) and "among" in body:
            return [process for process in processes if process in body["among"]]
    began = own[0].row if own else 0
    gone = {*absent}
    for row in events[: began + 1]:
        if row.kind == LEAVE:
            gone.add(row.process)
        elif row.kind == JOIN:
            gone.discard(row.process)
    return [process for process in processes if process not in gone or process in cut]


def _is_send(row: Event) -> bool:
    """Whether a row puts an application message into a channel: a send, or a copy of what one sent."""
    return row.kind == SEND or (row.kind == COPIED and row.index is not None)


def _not_up(events: Sequence[Event], processes: Sequence[str], absent: Collection[str]) -> set[str]:
    """Who is down or not there when the run ends."""
    found = {name for name in processes if name in absent}
    for row in events:
        if row.kind in (CRASH, LEAVE):
            found.add(row.process)
        elif row.kind in (RESTART, JOIN, RESTORE):
            found.discard(row.process)
    return found


def _has_dealings(events: Sequence[Event], others: frozenset[str], cut: Mapping[str, int]) -> bool:
    """Whether inside the cut a message is sent to one of the `others`, or received from one."""
    messages = (row for row in events if _is_send(row) or row.kind == RECEIVE)
    inside = (row for row in messages if (row.index or 0) <= cut.get(row.process, 0))
    return any(not others.isdisjoint((row.channel or "").split("->")) for row in inside)


def _closed(events: Sequence[Event], others: Collection[str], cut: Mapping[str, int]) -> dict[str, int]:
    """`cut`, and for each of the `others` the number of its events from which messages lead into the cut."""
    found = {**cut, **dict.fromkeys(others, 0)}
    grows = True
    while grows:
        grows = False
        for row in events if others else ():
            sent = row.index or 0
            is_inside = row.peer_index is not None and row.peer_index <= found[_target(row.channel)]
            if _is_send(row) and row.process in others and is_inside and sent > found[row.process]:
                found[row.process], grows = sent, True
    return found


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
        if not _is_send(row) or row.peer_index is None or row.index is None:
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
        if not _is_send(row) or row.channel not in crossing or (row.message_id in lost and row.peer_index is None):
            continue
        if (row.index or 0) > cut[row.process]:
            continue
        if row.peer_index is None or row.peer_index > cut[_target(row.channel)]:
            crossing[row.channel or ""].append(row)
    for name, rows in crossing.items():
        rows.sort(key=lambda row: (row.peer_index is None, row.peer_index, row.message_id))
        found = f"[{','.join(row.body or 'null' for row in rows)}]"
        recorded = closed.get(name, "[]")
        if found != recorded:
            yield f"{caption(processes, name)} recorded {recorded}, but {found} crosses the cut"


def _by_network(
    events: Sequence[Event], cut: Mapping[str, int], lost: Container[int | None]
) -> dict[str, Sequence[Event]]:
    """What the network has lost and copied of what was sent inside the cut."""
    inside = [row for row in events if _is_send(row) and (row.index or 0) <= cut.get(row.process, 0)]
    return {
        "lost": [row for row in inside if row.message_id in lost and row.peer_index is None],
        "copied": [row for row in inside if row.kind == COPIED],
    }


def _unbalanced(
    rows: Sequence[Event], closed: dict[str, str], conserved: Conserved, processes: Iterable[str],
    network: Mapping[str, Sequence[Event]],
) -> Iterable[str]:  # fmt: skip
    """The goods that do not add up. `network`: what it has lost and copied inside the cut."""
    states = {row.process: row.body or "null" for row in rows if row.kind in (RECORD, STATE_CHANGED)}  # the last ones
    weights = [conserved.state(json.loads(state)) for state in states.values()]
    weights += [conserved.body(body) for bodies in closed.values() for body in json.loads(bodies)]
    total = conserved.total(processes)
    by_network = {how: [conserved.body(json.loads(row.body or "null")) for row in own] for how, own in network.items()}
    for good in sorted(total):
        found = sum(weight.get(good, 0) for weight in weights)
        amounts = {how: sum(body.get(good, 0) for body in bodies) for how, bodies in by_network.items()}
        if found + amounts["lost"] - amounts["copied"] != total[good]:
            yield unbalanced(found, good, total[good], amounts)
