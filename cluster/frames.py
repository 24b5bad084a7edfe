"""Frames on a socket: four bytes of length, then a msgpack list, of which the first entry is the kind.

A frame that is too long, malformed or of an unknown kind ends its connection, with a reason, and nothing else.
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections.abc import Mapping
from typing import Any

from cluster.codec import BadValue, Codec

MOST_BYTES = 64 * 2**20  # of one frame: a part of a snapshot is in one
MOST_BYTES_OF_HELLO = 1024  # of the first one, by which a stranger becomes a node
MOST_STRANGERS = 64  # connections that have not said hello
HELLO_SECONDS = 2.0  # within which they have to
LINGER_SECONDS = 0.2  # for which a connection is read that is refused
HELLO, WELCOME, DATA, TAKEN, AGAIN, DO, SAY, BYE = "hello", "welcome", "data", "taken", "again", "do", "say", "bye"
_LENGTH = struct.Struct(">I")
_TEXT = (str,)
_TEXT_OR_NONE = (str, type(None))
_WHOLE = (int,)
_WHOLE_OR_NONE = (int, type(None))
_ANY = (object,)
# The kinds of frame: what types each entry after the first has. A whole number is not negative, but who says hello to
# a controller names none, which is -1.
KINDS: Mapping[str, tuple[tuple[type, ...], ...]] = {
    HELLO: (_TEXT, _WHOLE, _WHOLE, _TEXT, _ANY),  # token, source, target, life of the source, about whom it wants
    WELCOME: (_WHOLE, _WHOLE),  # sequence number, application messages delivered
    DATA: (
        _WHOLE, _WHOLE, _WHOLE, _WHOLE, _TEXT, _ANY, _TEXT_OR_NONE, _ANY, _WHOLE_OR_NONE, _TEXT_OR_NONE, _TEXT_OR_NONE,
        _WHOLE, (float,),
    ),  # as in links.data_frame
    TAKEN: (_WHOLE, _WHOLE),  # likewise as WELCOME
    AGAIN: (_WHOLE,),  # the sequence number that is missing
    DO: (_TEXT, _ANY),  # what, and with what
    SAY: (_TEXT, _ANY),
    BYE: (_TEXT,),  # why
}  # fmt: skip
CONTROLLER = -1  # the number to which a node says hello that reports to the controller


class BadFrame(Exception):
    """What came is no frame. The text says why, for the other side."""


def framed(codec: Codec, frame: list[Any]) -> bytes:
    """The bytes of a frame. Raises BadValue if it has too many."""
    content = codec.pack(frame)
    if len(content) > MOST_BYTES:
        raise BadValue(f"a frame has at most {MOST_BYTES} bytes, and one of the kind {frame[0]!r} {len(content)}")
    return _LENGTH.pack(len(content)) + content


async def read_frame(reader: asyncio.StreamReader, codec: Codec, most: int = MOST_BYTES) -> list[Any]:
    """The next frame, of at most so many bytes.

    Raises BadFrame, and asyncio.IncompleteReadError or OSError at the end of the connection. Who cancels it has to
    close the connection, for a part of a frame may be read.
    """
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > most:
        raise BadFrame(f"a frame has at most {most} bytes here, not {length}")
    try:
        frame = codec.unpack(await reader.readexactly(length))
    except BadValue as problem:
        raise BadFrame(str(problem)) from problem
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


async def refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, codec: Codec, reason: str
) -> None:  # fmt: skip
    """Say why, and close the connection.

    What is still on its way is thrown away for a moment: a socket that is closed before it has read all takes back
    what it has said last.
    """
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            writer.write(framed(codec, [BYE, reason[:MOST_BYTES_OF_HELLO]]))
            writer.write_eof()
            while await reader.read(2**16):
                pass
    except (OSError, TimeoutError):
        pass
    writer.close()


class Door:
    """Where connections come in. Only who says hello with the token of the cluster gets past it, and soon.

    Of those that have not yet said it, at most MOST_STRANGERS are kept: one more, and the oldest has to go. So idle
    connections keep nobody out.
    """

    def __init__(self, codec: Codec, token: str) -> None:
        self._codec, self._token = codec, token.encode()
        self._strangers: dict[asyncio.StreamWriter, None] = {}  # oldest first

    async def hello(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Any]:
        """The entries of the hello, without kind and token. Raises BadFrame, and as read_frame."""
        self._strangers[writer] = None
        if len(self._strangers) > MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.close()
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                frame = await read_frame(reader, self._codec, MOST_BYTES_OF_HELLO)
        except TimeoutError:
            raise BadFrame(f"a node says hello within {HELLO_SECONDS:g} s") from None
        finally:
            self._strangers.pop(writer, None)
        if frame[0] != HELLO:
            raise BadFrame(f"a node says {HELLO!r} first, not {frame[0]!r}")
        _, token, *entries = frame
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token):
            raise BadFrame("this is a cluster with another token")
        return entries
