"""The positions of a run and their order: the places between which a cut can lie, and their causes.

A run is a sequence of atomic steps. The *positions* of a process are its steps with application events, and its crash,
restart, join and leave. Messages that are lost or fenced off as they reach it are positions, too. Recordings, markers,
control messages and pauses are none; a receive and the sends that answer it are one. A loss or a copy in transit lies
on no process: it is a line of its own, with one position. A loss follows its send; a copy follows its send, and
precedes the receipt or the loss of the copied message. A join precedes, and a leave follows, every send from and to its
process in that presence. A receipt whose send a recovery has taken back is in no consistent cut.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    COPIED,
    CRASH,
    FENCED,
    JOIN,
    LEAVE,
    LOST,
    RECEIVE,
    RESTART,
    SEND,
    Event,
)
from sim.theory.causes import Causes, Place, ends_of
from sim.theory.surviving import is_gone, unsent

Cut = tuple[int, ...]  # by line: the number of its positions inside
Clock = tuple[int, ...]  # by line: the number of its positions that are causes of a position, itself included
MOST_PLACED = 12  # losses and copies of one message, in each way that their order allows
ACTS = "acts"  # the kind of a position with application events
FATES = frozenset({CRASH, RESTART, JOIN, LEAVE})
_OF_MESSAGES = frozenset({LOST, FENCED, COPIED})
_KINDS = APPLICATION_KINDS | FATES | _OF_MESSAGES


class Position(NamedTuple):
    """A position: its step, its first row, how many application events of its process are inside after it, its kind.

    `kind` is ACTS, or that of its row. `message` is what is lost or copied there.
    """

    step: int
    row: int
    inside: int
    kind: str
    message: int | None = None


class Way(NamedTuple):
    """A message: the index and the place of its send, and the places where it comes into its channel and out of it.

    `sent` and `put` differ where it is a copy. `out` is where it is received, lost or fenced off (None: it stays).
    """

    message: int
    send: int
    sent: Place
    put: Place
    out: Place | None


class Order:
    """The positions of a run that survive its recoveries, and what comes before each of them.

    `lines` holds the positions of every process, in their order, and then a line for each loss and copy in transit.
    `place_of` has the place of every row, by its number. `clocks` holds, in the same places as `lines`, the vector
    clocks of the positions (Fidge 1988, Mattern 1989).
    """

    def __init__(
        self, processes: Sequence[str], events: Iterable[Event], abandoned: Collection[int] = (),
        together: Callable[[Event], int] = lambda event: event.step,
    ) -> None:  # fmt: skip
        """`events` are numbered anew, and `abandoned` are further rows that are gone (sim/theory/surviving.py).

        Application events of a process to which `together` gives the same number are one position.
        """
        self.processes = tuple(processes)
        self.lines: list[list[Position]] = [[] for _ in self.processes]
        self.place_of: dict[int, Place] = {}
        own = [event for event in events if event.kind in _KINDS]
        self._unsent = unsent(own)
        put = (event for event in own if event.kind in (SEND, COPIED) and event.index is not None)
        self._sent = frozenset(event.message_id for event in put) - self._unsent
        self._lay(own, abandoned, together)
        self._rows = [event for event in own if event.row in self.place_of]

    def _lay(self, events: Sequence[Event], abandoned: Collection[int], together: Callable[[Event], int]) -> None:
        """Lays the positions out in `lines`."""
        rank = {name: number for number, name in enumerate(self.processes)}
        last: dict[int, int | None] = {}  # by line: the number of the events of its last position
        for event in in_time(events):
            is_act, is_over = event.kind in APPLICATION_KINDS, is_gone(event) or event.row in abandoned
            is_on_its_way = False
            if event.kind in _OF_MESSAGES:
                if event.message_id not in self._sent:
                    continue
                is_on_its_way = event.kind == COPIED or is_over or event.process != ends_of(event)[1]
            elif is_over:
                continue
            if is_on_its_way:
                self.lines.append([])
            line = len(self.lines) - 1 if is_on_its_way else rank[event.process]
            own, group = self.lines[line], together(event) if is_act else None
            inside = max(own[-1].inside if own else 0, event.index or 0 if is_act else 0)
            if group is not None and last.get(line) == group:
                own[-1] = own[-1]._replace(step=event.step, inside=inside)
            else:
                message = event.message_id if event.kind in _OF_MESSAGES else None
                own.append(Position(event.step, event.row, inside, ACTS if is_act else event.kind, message))
            last[line] = group
            self.place_of[event.row] = line, len(own)

    @cached_property
    def clocks(self) -> list[list[Clock]]:
        """The clock of every position, in the places of `lines`."""
        found: list[list[Clock]] = [[()] * len(own) for own in self.lines]
        now = [[0] * len(self.lines) for _ in self.lines]
        never = (1 + sum(map(len, self.lines)),) * len(self.lines)  # more than there is
        for (line, count), causes in self._rows_with_causes():
            clock = now[line]
            clock[line] = max(clock[line], count)
            for cause in causes:
                clock[:] = map(max, clock, found[cause[0]][cause[1] - 1] if cause else never)
            found[line][count - 1] = tuple(clock)
        return found

    @cached_property
    def causes(self) -> dict[Place, dict[Place, int]]:
        """The direct causes of a position on other lines, by place, each with its message.

        A join comes before the messages that it lets be sent, and each of these before the leave that ends it.
        """
        found: dict[Place, dict[Place, int]] = {}
        for place, causes in self._rows_with_causes():
            own = {cause: message for cause, message in causes.items() if cause and cause[0] != place[0]}
            if own:
                found[place] = {**own, **found.get(place, {})}
        return found

    def _rows_with_causes(self) -> Iterator[tuple[Place, dict[Place | None, int]]]:
        """The place of every row, and those of the rows directly before it (None: what a recovery has taken back)."""
        causes = Causes(self.place_of, self._unsent, any(event.kind == LEAVE for event in self._rows))
        for event in in_time(self._rows):
            yield self.place_of[event.row], causes.of(event)

    @cached_property
    def reached(self) -> list[int]:
        """By line, the number of positions in some consistent cut: all, unless a send has been taken back."""
        if not self._unsent:
            return [len(own) for own in self.lines]
        return [sum(clock[line] <= len(own) for clock in own) for line, own in enumerate(self.clocks)]

    @property
    def path(self) -> Iterator[tuple[int, Cut]]:
        """The cuts through which the run went, each with the step in which it came there; the empty one with step 0."""
        cut = [0] * len(self.lines)
        yield 0, tuple(cut)
        for step, line in sorted((own.step, line) for line, whole in enumerate(self.lines) for own in whole):
            cut[line] += 1
            yield step, tuple(cut)

    # ------------------------------------------------------------------ cuts

    def is_consistent(self, cut: Cut) -> bool:
        """Whether every cause of a position inside is inside too."""
        return all(_is_within(self.clocks[line][count - 1], cut) for line, count in enumerate(cut) if count)

    def early(self, cut: Cut) -> str:
        """A process that has a position inside of which a cause is outside ("": there is none)."""
        own = zip(self.processes, self.clocks, cut, strict=False)
        return next((name for name, clocks, count in own if count and not _is_within(clocks[count - 1], cut)), "")

    def inside(self, cut: Cut) -> tuple[int, ...]:
        """The number of application events inside, by process."""
        return tuple(own[count - 1].inside if count else 0 for own, count in self._of_processes(cut))

    @cached_property
    def ways(self) -> dict[str, list[Way]]:
        """The ways of the messages that are sent, by channel, in the order of sending."""
        found: dict[str, list[Way]] = {}
        taken_out = {
            row.message_id: self.place_of[row.row] for row in self._rows if row.kind in (RECEIVE, LOST, FENCED)
        }
        sends: dict[tuple[str, int | None], Place] = {}
        for event in self._rows:
            place = self.place_of[event.row]
            if event.kind == SEND:
                sends[event.process, event.index] = place
            if event.kind in (SEND, COPIED) and event.message_id is not None:
                sent = sends[event.process, event.index]
                way = Way(event.message_id, event.index or 0, sent, place, taken_out.get(event.message_id))
                found.setdefault(event.channel or "", []).append(way)
        return found

    def in_channel(self, channel: str, cut: Cut) -> list[int]:
        """The messages that a cut finds in a channel, in the order of sending.

        They are sent or copied inside, and neither received nor lost inside.
        """
        own = self.ways.get(channel, ())
        return [way.message for way in own if is_inside(way.put, cut) and not is_inside(way.out, cut)]

    @cached_property
    def receipts(self) -> dict[int | None, Place]:
        """The places of receipt by message id; messages that are not received are left out."""
        return {event.message_id: self.place_of[event.row] for event in self._rows if event.kind == RECEIVE}

    def unsent(self, cut: Cut) -> list[int]:
        """The messages that are received inside, and of which a recovery has taken the sending back, by their ids."""
        own = (message for message, place in self.receipts.items() if is_inside(place, cut))
        return sorted(message for message in own if message is not None and message in self._unsent)

    def orphans(self, cut: Cut) -> list[int]:
        """The messages that are received, lost or fenced off inside and sent outside, by their ids, in order."""
        ways = (way for own in self.ways.values() for way in own)
        return sorted(way.message for way in ways if is_inside(way.out, cut) and not is_inside(way.sent, cut))

    @cached_property
    def _sent_at(self) -> dict[int | None, tuple[str, int]]:
        """By message, its channel and the index of its send; a copy has those of what it copies."""
        return {way.message: (channel, way.send) for channel, own in self.ways.items() for way in own}

    def undecided(self, cut: Cut) -> dict[tuple[str, int], list[int]]:
        """The lines of the losses and copies in transit that may be inside a cut and need not.

        Those of one message, by its channel and the index of its send. `cut` has of them what has to be inside.
        """
        found: dict[tuple[str, int], list[int]] = {}
        for line in range(len(self.processes), len(self.lines)):
            causes = self.clocks[line][0][: len(self.processes)]
            if not cut[line] and _is_within(causes, cut):
                found.setdefault(self._sent_at[self.lines[line][0].message], []).append(line)
        return found

    def placings(self, cut: Cut, lines: Sequence[int]) -> Iterator[Cut]:
        """A cut with some of these losses and copies inside, in every way that their order allows."""
        for chosen in product((0, 1), repeat=min(len(lines), MOST_PLACED)):
            inside = dict(zip(lines, chosen, strict=False))
            placed = tuple(inside.get(line, count) for line, count in enumerate(cut))
            if all(_is_within(self.clocks[line][0], placed) for line in lines if placed[line]):
                yield placed

    def environment(self, cut: Cut) -> list[Position]:
        """The losses and copies in transit that are inside."""
        count = len(self.processes)
        return [own for (own,), inside in zip(self.lines[count:], cut[count:], strict=True) if inside]

    def at(self, frontier: Sequence[int]) -> Cut:
        """The cut of the latest positions with these numbers of application events inside, by process."""
        own = zip(self.lines, frontier, strict=False)
        return self.around([bisect_right(line, most, key=lambda position: position.inside) for line, most in own])

    def recorded(self, parts: Mapping[str, tuple[int, int]]) -> Cut:
        """The cut of recordings: by process, how many application events are inside, and the step of the recording."""
        own = zip(self.lines, self.processes, strict=False)
        return self.around([_before(line, *parts[name]) if name in parts else None for line, name in own])

    def around(self, positions: Sequence[int | None]) -> Cut:
        """The cut with these numbers of positions by process (None: as few as causality requires).

        Of the losses and copies in transit, only causes are inside.
        """
        last = [self.clocks[line][count - 1] for line, count in enumerate(positions) if count]
        least = [min(len(own), max((clock[line] for clock in last), default=0)) for line, own in enumerate(self.lines)]
        given = (least[line] if count is None else count for line, count in enumerate(positions))
        return (*given, *least[len(positions) :])

    def _of_processes(self, cut: Cut) -> Iterator[tuple[list[Position], int]]:
        return zip(self.lines[: len(self.processes)], cut, strict=False)


def is_inside(place: Place | None, cut: Cut) -> bool:
    """Whether a cut has the position at a place inside (None: there is none)."""
    return place is not None and cut[place[0]] >= place[1]


def _is_within(clock: Clock, cut: Cut) -> bool:
    return all(known <= inside for known, inside in zip(clock, cut, strict=False))


def _before(line: Sequence[Position], inside: int, step: int) -> int:
    """The number of positions before a recording."""
    return sum(own.inside <= inside if own.kind == ACTS else own.step <= step for own in line)
