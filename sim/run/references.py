"""References to the messages of a run, and the message that a reference names. A message has up to three names."""

from __future__ import annotations

from collections import Counter

from sim.core.errors import InputError, nearest
from sim.core.model import APP, CONTROL, COPIED, MARKER, MessageReference
from sim.run.execution import Execution, once
from sim.run.flights import Flight


@once
def references(execution: Execution) -> list[MessageReference]:
    """For each message of the run, by id: the reference that edits use."""
    return [names[0] for names in all_references(execution)]


@once
def all_references(execution: Execution) -> list[tuple[MessageReference, ...]]:
    """For each message, by id, its names: by label (if it has one), by channel and ordinal, by its send's number.

    A copy, which no edit can change, has one of the kind "copied".
    """
    counted: Counter[tuple[str, str, str | None]] = Counter()
    found: list[tuple[MessageReference, ...]] = []
    for flight in execution.flights:
        send = flight.send
        kind = flight.kind if flight.copied is None else COPIED
        stream = (flight.channel.name, kind, send.snapshot_id)
        counted[stream] += 1
        by_ordinal = MessageReference(None, *stream, counted[stream])
        if send.index is None or flight.copied is not None:
            found.append((by_ordinal,))
            continue
        number = MessageReference(label=execution.numbered(send))
        by_label = MessageReference(label=send.label)
        found.append((by_ordinal, number) if by_label == number else (by_label, by_ordinal, number))
    return found


@once
def _ids(execution: Execution) -> dict[MessageReference, int]:
    return {name: message for message, names in enumerate(all_references(execution)) for name in names}


def find(execution: Execution, reference: MessageReference) -> Flight | None:
    """The message that `reference` names (None: the run has no such message)."""
    message = _ids(execution).get(reference)
    return None if message is None else execution.flights[message]


def message_at(execution: Execution, reference: MessageReference) -> Flight:
    """The message that `reference` names. Raises InputError if the run has no such message."""
    found = find(execution, reference)
    if found is None:
        raise InputError(_why_none(execution, reference))
    return found


def _why_none(execution: Execution, reference: MessageReference) -> str:
    """The reason why a reference names no message of this run, with the nearest name."""
    if reference.label is not None:
        labels = {name.label for name in references(execution) if name.label}
        return f"no message is sent at {reference.label!r} in this run; {nearest(reference.label, labels)}"
    channels = list(dict.fromkeys(flight.channel.name for flight in execution.flights if flight.kind == reference.kind))
    channels += [channel.name for channel in execution.engine.channels if channel.name not in channels]
    if reference.channel not in channels:
        given = reference.channel or ""
        return f"{given!r} is no channel of this run; {nearest(given, channels)}"
    same = [name for name in _ids(execution) if name._replace(ordinal=reference.ordinal) == reference]
    algorithm = execution.engine.algorithm
    own = {MARKER: algorithm.marker, CONTROL: algorithm.control_message}
    what = "message" if reference.kind == APP else f"{own[reference.kind]} of {reference.snapshot!r}"
    return (
        f"there is no {what} number {reference.ordinal} on {reference.channel} in this run; "
        f"it carries {len(same)} of them"
    )


def notes(execution: Execution, most: int = 3) -> list[str]:
    """Sentences on delays without effect: the first `most` delays of messages that this run never sends.

    Such a delay is no error, because an edit may have removed the message. While a user chooses every step there are no
    such sentences, because the message may still be sent.
    """
    scenario = execution.scenario
    if scenario.scheduler.kind == "manual":
        return []
    stray = [reference for reference in scenario.delays if find(execution, reference) is None]
    marker, control = execution.engine.algorithm.marker, execution.engine.algorithm.control_message
    found = [
        f"the delay of {reference.in_words(marker, control)} has no effect: {_why_none(execution, reference)}"
        for reference in stray[:most]
    ]
    more = len(stray) - most
    if more > 0:
        found.append(f"{more} more {'delay has' if more == 1 else 'delays have'} no effect either")
    return found
