"""The differences between two runs of one scenario under two algorithms, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sim.core.deadline import in_time
from sim.core.model import APP
from sim.core.notation import captions, has_label
from sim.explain.words import counted
from sim.run.execution import Execution, once
from sim.run.flights import Flight
from sim.run.snapshots import Snapshot, snapshots_of


class Differences(NamedTuple):
    """The differences of a run from another one.

    `messages` holds the ids of those that are sent or received at other times there, or not at all. `sentences` says
    everything in words.
    """

    messages: tuple[int, ...]
    sentences: tuple[str, ...]


def differences(execution: Execution, other: Execution, called: str) -> Differences:
    """The differences of a run from the `other` one, whose algorithm has the title `called`."""
    here, there = _messages(execution), _messages(other)
    moved = [flight for name, flight in here.items() if name not in there or _times(flight) != _times(there[name])]
    later = {
        flight.id: late
        for name, flight in here.items()
        if name in there and (late := _lateness(flight, there[name])) is not None and abs(late) > 1e-9
    }
    sentences = [
        *_of_states(execution, other),
        *_of_messages({own.id: own for own in here.values()}, later, called),
        *_of_missing(here, there, called),
    ]
    return Differences(tuple(flight.id for flight in moved), tuple(sentences))


@once
def _messages(execution: Execution) -> dict[tuple[str, int], Flight]:
    """The application messages of a run, by channel and number on it."""
    numbers: dict[str, int] = {}
    found: dict[tuple[str, int], Flight] = {}
    for flight in in_time(execution.flights):
        if flight.kind == APP and flight.copied is None:
            name = flight.channel.name
            numbers[name] = numbers.get(name, 0) + 1
            found[name, numbers[name]] = flight
    return found


def _times(flight: Flight) -> tuple[float, float | None]:
    return flight.send.time, None if flight.receive is None else flight.receive.time


def _lateness(flight: Flight, other: Flight) -> float | None:
    """The time units by which it is received later than the other one (None: one of them is not received)."""
    if flight.receive is None or other.receive is None:
        return None
    return flight.receive.time - other.receive.time


def _of_states(execution: Execution, other: Execution) -> Iterator[str]:
    """A sentence for each snapshot that has recorded something else in the other run."""
    theirs = {snapshot.id: snapshot for snapshot in snapshots_of(other)}
    own = snapshots_of(execution)
    for snapshot in own:
        if snapshot.id not in theirs:
            continue
        before = f"{snapshot.id}: " if len(own) > 1 else ""
        parts = [*_recorded(snapshot, theirs[snapshot.id])]
        parts += _in_channels(execution, snapshot, theirs[snapshot.id])
        if snapshot.status != theirs[snapshot.id].status:
            parts.append(f"the snapshot is {snapshot.status}, not {theirs[snapshot.id].status}")
        if parts:
            yield f"{before}{'; '.join(parts)}"


def _recorded(snapshot: Snapshot, other: Snapshot) -> Iterator[str]:
    for process, local in snapshot.local.items():
        if process in other.local and local.state != other.local[process].state:
            yield f"{process} records {local.state}, not {other.local[process].state}"


def _in_channels(execution: Execution, snapshot: Snapshot, other: Snapshot) -> Iterator[str]:
    called = captions(execution.scenario.processes, [channel.name for channel in execution.engine.channels])
    for name, caption in called.items():
        bodies, others = ([message.body for message in own.recorded_in(name)] for own in (snapshot, other))
        if bodies != others:
            yield f"{caption} records {_list(bodies)}, not {_list(others)}"


def _list(bodies: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, bodies))}]" if bodies else "nothing"


def _of_messages(flights: Mapping[int, Flight], later: Mapping[int, float], called: str) -> Iterator[str]:
    """A sentence on the messages that come later, and one on those that come earlier."""
    for word, sign in (("later", 1), ("earlier", -1)):
        own = {number: abs(late) for number, late in later.items() if late * sign > 0}
        if own:
            longest = max(own, key=own.__getitem__)
            comes = f"{counted(len(own), 'message')} {'comes' if len(own) == 1 else 'come'} {word} than with {called}"
            send = flights[longest].send
            which = f", {send.label}" if has_label(send) and len(own) > 1 else ""
            yield f"{comes}, by {'up to ' if len(own) > 1 else ''}{own[longest]:g}{which}"


def _of_missing(
    here: Mapping[tuple[str, int], Flight], there: Mapping[tuple[str, int], Flight], called: str
) -> Iterator[str]:
    """A sentence on the number of messages that only one of the runs has."""
    for one, other, word in ((here, there, "more"), (there, here, "fewer")):
        count = sum(name not in other for name in one)
        if count:
            yield f"{counted(count, 'message')} {word} than with {called}"
