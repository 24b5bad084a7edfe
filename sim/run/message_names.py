"""Which message of a run an edit means: every name it goes by, and the one that edits use."""

from __future__ import annotations

from collections import Counter

from sim.core.delays import Address
from sim.core.errors import InputError, nearest
from sim.core.model import APP, CONTROL, MARKER, label_of
from sim.run.execution import Execution, Flight, once


@once
def addresses(execution: Execution) -> list[Address]:
    """For each message of the run, by id: the address under which edits find it again."""
    return [names[0] for names in all_names(execution)]


@once
def all_names(execution: Execution) -> list[tuple[Address, ...]]:
    """For each message of the run, by id: its own label if it has one, its place, the number of its send."""
    counted: Counter[tuple[str, str, str | None]] = Counter()
    found: list[tuple[Address, ...]] = []
    for flight in execution.flights:
        send = flight.send
        place = (flight.channel.name, flight.kind, send.snapshot_id)
        counted[place] += 1
        by_place = Address(None, *place, counted[place])
        if send.index is None:
            found.append((by_place,))
            continue
        number = Address(label=label_of(send.process, send.index, None))
        by_label = Address(label=send.label)
        found.append((by_place, number) if by_label == number else (by_label, by_place, number))
    return found


@once
def _ids(execution: Execution) -> dict[Address, int]:
    return {name: message for message, names in enumerate(all_names(execution)) for name in names}


def find(execution: Execution, address: Address) -> Flight | None:
    """The message at `address`, under whichever of its names, if the run contains it."""
    message = _ids(execution).get(address)
    return None if message is None else execution.flights[message]


def the_message(execution: Execution, address: Address) -> Flight:
    """The message at `address`. Raises InputError where the run contains none, naming what there is."""
    found = find(execution, address)
    if found is not None:
        return found
    if address.label is not None:
        labels = {name.label for name in addresses(execution) if name.label}
        raise InputError(f"no message is sent at {address.label!r} in this run; {nearest(address.label, labels)}")
    channels = list(dict.fromkeys(flight.channel.name for flight in execution.flights if flight.kind == address.kind))
    channels += [channel.name for channel in execution.engine.channels if channel.name not in channels]
    if address.channel not in channels:
        given = address.channel or ""
        raise InputError(f"{given!r} is no channel of this run; {nearest(given, channels)}")
    same = [name for name in _ids(execution) if name._replace(ordinal=address.ordinal) == address]
    algorithm = execution.engine.algorithm
    own = {MARKER: algorithm.marker, CONTROL: algorithm.control_message}
    what = "message" if address.kind == APP else f"{own[address.kind]} of {address.snapshot!r}"
    raise InputError(
        f"there is no {what} number {address.ordinal} on {address.channel} in this run; it carries {len(same)} of them"
    )
