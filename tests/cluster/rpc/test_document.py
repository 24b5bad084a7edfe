"""A client made from the system design document's own text (document.proto), which knows nothing of ours."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc import aio

from cluster.node.data_frames import data_frame
from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.messages import message_of
from cluster.rpc.parts import calls
from cluster.wire.frames import HELLO
from sim.core.model import CONTROL, Message
from tests.cluster.network import LISTENERS, TOKEN, End, carried_out
from tests.cluster.rpc.test_calls import PACK, SERVICE, SYSTEM, called, part
from tests.waiting import comes

METADATA = (("authorization", f"Bearer {TOKEN}"),)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The message with a name in the system design."""
    protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools is not installed")
    here, out = Path(__file__).parent, tmp_path_factory.mktemp("document") / "descriptors"
    assert protoc.main(["protoc", f"-I{here}", f"--descriptor_set_out={out}", "document.proto"]) == 0
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"distributed.snapshot.{name}")  # type: ignore[no-untyped-call]
    )


def method(channel: aio.Channel, document: Callable[[str], Any], name: str) -> Callable[..., Awaitable[Any]]:
    """A call of the system design, by keywords."""
    asks, answers = {
        "SendMarker": ("MarkerRequest", "MarkerResponse"), "FlushChannelState": ("FlushRequest", "FlushResponse"),
    }[name]  # fmt: skip
    own = channel.unary_unary(
        SERVICE + name, request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=document(answers).FromString,
    )  # fmt: skip

    async def call(**fields: Any) -> Any:
        return await own(document(asks)(**fields), metadata=METADATA)

    return call


def test_every_field_of_the_document_has_its_name_number_and_type_here(document: Callable[[str], Any]) -> None:
    """Fields beyond the system design have higher numbers, and no call needs them."""
    assert pb.DESCRIPTOR.package == "distributed.snapshot"
    assert [own.name for own in pb.DESCRIPTOR.services_by_name["SnapshotService"].methods] == [
        "SendMarker", "FlushChannelState",
    ]  # fmt: skip
    for name in ("MarkerRequest", "MarkerResponse", "FlushRequest", "FlushResponse"):
        ours = pb.DESCRIPTOR.message_types_by_name[name].fields
        theirs = [(own.name, own.number, own.type) for own in document(name).DESCRIPTOR.fields]
        assert [(own.name, own.number, own.type) for own in ours][: len(theirs)] == theirs


@pytest.mark.parametrize("size", [10, pytest.param(9_000_000, marks=pytest.mark.slow)])
def test_one_call_hands_over_all_of_a_state(document: Callable[[str], Any], size: int) -> None:
    own = part(random.Random(3), 0)._replace(document={"whole": "x" * size})
    states: dict[str, bytes] = {}
    for one in calls(SYSTEM.codec, "S", "P1", own):
        states[one.channel_id] = states.get(one.channel_id, b"") + one.state_data

    async def work(channel: aio.Channel, end: End) -> None:
        flush = method(channel, document, "FlushChannelState")
        for _ in range(2):  # the whole state again is that state
            for name, state in states.items():
                answer = await flush(snapshot_id="S", node_id="P1", channel_id=name, state_data=state)
                assert answer.status
        told = Message(5, SYSTEM.engine.control_channel(0, "P2"), CONTROL, {}, "S", own, None, None, None)
        brings = message_of(SYSTEM.codec, data_frame(1, told, 1), is_flushed=True)
        stream = channel.stream_stream("/distributed.snapshot.Channels/Connect")(metadata=METADATA)
        await stream.write(SYSTEM.transport.pack([HELLO, TOKEN, 0, 1, "sender", "receiver"]).content)
        await stream.write(pb.Frames(frames=[brings]).SerializeToString())
        await comes(lambda: bool(end.came), "the part has come")
        assert PACK(end.came[0].stamp) == PACK(own)

    called(work)


STRANGERS = ("P4", "", "coordinator", "p1", "x" * 1000)


def test_who_is_no_node_hands_over_nothing(document: Callable[[str], Any]) -> None:
    async def work(channel: aio.Channel, end: End) -> None:
        flush = method(channel, document, "FlushChannelState")
        for name in STRANGERS:
            assert not (await flush(snapshot_id="S", node_id=name, state_data=b"x")).status, name
        for name in ("", "../S", "S" * 101):
            assert not (await flush(snapshot_id=name, node_id="P1", state_data=b"x")).status, name

    called(work)


def test_accepted_says_whether_an_id_comes_for_the_first_time(document: Callable[[str], Any]) -> None:
    known: set[str] = set()

    def on_call(snapshot: str) -> bool:
        return snapshot not in known and not known.add(snapshot)  # type: ignore[func-returns-value]

    async def main() -> list[Any]:
        listener = await SYSTEM.transport.listen(TOKEN, lambda connection: connection.read(), on_call)
        LISTENERS.append(listener)
        async with aio.insecure_channel(f"127.0.0.1:{listener.port}") as channel:
            send = method(channel, document, "SendMarker")
            answers: list[Any] = [
                (await send(snapshot_id=name, sender_node_id="P2", timestamp_ns=1)).accepted for name in ("S", "S", "T")
            ]
            for name in STRANGERS:
                with pytest.raises(aio.AioRpcError) as problem:
                    await send(snapshot_id="U", sender_node_id=name)
                assert problem.value.code() is grpc.StatusCode.INVALID_ARGUMENT
                answers.append(problem.value.details())
        return answers

    answers = carried_out(main())
    assert answers[:3] == [True, False, True]
    assert answers[3].startswith("sender_node_id: 'P4' is no node of this cluster; ")
    assert known == {"S", "T"}
