"""Why a snapshot holds what it holds: for every message, process and channel, the rule and the events that decide.

A case is a rule in words: a sentence with named fields in braces, which a browser fills in too. The
fields: `message` (what it carries, or its name), `send` and `receive` (the labels of its events), `sent`
and `received` (their steps), `source` and `target` (processes), `channel` (its caption), `snapshot`,
and `first` and `second`: the steps of the two events that decide, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sim import words
from sim.execution import Execution, Flight, once
from sim.model import CHANNEL_CLOSED, MARKER_RECEIVE, RECORD, Event
from sim.snapshots import Snapshot, snapshots_of

CASES = {
    "channel": "{channel} holds {message}: sent at {send} (step {sent}), before {source} recorded; received at "
    "{receive} (step {received}), after {target} recorded (step {first}) and before {channel} was closed "
    "(step {second}).",
    "channel_open": "{channel} holds {message}: sent at {send} (step {sent}), before {source} recorded; received at "
    "{receive} (step {received}), after {target} recorded (step {first}). No marker has closed {channel} yet.",
    "channel_waits": "{channel} holds {message}: sent at {send} (step {sent}), before {source} has recorded at all; "
    "received at {receive} (step {received}), after {target} recorded (step {first}).",
    "state": "{message} is part of {target}'s state: received at {receive} (step {first}), before {target} recorded "
    "(step {second}).",
    "future": "{message} is in no recorded state: {source} sent it at {send} (step {second}), after {source} recorded "
    "(step {first}). It belongs to what comes after the snapshot.",
    "unrecorded": "{message} is in no recorded state: {target} received it at {receive} (step {first}), but does not "
    "record for {snapshot}.",
    "held": "{message} is still in {channel}: sent at {send} (step {sent}), before {source} recorded (step {first}), "
    "and not received when the run ends. A recording holds only what is received.",
    "on_its_way": "{message} is still in {channel}: sent at {send} (step {sent}) and not received when the "
    "run ends. {source} does not record for {snapshot}.",
    "overtaken": "{message} is lost: sent at {send} (step {sent}), before {source} recorded, but received at {receive} "
    "(step {second}), after {channel} was closed (step {first}). The marker overtook it: {channel} is not FIFO.",
    "lost": "{message} is lost: sent at {send} (step {sent}), before {source} recorded, and not received, though "
    "{channel} was closed (step {first}). The marker overtook it: {channel} is not FIFO.",
    "orphan": "{message} makes the cut inconsistent: sent at {send} (step {sent}), after {source} recorded (step "
    "{first}), yet received at {receive} (step {received}), before {target} recorded (step {second}).",
    "early": "{message} is recorded in {channel} although {source} sent it at {send} (step {sent}), after {source} "
    "recorded (step {first}): it overtook the marker and came at {receive} (step {second}).",
    "recorded_by_rule": "{channel} holds {message}, as the rules of {algorithm} ask: sent at {send} (step {sent}).",
    "left_out_by_rule": "{message} is not recorded in {channel}, as the rules of {algorithm} ask: sent at {send} "
    "(step {sent}).",
    "marker_records": "This marker of {snapshot} was {target}'s first: {target} recorded its state (step {second}). "
    "A marker is no message of the computation, so no state holds it.",
    "marker_closes": "This marker of {snapshot} told {target} that everything sent before it has come: it closed "
    "{channel} (step {second}), which was recorded since {target} recorded (step {first}). No state holds a marker.",
    "marker_held": "This marker of {snapshot} has not come when the run ends, so {channel} is not closed.",
    "marker_noted": "{target} received this marker of {snapshot} at step {second}. No state holds a marker.",
    "other_marker": "This marker belongs to another snapshot than {snapshot}. No state holds a marker.",
}
_RECORDED = frozenset({"channel", "channel_open", "channel_waits", "early", "recorded_by_rule"})


class Reason(NamedTuple):
    """Why a message is recorded in its channel, or is not.

    `case` is a key of CASES; `first` and `second` are the steps of the two events that decide, in their
    order (None: there is no such event).
    """

    case: str
    recorded: bool
    first: int | None = None
    second: int | None = None


class Deciding(NamedTuple):
    """The rows that decide for one snapshot.

    `recorded` is the record row of each process that recorded, `closed` the closing row of each channel.
    `cause` is the marker's receipt that made either happen, by process and by channel (missing: the process
    started the snapshot, or another rule did it). `kept` holds the ids of the messages that are recorded.
    """

    recorded: dict[str, Event]
    closed: dict[str, Event]
    cause: dict[str, Event]
    kept: frozenset[int]


@once
def _deciding(execution: Execution) -> dict[str, Deciding]:
    """What decides, by snapshot id."""
    found = {
        s.id: Deciding({}, {}, {}, frozenset(message.id for message in s.recorded_messages))
        for s in snapshots_of(execution)
    }
    recorded = {s.id: s.local for s in snapshots_of(execution)}
    marker: Event | None = None
    for row in execution.events:
        name = row.snapshot_id
        if name is None or row.process not in recorded[name]:  # what was thrown away decides nothing
            continue
        if row.kind == MARKER_RECEIVE:
            marker = row
        elif row.kind in (RECORD, CHANNEL_CLOSED):
            what = row.process if row.kind == RECORD else row.channel or ""
            (found[name].recorded if row.kind == RECORD else found[name].closed)[what] = row
            made = marker is not None and (marker.step, marker.snapshot_id) == (row.step, name)
            if marker is not None and made and what in (row.process, marker.channel):
                found[name].cause[what] = marker
    return found


@once
def _captions(execution: Execution) -> dict[str, str]:
    return words.captions(execution.scenario.processes, execution.engine.channels)


def reasons(execution: Execution, snapshot: Snapshot, flights: Sequence[Flight] | None = None) -> list[Reason]:
    """For each of `flights` (None: every message of the run, by id; markers too): whether `snapshot` has recorded
    it, and why.
    """
    deciding = _deciding(execution)[snapshot.id]
    return [_reason(deciding, snapshot.id, flight) for flight in (execution.flights if flights is None else flights)]


def explain(execution: Execution, snapshot: Snapshot, message_id: int) -> str:
    """Why `snapshot` has recorded a message, or has not, in a sentence or two. Raises IndexError for an unknown id."""
    flight = execution.flights[message_id]
    reason = _reason(_deciding(execution)[snapshot.id], snapshot.id, flight)
    return CASES[reason.case].format(**_fields(execution, snapshot, flight), first=reason.first, second=reason.second)


def _fields(execution: Execution, snapshot: Snapshot, flight: Flight) -> dict[str, Any]:
    send, receive = flight.send, flight.receive
    return {
        "message": words.message(flight),
        "send": send.label,
        "sent": send.step,
        "receive": receive.label if receive else None,
        "received": receive.step if receive else None,
        "source": flight.channel.source_name,
        "target": flight.channel.target_name,
        "channel": _captions(execution)[flight.channel.name],
        "snapshot": snapshot.id,
        "algorithm": execution.engine.algorithm.title,
    }


def _reason(deciding: Deciding, snapshot: str, flight: Flight) -> Reason:
    case, first, second = (
        _marker(deciding, snapshot, flight) if flight.is_marker else _application_message(deciding, flight)
    )
    kept = flight.id in deciding.kept
    if kept != (case in _RECORDED):  # not a rule of markers: another algorithm's
        case = "recorded_by_rule" if kept else "left_out_by_rule"
    return Reason(case, kept, first, second)


Decision = tuple[str, int | None, int | None]  # the case, and the steps of the two events


def _application_message(deciding: Deciding, flight: Flight) -> Decision:
    """Where the cut has a message: by the recordings of its two processes and the closing of its channel."""
    send, receive = flight.send, flight.receive
    source, target = deciding.recorded.get(send.process), deciding.recorded.get(flight.channel.target_name)
    inside = receive is not None and target is not None and (receive.index or 0) <= (target.index or 0)
    if source is not None and (send.index or 0) > (source.index or 0):
        if inside and target is not None:
            return "orphan", source.step, target.step
        if receive is not None and flight.id in deciding.kept:
            return "early", source.step, receive.step
        return "future", source.step, send.step
    if receive is None:
        return _never_received(deciding, flight, source)
    if target is None:
        return "unrecorded", receive.step, None
    if inside:
        return "state", receive.step, target.step
    closed = deciding.closed.get(flight.channel.name)
    if closed is None:
        return "channel_open" if source else "channel_waits", target.step, None
    if receive.step <= closed.step:
        return "channel", target.step, closed.step
    return "overtaken", closed.step, receive.step


def _never_received(deciding: Deciding, flight: Flight, source: Event | None) -> Decision:
    closed = deciding.closed.get(flight.channel.name)
    if closed is not None:
        return "lost", closed.step, None
    return ("held", source.step, None) if source else ("on_its_way", None, None)


def _marker(deciding: Deciding, snapshot: str, flight: Flight) -> Decision:
    """What a marker did when it came."""
    send, receive = flight.send, flight.receive
    if send.snapshot_id != snapshot:
        return "other_marker", None, None
    if receive is None:
        return "marker_held", send.step, None
    if deciding.cause.get(receive.process) == receive:
        return "marker_records", send.step, receive.step
    closed, target = deciding.closed.get(flight.channel.name), deciding.recorded.get(receive.process)
    if closed is not None and target is not None and closed.step == receive.step:
        return "marker_closes", target.step, closed.step
    return "marker_noted", send.step, receive.step


# ------------------------------------------------------------------ processes and channels


def why_state(execution: Execution, snapshot: Snapshot, process: str) -> str:
    """Why `process` recorded exactly these events: what made it record, the last event inside, the first outside."""
    deciding = _deciding(execution)[snapshot.id]
    record = deciding.recorded.get(process)
    if record is None:
        return f"{process} has not recorded for {snapshot.id}: no marker of it has made {process} record."
    return f"{_why_then(execution, snapshot, deciding, record)} {_around(execution, process, record.index or 0)}"


def _why_then(execution: Execution, snapshot: Snapshot, deciding: Deciding, record: Event) -> str:
    process, step = record.process, record.step
    marker = deciding.cause.get(process)
    if marker is not None:
        source, caption = (marker.channel or "").partition("->")[0], _captions(execution)[marker.channel or ""]
        return f"{process}'s first marker of {snapshot.id} came from {source} on {caption} at step {step}: it recorded."
    if process in snapshot.initiators:
        return f"{process} started {snapshot.id} at step {step}: it recorded before any marker came to it."
    return f"{process} recorded at step {step}, as the rules of {execution.engine.algorithm.title} ask."


def _around(execution: Execution, process: str, inside: int) -> str:
    """The events on both sides of a recording."""
    own = execution.history.of[process]
    last = f"{own[inside - 1].label} (step {own[inside - 1].step}) is its last event inside" if inside else ""
    first = f"{own[inside].label} (step {own[inside].step}) is the first outside" if inside < len(own) else ""
    return f"{last or 'No event of it is inside'}; {first or 'none is outside'}."


def why_channel(execution: Execution, snapshot: Snapshot, channel: str) -> str:
    """Why the channel named `channel` (P1->P2) holds what it holds: from which step to which it was recorded."""
    deciding = _deciding(execution)[snapshot.id]
    caption, target = _captions(execution)[channel], channel.partition("->")[2]
    record, closed = deciding.recorded.get(target), deciding.closed.get(channel)
    if record is None:
        return f"{caption} is not recorded: {target} has not recorded for {snapshot.id}."
    kept = [*snapshot.channels.get(channel, ()), *snapshot.open.get(channel, ())]
    held = words.listing([words.message(execution.flights[message.id]) for message in kept]) or "nothing"
    if closed is None:
        return (
            f"{target} records {caption} from its own recording (step {record.step}) on. No marker has closed it, "
            f"and {held} has come so far."
        )
    by = " by the marker on it" if channel in deciding.cause else ""
    if closed.step == record.step and by:
        return (
            f"{caption} is empty: {target}'s first marker came on it (step {closed.step}), so all that was sent before "
            f"the marker had been received before {target} recorded."
        )
    return (
        f"{target} recorded {caption} from its own recording (step {record.step}) until it was closed{by} "
        f"(step {closed.step}). In between came {held}."
    )
