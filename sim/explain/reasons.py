"""The reason why a snapshot recorded a message, or not.

A reason is a case with a template (see sim/core/algorithm_words.py). At an earlier step another case may hold, because
the future is unknown then. The browser fills in templates too. The fields:

- `message`: its body or label; `send` and `receive`: their moments, such as `at H (step 9)`
- `source` and `target`: processes; `channel`: its caption; `snapshot`; `stamp`
- `marker` and `control`: the algorithm's words for them
- `first` and `second`: the steps of the two events that decide the case, in order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    APP,
    FENCED,
    RESTORE,
    Event,
)
from sim.core.notation import moment
from sim.explain.deciding_rows import DecidingRows, deciding_rows, known_to
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.flights import Flight
from sim.run.snapshots import Snapshot

_RECORDED = frozenset({"channel", "channel_open", "channel_waits", "passed", "early", "recorded_by_rule"})


class Reason(NamedTuple):
    """The reason why a message is `recorded` in its channel, or not.

    `case` is a key of `SnapshotAlgorithm.all_reasons`. `first` and `second` are the steps of the two events that decide
    the case, in order (None: no such event).
    """

    case: str
    recorded: bool
    first: int | None = None
    second: int | None = None


def reasons(execution: Execution, snapshot: Snapshot, flights: Sequence[Flight] | None = None) -> list[Reason]:
    """The reason for each of `flights` (None: every message of the run, by id, markers included) in a snapshot."""
    deciding = deciding_rows(execution)[snapshot.id]
    known = (known_to(execution, deciding, own) for own in (execution.flights if flights is None else flights))
    return [_reason(deciding, snapshot.id, flight) for flight in known]


def reasons_over_steps(
    execution: Execution, snapshot: Snapshot, flights: Sequence[Flight]
) -> list[list[tuple[int, Reason]]]:
    """The reasons for each of `flights` from the step of its send on, each with the step from which it holds.

    A reason at step N rests on the steps up to N. The last one is that of `reasons`.
    """
    deciding = deciding_rows(execution)[snapshot.id]
    return [_over_steps(deciding, snapshot, known_to(execution, deciding, flight)) for flight in in_time(flights)]


def _over_steps(deciding: DecidingRows, snapshot: Snapshot, flight: Flight) -> list[tuple[int, Reason]]:
    found: list[tuple[int, Reason]] = []
    for step in _deciding_steps(deciding, snapshot, flight):
        if deciding.is_aborted and flight.kind == APP and step < (snapshot.aborted or 0):
            reason = Reason("unfinished", False)
        else:
            reason = _reason(*_as_of(deciding, flight, step, snapshot.id))
        if not found or found[-1][1] != reason:
            found.append((step, reason))
    return found


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
    """The arguments of `_reason`, with the rows up to a step only."""
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
    """A message as the reasons of a snapshot see it: as the epoch knows it in which its receiver records."""
    return known_to(execution, deciding_rows(execution)[snapshot], flight)


def explain(execution: Execution, snapshot: Snapshot, message_id: int) -> str:
    """The reason why `snapshot` recorded a message, or not, in words. Raises IndexError for an unknown id."""
    flight = as_told(execution, snapshot.id, execution.flights[message_id])
    return in_words(execution, snapshot, flight, _reason(deciding_rows(execution)[snapshot.id], snapshot.id, flight))


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
