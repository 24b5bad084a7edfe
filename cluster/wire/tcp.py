"""Frames over TCP: four bytes of length, then a msgpack list."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Sequence
from typing import Any

from cluster.wire.codec import BadValue, Codec
from cluster.wire.descriptors import AT_ONCE, QUEUE
from cluster.wire.frames import BYE, MOST_BYTES, Accept, BadFrame, OnCall, checked, served

LINGER_SECONDS = 0.2  # for which a refused connection is still read
_LENGTH = struct.Struct(">I")


class Tcp:
    """The transport (cluster.wire.frames.Transport)."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def pack(self, frame: list[Any]) -> bytes:
        """The bytes of a frame. Raises BadValue if it has too many."""
        content = self._codec.pack(frame)
        if len(content) > MOST_BYTES:
            raise BadValue(f"a frame has at most {MOST_BYTES} bytes, and one of the kind {frame[0]!r} {len(content)}")
        return _LENGTH.pack(len(content)) + content

    async def listen(self, token: str, accept: Accept, on_call: OnCall | None = None) -> TcpListener:
        """Take connections on a free port. The hello alone decides which may stay. TCP has no calls."""

        async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await served(TcpConnection(self, self._codec, reader, writer), accept)

        own = socket.create_server(("127.0.0.1", 0))
        server = await asyncio.start_server(come, sock=own, limit=2**20, backlog=AT_ONCE)
        own.listen(QUEUE)
        return TcpListener(server)

    async def connect(self, host: str, port: int, token: str) -> TcpConnection:
        """A connection to a node that listens. Raises OSError."""
        return TcpConnection(self, self._codec, *await asyncio.open_connection(host, port, limit=2**20))


class TcpListener:
    """A listener (cluster.wire.frames.Listener)."""

    def __init__(self, server: asyncio.Server) -> None:
        self._server = server
        self.port: int = server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Take no more connections."""
        self._server.close()


class TcpConnection:
    """A connection (cluster.wire.frames.Connection)."""

    def __init__(
        self, transport: Tcp, codec: Codec, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:  # fmt: skip
        self._transport, self._codec, self._reader, self._writer = transport, codec, reader, writer

    def write(self, packed: Sequence[bytes]) -> None:
        """Send frames at once."""
        self._writer.write(b"".join(packed))

    async def read(self, most: int = MOST_BYTES) -> list[Any]:
        """The next frame. Raises BadFrame, and OSError at the end of the connection."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            if length > most:
                raise BadFrame(f"a frame has at most {most} bytes here, not {length}")
            content = await self._reader.readexactly(length)
        except asyncio.IncompleteReadError:
            raise ConnectionResetError("the connection has ended") from None
        try:
            return checked(self._codec.unpack(content))
        except BadValue as problem:
            raise BadFrame(str(problem)) from problem

    @property
    def has_unsent(self) -> bool:
        """Whether the network has not yet taken everything that was written."""
        return self._writer.transport.get_write_buffer_size() > 0

    def close(self) -> None:
        """End the connection."""
        self._writer.close()

    async def refuse(self, reason: str) -> None:
        """Send the reason, and close the connection.

        For a moment, bytes that still arrive are thrown away: a socket that is closed with unread bytes may take its
        own last words back.
        """
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                self.write([self._transport.pack([BYE, reason])])
                self._writer.write_eof()
                while await self._reader.read(2**16):
                    pass
        except (OSError, TimeoutError):
            pass
        self._writer.close()
