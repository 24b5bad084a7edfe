"""A gRPC stream as a connection: frames are batched into messages, and parts are handed over before their frames."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from grpc import aio

from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.messages import STAMP, frame_of
from cluster.rpc.packing import Packed, Packing
from cluster.rpc.parts import Parts
from cluster.wire.codec import BadValue
from cluster.wire.frames import BYE, DATA, HELLO, MOST_BYTES, BadFrame
from sim.services.uploads import Part

BATCH = 2**20  # bytes of frames after which a message of a stream is full
LINGER_SECONDS = 0.2  # for which a refused stream is kept open
_ENDED = aio.AioRpcError, aio.BaseError, asyncio.InvalidStateError  # what gRPC raises when a stream has ended


def ignore_outcome(task: asyncio.Future[Any]) -> None:
    """Take the outcome of a task, so that asyncio does not complain that no caller has."""
    if not task.cancelled():
        task.exception()


class GrpcConnection:
    """One end of a stream (cluster.wire.frames.Connection)."""

    def __init__(
        self, packing: Packing, read: Callable[[], Awaitable[Any]], write: Callable[[bytes], Awaitable[None]],
        hand_over: Callable[[pb.FlushRequest], Awaitable[None]], hang_up: Callable[[], None],
        parts: Parts | None = None,
    ) -> None:  # fmt: skip
        """`parts` has the parts that were handed over to this end (None: it takes none)."""
        self._packing, self._read, self._write, self._hand_over = packing, read, write, hand_over
        self._hang_up, self._parts = hang_up, parts
        self._source = ""  # the name of the peer that has said hello
        self._come: deque[pb.Frame] = deque()
        self._unsent: deque[Packed] = deque()
        self._wakes = asyncio.Event()  # there is something to send
        self._is_writing = False
        self.ended = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin to send what is written."""
        self._writer = asyncio.get_running_loop().create_task(self._send())

    def write(self, packed: Sequence[Packed]) -> None:
        """Send frames after all that was written before."""
        self._unsent += packed
        self._wakes.set()

    async def _send(self) -> None:
        """Send frames as they are written, until the stream has ended for any reason."""
        try:
            with suppress(OSError, *_ENDED):
                while True:
                    await self._wakes.wait()
                    self._is_writing = True
                    await self._send_some()
                    if not self._unsent:
                        self._wakes.clear()
                    self._is_writing = False
        finally:
            self.close()

    async def _send_some(self) -> None:
        """Send one message of the stream, with as many waiting frames as it holds."""
        batch: list[bytes] = []
        size = 0
        while self._unsent and size < BATCH and not (batch and self._unsent[0].calls):
            packed = self._unsent.popleft()
            for call in packed.calls:
                await self._hand_over(call)
            batch.append(packed.content)
            size += len(packed.content)
        if batch:
            await self._write(b"".join(batch))  # repeated fields, one after the other, are one field

    async def read(self, most: int = MOST_BYTES) -> list[Any]:
        """The next frame. Raises BadFrame, and OSError at the end of the stream."""
        while not self._come:
            message = await self._next()
            if message.ByteSize() > most + BATCH * (most == MOST_BYTES):
                raise BadFrame(f"a frame has at most {most} bytes here, not {message.ByteSize()}")
            self._come += message.frames
        frame = frame_of(self._packing.codec, own := self._come.popleft())
        if frame[0] == HELLO and frame[2] in range(len(self._packing.names)):
            self._source = self._packing.names[frame[2]]
        elif frame[0] == DATA and own.data.flushed:
            frame[STAMP] = self._brought(frame[7])
        return frame

    def _brought(self, snapshot: str | None) -> Part:
        """The part that a message brings. Raises BadFrame."""
        if self._parts is None or snapshot is None:
            raise BadFrame("only the controller takes parts of snapshots")
        try:
            return self._parts.bring(self._source, snapshot)
        except BadValue as problem:
            raise BadFrame(str(problem)) from problem

    async def _next(self) -> pb.Frames:
        """The next message. Raises OSError at the end of the stream."""
        reading = asyncio.ensure_future(self._read())
        reading.add_done_callback(ignore_outcome)
        ending = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait([reading, ending], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() or reading.cancelled():  # gRPC cancels a read when its channel is closed
                raise ConnectionResetError("the connection was closed")
            message: pb.Frames = reading.result()
        except _ENDED as problem:
            raise ConnectionResetError(str(problem)) from problem
        finally:
            ending.cancel()
            if not reading.done():
                reading.cancel()
        if message is aio.EOF:
            raise ConnectionResetError("the connection has ended")
        return message

    @property
    def has_unsent(self) -> bool:
        """Whether the stream has not yet taken everything that was written."""
        return bool(self._unsent) or self._is_writing

    def close(self) -> None:
        """End the stream."""
        if self.ended.is_set():
            return
        self.ended.set()
        if self._writer is not None and self._writer is not asyncio.current_task():
            self._writer.cancel()
        self._hang_up()

    async def refuse(self, reason: str) -> None:
        """Send the reason, and end the stream."""
        self.write([self._packing.pack([BYE, reason])])
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while self.has_unsent and not self.ended.is_set():
                    await asyncio.sleep(0)
        self.close()
