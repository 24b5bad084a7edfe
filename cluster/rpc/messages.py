"""Frames as messages of snapshot.proto, and back."""

from __future__ import annotations

from typing import Any

from cluster.rpc import snapshot_pb2 as pb
from cluster.wire.codec import BadValue, Codec
from cluster.wire.frames import AGAIN, BYE, DATA, DO, HELLO, SAY, TAKEN, WELCOME, BadFrame, checked
from sim.core.model import APP, CONTROL, MARKER

_KIND_OF = {APP: pb.APP, MARKER: pb.MARKER, CONTROL: pb.CONTROL}
_KINDS = {number: kind for kind, number in _KIND_OF.items()}
_OPTIONAL = ("snapshot", "index", "label", "receive_label")
STAMP = 8  # the place of a message's stamp in its frame (node.data_frames)


def message_of(codec: Codec, frame: list[Any], *, is_flushed: bool = False) -> pb.Frame:
    """The frame as a message; `is_flushed`: its stamp travels elsewhere. Raises BadValue."""
    kind, *entries = frame
    if kind == DATA:
        return _data(codec, entries, is_flushed=is_flushed)
    if kind == HELLO:
        token, source, target, incarnation, about = entries
        own = pb.Hello(token=token, source=source, target=target, incarnation=incarnation, about=codec.pack(about))
        return pb.Frame(hello=own)
    if kind == WELCOME:
        return pb.Frame(welcome=pb.Welcome(received=entries[0], delivered=entries[1]))
    if kind == TAKEN:
        return pb.Frame(taken=pb.Taken(received=entries[0], delivered=entries[1]))
    if kind == AGAIN:
        return pb.Frame(again=pb.Again(missing=entries[0]))
    if kind == DO:
        return pb.Frame(order=pb.Order(what=entries[0], body=codec.pack(entries[1])))
    if kind == SAY:
        return pb.Frame(report=pb.Report(what=entries[0], body=codec.pack(entries[1])))
    return pb.Frame(bye=pb.Bye(reason=entries[0]))


def _data(codec: Codec, entries: list[Any], *, is_flushed: bool) -> pb.Frame:
    number, clock, channel, identity, kind, body, snapshot, stamp, index, label, receive_label, epoch, sent_at = entries
    own = pb.Data(
        number=number, clock=clock, channel=channel, id=identity, kind=_KIND_OF[kind], body=codec.pack(body),
        snapshot=snapshot, stamp=b"" if is_flushed else codec.pack(stamp), index=index, label=label,
        receive_label=receive_label, epoch=epoch, sent_at=sent_at, flushed=is_flushed,
    )  # fmt: skip
    return pb.Frame(data=own)


def frame_of(codec: Codec, message: pb.Frame) -> list[Any]:
    """The message as a frame; a stamp that travels elsewhere is None. Raises BadFrame."""
    try:
        return checked(_entries(codec, message))
    except BadValue as problem:
        raise BadFrame(str(problem)) from problem


def _entries(codec: Codec, message: pb.Frame) -> list[Any]:
    kind = message.WhichOneof("kind")
    own: Any = getattr(message, kind) if kind else None
    if kind == "data":
        optional = {name: getattr(own, name) if own.HasField(name) else None for name in _OPTIONAL}
        return [
            DATA, own.number, own.clock, own.channel, own.id, _KINDS.get(own.kind), codec.unpack(own.body),
            optional["snapshot"], codec.unpack(own.stamp) if own.stamp else None, optional["index"], optional["label"],
            optional["receive_label"], own.epoch, own.sent_at,
        ]  # fmt: skip
    if kind == "hello":
        return [HELLO, own.token, own.source, own.target, own.incarnation, codec.unpack(own.about)]
    if kind == "welcome":
        return [WELCOME, own.received, own.delivered]
    if kind == "taken":
        return [TAKEN, own.received, own.delivered]
    if kind == "again":
        return [AGAIN, own.missing]
    if kind == "order":
        return [DO, own.what, codec.unpack(own.body)]
    if kind == "report":
        return [SAY, own.what, codec.unpack(own.body)]
    if kind == "bye":
        return [BYE, own.reason]
    raise BadFrame("a frame of an unknown kind")
