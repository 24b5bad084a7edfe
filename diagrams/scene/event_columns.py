"""The event table of a run in a few columns: the browser lists and searches its rows, and follows causes in them."""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    BLOCKED,
    CHANNEL_CLOSED,
    COLLECTED,
    COMMITTED,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    COPIED,
    CRASH,
    DECISION,
    DOWN,
    DROPPED,
    FENCED,
    FROZEN,
    FULL,
    INTERNAL,
    JOIN,
    KINDS,
    LEAVE,
    LOST,
    MARKER_CARRIED,
    MARKER_RECEIVE,
    MARKER_SEND,
    NOTED,
    OUTPUT,
    PAUSED,
    PUT_BACK,
    RECEIVE,
    RECORD,
    RECORDED,
    RECOVERY,
    RESENT,
    RESTART,
    RESTORE,
    RESUMED,
    ROOM,
    SEND,
    SLOW,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    THAWED,
    TIMER,
    UNBLOCKED,
    UP,
    Event,
    label_of,
)
from sim.core.notation import SIGNS
from sim.explain.actions import fault_in_words
from sim.explain.rollbacks import why_gone
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.rollbacks import taken_back
from sim.theory.cut_names import CutNames


def columns(execution: Execution, position: Callable[[Event], float], positions: Sequence[float]) -> dict[str, Any]:
    """One entry per row of the event table, in their order.

    lane, kind, step, message, channel, snapshot, body: little-endian numbers in base64, each column in as few bytes as
        it needs; -1 means none. `kind` is an index into KINDS. The last three are indices into the next three lists.
    channels: names and captions; the caption is empty if a channel is not in the graph.
    snapshots: ids. bodies: the contents of messages and internal events, in words.
    kinds: for each of KINDS the title of its rows, and more words that find them; None if there are no such rows.
    gone: by number of the application event, the step from which on a recovery has taken it back, and why. The
        others of a process are numbered from 1.
    lost: the messages that are lost. copies: by copy, the message of which it is one.
    faults: the faults between which cuts lie (sim/theory/cut_names.py), in their order: `lane` (None: under way),
        `inside` (the events of its process before it), `step`, `position`, `kind`, `sign`, `name`, `message` (which it
        loses or copies) and whether a `state` is lost.
    labels: by number of the application event, the labels that are more than process and index.
    apart: by number of the application event, its position on the time axis if that is not its step's. The argument
        `position` gives an event's position, `positions` gives each step's.
    """
    lane_of = {name: lane for lane, name in enumerate(execution.engine.nodes)}
    rows, words = execution.events, words_of(execution)
    events = [event for event in rows if event.kind in APPLICATION_KINDS]
    labels = {
        number: event.label
        for number, event in enumerate(events)
        if event.label != label_of(event.process, event.index or 0, None)
    }
    channels, channel = _numbered(event.channel for event in rows)
    snapshots, snapshot = _numbered(event.snapshot_id for event in rows)
    bodies, body = _numbered(_bodies(execution))
    return {
        "count": len(rows),
        "lane": _packed([lane_of[event.process] for event in rows]),
        "kind": _packed([KINDS.index(event.kind) for event in rows]),
        "step": _packed([event.step for event in rows]),
        "message": _packed([-1 if event.message_id is None else event.message_id for event in rows]),
        "channel": _packed(channel),
        "snapshot": _packed(snapshot),
        "body": _packed(body),
        "channels": [{"name": name, "caption": words.caption.get(name, "")} for name in channels],
        "kinds": _kinds(words.algorithm, {event.kind for event in rows}),
        "snapshots": snapshots,
        "bodies": bodies,
        "lost": sorted(number for number in execution.history.lost if number is not None),
        "faults": [_fault(execution, lane_of, position, *place) for place in CutNames(execution.order).faults],
        "gone": _gone(execution, events),
        "copies": dict(_copies(execution)),
        "labels": labels,
        "apart": {
            number: round(position(event), 4)
            for number, event in enumerate(events)
            if position(event) != positions[event.step]
        },
    }


def _fault(
    execution: Execution, lane_of: Mapping[str, int], position: Callable[[Event], float], line: int, number: int
) -> dict[str, Any]:
    order = execution.order
    at, process = order.lines[line][number - 1], (*order.processes[line : line + 1], "")[0]
    return {
        "lane": lane_of.get(process),
        "inside": at.inside,
        "step": at.step,
        "position": round(position(execution.events[at.row]), 4),
        "kind": at.kind,
        "sign": SIGNS[at.kind],
        "name": fault_in_words(execution, at, process).name,
        "message": at.message,
        "state": at.kind in (CRASH, LEAVE),
    }


def _copies(execution: Execution) -> Iterable[tuple[int, int]]:
    """Each copy of a message with that message, by their ids."""
    original = {flight.send.row: flight.id for flight in execution.flights if flight.copied is None}
    return ((flight.id, original[flight.send.row]) for flight in execution.flights if flight.copied is not None)


def _gone(execution: Execution, events: Sequence[Event]) -> dict[int, list[Any]]:
    """The application events that recoveries take back, by their number: [step, why]."""
    back = taken_back(execution)
    return {
        number: [max(back[event.row].step, event.step), why_gone(execution, event)]
        for number, event in enumerate(events)
        if event.row in back
    }


def _kinds(algorithm: SnapshotAlgorithm, there: Container[str]) -> list[dict[str, str] | None]:
    marker, control = algorithm.marker, algorithm.control_message
    told = {
        INTERNAL: ("internal", "event"),
        SEND: ("send", "sends sent message"),
        RECEIVE: ("receive", "receives received message"),
        RECORD: ("records its state", "recorded recording"),
        RECORDED: ("message recorded", "records recording channel"),
        MARKER_SEND: (f"{marker} sent", "marker sends"),
        MARKER_RECEIVE: (f"{marker} received", "marker receives"),
        MARKER_CARRIED: (f"{marker} carried", "marker rides piggyback piggybacked"),
        CHANNEL_CLOSED: ("stops recording the channel", "channel closed closes"),
        SNAPSHOT_COMPLETE: ("has done its part", "snapshot complete completed"),
        SNAPSHOT_ABORTED: ("snapshot aborted", "given up"),
        CONTROL_SEND: (f"{control} sent", "control message sends"),
        CONTROL_RECEIVE: (f"{control} received", "control message receives"),
        TIMER: ("timer goes off", ""),
        BLOCKED: ("channel blocked", "blocks"),
        UNBLOCKED: ("channel unblocked", "unblocks"),
        PAUSED: ("pauses", "paused"),
        RESUMED: ("goes on", "resumed resumes"),
        FULL: ("channel full", "stands still back-pressure"),
        ROOM: ("channel has room", "goes on back-pressure"),
        CRASH: ("crashes", "crashed down fault failure"),
        RESTART: ("starts again", "restarts restarted up fault"),
        FROZEN: ("is frozen", "frozen freezes stands still sigstop fault"),
        THAWED: ("is thawed", "thawed thaws goes on sigcont fault"),
        DOWN: ("channel severed", "severs down partition fault"),
        UP: ("channel mended", "mends up fault"),
        LOST: ("message lost", "loses fault"),
        COPIED: ("message copied", "copies duplicate twice fault"),
        RESENT: ("message sent again", "resent resends lost layer fault"),
        DROPPED: ("copy dropped", "duplicate drops copied layer fault"),
        SLOW: ("changes its pace", "slow slower straggler fault"),
        DECISION: ("decides", "decision coordinator complete expired failed"),
        JOIN: ("joins", "joined member membership"),
        LEAVE: ("leaves", "left gone member membership"),
        STATE_CHANGED: ("recorded state changes", "changed reference"),
        NOTED: ("notes", "noted sum"),
        COLLECTED: ("every part is there", "collected collection complete"),
        RECOVERY: ("recovery begins", "rolled back rollback epoch goes"),
        RESTORE: ("goes back", "restored restores recovery rollback"),
        PUT_BACK: ("message put back", "replayed restored again recovery channel"),
        FENCED: ("message fenced off", "fence epoch old recovery dropped"),
        COMMITTED: ("manifest written", "committed valid snapshot stored storage"),
        OUTPUT: ("output", "gives sink outside"),
    }
    return [{"title": told[kind][0], "aliases": told[kind][1]} if kind in there else None for kind in KINDS]


def _bodies(execution: Execution) -> Iterable[str | None]:
    """The content of each row, in words; None if it has none."""
    words, flights = words_of(execution).workload, execution.flights
    algorithm = execution.engine.algorithm
    for event in in_time(execution.events):
        flight = None if event.message_id is None else flights[event.message_id]
        if event.kind == TIMER:
            yield event.label
        elif event.kind == OUTPUT:
            yield words.body_words(execution.body_of(event)) or None
        elif event.kind == NOTED:
            yield algorithm.note_words(execution.body_of(event))
        elif event.kind == INTERNAL:
            yield words.body_words(execution.body_of(event)) or None
        elif flight is None or flight.is_marker:
            yield None
        elif flight.is_control:
            yield str(flight.body) if isinstance(flight.body, str | int | float) else None
        else:
            yield words.body_words(flight.body) or None


def _numbered(values: Iterable[str | None]) -> tuple[list[str], list[int]]:
    """The different values, and each value as its number among them; -1 for None."""
    numbers: dict[str | None, int] = {None: -1}
    found = [numbers.setdefault(value, len(numbers) - 1) for value in values]
    return [value for value in numbers if value is not None], found


def _packed(values: list[int]) -> str:
    """Signed numbers of one, two or four bytes: the fewest that the largest needs."""
    most = max(values, default=0)
    numbers = array("b" if most < 2**7 else "h" if most < 2**15 else "i", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")
