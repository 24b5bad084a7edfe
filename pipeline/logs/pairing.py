"""Pairs sends with receives in a log with vector clocks. The log's text may name sends and receives.

Messages that follow from the clocks are certain (clocks.py). But a message leaves no trace in the clocks if it was
never received, or if it told its receiver nothing new. So if the text names no sends and receives, a channel may hold
more messages than the table has (`exact` is false). Verdicts on cuts are exact all the same.

If the text names them (the group `kind`, perhaps `peer` and `msg`), the text decides which events are sends and
receives. A receive is matched with a send of the same peers and message, as far as it names them: with the send that
its clock proves; else with the next one in FIFO order, if the receive's clock knows of it. An error names the line
where text and clocks contradict each other. A send without a receive stays in its channel.

The state of a channel is unknown (`unknown`) in these cases:
- a message was sent or received at a gap (pipeline.logs.clocks);
- a send has no receive in the log, and its receiver has gaps;
- a receive may belong to several sends, since a later send has overtaken earlier ones;
- neither text nor clocks give the sender of a receive: then all channels to its host are unknown;
- neither text nor clocks give the receiver of a send: then all channels from its host are unknown.
In the last two cases the event becomes a row of kind internal.
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

GIVEN, CLOCK, FIFO, UNKNOWN = "given", "clock", "fifo", "unknown"  # how sends were matched, the most certain first
PAIRINGS = (GIVEN, CLOCK, FIFO, UNKNOWN)


class Message(NamedTuple):
    """A message: the numbers of its events and hosts; `receive` is None if it was never received."""

    send: int
    receive: int | None
    source: int
    target: int


@dataclass
class Pairing:
    """The messages of an execution. `unknown` holds channels (source, target); `how` is TRACE_TYPES' `pairing`."""

    messages: list[Message] = field(default_factory=list)
    unknown: set[tuple[int, int]] = field(default_factory=set)
    how: str = GIVEN
    exact: bool = True
    notes: list[str] = field(default_factory=list)

    def use(self, how: str) -> None:
        """Notes that a message was matched in this way; the least certain way counts."""
        self.how = max(self.how, how, key=PAIRINGS.index)


def pair(clocks: Clocks, statements: dict[int, Statement] | None) -> Pairing:
    """The messages of a log; `statements` are the sends and receives that its text names (None: it names none).

    Raises InputError, naming file and line, for invalid clocks, or text that contradicts them.
    """
    causes = dict(clocks.causes())
    if statements is None:
        found = Pairing(how=CLOCK, exact=False)
        for event, senders in causes.items():
            for cause in senders:
                _add(found, clocks, cause, event)
    else:
        found = _TextPairing(clocks, statements, causes).pairing()
    if clocks.gaps:
        found.exact = False
    return found


def _add(found: Pairing, clocks: Clocks, cause: Cause, event: int) -> None:
    """Adds a message that follows from the clocks."""
    channel = (clocks.host[cause.event], clocks.host[event])
    found.messages.append(Message(cause.event, event, *channel))
    found.use(CLOCK)
    if not cause.is_sure:
        found.unknown.add(channel)


class _TextPairing:
    """Pairs sends with receives in a log whose text names them."""

    def __init__(self, clocks: Clocks, statements: dict[int, Statement], causes: dict[int, list[Cause]]) -> None:
        self._clocks = clocks
        self._statements = statements
        self._causes = causes
        self._found = Pairing()
        self._queues: dict[tuple[int, int, str | None], Queue] = {}
        self._sends: dict[tuple[int, int | None, str | None], list[int]] = defaultdict(list)
        self._senders: dict[str | None, dict[int, None]] = defaultdict(dict)  # by message, the hosts that send it
        self._with_gap = {clocks.host[event] for event in clocks.follows_gap}
        self._senders_in_text: set[int] = set()  # hosts
        self._received: set[int] = set()  # sends that are matched with a receive
        self._undecided: list[int] = []
        for event, statement in statements.items():
            if statement.kind == SEND:
                self._sends[clocks.host[event], statement.peer, statement.message].append(event)
                self._senders[statement.message][clocks.host[event]] = None
                self._senders_in_text.add(clocks.host[event])

    def pairing(self) -> Pairing:
        """The pairing of the complete log. Raises InputError."""
        proven = 0
        for event in sorted(
            {*self._causes, *(e for e, statement in self._statements.items() if statement.kind == RECEIVE)}
        ):
            statement = self._statements.get(event)
            causes = self._causes.get(event, [])
            if statement is not None and statement.kind == RECEIVE:
                causes = self._receive(event, statement, causes)
            for cause in causes:
                self._add_proven(event, cause)
            proven += len(causes)
        self._add_unreceived()
        self._found.exact = self._found.exact and not (proven or self._found.unknown)
        if proven:
            self._found.notes.append(f"{proven} messages are known from the clocks alone: the text does not name them")
        if self._undecided:
            first = self._clocks.where(min(self._undecided))
            self._found.use(UNKNOWN)
            self._found.notes.append(
                f"for {len(self._undecided)} sends or receives neither text nor clocks give a partner, the first at "
                f"{first}: the state of their channels is unknown"
            )
        return self._found

    def _add_proven(self, event: int, cause: Cause) -> None:
        """Adds a message that the clocks prove and the text does not name. Raises InputError if they contradict."""
        host = self._clocks.host[event]
        statement = self._statements.get(cause.event)
        if statement is not None and statement.kind == SEND:
            taken = self._queue(self._clocks.host[cause.event], host, statement.message).take(cause.event)
            if not taken and cause.is_sure:
                raise self._contradiction(event, cause.event)
            self._received.add(cause.event)
        _add(self._found, self._clocks, cause, event)

    # ------------------------------------------------------------------ receives

    def _receive(self, event: int, statement: Statement, causes: list[Cause]) -> list[Cause]:
        """Matches a receive that the text names. Returns the causes that belong to other messages."""
        source = self._source(statement, causes)
        if source is None:
            if not causes:
                self._leave_open(event, ((other, self._clocks.host[event]) for other in range(len(self._clocks.hosts))))
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
        """The sending host of a receive; None if neither text nor clocks give it."""
        if statement.peer is not None:
            return statement.peer
        if len(causes) == 1:
            return self._clocks.host[causes[0].event]
        senders = self._senders.get(statement.message, {}) if statement.message is not None else {}
        return next(iter(senders)) if len(senders) == 1 else None

    def _receive_proven(self, event: int, statement: Statement, cause: Cause) -> None:
        """Matches a receive with the send that the clocks prove. Raises InputError if the text contradicts."""
        sent = self._statements.get(cause.event)
        if sent is None or sent.kind != SEND:
            self._found.exact = False
        else:
            queue = self._queue(self._clocks.host[cause.event], self._clocks.host[event], statement.message)
            if not queue.take(cause.event):
                raise self._contradiction(event, cause.event)
        self._match(cause.event, event, GIVEN if statement.message is not None else CLOCK)

    def _receive_next(self, event: int, statement: Statement, source: int, causes: list[Cause]) -> None:
        """Matches a receive whose send the clocks do not prove with the next send in FIFO order. Raises InputError."""
        clocks, target = self._clocks, self._clocks.host[event]
        queue = self._queue(source, target, statement.message)
        send = queue.first()
        if send is not None and statement.message is None and self._statements[send].peer is None:
            send = None  # without message and peer, the send may be to another host
        if send is not None and clocks.own[send] <= clocks.known(event, source):
            if queue.is_one_of_many() or not self._with_gap.isdisjoint((source, target)):
                self._found.unknown.add((source, target))
            queue.take(send)
            self._match(send, event, FIFO if statement.message is None or queue.left else GIVEN)
        elif causes:
            _add(self._found, clocks, causes[0], event)
        elif (
            source in self._with_gap
            or source not in self._senders_in_text
            or self._sends.get((source, None, statement.message))
        ):
            self._leave_open(event, [(source, target)])
        else:
            name = clocks.hosts[source]
            what = (
                f"{statement.message!r} from {name!r}" if statement.message is not None else f"a message from {name!r}"
            )
            known = "none is left" if send is None else f"of {clocks.name(send)}, the next one, its clock does not know"
            raise InputError(
                f"{clocks.where(event)}: receives {what}, but no send of it can be the one: {known}; a receive needs "
                "its send before it"
            )

    def _match(self, send: int, event: int, how: str) -> None:
        self._received.add(send)
        self._found.use(how)
        self._found.messages.append(Message(send, event, self._clocks.host[send], self._clocks.host[event]))

    def _leave_open(self, event: int, channels: Iterable[tuple[int, int]]) -> None:
        """Leaves an event without a partner: the state of `channels` is unknown."""
        self._undecided.append(event)
        self._found.unknown.update(channel for channel in channels if channel[0] != channel[1])

    def _contradiction(self, event: int, cause: int) -> InputError:
        clocks = self._clocks
        return InputError(
            f"{clocks.where(event)}: {self._describe(event)}, but its clock learns of {clocks.name(cause)}, which "
            f"{self._describe(cause)}; text and clocks have to agree"
        )

    def _describe(self, event: int) -> str:
        """The text's statement about an event, for errors."""
        statement = self._statements.get(event)
        if statement is None:
            return "is no send and no receive"
        to, peer = ("to" if statement.kind == SEND else "from"), statement.peer
        where = "" if peer is None else f" {to} {self._clocks.hosts[peer]!r}"
        what = "a message" if statement.message is None else repr(statement.message)
        return f"{'sends' if statement.kind == SEND else 'receives'} {what}{where}"

    # ------------------------------------------------------------------ sends

    def _queue(self, source: int, target: int, message: str | None) -> Queue:
        """The sends of a message from `source` that name the host `target` or no host."""
        key = (source, target, message)
        if key not in self._queues:
            sends = (self._sends.get((source, peer, message), []) for peer in (target, None))
            self._queues[key] = Queue(sorted(event for events in sends for event in events))
        return self._queues[key]

    def _add_unreceived(self) -> None:
        """Adds the sends without a receive; they stay in their channels."""
        clocks = self._clocks
        for (source, peer, _), events in self._sends.items():
            for event in events:
                if event in self._received:
                    continue
                if peer is None:
                    self._leave_open(event, ((source, other) for other in range(len(clocks.hosts))))
                    continue
                self._found.messages.append(Message(event, None, source, peer))
                if peer in self._with_gap:
                    self._found.unknown.add((source, peer))
