"""Vector clocks of a log (Fidge 1988, Mattern 1989): checks that they are valid, and derives messages from them.

Clocks are valid if some execution produces them: a host's own entry rises with each of its events; its other entries
never fall; no entry exceeds the last event of its host; an event that knows of another has at least all its entries;
and no two events know of each other. ShiViz draws logs that break these rules; here an error names the line.

The entry of a host in an event's clock may rise, to v. Then event number v of that host is a cause, unless another new
cause of the event already knew of it. The remaining causes sent messages to this event: knowledge that came through a
third host would raise that host's entry, too. So in a log without gaps, these messages reproduce exactly the clocks.

A gap is an event that clocks count and the log lacks. The latest logged event before it stands for it. Happened-before
among logged events stays exact, and so do verdicts on cuts. But the event that sent or received the message is not
certain (`Cause.is_sure`).
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.core.errors import InputError, brief

MOST_ENTRIES = 400_000_000  # in all clocks of an execution, 4 bytes each
MOST_COUNT = 2**31 - 1
MOST_LATE = 0.01  # the share of a log's lines that may stand after a later event of their host


class Cause(NamedTuple):
    """Event number `event` of the log, which sent a message; or, unless `is_sure`, an event in the gap after it did."""

    event: int
    is_sure: bool


class Clocks:
    """The clocks of one execution. Events are numbered from 0 in the order of the log, hosts by their first event.

    `own[e]` is event e's entry for its own host, `index[e]` its number among the logged events of its host, from 1.
    `gaps` counts the events that were not logged; `follows_gap` holds the events right after a gap. If some lines were
    late, `late` holds their numbers, and `order` the new order: event e is the log's event number order[e].
    """

    def __init__(self, source: str, hosts: Sequence[str], texts: Sequence[str], lines: Sequence[int]) -> None:
        """Parses and checks the clocks `texts`, one per event. Raises InputError, naming file and line."""
        self.source = source
        self.lines = lines
        self.hosts = list(dict.fromkeys(hosts))
        self._rank = {name: rank for rank, name in enumerate(self.hosts)}
        if len(hosts) * len(self.hosts) > MOST_ENTRIES:
            raise InputError(
                f"{source}: {len(hosts):,} events of {len(self.hosts):,} hosts; an execution has at most "
                f"{MOST_ENTRIES:,} clock entries: does the group host stand around the host's name?"
            )
        self.host = [self._rank[name] for name in hosts]
        self.own: list[int] = []
        self.index: list[int] = []
        self.gaps = 0
        self.follows_gap: set[int] = set()
        self.order: list[int] | None = None
        self.late: list[int] = []
        self._logged: list[list[int]] = [[] for _ in self.hosts]  # per host, the own entries of its events
        self._events_of: list[list[int]] = [[] for _ in self.hosts]  # per host
        self._learned: dict[int, list[int]] = {}  # per event, the hosts whose entries rise
        self._entries = self._read(texts)  # all clocks, one after the other, with an entry per host
        self._put_in_order()
        self._check_all()

    def known(self, event: int, host: int) -> int:
        """The entry for `host` in an event's clock (0: it knows no event of that host)."""
        return self._entries[event * len(self.hosts) + host]

    def where(self, event: int) -> str:
        """File and line of an event's clock, for errors."""
        return f"{self.source}:{self.lines[event]}"

    def name(self, event: int) -> str:
        """An event for errors: its host, own entry and line."""
        return f"{self.hosts[self.host[event]]}:{self.own[event]} (line {self.lines[event]})"

    # ------------------------------------------------------------------ one clock after the other

    def _read(self, texts: Sequence[str]) -> array[int]:
        entries = array("i")
        for event, text in enumerate(texts):
            clock = self._parse(event, text)
            own = clock[self.host[event]]
            if not own:
                name = self.hosts[self.host[event]]
                raise InputError(
                    f"{self.where(event)}: the clock of {name!r} has no entry for itself; each event counts"
                )
            self.own.append(own)
            entries.extend(clock)
        return entries

    def _parse(self, event: int, text: str) -> list[int]:
        clock = [0] * len(self.hosts)
        for name, count in self._json(event, text).items():
            if type(count) is not int or not 0 <= count <= MOST_COUNT:
                right = 'a clock counts events, as {"alice": 2, "bob": 1} does'
                raise InputError(f"{self.where(event)}: the clock's entry {name!r} is {brief(count)}; {right}")
            rank = self._rank.get(name)
            if rank is not None:
                clock[rank] = count
            elif count:
                raise InputError(
                    f"{self.where(event)}: the clock knows {count} events of {name!r}, of which the log has none: "
                    "bring the log of that host as well"
                )
        return clock

    def _json(self, event: int, text: str) -> dict[str, int]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            try:
                found = json.loads(text.replace('\\"', '"'))  # a clock inside a quoted string
            except (ValueError, RecursionError):
                found = None
        if not isinstance(found, dict):
            raise InputError(
                f'{self.where(event)}: {brief(text)} is no clock; it is a JSON object such as {{"alice": 2, "bob": 1}}'
            )
        return found

    def _put_in_order(self) -> None:
        """Sorts the events of each host that has late lines, as threads write that race for the log."""
        highest = [0] * len(self.hosts)
        late = []
        for event, (host, own) in enumerate(zip(self.host, self.own, strict=True)):
            if own < highest[host]:
                late.append(event)
            highest[host] = max(highest[host], own)
        if len(late) > MOST_LATE * len(self.own):
            self._refuse_own(late[0])
        if not late:
            return
        self.late = [self.lines[event] for event in late]
        slots: dict[int, list[int]] = {self.host[event]: [] for event in late}
        for event, host in enumerate(self.host):
            if host in slots:
                slots[host].append(event)
        self.order = list(range(len(self.own)))
        for own_slots in slots.values():
            for slot, event in zip(own_slots, sorted(own_slots, key=self.own.__getitem__), strict=True):
                self.order[slot] = event
        width, entries = len(self.hosts), self._entries
        self._entries = array("i", (n for event in self.order for n in entries[event * width : (event + 1) * width]))
        self.own = [self.own[event] for event in self.order]
        self.lines = [self.lines[event] for event in self.order]

    def _check_all(self) -> None:
        width = len(self.hosts)
        last = [array("i", [0]) * width for _ in self.hosts]
        for event, host in enumerate(self.host):
            before = last[host]
            clock = self._entries[event * width : (event + 1) * width]
            missing = clock[host] - before[host] - 1
            if missing:
                self._note_gap(event, missing)
            self._logged[host].append(clock[host])
            self._events_of[host].append(event)
            self.index.append(len(self._events_of[host]))
            learned = [other for other in range(width) if clock[other] != before[other] and other != host]
            if learned:
                self._learned[event] = learned
                for other in learned:
                    if clock[other] < before[other]:
                        self._refuse_fall(event, other, clock[other], before[other])
            last[host] = clock

    def _note_gap(self, event: int, missing: int) -> None:
        if missing < 0:
            self._refuse_own(event)
        self.gaps += missing
        self.follows_gap.add(event)

    def _refuse_own(self, event: int) -> None:
        host, own = self.host[event], self.own[event]
        before = max((e for e in range(event) if self.host[e] == host), key=self.own.__getitem__)
        how = "stays at" if own == self.own[before] else f"goes back from {self.own[before]} to"
        raise InputError(
            f"{self.where(event)}: the clock of {self.hosts[host]!r} {how} {own} (line {self.lines[before]}); "
            "a host's own entry rises: are these several executions (--delimiter), or are lines out of order?"
        )

    def _refuse_fall(self, event: int, other: int, now: int, before: int) -> None:
        host = self.host[event]
        line = self.lines[self._events_of[host][-2]]
        raise InputError(
            f"{self.where(event)}: {self.hosts[host]!r} knew {before} events of {self.hosts[other]!r} (line {line}) "
            f"and now {now}; what a clock knows it keeps"
        )

    # ------------------------------------------------------------------ all clocks together

    def causes(self) -> Iterator[tuple[int, list[Cause]]]:
        """Yield each event that receives messages, with the events that sent them, in the order of the log.

        Raises InputError for an entry beyond the host's last event, and for two events that know of each other. Raises
        it also for an event that lacks knowledge of one of its causes.
        """
        for event, learned in self._learned.items():
            # An event that knows of another has the bigger sum of entries: a cause comes before those that it implies.
            found = sorted(((self._latest(event, other), other) for other in learned), key=self._sum, reverse=True)
            sure = event not in self.follows_gap
            kept: list[int] = []
            for cause, other in found:
                value = self.known(event, other)
                if any(self.known(one, other) >= value for one in kept):
                    continue
                sure = sure and cause is not None and self.own[cause] == value
                if cause is not None:
                    self._check(event, cause)
                    kept.append(cause)
            if kept:
                yield event, [Cause(cause, sure) for cause in sorted(kept, key=self.host.__getitem__)]

    def _latest(self, event: int, other: int) -> int | None:
        """The latest logged event of host `other` that `event` knows of; None if none of those is logged."""
        value = self.known(event, other)
        logged = self._logged[other]
        if value > logged[-1]:
            raise InputError(
                f"{self.where(event)}: the clock knows {value} events of {self.hosts[other]!r}, which reaches only "
                f"{logged[-1]} (line {self.lines[self._events_of[other][-1]]}); a log has to be complete"
            )
        count = bisect_right(logged, value)
        return self._events_of[other][count - 1] if count else None

    def _sum(self, found: tuple[int | None, int]) -> int:
        """The sum of the entries of a cause; -1 if there is none."""
        cause = found[0]
        width = len(self.hosts)
        return -1 if cause is None else sum(self._entries[cause * width : (cause + 1) * width])

    def _check(self, event: int, cause: int) -> None:
        """Raises InputError if the two know of each other, or if `cause` knew an event that `event` does not know."""
        host = self.host[event]
        for other in range(len(self.hosts)):
            known = self.known(cause, other)
            if other == host:
                if known >= self.own[event]:
                    raise InputError(
                        f"{self.where(event)}: {self.name(event)} and {self.name(cause)} know of each other; of two "
                        "events only the later one can know of the other"
                    )
            elif known > self.known(event, other):
                raise InputError(
                    f"{self.where(event)}: {self.name(event)} knows of {self.name(cause)}, which knew {known} events "
                    f"of {self.hosts[other]!r}, but knows only {self.known(event, other)} of them itself"
                )
