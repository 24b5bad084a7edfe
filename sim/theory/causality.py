"""Happened-before, vector clocks, cuts, and the messages that a cut finds in the channels.

Only application events are read: the receipt of a marker is not part of the computation. So this works on any event
table. A frontier describes a cut: per process, the number of its application events inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from sim.core.deadline import in_time
from sim.core.model import APPLICATION_KINDS, COPIED, FENCED, LOST, RECEIVE, SEND, Event
from sim.theory.surviving import is_gone, unsent

Frontier = Mapping[str, int]
Clock = tuple[int, ...]
Receipt = tuple[str, int, str, int]  # receiver, index of the receive, sender, index of the send


def consistent_below(frontier: Frontier, receipts: Iterable[Receipt]) -> dict[str, int]:
    """The biggest consistent cut inside `frontier`, which names every process.

    It is unique, since the union of two consistent cuts is consistent (Mattern 1989). `receipts` must come
    in causal order. A receive whose send is outside leaves the cut, with all later events of its process. One pass is
    enough: an event that leaves the cut is never a cause of a receive that came earlier in `receipts`.
    """
    inside = dict(frontier)
    for process, index, sender, sent in receipts:
        if sent > inside[sender] and index <= inside[process]:
            inside[process] = index - 1
    return inside


class History:
    """The application events of one run that survive its recoveries.

    `rows` holds all rows, in order; `of` one row per event, by process. They differ if an event of a foreign log has
    several partners: it has a row for each. `lost` holds the ids of the messages that are lost: no cut has them in a
    channel. `unsent` holds those of which a recovery has taken the sending back: no consistent cut has their receipts.
    """

    def __init__(self, processes: Sequence[str], events: Iterable[Event]) -> None:
        self.processes = tuple(processes)
        self.rank = {name: i for i, name in enumerate(self.processes)}
        events = list(events)
        self.rows = [event for event in events if event.kind in APPLICATION_KINDS and not is_gone(event)]
        self._sending = [event for event in events if event.kind in (SEND, COPIED) and event.index is not None]
        self._sending = [event for event in self._sending if not is_gone(event)]
        self.unsent = unsent(events)
        self.lost = frozenset(event.message_id for event in events if event.kind in (LOST, FENCED))
        self.of: dict[str, list[Event]] = {name: [] for name in self.processes}
        for event in self.rows:
            own = self.of[event.process]
            if not own or own[-1].index != event.index:
                own.append(event)

    @cached_property
    def sends(self) -> dict[int, Event]:
        """The send of every message, by message id. A copy has the send of which it is a copy."""
        sends = {(event.process, event.index): event for event in self.rows if event.kind == SEND}
        named = (event for event in self._sending if event.message_id is not None)
        return {e.message_id or 0: e if e.kind == SEND else sends.get((e.process, e.index), e) for e in named}

    @cached_property
    def receives(self) -> dict[int, Event]:
        """The receive of every message that was received, by message id."""
        return {e.message_id: e for e in self.rows if e.kind == RECEIVE and e.message_id is not None}

    @cached_property
    def clocks(self) -> dict[tuple[str, int], Clock]:
        """The vector clock of every event, by (process, index) (Fidge 1988, Mattern 1989)."""
        clocks: dict[tuple[str, int], Clock] = {}
        now = {name: [0] * len(self.processes) for name in self.processes}
        for event in in_time(self.rows):
            clock = now[event.process]
            if event.kind == RECEIVE and event.message_id in self.sends:
                send = self.sends[event.message_id]
                clock[:] = map(max, clock, clocks[send.process, send.index or 0])
            if (event.process, event.index or 0) not in clocks:
                clock[self.rank[event.process]] += 1
            clocks[event.process, event.index or 0] = tuple(clock)
        return clocks

    def clock(self, event: Event) -> Clock:
        """The vector clock of an application event, in the order of `processes`."""
        return self.clocks[event.process, event.index or 0]

    def happened_before(self, a: Event, b: Event) -> bool:
        """Lamport's happened-before: a path of messages and process steps leads from a to b."""
        own = self.rank[a.process]
        return (a.process, a.index) != (b.process, b.index) and self.clock(a)[own] <= self.clock(b)[own]

    def is_consistent(self, frontier: Frontier) -> bool:
        """Whether every cause of an event inside is inside too. The clocks of the last events inside decide this."""
        limit = [frontier.get(name, 0) for name in self.processes]
        last = (self.clocks[name, count] for name, count in zip(self.processes, limit, strict=True) if count)
        is_within = all(known <= inside for clock in last for known, inside in zip(clock, limit, strict=True))
        return is_within and not self._unsent_in(frontier)

    def _unsent_in(self, frontier: Frontier) -> list[int]:
        """The messages that are received inside, and of which a recovery has taken the sending back."""
        own = (self.receives[message] for message in self.unsent if message in self.receives)
        return [event.message_id or 0 for event in own if (event.index or 0) <= frontier.get(event.process, 0)]

    def violations(self, frontier: Frontier) -> list[int]:
        """The messages (by id) that are received inside and not sent inside: outside, or taken back by a recovery."""
        outside = (
            message
            for message, receive in self.receives.items()
            if message in self.sends
            and (receive.index or 0) <= frontier.get(receive.process, 0)
            and (self.sends[message].index or 0) > frontier.get(self.sends[message].process, 0)
        )
        return sorted([*outside, *self._unsent_in(frontier)])

    def violation(self, frontier: Frontier) -> int | None:
        """The first message (by id) that is received inside and not sent inside, if there is one."""
        return next(iter(self.violations(frontier)), None)

    def consistent_below(self, frontier: Frontier) -> dict[str, int]:
        """The biggest consistent cut inside `frontier`."""
        limit = {name: min(frontier.get(name, 0), len(own)) for name, own in self.of.items()}
        return consistent_below(limit, self._receipts())

    def _receipts(self) -> Iterator[Receipt]:
        """The receipts of what is sent; what a recovery has taken back is sent after all events of any process."""
        for event in self.rows:
            message = event.message_id
            if event.kind == RECEIVE and message in self.sends:
                send = self.sends[message or 0]
                yield event.process, event.index or 0, send.process, send.index or 0
            elif event.kind == RECEIVE and message in self.unsent:
                yield event.process, event.index or 0, event.process, len(self.rows) + 1

    def consistent_above(self, frontier: Frontier) -> dict[str, int] | None:
        """The smallest consistent cut around `frontier`: its events and all their causes.

        It is unique, since the intersection of two consistent cuts is consistent. None, where a recovery has taken one
        of the causes back.
        """
        limit = {name: min(frontier.get(name, 0), len(own)) for name, own in self.of.items()}
        last = [self.clocks[name, count] for name, count in limit.items() if count]
        around = {name: max([limit[name], *(clock[self.rank[name]] for clock in last)]) for name in self.processes}
        return None if self._unsent_in(around) else around

    def in_channels(self, frontier: Frontier) -> dict[str, list[int]]:
        """The ids of the messages sent inside and not received inside, by channel, in the order of receipt.

        Messages that are never received come last, in the order of sending. Empty channels are left out.
        """
        found: dict[str, list[int]] = {}
        never = sum(map(len, self.of.values())) + 1

        def arrival(message: int) -> tuple[int, int]:
            receive = self.receives.get(message)
            return (receive.index or 0 if receive else never, message)

        for message in sorted(self.sends.keys() - self.lost, key=arrival):
            send, receive = self.sends[message], self.receives.get(message)
            outside = receive is None or (receive.index or 0) > frontier.get(receive.process, 0)
            if (send.index or 0) <= frontier.get(send.process, 0) and outside:
                found.setdefault(send.channel or "", []).append(message)
        return found
