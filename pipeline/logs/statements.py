"""What the text of a log says of its events: which are sends and receives, with whom, of which message."""

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
    """What the text says of an event: it sends or receives (SEND, RECEIVE), with which host, which message."""

    kind: str
    peer: int | None
    message: str | None


def statements_of(
    clocks: Clocks, kinds: Sequence[str | None], peers: Sequence[str | None], messages: Sequence[str | None]
) -> dict[int, Statement]:
    """What the text says of each event that it calls a send or a receive. Raises InputError for a peer nobody knows."""
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
    """Sends of one kind of message on one channel, in their order, for which no receive has been found yet."""

    def __init__(self, sends: Iterable[int]) -> None:
        self.ahead = deque(sends)
        self.overtaken: dict[int, None] = {}
        self._all = frozenset(self.ahead)

    def take(self, send: int) -> bool:
        """Take this very one, if it is there."""
        if send in self.overtaken:
            del self.overtaken[send]
            return True
        if send not in self._all or not self.ahead or send < self.ahead[0]:
            return False
        while (first := self.ahead.popleft()) != send:
            self.overtaken[first] = None
        return True

    def first(self) -> int | None:
        """The one that comes next: in FIFO order, else the oldest of those that others have overtaken."""
        return self.ahead[0] if self.ahead else next(iter(self.overtaken), None)

    def is_one_of_many(self) -> bool:
        """Whether FIFO order has been broken before, so that it need not be the one that comes next."""
        return len(self.overtaken) + bool(self.ahead) > 1 if self.overtaken else False

    @property
    def left(self) -> list[int]:
        """All that are still there."""
        return [*self.overtaken, *self.ahead]
