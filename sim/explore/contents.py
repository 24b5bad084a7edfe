"""The contents of one channel: the possible deliveries and losses, and the messages added at its end.

A message that is lost on its way stays in its place as a trace, which nothing delivers: it says what a snapshot may
have recorded in this channel, and where in the order of sending (semantics of a cut, point 6: a message that crosses
the cut and is lost before the snapshot is complete may be recorded or not). A trace is no part of the state.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import gt
from typing import NamedTuple

import numpy as np

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.model import APP, MARKER, Channel, Message
from sim.explore.numbers import Numbers, Tokens
from sim.explore.packing import UNKNOWN, Ints, Keys, distinct


class Delivery(NamedTuple):
    """A token that may be delivered, the tokens that it overtakes, the traces that it passes, and what is left."""

    token: int
    overtaken: tuple[int, ...]
    passed: tuple[int, ...]
    left: int


class Contents:
    """The contents of one channel, each with a number; 0 is empty. Tables say what happens to them."""

    def __init__(self, tokens: Tokens, channel: Channel, algorithm: SnapshotAlgorithm) -> None:
        self.tokens, self.channel, self.goes_ahead = tokens, channel, algorithm.goes_ahead
        self.is_bag = not channel.fifo and not algorithm.overtakes
        self.numbers, self.batches = Numbers(self._holds), Numbers()
        self.numbers.number((), ())
        self.batches.number((), ())
        self._appended: Ints = np.full((1, 1), UNKNOWN, np.int32)
        self.wanted: set[int] | None = None  # not None: nothing gets a number, but pairs that are missing are noted

    def appended(self, contents: Ints, batches: Ints) -> Ints:
        """The contents with a batch of messages at their ends, element by element."""
        self._make_room()
        found = self._looked_up(contents, batches)
        missing = np.flatnonzero(found == UNKNOWN)
        if len(missing):
            pairs = distinct(contents[missing].astype(np.int64) << 32 | batches[missing])
            if self.wanted is not None:
                self.wanted.update(pairs.tolist())
                found[missing] = 0
                return found
            self.fill(pairs)
            found = self._looked_up(contents, batches)
        return found

    def fill(self, pairs: Keys) -> None:
        """Fill the table for pairs: a content in the upper 32 bits, a batch in the lower ones."""
        self._make_room()
        for pair in pairs.tolist():
            content, batch = pair >> 32, pair & 0xFFFFFFFF
            whole = (*self.numbers.things[content], *self.batches.things[batch])
            self._appended[content, batch] = self.numbers.number(whole, whole)

    def _make_room(self) -> None:
        known = len(self.numbers.things), len(self.batches.things)
        if any(map(gt, known, self._appended.shape)):
            more = np.full((2 * known[0], 2 * known[1]), UNKNOWN, np.int32)
            more[: self._appended.shape[0], : self._appended.shape[1]] = self._appended
            self._appended = more

    def _looked_up(self, contents: Ints, batches: Ints) -> Ints:
        found: Ints = self._appended.ravel().take(contents.astype(np.int64) * self._appended.shape[1] + batches)
        return found

    def _holds(self, queue: Sequence[int]) -> Hashable:
        """A content as a part of the state: its messages, without traces, in their order unless they are a bag."""
        own = [self.tokens.plain[token] for token in queue if not self.tokens.things[token].is_lost]
        return tuple(sorted(own) if self.is_bag else own)

    def deliveries(self, content: int) -> list[Delivery]:
        """The possible deliveries."""
        queue: tuple[int, ...] = self.numbers.things[content]
        found, before = [], list[int]()
        for place, token in enumerate(queue):
            own = self.tokens.things[token]
            if own.is_lost:
                continue
            if not before or not self.channel.fifo or self._passes(before, own.message):
                passed = self._passed(queue[:place], token)
                left = self._settled(queue[len(passed) : place] + queue[place + 1 :])
                found.append(Delivery(token, tuple(before), passed, self.numbers.number(left, left)))
            before.append(token)
        return found

    def losses(self, content: int) -> list[tuple[int, int]]:
        """The ranks of the messages that may be lost, each with the content that is left: all of them.

        Of several markers of one snapshot only the first one may be, for a fault cannot name another one.
        """
        queue: tuple[int, ...] = self.numbers.things[content]
        found, markers, rank = [], set[str | None](), -1
        for place, token in enumerate(queue):
            message, _, is_lost = self.tokens.things[token]
            rank += not is_lost
            if is_lost or (message.kind == MARKER and message.snapshot in markers):
                continue
            if message.kind == MARKER:
                markers.add(message.snapshot)
            left = self._settled(queue[:place] + self.tokens.traces(token) + queue[place + 1 :])
            found.append((rank, self.numbers.number(left, left)))
        return found

    def _passed(self, before: tuple[int, ...], token: int) -> tuple[int, ...]:
        """The traces that a message leaves behind on a FIFO channel; one of an equal body may as well come after it."""
        if not self.channel.fifo or self.tokens.things[token].message.kind != APP:
            return ()
        bodies = self.tokens.bodies
        different = (place for place, other in enumerate(before, start=1) if bodies[other] != bodies[token])
        return before[: max(different, default=0)]

    def _settled(self, queue: Sequence[int]) -> tuple[int, ...]:
        """A content whose traces stand as far in front as they can with the same meaning, in one order."""
        settled: list[int] = []
        for token in queue:
            place = len(settled)
            while place and self._may_precede(token, settled[place - 1]):
                place -= 1
            settled.insert(place, token)
        return tuple(settled)

    def _may_precede(self, token: int, other: int) -> bool:
        """Whether a trace may stand before a token that it follows: markers are in no cut, and equals are exchanged."""
        own, before = self.tokens.things[token], self.tokens.things[other]
        if not own.is_lost or (before.is_lost and token >= other):
            return False
        is_alike = self.tokens.bodies[token] == self.tokens.bodies[other]
        return not self.channel.fifo or before.message.kind == MARKER or is_alike

    def _passes(self, before: Sequence[int], own: Message) -> bool:
        """Whether a message behind others is the first marker, and one that goes ahead."""
        is_first = own.kind == MARKER and all(self.tokens.things[other].message.kind != MARKER for other in before)
        return is_first and self.goes_ahead(own.body)
