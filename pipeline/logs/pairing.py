"""Which event sent what another received, in a log with vector clocks whose text may name sends and receives.

The clocks alone tell of messages without doubt (clocks.py), but not of all: one that was never received, or that
told its receiver nothing new, leaves no trace in them. So where the text names no sends and receives, what a cut
finds in a channel is at least what the table says (`exact` is false); verdicts on cuts are exact all the same.

Where the text names them (a group `kind`, and perhaps `peer` and `msg`), the text decides which event is what. A
receive is matched with a send of the same peers and the same message, if it names them: with that of which its clock
newly knows, which the clocks prove, else with the next one in FIFO order, as long as its clock knows of that one. Text
and clocks that contradict each other are refused, naming the line. A send that nobody received stays in its channel.

The state of a channel is unknown (`unknown`) where the table could be wrong about what it holds:
- a message was sent or received at a gap, so that it is not known where (pipeline.logs.clocks);
- a send is not received in the log, but its receiver has events that nobody logged;
- a receive could be of several sends, some of which later ones have overtaken;
- a receive of which neither text nor clocks tell the sender (then every channel to it), a send of which neither tells
  the receiver (every channel from it). Such an event is a row of kind internal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.logs.clocks import Cause, Clocks
from pipeline.logs.statements import Queue, Statement
from sim.core.errors import InputError
from sim.core.model import RECEIVE, SEND

GIVEN, CLOCK, FIFO, UNKNOWN = "given", "clock", "fifo", "unknown"  # from the surest way to match to none
PAIRINGS = (GIVEN, CLOCK, FIFO, UNKNOWN)


class Message(NamedTuple):
    """A message between two hosts by the numbers of its events; `receive` is None where it was never received."""

    send: int
    receive: int | None
    source: int
    target: int


@dataclass
class Pairing:
    """The messages of an execution and how well they are known; see the module's text."""

    messages: list[Message] = field(default_factory=list)
    unknown: set[tuple[int, int]] = field(default_factory=set)
    how: str = GIVEN
    exact: bool = True
    notes: list[str] = field(default_factory=list)

    def use(self, how: str) -> None:
        """Something was matched in that way: the least sure one counts."""
        self.how = max(self.how, how, key=PAIRINGS.index)


def pair(clocks: Clocks, statements: dict[int, Statement] | None) -> Pairing:
    """The messages of a log; `statements` holds what its text says of events (None: it was not asked).

    Raises InputError, naming file and line, where clocks cannot be believed, or text contradicts them.
    """
    causes = dict(clocks.causes())
    if statements is None:
        found = Pairing(how=CLOCK, exact=False)
        for event, senders in causes.items():
            for cause in senders:
                _add(found, clocks, cause, event)
    else:
        found = _Text(clocks, statements, causes).pairing()
    if clocks.gaps:
        found.exact = False
    return found


def _add(found: Pairing, clocks: Clocks, cause: Cause, event: int) -> None:
    """A message of which the clocks tell."""
    channel = (clocks.host[cause.event], clocks.host[event])
    found.messages.append(Message(cause.event, event, *channel))
    found.use(CLOCK)
    if not cause.is_sure:
        found.unknown.add(channel)


class _Text:
    """Pairing in a log whose text names sends and receives."""

    def __init__(self, clocks: Clocks, statements: dict[int, Statement], causes: dict[int, list[Cause]]) -> None:
        self._clocks = clocks
        self._claims = statements
        self._causes = causes
        self._found = Pairing()
        self._queues: dict[tuple[int, int, str | None], Queue] = {}
        self._sends: dict[tuple[int, int | None, str | None], list[int]] = defaultdict(list)
        self._senders: dict[str | None, dict[int, None]] = defaultdict(dict)  # by message: who sends it
        self._with_gap = {clocks.host[event] for event in clocks.follows_gap}
        self._told: set[int] = set()  # hosts whose sends the text names
        self._received: set[int] = set()  # sends
        self._undecided: list[int] = []
        for event, statement in statements.items():
            if statement.kind == SEND:
                self._sends[clocks.host[event], statement.peer, statement.message].append(event)
                self._senders[statement.message][clocks.host[event]] = None
                self._told.add(clocks.host[event])

    def pairing(self) -> Pairing:
        """All messages."""
        proven = 0
        for event in sorted(
            {*self._causes, *(e for e, statement in self._claims.items() if statement.kind == RECEIVE)}
        ):
            statement = self._claims.get(event)
            causes = self._causes.get(event, [])
            if statement is not None and statement.kind == RECEIVE:
                causes = self._receive(event, statement, causes)
            for cause in causes:
                self._prove(event, cause)
            proven += len(causes)
        self._never_received()
        self._found.exact = self._found.exact and not (proven or self._found.unknown)
        if proven:
            self._found.notes.append(f"{proven} messages are known from the clocks alone: the text does not name them")
        if self._undecided:
            first = self._clocks.where(min(self._undecided))
            self._found.use(UNKNOWN)
            self._found.notes.append(
                f"{len(self._undecided)} sends or receives have no partner that text or clocks tell, the first at "
                f"{first}: the state of their channels is unknown"
            )
        return self._found

    def _prove(self, event: int, cause: Cause) -> None:
        """A message of which the clocks tell and the text does not."""
        host = self._clocks.host[event]
        statement = self._claims.get(cause.event)
        if statement is not None and statement.kind == SEND:
            taken = self._queue(self._clocks.host[cause.event], host, statement.message).take(cause.event)
            if not taken and cause.is_sure:
                raise self._contradiction(event, cause.event)
            self._received.add(cause.event)
        _add(self._found, self._clocks, cause, event)

    # ------------------------------------------------------------------ receives

    def _receive(self, event: int, statement: Statement, causes: list[Cause]) -> list[Cause]:
        """Match a receive that the text names. Returns what the clocks tell of besides."""
        source = self._source(statement, causes)
        if source is None:
            if not causes:
                self._give_up(event, ((other, self._clocks.host[event]) for other in range(len(self._clocks.hosts))))
            return causes
        own = [cause for cause in causes if self._clocks.host[cause.event] == source]
        others = [cause for cause in causes if cause not in own]
        if others and not own and all(cause.is_sure for cause in others):
            raise self._contradiction(event, others[0].event)
        if own and own[0].is_sure:
            self._receive_proven(event, statement, own[0])
        else:
            self._receive_next(event, statement, source, own)
        return others

    def _source(self, statement: Statement, causes: list[Cause]) -> int | None:
        """Who sent it, as far as text or clocks tell."""
        if statement.peer is not None:
            return statement.peer
        if len(causes) == 1:
            return self._clocks.host[causes[0].event]
        senders = self._senders.get(statement.message, {}) if statement.message is not None else {}
        return next(iter(senders)) if len(senders) == 1 else None

    def _receive_proven(self, event: int, statement: Statement, cause: Cause) -> None:
        """The clocks prove which send it was; where the text says something of it, it must say the same."""
        sent = self._claims.get(cause.event)
        if sent is None or sent.kind != SEND:
            self._found.exact = False
        else:
            queue = self._queue(self._clocks.host[cause.event], self._clocks.host[event], statement.message)
            if not queue.take(cause.event):
                raise self._contradiction(event, cause.event)
        self._match(cause.event, event, GIVEN if statement.message is not None else CLOCK)

    def _receive_next(self, event: int, statement: Statement, source: int, causes: list[Cause]) -> None:
        """The clocks do not say which send it was: it is the next one in FIFO order."""
        clocks, target = self._clocks, self._clocks.host[event]
        queue = self._queue(source, target, statement.message)
        send = queue.first()
        if send is not None and statement.message is None and self._claims[send].peer is None:
            send = None  # a send to nobody in particular may be to somebody else
        if send is not None and clocks.own[send] <= clocks.known(event, source):
            if queue.is_one_of_many() or not self._with_gap.isdisjoint((source, target)):
                self._found.unknown.add((source, target))
            queue.take(send)
            self._match(send, event, FIFO if statement.message is None or queue.left else GIVEN)
        elif causes:
            _add(self._found, clocks, causes[0], event)
        elif source in self._with_gap or source not in self._told or self._sends.get((source, None, statement.message)):
            self._give_up(event, [(source, target)])
        else:
            name = clocks.hosts[source]
            what = (
                f"{statement.message!r} from {name!r}" if statement.message is not None else f"a message from {name!r}"
            )
            known = "none is left" if send is None else f"of {clocks.told(send)}, the next one, its clock does not know"
            raise InputError(
                f"{clocks.where(event)}: receives {what}, but no send of it can be the one: {known}; a receive needs "
                "its send before it"
            )

    def _match(self, send: int, event: int, how: str) -> None:
        self._received.add(send)
        self._found.use(how)
        self._found.messages.append(Message(send, event, self._clocks.host[send], self._clocks.host[event]))

    def _give_up(self, event: int, channels: Iterable[tuple[int, int]]) -> None:
        self._undecided.append(event)
        self._found.unknown.update(channel for channel in channels if channel[0] != channel[1])

    def _contradiction(self, event: int, cause: int) -> InputError:
        clocks = self._clocks
        return InputError(
            f"{clocks.where(event)}: {self._words(event)}, but its clock learns of {clocks.told(cause)}, which "
            f"{self._words(cause)}; text and clocks have to agree"
        )

    def _words(self, event: int) -> str:
        """What the text says of an event."""
        statement = self._claims.get(event)
        if statement is None:
            return "is no send and no receive"
        to, peer = ("to" if statement.kind == SEND else "from"), statement.peer
        where = "" if peer is None else f" {to} {self._clocks.hosts[peer]!r}"
        what = "a message" if statement.message is None else repr(statement.message)
        return f"{'sends' if statement.kind == SEND else 'receives'} {what}{where}"

    # ------------------------------------------------------------------ sends

    def _queue(self, source: int, target: int, message: str | None) -> Queue:
        """The sends of a message to a host: those that name it, and those that name nobody."""
        key = (source, target, message)
        if key not in self._queues:
            sends = (self._sends.get((source, peer, message), []) for peer in (target, None))
            self._queues[key] = Queue(sorted(event for events in sends for event in events))
        return self._queues[key]

    def _never_received(self) -> None:
        clocks = self._clocks
        for (source, peer, _), events in self._sends.items():
            for event in events:
                if event in self._received:
                    continue
                if peer is None:
                    self._give_up(event, ((source, other) for other in range(len(clocks.hosts))))
                    continue
                self._found.messages.append(Message(event, None, source, peer))
                if peer in self._with_gap:
                    self._found.unknown.add((source, peer))
