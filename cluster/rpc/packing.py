"""Packing of frames for gRPC: each becomes a message of a stream, and the calls that hand over a part of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.messages import STAMP, message_of
from cluster.rpc.parts import calls
from cluster.wire.codec import BadValue, Codec
from cluster.wire.frames import DATA, MOST_BYTES
from sim.core.model import Channel
from sim.services.uploads import Part


class Packed(NamedTuple):
    """A frame as a message of a stream, and the calls that hand over the part that it brings."""

    content: bytes
    calls: Sequence[pb.FlushRequest] = ()


class Packing:
    """The names, channels and values of one system, as frames need them."""

    def __init__(self, codec: Codec, names: Sequence[str], nodes: Sequence[str], channels: Iterable[Channel]) -> None:
        """`names` are those of the processes and services, by number. `nodes` are those of the processes alone, and
        `channels` are the channels between them."""
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
        flushes = tuple(calls(self.codec, frame[7], channel.source_name, part))
        if (size := sum(len(call.state_data) for call in flushes)) > MOST_BYTES:
            whose = f"that of {channel.source_name}"
            raise BadValue(f"a part of a snapshot has at most {MOST_BYTES} bytes, and {whose} {size}")
        return Packed(content, flushes)
