"""The surviving line of a run: what is left of it after its recoveries, and its events numbered anew.

An application event is *gone* if a later restore of its process keeps fewer events: its index is greater than that of
the `restore` row. Indices go on after a restore, and none is used twice, so those of the events that survive have gaps.
Cuts, checks and diagrams count the events that survive, without gaps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from sim.core.model import APPLICATION_KINDS, COPIED, FENCED, LOST, RECEIVE, RECORD, RESTORE, SEND, Event

GONE = 1_000_000_000  # added to the index of an event that is gone: it is inside no cut


def renumbered(table: Sequence[Event]) -> list[Event]:
    """`table` with the surviving events of each process numbered from 1, without gaps.

    An event that is gone has an index above GONE, and so has a cut that contains one: it belongs to an epoch that is
    over. The `peer_index` of a message is that of its partner, if both survive. A message that is lost or fenced off,
    and put back and received all the same, is not lost: its row has no id.
    """
    if not any(event.kind == RESTORE for event in table):
        return list(table)
    survive = surviving(table)
    receipts = {
        event.message_id: event.index or 0
        for event in table
        if event.kind == RECEIVE and event.index in survive[event.process]
    }
    numbers = {process: sorted(own) for process, own in survive.items()}
    restores = restores_of(table)
    return [_renumbered(event, numbers, restores, receipts) for event in table]


def surviving(table: Sequence[Event]) -> dict[str, set[int]]:
    """By process: the indices of its application events that no restore has taken back."""
    found: dict[str, set[int]] = {}
    for event in table:
        own = found.setdefault(event.process, set())
        if event.kind in APPLICATION_KINDS and event.index is not None:
            own.add(event.index)
        elif event.kind == RESTORE:
            found[event.process] = {index for index in own if index <= (event.index or 0)}
    return found


def abandoned(table: Sequence[Event]) -> frozenset[int]:
    """The rows, other than those of application events, that a later restore of their process has taken back.

    The process goes back to its last recording with that number of events: its part of the snapshot that the row names,
    or of another one if checkpoints are uncoordinated.
    """
    found: set[int] = set()
    recorded: dict[tuple[str | None, ...], int] = {}
    so_far: dict[str, list[int]] = {}
    for event in table:
        own = so_far.setdefault(event.process, [])
        keys = (event.process, str(event.index), event.snapshot_id), (event.process, str(event.index))
        if event.kind == RECORD:
            recorded |= dict.fromkeys(keys, event.row)
        elif event.kind == RESTORE:
            since = next((recorded[key] for key in keys if key in recorded), -1)
            found.update(row for row in own if row > since)
            own[:] = [row for row in own if row <= since]
        elif event.kind not in APPLICATION_KINDS:
            own.append(event.row)
    return frozenset(found)


def is_gone(event: Event) -> bool:
    """Whether a recovery has taken an event of a renumbered table back."""
    return event.index is not None and event.index > GONE


def unsent(events: Iterable[Event]) -> frozenset[int]:
    """The messages of which a recovery has taken the sending back, or that of the copy, by their ids.

    One that is received all the same (its receiver was not restored, or there is no fence) is in no consistent cut.
    """
    put = [event for event in events if event.kind in (SEND, COPIED) and event.index is not None]
    sent = {event.message_id for event in put if not is_gone(event)}
    return frozenset(event.message_id for event in put if event.message_id is not None) - sent


def restores_of(table: Sequence[Event]) -> dict[str, list[Event]]:
    """The `restore` rows of each process, in their order."""
    found: dict[str, list[Event]] = {}
    for event in table:
        if event.kind == RESTORE:
            found.setdefault(event.process, []).append(event)
    return found


def _renumbered(
    event: Event, numbers: dict[str, list[int]], restores: dict[str, list[Event]], receipts: dict[int | None, int]
) -> Event:
    """`event` with its index and that of its partner counted among those that survive."""
    if event.kind in (LOST, FENCED):
        return event._replace(message_id=None) if event.message_id in receipts else event
    if event.index is None:
        return event
    own = numbers[event.process]
    place = bisect_right(own, event.index)
    if event.kind == RESTORE:
        return event._replace(index=place)
    if event.kind == RECORD:
        later = (row.index or 0 for row in restores.get(event.process, ()) if row.row > event.row)
        return event._replace(index=place if min(later, default=event.index) >= event.index else GONE + event.index)
    if not (place and own[place - 1] == event.index):
        return event._replace(index=GONE + event.index, peer_index=None)
    source, _, target = (event.channel or "").partition("->")
    peer = event.peer_index
    if event.kind in (SEND, COPIED) and peer is not None:
        peer = bisect_right(numbers[target], peer)
    elif event.kind == RECEIVE and peer is not None:
        there = numbers.get(source, [])
        rank = bisect_right(there, peer)
        peer = rank if rank and there[rank - 1] == peer else None
    return event._replace(index=place, peer_index=peer)
