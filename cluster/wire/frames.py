"""Frames: what goes over a connection, each a list of which the first entry is the kind.

A frame that is too long, malformed or of an unknown kind ends its connection, with a reason, and nothing else.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

MOST_BYTES = 64 * 2**20  # of one frame: a part of a snapshot is in one
MOST_BYTES_OF_HELLO = 1024  # of the first one, by which a stranger becomes a node
MOST_STRANGERS = 64  # connections that have not said hello
HELLO_SECONDS = 2.0  # within which they have to
HELLO, WELCOME, DATA, TAKEN, AGAIN, DO, SAY, BYE = "hello", "welcome", "data", "taken", "again", "do", "say", "bye"
_TEXT = (str,)
_TEXT_OR_NONE = (str, type(None))
_WHOLE = (int,)
_WHOLE_OR_NONE = (int, type(None))
_ANY = (object,)
# The kinds of frame: what types each entry after the first has. A whole number is not negative, but who says hello to
# a controller names none, which is -1.
KINDS: Mapping[str, tuple[tuple[type, ...], ...]] = {
    HELLO: (_TEXT, _WHOLE, _WHOLE, _TEXT, _ANY),  # token, source, target, incarnation of the source, whom it wants
    WELCOME: (_WHOLE, _WHOLE),  # sequence number, application messages delivered
    DATA: (
        _WHOLE, _WHOLE, _WHOLE, _WHOLE, _TEXT, _ANY, _TEXT_OR_NONE, _ANY, _WHOLE_OR_NONE, _TEXT_OR_NONE, _TEXT_OR_NONE,
        _WHOLE, (float,),
    ),  # as in node.data_frames
    TAKEN: (_WHOLE, _WHOLE),  # likewise as WELCOME
    AGAIN: (_WHOLE,),  # the sequence number that is missing
    DO: (_TEXT, _ANY),  # what, and with what
    SAY: (_TEXT, _ANY),
    BYE: (_TEXT,),  # why
}  # fmt: skip
CONTROLLER = -1  # the number to which a node says hello that reports to the controller


class BadFrame(Exception):
    """What came is no frame. The text says why, for the other side."""


def checked(frame: Any) -> list[Any]:
    """The frame, if it is one of KINDS with entries of the right types. Raises BadFrame."""
    if not isinstance(frame, list) or not frame or not isinstance(frame[0], str) or frame[0] not in KINDS:
        raise BadFrame(f"the kind of a frame is one of {', '.join(KINDS)}")
    kind, *entries = frame
    types = KINDS[kind]
    if len(entries) != len(types):
        raise BadFrame(f"a frame {kind!r} has {len(types) + 1} entries, not {len(frame)}")
    for number, (entry, known) in enumerate(zip(entries, types, strict=True), start=1):
        if not isinstance(entry, known) or (isinstance(entry, bool) and known != _ANY):
            raise BadFrame(f"entry {number} of a frame {kind!r} is not of the type {type(entry).__name__}")
        if type(entry) is int and known != _ANY and entry < (CONTROLLER if kind == HELLO else 0):
            raise BadFrame(f"entry {number} of a frame {kind!r} is not {entry}: it counts from 0")
    return frame


# What is done with a connection that has come in. Raises BadFrame, and OSError at the end of the connection.
Accept = Callable[["Connection"], Awaitable[None]]
# What a node does when somebody calls it to start a snapshot, or tells it of one: the id of the snapshot. Returns
# whether it did not know of it.
OnCall = Callable[[str], bool]


class Connection(Protocol):
    """One connection between two nodes, or between a node and the controller."""

    def write(self, packed: Sequence[Any]) -> None:
        """Send frames, each packed by the transport of this connection, after all that was written before."""

    async def read(self, most: int = MOST_BYTES) -> list[Any]:
        """The next frame, of at most so many bytes. Raises BadFrame, and OSError at the end of the connection.

        Who cancels it has to close the connection, for a part of a frame may be read.
        """

    @property
    def has_unsent(self) -> bool:
        """Whether some of what was written has not left yet."""

    def close(self) -> None:
        """End the connection. What was written may be lost."""

    async def refuse(self, reason: str) -> None:
        """Say why, and close the connection."""


async def served(connection: Connection, accept: Accept) -> None:
    """Do with a connection that has come in what `accept` does; who breaks the rules on it is told why."""
    try:
        await accept(connection)
    except BadFrame as problem:
        await connection.refuse(str(problem)[:MOST_BYTES_OF_HELLO])
    except OSError:
        pass
    finally:
        connection.close()


class Listener(Protocol):
    """Where connections come in, on 127.0.0.1."""

    port: int

    async def close(self) -> None:
        """Take no more connections."""


class Transport(Protocol):
    """How frames travel between the nodes of a system."""

    def pack(self, frame: list[Any]) -> Any:
        """The frame as `Connection.write` takes it. Raises BadValue where it has too many bytes."""

    async def listen(self, token: str, accept: Accept, on_call: OnCall | None = None) -> Listener:
        """Take connections on a free port. `accept` is called with each, as in `served`.

        `token` is the secret of the cluster, and `on_call` what this node does for those who only call (transports
        that know calls).
        """

    async def connect(self, host: str, port: int, token: str) -> Connection:
        """A connection to a node that listens. Raises OSError."""


class Door:
    """Where connections come in. Only who says hello with the token of the cluster gets past it, and soon.

    Of those that have not said it, or not rightly, at most MOST_STRANGERS are kept: one more, and the oldest has to go.
    So idle connections keep nobody out, and take no more descriptors than that.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._strangers: dict[Connection, None] = {}  # oldest first

    async def hello(self, connection: Connection) -> list[Any]:
        """The entries of the hello, without kind and token. Raises BadFrame, and OSError as Connection.read."""
        self._strangers[connection] = None
        if len(self._strangers) > MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.close()
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                frame = await connection.read(MOST_BYTES_OF_HELLO)
        except TimeoutError:
            raise BadFrame(f"a node says hello within {HELLO_SECONDS:g} s") from None
        if frame[0] != HELLO:
            raise BadFrame(f"a node says {HELLO!r} first, not {frame[0]!r}")
        _, token, *entries = frame
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token):
            raise BadFrame("this is a cluster with another token")
        self._strangers.pop(connection, None)
        return entries
