"""Frames over gRPC: a stream for each channel, in which messages and markers travel in order (snapshot.proto).

A message of a stream holds all frames that were written since the one before: so gRPC's work is done once for many of
them. A part of a snapshot can be larger than a message may be: FlushChannelState hands it over, chunk by chunk, before
the frame that brings it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import grpc
from grpc import aio

from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.messages import STAMP, frame_of, message_of
from cluster.rpc.parts import Parts, calls, no_id, no_node
from cluster.wire.codec import BadValue, Codec
from cluster.wire.frames import (
    BYE,
    DATA,
    HELLO,
    HELLO_SECONDS,
    MOST_BYTES,
    MOST_STRANGERS,
    Accept,
    BadFrame,
    OnCall,
    served,
)
from sim.core.model import Channel
from sim.services.uploads import Part

BATCH = 2**20  # bytes of frames after which a message of a stream is full
MOST_STREAMS = 512  # from one computer at once
FOR_EACH_NODE = 4  # connections that come in from it: one for each service, one for reports, and new ones at a restart
LINGER_SECONDS = 0.2  # for which a stream is kept open that is refused
_AUTHORIZATION = "authorization"
_OPTIONS = (
    ("grpc.max_receive_message_length", MOST_BYTES + 2**16),
    ("grpc.max_send_message_length", MOST_BYTES + 2**16),
    ("grpc.max_concurrent_streams", MOST_STREAMS),
    ("grpc.use_local_subchannel_pool", 1),  # each connection is one of its own, so that it can be cut
    ("grpc.enable_retries", 0),  # a link connects again by itself
    ("grpc.so_reuseport", 0),
)
# Whoever connects is a stranger at first, and has to say something soon.
_LISTENING = (
    *_OPTIONS,
    ("grpc.server_handshake_timeout_ms", int(HELLO_SECONDS * 1000)),
    ("grpc.max_connection_idle_ms", int(HELLO_SECONDS * 1000)),
)
_PATHS = {
    method.name: f"/{service.full_name}/{method.name}"
    for service in pb.DESCRIPTOR.services_by_name.values() for method in service.methods
}  # fmt: skip
_ENDED = aio.AioRpcError, aio.BaseError, asyncio.InvalidStateError  # what gRPC raises when a stream has ended
_Serve = Callable[[Any, Any], Awaitable[Any]]


class Packed(NamedTuple):
    """A frame as a message of a stream, and the calls that hand over the part that it brings."""

    content: bytes
    calls: Sequence[pb.FlushRequest] = ()


class Grpc:
    """The transport (cluster.wire.frames.Transport)."""

    def __init__(self, codec: Codec, names: Sequence[str], nodes: Sequence[str], channels: Iterable[Channel]) -> None:
        """`names` are those of the processes and services, by number; `nodes` of the processes alone, and `channels`
        those between them."""
        self.codec, self.names, self.nodes = codec, names, nodes
        self.channels = {channel.name: channel for channel in channels}

    def pack(self, frame: list[Any]) -> Packed:
        """The frame as a stream takes it. Raises BadValue if it has too many bytes."""
        part = frame[STAMP] if frame[0] == DATA else None
        message = message_of(self.codec, frame, is_flushed=isinstance(part, Part))
        content: bytes = pb.Frames(frames=[message]).SerializeToString()
        if len(content) > MOST_BYTES:
            raise BadValue(f"a frame has at most {MOST_BYTES} bytes, and one of the kind {frame[0]!r} {len(content)}")
        if not isinstance(part, Part):
            return Packed(content)
        channel = self.codec.channel(frame[3])
        told = tuple(calls(self.codec, frame[7], channel.source_name, part))
        if (size := sum(len(call.state_data) for call in told)) > MOST_BYTES:
            whose = f"that of {channel.source_name}"
            raise BadValue(f"a part of a snapshot has at most {MOST_BYTES} bytes, and {whose} {size}")
        return Packed(content, told)

    async def listen(self, token: str, accept: Accept, on_call: OnCall | None = None) -> GrpcListener:
        """Take streams and calls on a free port, from those who know the token."""
        most = MOST_STRANGERS + FOR_EACH_NODE * len(self.names)
        server = aio.server(options=(*_LISTENING, ("grpc.max_allowed_incoming_connections", most)))
        node = _Node(self, accept, on_call)
        for service, methods in node.services(token).items():
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        return GrpcListener(server, port, node.connections)

    async def connect(self, host: str, port: int, token: str) -> GrpcConnection:
        """A stream to a node that listens. Raises OSError."""
        channel = aio.insecure_channel(f"{host}:{port}", options=_OPTIONS)
        metadata = ((_AUTHORIZATION, f"Bearer {token}"),)
        open_stream = channel.stream_stream(_PATHS["Connect"], response_deserializer=pb.Frames.FromString)
        flush = channel.unary_unary(
            _PATHS["FlushChannelState"], request_serializer=pb.FlushRequest.SerializeToString,
            response_deserializer=pb.FlushResponse.FromString,
        )  # fmt: skip

        async def hand_over(call: pb.FlushRequest) -> None:
            answer = await flush(call, metadata=metadata)
            if not answer.status:
                raise ConnectionError(answer.problem)

        stream = open_stream(metadata=metadata)
        connection = GrpcConnection(self, stream.read, stream.write, hand_over, lambda: _hang_up(channel))
        connection.begin()
        return connection


def _heard(task: asyncio.Future[Any]) -> None:
    """How a task has ended is known: asyncio need not complain that nobody has asked."""
    if not task.cancelled():
        task.exception()


_hanging_up: set[asyncio.Task[None]] = set()


def _hang_up(channel: aio.Channel) -> None:
    """Close a channel, which takes a moment."""
    task = asyncio.get_running_loop().create_task(channel.close())
    _hanging_up.add(task)
    task.add_done_callback(_hanging_up.discard)
    task.add_done_callback(_heard)


class GrpcListener:
    """A listener (cluster.wire.frames.Listener)."""

    def __init__(self, server: aio.Server, port: int, connections: set[GrpcConnection]) -> None:
        """`connections` are those that have come in and not ended."""
        self._server, self.port, self._connections = server, port, connections

    async def close(self) -> None:
        """Take no more streams, and end those that there are."""
        for connection in list(self._connections):
            connection.close()
        await self._server.stop(LINGER_SECONDS)


class GrpcConnection:
    """One end of a stream (cluster.wire.frames.Connection)."""

    def __init__(
        self, transport: Grpc, read: Callable[[], Awaitable[Any]], write: Callable[[bytes], Awaitable[None]],
        hand_over: Callable[[pb.FlushRequest], Awaitable[None]], hang_up: Callable[[], None],
        parts: Parts | None = None,
    ) -> None:  # fmt: skip
        """`parts` are those that have been handed over to this end, if it takes parts."""
        self._transport, self._read, self._write, self._hand_over = transport, read, write, hand_over
        self._hang_up, self._parts = hang_up, parts
        self._source = ""  # the name of who has said hello on it
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
        """Send what is written, as it comes, until the stream has ended, however that ends."""
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
        """Send a message of the stream: what waits, as far as one holds it."""
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
        frame = frame_of(self._transport.codec, own := self._come.popleft())
        if frame[0] == HELLO and frame[2] in range(len(self._transport.names)):
            self._source = self._transport.names[frame[2]]
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
        reading.add_done_callback(_heard)
        ending = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait([reading, ending], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() or reading.cancelled():  # gRPC cancels what is read where a channel is closed
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
        """Whether the stream has not taken all that was written."""
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
        """Say why, and end the stream."""
        self.write([self._transport.pack([BYE, reason])])
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while self.has_unsent and not self.ended.is_set():
                    await asyncio.sleep(0)
        self.close()


class _Node:
    """What a node, or the controller, serves."""

    def __init__(self, transport: Grpc, accept: Accept, on_call: OnCall | None) -> None:
        """`on_call` None: this is the controller, which takes parts."""
        self._transport, self._accept, self._on_call = transport, accept, on_call
        self._parts = Parts(transport.codec, transport.nodes, transport.channels) if on_call is None else None
        self.connections: set[GrpcConnection] = set()

    def services(self, token: str) -> dict[str, dict[str, grpc.RpcMethodHandler]]:
        """The handlers of each service, by name. Who does not know the token is refused."""

        def known(serve: _Serve) -> _Serve:
            async def guarded(request: Any, context: Any) -> Any:
                said = dict(context.invocation_metadata() or ()).get(_AUTHORIZATION, "")
                if not secrets.compare_digest(str(said).encode(), f"Bearer {token}".encode()):
                    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "this is a cluster with another token")
                return await serve(request, context)

            return guarded

        snapshots, channels = (service.full_name for service in pb.DESCRIPTOR.services_by_name.values())
        return {
            snapshots: {
                "SendMarker": grpc.unary_unary_rpc_method_handler(
                    known(self._send_marker), pb.MarkerRequest.FromString, pb.MarkerResponse.SerializeToString
                ),
                "FlushChannelState": grpc.unary_unary_rpc_method_handler(
                    known(self._flush), pb.FlushRequest.FromString, pb.FlushResponse.SerializeToString
                ),
            },
            channels: {
                "Connect": grpc.stream_stream_rpc_method_handler(known(self._connect), pb.Frames.FromString, None),
            },
        }

    async def _connect(self, _: Any, context: Any) -> None:
        """Somebody opens a stream, which lasts as long as this."""

        async def hand_over(call: pb.FlushRequest) -> None:
            raise ConnectionError("who answers hands over no parts")

        connection = GrpcConnection(
            self._transport, context.read, context.write, hand_over, lambda: None, self._parts
        )  # fmt: skip
        connection.begin()
        self.connections.add(connection)
        try:
            await served(connection, self._accept)
        finally:
            self.connections.discard(connection)

    async def _send_marker(self, request: pb.MarkerRequest, context: Any) -> pb.MarkerResponse:
        """A node asks this one to start a snapshot, or tells it of one."""
        if self._on_call is None:
            what = "the controller takes no markers; call a node, or POST /v1/snapshots/trigger"
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, what)
        sender, nodes = request.sender_node_id, self._transport.nodes
        problem = no_id(request.snapshot_id) or ("" if sender in nodes else no_node("sender_node_id", sender, nodes))
        if problem:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
        assert self._on_call is not None
        return pb.MarkerResponse(accepted=self._on_call(request.snapshot_id))

    async def _flush(self, request: pb.FlushRequest, context: Any) -> pb.FlushResponse:
        """A state of a part, or a chunk of one."""
        if self._parts is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a node takes no parts; call the controller")
        assert self._parts is not None
        problem = self._parts.take(request)
        return pb.FlushResponse(status=not problem, problem=problem)
