"""Cuts judged by their messages, as an audit judges them, from the event table alone and wherever the frontier is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from sim.core.model import Event
from tests.reference.definition import APPLICATION, Cut, Meaning

Inside = Callable[[Event], bool]  # of an application event, or of a message that is lost as it comes to its receiver


class Crossing(NamedTuple):
    """The messages that make a cut inconsistent, by their ids, and those that each channel holds."""

    orphans: list[int]
    held: dict[str, list[int]]


class Messages:
    """The messages of a table, and where each comes into its channel and out of it."""

    def __init__(self, meaning: Meaning) -> None:
        own = [row for row in meaning.kept if row.kind == "send"]
        self.meaning = meaning
        self.sends = {_place(row): row for row in own}
        self.originals = {_place(row): row.message_id or 0 for row in own}
        lost = [own for own in meaning.elements if own.kind == "loses" and own.process is not None]
        receipts = [(row.message_id or 0, row) for row in meaning.kept if row.kind == "receive"]
        self.ends = [*receipts, *((own.message or 0, meaning.at[own.row]) for own in lost)]

    def crossing(self, can_be: Inside, has_to: Inside) -> Crossing:
        """What crosses a cut. Losses and copies on no line are inside only where they have to be.

        Numbers of events leave open whether what is lost right behind the last one is inside: it `can_be`, so no
        channel holds it; it does not `has_to`, so no cut is inconsistent by it.
        """
        put = self.meaning.sends
        early = {message for message, row in self.ends if has_to(row)}
        orphans = {own for own in early if own not in put or not has_to(self.sends[_place(put[own])])}
        came = {message for message, row in self.ends if can_be(row)}
        taken = {message for message, row in dict(self.ends).items() if can_be(row)}  # of several receipts the last
        held: dict[str, list[int]] = {}
        for message, row in put.items():
            is_copy = row.kind == "copied"
            is_put = self.originals[_place(row)] in came if is_copy else can_be(row)
            if is_put and message not in taken:
                held.setdefault(row.channel or "", []).append(message)
        return Crossing(sorted(orphans), {name: sorted(own) for name, own in held.items()})

    def of_events(self, frontier: Mapping[str, int]) -> Crossing:
        """What crosses a cut with so many events of each process, as the table numbers them."""
        events = [row for row in self.meaning.kept if row.kind in APPLICATION]

        def inside(process: str) -> int:
            most = frontier.get(process, 0)
            return max((own.row for own in events if own.process == process and (own.index or 0) <= most), default=-1)

        def following(process: str) -> int:
            rows = (own.row for own in events if own.process == process and own.row > inside(process))
            return min(rows, default=len(self.meaning.table))

        def can_be(row: Event) -> bool:
            return row.row < following(row.process)

        def has_to(row: Event) -> bool:
            return row.row <= inside(row.process)

        return self.crossing(can_be, has_to)

    def of_positions(self, positions: Cut) -> Crossing:
        """What crosses a cut of these positions."""
        rows = {row for own in positions for row in (own.row, *own.events)}

        def is_inside(row: Event) -> bool:
            return row.row in rows

        return self.crossing(is_inside, is_inside)


def _place(row: Event) -> tuple[str, int | None, str | None]:
    """A send, by what its row and those of its copies have in common."""
    return row.process, row.index, row.channel


def messages_of(table: Iterable[Event], scenario: Any = None) -> Messages:
    """The messages of a table, perhaps one of no scenario."""
    rows = list(table)
    return Messages(Meaning(scenario or SimpleNamespace(processes=sorted({row.process for row in rows})), rows))
