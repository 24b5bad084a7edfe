"""Statements of a log's text about its events: send or receive, the peer host, and the message."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.logs.clocks import Clocks
from sim.core.errors import InputError
from sim.core.model import RECEIVE, SEND

WORDS = {
    **dict.fromkeys(("send", "sends", "sent", "sending"), SEND),
    **dict.fromkeys(("receive", "receives", "received", "receiving", "recv"), RECEIVE),
}


class Statement(NamedTuple):
    """The text's statement about one event: SEND or RECEIVE, the number of the peer host, and the message's name."""

    kind: str
    peer: int | None
    message: str | None


def statements_of(
    clocks: Clocks, kinds: Sequence[str | None], peers: Sequence[str | None], messages: Sequence[str | None]
) -> dict[int, Statement]:
    """The statement of each event whose kind is a send or receive, by event. Raises InputError for an unknown peer."""
    rank = {name: number for number, name in enumerate(clocks.hosts)}
    statements: dict[int, Statement] = {}
    for event, (word, peer, message) in enumerate(zip(kinds, peers, messages, strict=True)):
        kind = WORDS.get((word or "").lower())
        if kind is None:
            continue
        if peer is not None and peer not in rank:
            known = ", ".join(clocks.hosts[:12])
            raise InputError(f"{clocks.where(event)}: the peer {peer!r} logs no event; the hosts are {known}")
        if peer is not None and rank[peer] == clocks.host[event]:
            raise InputError(f"{clocks.where(event)}: {peer!r} names itself as its peer; a channel joins two hosts")
        statements[event] = Statement(kind, None if peer is None else rank[peer], message)
    return statements


class Queue:
    """The sends of a message on one channel, in order, that have no matching receive yet.

    `ahead` holds those after the last matched one; `overtaken` those before it.
    """

    def __init__(self, sends: Iterable[int]) -> None:
        self.ahead = deque(sends)
        self.overtaken: dict[int, None] = {}
        self._all = frozenset(self.ahead)

    def take(self, send: int) -> bool:
        """Removes `send`. Returns whether it was in the queue."""
        if send in self.overtaken:
            del self.overtaken[send]
            return True
        if send not in self._all or not self.ahead or send < self.ahead[0]:
            return False
        while (first := self.ahead.popleft()) != send:
            self.overtaken[first] = None
        return True

    def first(self) -> int | None:
        """The next send in FIFO order; if none is ahead, the oldest overtaken one; None if the queue is empty."""
        return self.ahead[0] if self.ahead else next(iter(self.overtaken), None)

    def is_one_of_many(self) -> bool:
        """Whether a send was overtaken and several are left: then the next receive may belong to any of them."""
        return bool(self.overtaken) and len(self.overtaken) + bool(self.ahead) > 1

    @property
    def left(self) -> list[int]:
        """All sends in the queue."""
        return [*self.overtaken, *self.ahead]
