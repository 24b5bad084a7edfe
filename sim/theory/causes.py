"""The direct causes of a position of a run on other lines (sim/theory/positions.py).

A message is sent before it is received, lost, fenced off or copied, and it is copied before it is received or lost. A
join comes before every send from and to its process in that presence, and a leave after it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sim.core.model import COPIED, FENCED, JOIN, LEAVE, LOST, RECEIVE, SEND, Event

Place = tuple[int, int]  # a line, and the number of a position there
_TAKES_OUT = frozenset({RECEIVE, LOST, FENCED})


class Causes:
    """The places of the rows that have come so far, by what may come after them.

    `place_of` has the place of each row by its number; `unsent` the messages whose sending a recovery has taken back.
    """

    def __init__(self, place_of: Mapping[int, Place], unsent: Collection[int | None], has_departures: bool) -> None:
        self._place_of, self._unsent, self._has_departures = place_of, unsent, has_departures
        self._put: dict[int | None, Place] = {}  # by message, what puts it into its channel
        self._message_of: dict[tuple[str, int | None], int | None] = {}  # by send
        self._copies: dict[int | None, list[Place]] = {}  # by message
        self._joins: dict[str, Place] = {}
        self._sends: dict[str, dict[Place, int]] = {}  # from and to each process, since it is present

    def of(self, event: Event) -> dict[Place | None, int]:
        """The places directly before the next row, each with the message that it has to do with.

        None as a place: there is none any more, since a recovery has taken it back.
        """
        found = self._before(event)
        self._note(event, self._place_of[event.row])
        return found

    def _before(self, event: Event) -> dict[Place | None, int]:
        message = event.message_id or 0
        if event.kind == RECEIVE and event.message_id in self._unsent:
            return {None: message}
        if event.kind == COPIED:
            original = self._message_of[event.process, event.index]
            return {self._put[original]: original or 0}
        if event.kind in _TAKES_OUT:
            put = [self._put[event.message_id]] if event.message_id in self._put else []
            return dict.fromkeys((*put, *self._copies.get(event.message_id, ())), message)
        if event.kind == SEND:
            return {self._joins[name]: message for name in ends_of(event) if name in self._joins}
        return dict(self._sends.pop(event.process, {}).items()) if event.kind == LEAVE else {}

    def _note(self, event: Event, place: Place) -> None:
        if event.kind == SEND:
            self._put[event.message_id] = place
            self._message_of[event.process, event.index] = event.message_id
            for name in ends_of(event) if self._has_departures else ():
                self._sends.setdefault(name, {})[place] = event.message_id or 0
        elif event.kind == COPIED:
            self._put[event.message_id] = place
            self._copies.setdefault(self._message_of[event.process, event.index], []).append(place)
        elif event.kind == JOIN:
            self._joins[event.process] = place
            self._sends.pop(event.process, None)


def ends_of(event: Event) -> tuple[str, str]:
    """The sender and the receiver of the channel of a row."""
    source, _, target = (event.channel or "").partition("->")
    return source, target
