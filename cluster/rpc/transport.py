"""Frames over gRPC: a stream for each channel, in which messages and markers travel in order (snapshot.proto).

A message of a stream holds all frames that were written since the message before, so gRPC does its work once for many
frames. A part of a snapshot can be larger than a message may be: FlushChannelState hands it over, chunk by chunk,
before its frame.
"""

from __future__ import annotations

import asyncio

import grpc
from grpc import aio

from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.handlers import AUTHORIZATION, Handlers
from cluster.rpc.packing import Packing
from cluster.rpc.stream_connection import LINGER_SECONDS, GrpcConnection, ignore_outcome
from cluster.wire.frames import (
    HELLO_SECONDS,
    MOST_BYTES,
    MOST_STRANGERS,
    Accept,
    OnCall,
)

MOST_STREAMS = 512  # from one computer at once
FOR_EACH_NODE = 4  # connections that come in from it: one for each service, one for reports, and new ones at a restart
_OPTIONS = (
    ("grpc.max_receive_message_length", MOST_BYTES + 2**16),
    ("grpc.max_send_message_length", MOST_BYTES + 2**16),
    ("grpc.max_concurrent_streams", MOST_STREAMS),
    ("grpc.use_local_subchannel_pool", 1),  # each connection is one of its own, so that it can be cut
    ("grpc.enable_retries", 0),  # a link connects again by itself
    ("grpc.so_reuseport", 0),
)
# A peer that connects is a stranger until its hello, and the hello has a deadline.
_LISTENING = (
    *_OPTIONS,
    ("grpc.server_handshake_timeout_ms", int(HELLO_SECONDS * 1000)),
    ("grpc.max_connection_idle_ms", int(HELLO_SECONDS * 1000)),
)
_PATHS = {
    method.name: f"/{service.full_name}/{method.name}"
    for service in pb.DESCRIPTOR.services_by_name.values() for method in service.methods
}  # fmt: skip


class Grpc(Packing):
    """The transport (cluster.wire.frames.Transport)."""

    async def listen(self, token: str, accept: Accept, on_call: OnCall | None = None) -> GrpcListener:
        """Take streams and calls on a free port, from peers that know the token."""
        most = MOST_STRANGERS + FOR_EACH_NODE * len(self.names)
        server = aio.server(options=(*_LISTENING, ("grpc.max_allowed_incoming_connections", most)))
        handlers = Handlers(self, accept, on_call)
        for service, methods in handlers.services(token).items():
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        return GrpcListener(server, port, handlers.connections)

    async def connect(self, host: str, port: int, token: str) -> GrpcConnection:
        """A stream to a node that listens. Raises OSError."""
        channel = aio.insecure_channel(f"{host}:{port}", options=_OPTIONS)
        metadata = ((AUTHORIZATION, f"Bearer {token}"),)
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


_hanging_up: set[asyncio.Task[None]] = set()


def _hang_up(channel: aio.Channel) -> None:
    """Close a channel, which takes a moment."""
    task = asyncio.get_running_loop().create_task(channel.close())
    _hanging_up.add(task)
    task.add_done_callback(_hanging_up.discard)
    task.add_done_callback(ignore_outcome)


class GrpcListener:
    """A listener (cluster.wire.frames.Listener)."""

    def __init__(self, server: aio.Server, port: int, connections: set[GrpcConnection]) -> None:
        """`connections` are the open ones that have come in."""
        self._server, self.port, self._connections = server, port, connections

    async def close(self) -> None:
        """Take no more streams, and end the open ones."""
        for connection in list(self._connections):
            connection.close()
        await self._server.stop(LINGER_SECONDS)
