"""The handlers of gRPC calls and streams at a node, or at the controller."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.packing import Packing
from cluster.rpc.parts import Parts, no_id, no_node
from cluster.rpc.stream_connection import GrpcConnection
from cluster.wire.frames import Accept, OnCall, served

AUTHORIZATION = "authorization"  # the metadata with the token of the cluster
_Serve = Callable[[Any, Any], Awaitable[Any]]


class Handlers:
    """The handlers of one node, or of the controller, and the connections that have come in."""

    def __init__(self, packing: Packing, accept: Accept, on_call: OnCall | None) -> None:
        """`on_call` None: this is the controller, which takes parts."""
        self._packing, self._accept, self._on_call = packing, accept, on_call
        self._parts = Parts(packing.codec, packing.nodes, packing.channels) if on_call is None else None
        self.connections: set[GrpcConnection] = set()

    def services(self, token: str) -> dict[str, dict[str, grpc.RpcMethodHandler]]:
        """The handlers of each service, by name. A peer without the token is refused."""

        def known(serve: _Serve) -> _Serve:
            async def guarded(request: Any, context: Any) -> Any:
                said = dict(context.invocation_metadata() or ()).get(AUTHORIZATION, "")
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
        """Serve a stream that a peer opens, until it ends."""

        async def hand_over(call: pb.FlushRequest) -> None:
            raise ConnectionError("the answering side hands over no parts")

        connection = GrpcConnection(
            self._packing, context.read, context.write, hand_over, lambda: None, self._parts
        )  # fmt: skip
        connection.begin()
        self.connections.add(connection)
        try:
            await served(connection, self._accept)
        finally:
            self.connections.discard(connection)

    async def _send_marker(self, request: pb.MarkerRequest, context: Any) -> pb.MarkerResponse:
        """Start a snapshot that a node asks for, or note one that it announces."""
        if self._on_call is None:
            what = "the controller takes no markers; call a node, or POST /v1/snapshots/trigger"
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, what)
        sender, nodes = request.sender_node_id, self._packing.nodes
        problem = no_id(request.snapshot_id) or ("" if sender in nodes else no_node("sender_node_id", sender, nodes))
        if problem:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
        assert self._on_call is not None
        return pb.MarkerResponse(accepted=self._on_call(request.snapshot_id))

    async def _flush(self, request: pb.FlushRequest, context: Any) -> pb.FlushResponse:
        """Take a state of a part, or a chunk of one."""
        if self._parts is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a node takes no parts; call the controller")
        assert self._parts is not None
        problem = self._parts.take(request)
        return pb.FlushResponse(status=not problem, problem=problem)
