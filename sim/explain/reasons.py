"""Why a snapshot recorded what it recorded: the reason for every message, process and channel.

A reason is a case with a template (see sim/core/algorithm_words.py). At an earlier step another case may hold: what
has not happened yet is unknown then. The browser fills in templates too. The fields:
`message` (its body or label), `send` and `receive` (when they happened, such as `at H (step 9)`), `source` and
`target` (processes), `channel` (its caption), `snapshot`, `stamp`, `marker` and `control` (the algorithm's words for
them), and `first` and `second`: the steps of the two events that decide the case, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    APP,
    CHANNEL_CLOSED,
    CONTROL_RECEIVE,
    FENCED,
    MARKER_RECEIVE,
    RECEIVE,
    RECEIVED,
    RECORD,
    RECORDED,
    RESTORE,
    Event,
)
from sim.core.notation import has_label, moment
from sim.explain import words
from sim.explain.words import words_of
from sim.run.execution import Execution, Flight, once
from sim.run.rollbacks import as_known_to, events_inside, first_outside, rollbacks_of, taken_back
from sim.run.snapshots import GIVEN_UP, Snapshot, snapshots_of

_RECORDED = frozenset({"channel", "channel_open", "channel_waits", "passed", "early", "recorded_by_rule"})


class Reason(NamedTuple):
    """Why a message is `recorded` in its channel, or not.

    `case` is a key of `SnapshotAlgorithm.all_reasons`. `first` and `second` are the steps of the two events that decide
    the case, in order (None: no such event).
    """

    case: str
    recorded: bool
    first: int | None = None
    second: int | None = None


class DecidingRows(NamedTuple):
    """The rows that decide all cases of one snapshot.

    `recorded` holds the `record` row of each process, `closed` the `channel_closed` row of each channel, and `kept` the
    `recorded` row of each recorded message, by id. `cause` holds, by process or channel, the receive that made the
    process record or closed the channel (missing: no receive did). `is_aborted`: the snapshot was aborted. `unsent`
    holds, by message id, the step of the recovery that takes back the sending of a message before the sender records.

    Rows are those of the event table as it is exported, in which indices go on after a recovery.
    """

    recorded: dict[str, Event]
    closed: dict[str, Event]
    cause: dict[str, Event]
    kept: dict[int, Event]
    is_aborted: bool
    unsent: dict[int, int]


@once
def _deciding_rows(execution: Execution) -> dict[str, DecidingRows]:
    """The deciding rows of every snapshot, by snapshot id."""
    snapshots = snapshots_of(execution)
    found = {own.id: DecidingRows({}, {}, {}, {}, own.status in GIVEN_UP, {}) for own in snapshots}
    local = {own.id: own.local for own in snapshots}
    came: dict[int, Event] = {}  # step -> the receive in it
    for row in execution.table:
        if row.kind in RECEIVED:
            came[row.step] = row
        name = row.snapshot_id
        if name is None or row.process not in local[name]:  # the process discarded its recording
            continue
        if row.kind == RECORD:
            _discard(found[name], row.process)  # a process that records again discards its first recording
            found[name].recorded[row.process] = row
        elif row.kind == CHANNEL_CLOSED:
            found[name].closed[row.channel or ""] = row
        elif row.kind == RECORDED:
            found[name].kept[row.message_id or 0] = row
    for deciding in found.values():
        for what, row in (*deciding.recorded.items(), *deciding.closed.items()):
            cause = came.get(row.step)
            if cause is not None and _is_cause(cause, row):
                deciding.cause[what] = cause
        deciding.unsent.update(_unsent(execution, deciding))
    return found


def _unsent(execution: Execution, deciding: DecidingRows) -> Iterator[tuple[int, int]]:
    """The messages of which a recovery takes the sending back before their sender records, each with its step."""
    back = taken_back(execution)
    for flight in execution.flights if back else ():
        rollback, record = back.get(flight.send.row), deciding.recorded.get(flight.send.process)
        if rollback and (record is None or rollback.restores[flight.send.process].row < record.row):
            yield flight.id, rollback.step


def _known_to(execution: Execution, deciding: DecidingRows, flight: Flight) -> Flight:
    """A message as the life knows it in which its receiver records for a snapshot, with rows as they are exported.

    One whose receipt a recovery has taken back before that, and which it has not put back, is lost by the `restore`.
    """
    if not rollbacks_of(execution):
        return flight
    record = deciding.recorded.get(flight.channel.target_name)
    flight = as_known_to(execution, flight, record)
    receive = flight.receive
    lost = flight.lost
    if receive is not None and record is not None and (back := taken_back(execution).get(receive.row)):
        restore = back.restores[receive.process]
        if restore.row < record.row:
            receive, lost = None, restore
    table = execution.table
    return flight._replace(send=table[flight.send.row], receive=receive and table[receive.row], lost=lost)


def _discard(deciding: DecidingRows, process: str) -> None:
    for message in [message for message, row in deciding.kept.items() if row.process == process]:
        del deciding.kept[message]
    for channel in [channel for channel, row in deciding.closed.items() if row.process == process]:
        del deciding.closed[channel]


def _is_cause(cause: Event, row: Event) -> bool:
    """Whether `cause`, the receive in the step of `row`, made the process record or closed the channel."""
    if cause.kind == MARKER_RECEIVE:
        return cause.snapshot_id == row.snapshot_id and row.channel in (None, cause.channel)
    if cause.kind == RECEIVE:  # a process that records afterwards has another cause
        return row.channel == cause.channel or (row.kind == RECORD and row.row < cause.row)
    return row.kind == RECORD or cause.kind == CONTROL_RECEIVE


def reasons(execution: Execution, snapshot: Snapshot, flights: Sequence[Flight] | None = None) -> list[Reason]:
    """Why `snapshot` recorded each of `flights`, or not. None: every message of the run, by id, markers included."""
    deciding = _deciding_rows(execution)[snapshot.id]
    told = (_known_to(execution, deciding, own) for own in (execution.flights if flights is None else flights))
    return [_reason(deciding, snapshot.id, flight) for flight in told]


def reasons_over_steps(
    execution: Execution, snapshot: Snapshot, flights: Sequence[Flight]
) -> list[list[tuple[int, Reason]]]:
    """The same of each of `flights` from the step of its send on, each with the step from which it holds.

    A reason of step N rests on what has happened until N. The last one is that of `reasons`.
    """
    deciding = _deciding_rows(execution)[snapshot.id]
    return [_over_steps(deciding, snapshot, _known_to(execution, deciding, flight)) for flight in in_time(flights)]


def _over_steps(deciding: DecidingRows, snapshot: Snapshot, flight: Flight) -> list[tuple[int, Reason]]:
    told: list[tuple[int, Reason]] = []
    for step in _deciding_steps(deciding, snapshot, flight):
        if deciding.is_aborted and flight.kind == APP and step < (snapshot.aborted or 0):
            reason = Reason("unfinished", False)
        else:
            reason = _reason(*_as_of(deciding, flight, step, snapshot.id))
        if not told or told[-1][1] != reason:
            told.append((step, reason))
    return told


def _deciding_steps(deciding: DecidingRows, snapshot: Snapshot, flight: Flight) -> list[int]:
    """The steps, from the send on, at which the reason of a message may change."""
    channel, begin = flight.channel, flight.send.step
    rows = (
        flight.receive, flight.lost, deciding.recorded.get(channel.source_name),
        deciding.recorded.get(channel.target_name), deciding.closed.get(channel.name), deciding.kept.get(flight.id),
    )  # fmt: skip
    steps = {row.step for row in rows if row is not None} | {snapshot.aborted or begin}
    steps.add(deciding.unsent.get(flight.id, begin))
    return sorted({begin} | {step for step in steps if step > begin})


def _as_of(deciding: DecidingRows, flight: Flight, step: int, snapshot: str) -> tuple[DecidingRows, str, Flight]:
    """What `_reason` takes, as far as it has happened at a step."""
    channel = flight.channel
    ends = (channel.source_name, channel.target_name)

    def known(rows: Mapping[Any, Event], *keys: Any) -> dict[Any, Event]:
        return {key: rows[key] for key in keys if key in rows and rows[key].step <= step}

    rows = DecidingRows(
        known(deciding.recorded, *ends), known(deciding.closed, channel.name),
        known(deciding.cause, *ends, channel.name), known(deciding.kept, flight.id), deciding.is_aborted,
        {own: at for own, at in deciding.unsent.items() if own == flight.id and at <= step},
    )  # fmt: skip
    receive = flight.receive if flight.receive is not None and flight.receive.step <= step else None
    lost = flight.lost if flight.lost is not None and flight.lost.step <= step else None
    return rows, snapshot, flight._replace(receive=receive, lost=lost)


def as_told(execution: Execution, snapshot: str, flight: Flight) -> Flight:
    """A message as the reasons of a snapshot tell of it: as the life knows it in which its receiver records."""
    return _known_to(execution, _deciding_rows(execution)[snapshot], flight)


def explain(execution: Execution, snapshot: Snapshot, message_id: int) -> str:
    """The reason why `snapshot` recorded a message, or not, in words. Raises IndexError for an unknown id."""
    flight = as_told(execution, snapshot.id, execution.flights[message_id])
    return in_words(execution, snapshot, flight, _reason(_deciding_rows(execution)[snapshot.id], snapshot.id, flight))


def in_words(execution: Execution, snapshot: Snapshot, flight: Flight, reason: Reason) -> str:
    """A reason in words."""
    flight = as_told(execution, snapshot.id, flight)
    fields = {**_fields(execution, snapshot, flight), "first": reason.first, "second": reason.second}
    return words_of(execution).begun(execution.engine.algorithm.all_reasons[reason.case].format(**fields))


def _fields(execution: Execution, snapshot: Snapshot, flight: Flight) -> dict[str, Any]:
    send, receive = flight.send, flight.receive
    return {
        "message": words_of(execution).message(flight),
        "send": moment(send),
        "receive": moment(receive) if receive else None,
        "source": words_of(execution).node(flight.channel.source_name),
        "target": words_of(execution).node(flight.channel.target_name),
        "channel": words_of(execution).channel(flight.channel.name),
        "snapshot": snapshot.id,
        "stamp": words_of(execution).stamp(flight),
        "marker": execution.engine.algorithm.marker,
        "control": execution.engine.algorithm.control_message,
        "algorithm": execution.engine.algorithm.title,
    }


def _reason(deciding: DecidingRows, snapshot: str, flight: Flight) -> Reason:
    found = _reason_unless_lost(deciding, snapshot, flight)
    if flight.id in deciding.unsent and flight.kind == APP and not deciding.is_aborted and not found.recorded:
        return Reason("taken_back", False, deciding.unsent[flight.id])
    if flight.lost is None or flight.receive is not None or found.case == "future" or found.recorded:
        return found
    if flight.lost.kind == RESTORE:
        return Reason("not_put_back", False, flight.lost.step)
    if flight.lost.kind == FENCED:
        return Reason("fenced_off", False, flight.lost.step)
    is_on_its_way = flight.lost.process == flight.channel.source_name
    return Reason("lost_on_its_way" if is_on_its_way else "dropped", False, flight.lost.step)


def _reason_unless_lost(deciding: DecidingRows, snapshot: str, flight: Flight) -> Reason:
    """The reason of a message that is received or on its way."""
    if flight.is_marker:
        case, first, second = _marker(deciding, snapshot, flight)
        return Reason(case, False, first, second)
    if flight.is_control:
        case, first, second = _control(deciding, flight)
        return Reason(case, False, first, second)
    if deciding.is_aborted:
        return Reason("ended", False)
    case, first, second = _application_message(deciding, flight)
    kept = flight.id in deciding.kept
    if kept != (case in _RECORDED):  # the algorithm has a rule of its own
        case = "recorded_by_rule" if kept else "left_out_by_rule"
    return Reason(case, kept, first, second)


Decision = tuple[str, int | None, int | None]  # case, first, second


def _application_message(deciding: DecidingRows, flight: Flight) -> Decision:
    """The case of an application message, from the recordings of its two processes and the closing of its channel."""
    send, receive = flight.send, flight.receive
    source, target = deciding.recorded.get(send.process), deciding.recorded.get(flight.channel.target_name)
    inside = receive is not None and target is not None and (receive.index or 0) <= (target.index or 0)
    if source is not None and (send.index or 0) > (source.index or 0):
        if inside and target is not None:
            return "orphan", source.step, target.step
        if receive is not None and flight.id in deciding.kept:
            return "early", source.step, receive.step
        return "future", source.step, send.step
    recording, closed = deciding.kept.get(flight.id), deciding.closed.get(flight.channel.name)
    if recording is not None and closed is not None and (receive is None or receive.step > closed.step):
        return "passed", closed.step, None  # recorded when a marker overtook it
    if receive is None:
        return _never_received(deciding, flight, source)
    if target is None:
        return "unrecorded", receive.step, None
    if inside:
        return "state", receive.step, target.step
    if closed is None:
        return "channel_open" if source else "channel_waits", target.step, None
    if receive.step <= closed.step:
        return "channel", target.step, closed.step
    return "overtaken", closed.step, receive.step


def _never_received(deciding: DecidingRows, flight: Flight, source: Event | None) -> Decision:
    closed = deciding.closed.get(flight.channel.name)
    if closed is not None:
        return "lost", closed.step, None
    return ("held", source.step, None) if source else ("on_its_way", None, None)


def _marker(deciding: DecidingRows, snapshot: str, flight: Flight) -> Decision:
    """The case of a marker, from its effect."""
    send, receive = flight.send, flight.receive
    if send.snapshot_id != snapshot:
        return "other_marker", None, None
    if receive is None:
        return "marker_held", send.step, None
    if deciding.cause.get(receive.process) == receive:
        return "marker_records", send.step, receive.step
    closed, target = deciding.closed.get(flight.channel.name), deciding.recorded.get(receive.process)
    if closed is not None and target is not None and closed.step == receive.step:
        return "marker_closes" if flight.channel.fifo else "marker_closes_not_fifo", target.step, closed.step
    return "marker_noted", send.step, receive.step


def _control(deciding: DecidingRows, flight: Flight) -> Decision:
    """The case of a control message, from its effect."""
    send, receive = flight.send, flight.receive
    if receive is None:
        return "control_held", send.step, None
    if deciding.cause.get(receive.process) == receive:
        return "control_records", send.step, receive.step
    if deciding.cause.get(flight.channel.name) == receive:
        return "control_closes", send.step, receive.step
    return "control_noted", send.step, receive.step


# ------------------------------------------------------------------ processes and channels


def why_state(execution: Execution, snapshot: Snapshot, process: str) -> str:
    """Why `process` recorded when it did, with the last event inside and the first outside."""
    deciding = _deciding_rows(execution)[snapshot.id]
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
    """Why the channel named `channel` (P1->P2) has its recorded state, with the steps between which it was recorded."""
    deciding = _deciding_rows(execution)[snapshot.id]
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
