"""The states of an exploration, and the small numbers for the things in them.

A *state* is what every process and every channel holds, and what the environment may still do: all that a rule can
see, and all that the future depends on. A process holds its state, its place in the script and in its turns, and its
timers. It also holds its part of each snapshot and the notes of its algorithm. A channel holds its messages in the
order of sending. A
channel that is not FIFO holds a bag, unless the algorithm looks at what a marker overtakes. The environment has the
channels that are severed, and how many crashes, freezes and losses are left. Ids, labels, times and numbers of events
are no part of a state, but a script may wait for an event by its number.

A check asks for more: which messages crossed the cut, and which of them were lost. That is the *account*, which is of
the past. A message has the snapshots that its sender had recorded before the send (it is red for them). A process has
the messages that came on the wrong side of its recording, and what outlived its crash. A channel has the traces of the
messages that were lost in it. The explorer searches all pairs of a state and an account, so it misses no wrong run; it
counts states. A number stands for a thing with its account, and `Numbers.first` says which number was the first of a
thing that holds the same. Two pairs have the same state if they agree in that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from sim.core.model import APP, Message
from sim.explore.local import Red, frozen


class Numbers:
    """Things that can be keys, each with a number, from 0 in the order in which they come.

    first: by number, the first one whose thing holds the same.
    """

    def __init__(self, holds: Callable[[Any], Hashable] | None = None) -> None:
        """`holds` says by its key what a thing is of a state (None: all that it is)."""
        self.of: dict[Hashable, int] = {}
        self.things: list[Any] = []
        self.first: list[int] = []
        self._holds, self._first_of = holds, dict[Hashable, int]()

    def number(self, key: Hashable, thing: Any) -> int:
        """The number of `thing`, whose key it is."""
        found = self.of.get(key)
        if found is None:
            found = self.of[key] = len(self.things)
            self.things.append(thing)
            if self._holds is not None:
                self.first.append(self._first_of.setdefault(self._holds(key), found))
        return found

    @property
    def has_accounts(self) -> bool:
        """Whether two of the things hold the same."""
        return len(self._first_of) < len(self.first)


class Token(NamedTuple):
    """A message that is red for these parts. is_lost: it is no message any more, but the trace of one."""

    message: Message
    red: Red
    is_lost: bool = False


class Tokens:
    """Messages with their accounts, each with a number.

    plain, bodies: by number, that of the message without its account, and that of its body.
    """

    def __init__(self, awaited: frozenset[str | None], leaves_trace: Callable[[Red], bool]) -> None:
        """`awaited` are the labels of events that the script waits for.

        leaves_trace: whether a check asks for a message that is red for these parts, when it is lost.
        """
        self.awaited, self.leaves_trace = awaited, leaves_trace
        self._numbers, self._plain, self._bodies = Numbers(), Numbers(), Numbers()
        self.things: list[Token] = self._numbers.things
        self.plain: list[int] = []
        self.bodies: list[int] = []

    def number(self, own: Token) -> int:
        """The number of a token."""
        message, red, is_lost = own
        label = message.receive_label if message.receive_label in self.awaited else None
        plain = frozen(message), label
        found = self._numbers.number((plain, red, is_lost), own)
        if found == len(self.plain):
            self.plain.append(self._plain.number(plain, message))
            self.bodies.append(self._bodies.number(frozen(message.body), message.body))
        return found

    def traces(self, token: int) -> tuple[int, ...]:
        """The traces of a lost message: one, if the message may be in a channel of some recorded cut, else none."""
        message, red, _ = self.things[token]
        if message.kind != APP or not self.leaves_trace(red):
            return ()
        return (self.number(Token(message, red, is_lost=True)),)
