"""Frames: the units that travel over a connection. A frame is a list, and its first entry is its kind.

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
# The kinds of frame, and the types of each entry after the first. A whole number is not negative, except in a hello to
# the controller, whose number is -1.
KINDS: Mapping[str, tuple[tuple[type, ...], ...]] = {
    HELLO: (_TEXT, _WHOLE, _WHOLE, _TEXT, _ANY),  # token, source, target, and the incarnations of both
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
    """An arrival that is no frame, or not the frame that is due. The text tells the other side why."""


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


# The treatment of a connection that has come in. Raises BadFrame, and OSError at the end of the connection.
Accept = Callable[["Connection"], Awaitable[None]]
# A node's answer to the call to start a snapshot, or to note one: takes the id of the snapshot, and returns whether the
# node did not know of it.
OnCall = Callable[[str], bool]


class Connection(Protocol):
    """One connection between two nodes, or between a node and the controller."""

    def write(self, packed: Sequence[Any]) -> None:
        """Send frames, each packed by the transport of this connection, after all that was written before."""

    async def read(self, most: int = MOST_BYTES) -> list[Any]:
        """The next frame, of at most `most` bytes. Raises BadFrame, and OSError at the end of the connection.

        After a cancellation, close the connection: part of a frame may have been read.
        """

    @property
    def has_unsent(self) -> bool:
        """Whether bytes that were written have not left yet."""

    def close(self) -> None:
        """End the connection. Frames that were written may be lost."""

    async def refuse(self, reason: str) -> None:
        """Send the reason to the other side, and close the connection."""


async def served(connection: Connection, accept: Accept) -> None:
    """Call `accept` with a connection that has come in. Tell a peer that breaks the rules why it is refused."""
    try:
        await accept(connection)
    except BadFrame as problem:
        await connection.refuse(str(problem)[:MOST_BYTES_OF_HELLO])
    except OSError:
        pass
    finally:
        connection.close()


class Listener(Protocol):
    """An open port on 127.0.0.1, on which connections come in."""

    port: int

    async def close(self) -> None:
        """Take no more connections."""


class Transport(Protocol):
    """A way for frames to travel between the nodes of a system."""

    def pack(self, frame: list[Any]) -> Any:
        """The frame as `Connection.write` takes it. Raises BadValue if it has too many bytes."""

    async def listen(self, token: str, accept: Accept, on_call: OnCall | None = None) -> Listener:
        """Take connections on a free port. `accept` is called with each, as in `served`.

        `token` is the secret of the cluster. `on_call` answers calls, on transports that have calls.
        """

    async def connect(self, host: str, port: int, token: str) -> Connection:
        """A connection to a node that listens. Raises OSError."""


class Door:
    """The check at the entrance: a connection gets past it only by a hello in time, with the token of the cluster.

    At most MOST_STRANGERS connections without a right hello are kept. One more, and the oldest is closed. So idle
    connections keep no node out, and the number of their descriptors is bounded.
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
