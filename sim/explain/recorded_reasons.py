"""The reasons for the recorded states of processes and channels, in words."""

from __future__ import annotations

from typing import Any

from sim.core.model import MARKER_RECEIVE, RECEIVE, Event
from sim.core.notation import has_label, moment
from sim.explain import words
from sim.explain.deciding_rows import deciding_rows
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.rollbacks import events_inside, first_outside
from sim.run.snapshots import Snapshot


def why_state(execution: Execution, snapshot: Snapshot, process: str) -> str:
    """The reason why `process` recorded when it did, with the last event inside and the first outside."""
    deciding = deciding_rows(execution)[snapshot.id]
    record = deciding.recorded.get(process)
    if record is None:
        return _sentence(execution, "not_recorded", process=process, snapshot=snapshot.id)
    cause = _why_recorded(execution, snapshot, record, deciding.cause.get(process))
    return f"{cause} {_boundary(execution, execution.events[record.row])}"


def _sentence(execution: Execution, case: str, **fields: Any) -> str:
    algorithm = execution.engine.algorithm
    return algorithm.all_reasons[case].format(**fields, marker=algorithm.marker, algorithm=algorithm.title)


def _why_recorded(execution: Execution, snapshot: Snapshot, record: Event, cause: Event | None) -> str:
    fields: dict[str, Any] = {"process": record.process, "snapshot": snapshot.id, "step": record.step}
    if cause is None:
        return _sentence(execution, "initiated" if record.process in snapshot.initiators else "by_rule", **fields)
    case = {RECEIVE: "by_message", MARKER_RECEIVE: "by_marker"}.get(cause.kind, "by_control")
    flight = execution.flights[cause.message_id or 0]
    own = words_of(execution)
    fields |= {
        "source": own.node(flight.channel.source_name), "channel": own.channel(flight.channel.name),
        "message": own.message(flight), "stamp": own.stamp(flight),
        "content": own.control(flight) if flight.is_control else "",
    }  # fmt: skip
    return _sentence(execution, case, **fields)


def _boundary(execution: Execution, record: Event) -> str:
    """The last event inside and the first outside of a recording, in words."""
    own, following = events_inside(execution, record), first_outside(execution, record)
    last = f"Its last event inside is {_event(own[-1])}" if own else "No event of it is inside"
    first = f"the first outside is {_event(following)}" if following else "none is outside"
    return f"{last}; {first}."


def _event(event: Event) -> str:
    return moment(event).removeprefix("at ") if has_label(event) else f"the event {moment(event)}"


def why_channel(execution: Execution, snapshot: Snapshot, channel: str) -> str:
    """The reason for the recorded state of the channel named `channel` (P1->P2), with the first and the last step."""
    deciding = deciding_rows(execution)[snapshot.id]
    own, target = words_of(execution), channel.partition("->")[2]
    record, closed = deciding.recorded.get(target), deciding.closed.get(channel)
    kept = [own.message(execution.flights[message.id]) for message in snapshot.recorded_in(channel)]
    held = words.listing(kept) or "nothing"
    fields: dict[str, Any] = {"channel": own.channel(channel), "target": target, "snapshot": snapshot.id, "held": held}
    if record is None:
        return _sentence(execution, "never_recorded", **fields)
    fields["first"] = record.step
    if closed is None:
        return _sentence(execution, "still_recorded", **fields)
    if kept or closed.step != record.step:
        case = "recorded_until"
    elif channel not in deciding.cause:
        case = "empty_when_recorded"
    else:
        is_fifo = next(known.fifo for known in execution.engine.channels if known.name == channel)
        case = "empty_at_once" if is_fifo else "empty_not_fifo"
    return _sentence(execution, case, **fields, second=closed.step)
