"""The calls of SnapshotService, and who may make them."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from grpc import aio

from cluster.control.supervisor import Supervisor
from cluster.model import Status
from cluster.node.data_frames import data_frame
from cluster.node.system import GRPC
from cluster.rpc import packing, parts
from cluster.rpc import snapshot_pb2 as pb
from cluster.rpc.parts import CHUNK, MOST_PARTS, Parts, calls
from cluster.rpc.stream_connection import GrpcConnection
from cluster.rpc.transport import Grpc
from cluster.start.wanted import Wanted
from cluster.wire.codec import BadValue
from cluster.wire.frames import DATA, HELLO, MOST_BYTES, WELCOME, BadFrame
from sim.core.model import CONTROL, LocalSnapshot, Message
from sim.services.uploads import Part
from tests.cases import check_each
from tests.cluster.live import bank, live, taken, told_again
from tests.cluster.network import TOKEN, End, carried_out, link_to, message, system_of
from tests.waiting import comes

SYSTEM = system_of(transport=GRPC)
CHANNELS = {channel.name: channel for channel in SYSTEM.engine.channels}
PACK = SYSTEM.codec.pack
SERVICE = "/distributed.snapshot.SnapshotService/"


def part(draw: random.Random, owner: int = 1) -> Part:
    """A part of a process, with messages of both channels to it."""
    kept, others = {}, [number for number in range(3) if number != owner]
    for source in others:
        held = tuple(
            message(SYSTEM, number, source=source, target=owner, body=draw.randbytes(20).hex())
            for number in range(draw.randrange(4))
        )
        if held:
            kept[held[0].channel] = held
    closed = frozenset(SYSTEM.engine.between[source, owner] for source in others)
    return Part(LocalSnapshot(None, 7, kept, closed, True, 3, {}), {"whole": draw.randrange(100)}, None, 55)


def all_taken(given: Parts, told: list[pb.FlushRequest]) -> list[str]:
    return [given.take(call) for call in told]


# ---------------------------------------------------------------------- parts


def test_a_part_is_the_same_after_it_was_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20):
        draw = random.Random(seed)
        monkeypatch.setattr(parts, "CHUNK", draw.choice((7, 64, CHUNK)))
        given, own = Parts(SYSTEM.codec, SYSTEM.processes, CHANNELS), part(draw)
        told = list(calls(SYSTEM.codec, "S", "P2", own))
        assert set(all_taken(given, told)) == {""}, seed
        assert PACK(given.bring("P2", "S")) == PACK(own), seed
        with pytest.raises(BadValue, match="has not been handed over"):
            given.bring("P2", "S")


def test_what_was_begun_anew_counts_once() -> None:
    given, own = Parts(SYSTEM.codec, SYSTEM.processes, CHANNELS), part(random.Random(1))
    told = list(calls(SYSTEM.codec, "S", "P2", own))
    all_taken(given, told[:-1])
    assert set(all_taken(given, told)) == {""}
    assert PACK(given.bring("P2", "S")) == PACK(own)


def test_a_chunk_that_is_damaged_or_out_of_order_or_of_no_channel_is_not_taken() -> None:
    given = Parts(SYSTEM.codec, SYSTEM.processes, CHANNELS)

    def says(data: bytes = b"x", chunk: int = 0, chunks: int = 3, channel: str = "", crc: int | None = None) -> str:
        crc32 = zlib.crc32(data) if crc is None else crc
        own = pb.FlushRequest(
            snapshot_id="S", node_id="P2", channel_id=channel, state_data=data, chunk=chunk, chunks=chunks, crc32=crc32
        )  # fmt: skip
        return given.take(own)

    assert "damaged" in says(crc=1)
    assert "out of order" in says(chunk=1)
    assert says() == ""
    assert "out of order" in says(chunk=2)
    assert "chunks count from 0" in says(chunk=3)
    assert "chunks count from 0" in says(chunk=1, chunks=0), "all of a state is one chunk"
    assert "P2 has no channel 'P1->P9'" in says(channel="P1->P9")
    assert "P2 has no channel 'P2->P1'" in says(channel="P2->P1"), "it does not lead to P2"
    with pytest.raises(BadValue, match="not all of it"):
        given.bring("P2", "S")


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_BYTES", 1000)
    given = Parts(SYSTEM.codec, SYSTEM.processes, CHANNELS)

    def say(snapshot: str, size: int, chunk: int = 0) -> str:
        data = b"x" * size
        crc32 = zlib.crc32(data)
        return given.take(
            pb.FlushRequest(snapshot_id=snapshot, node_id="P2", state_data=data, chunk=chunk, chunks=9, crc32=crc32)
        )

    assert say("S", 900) == ""
    assert "at most 1000 bytes" in say("S", 101, 1)
    for number in range(MOST_PARTS + 5):
        assert say(f"S{number}", 10) == ""
    assert list(given._pending["P2"]) == [f"S{number}" for number in range(5, MOST_PARTS + 5)]


RIGHT = {"document": {"whole": 1}, "inside": 1}


@pytest.mark.parametrize(
    ("states", "says"),
    [
        ({"": 5}, "needs its document"),
        ({"": {"document": {"whole": 1}}}, "needs its document"),
        ({"": RIGHT, "P1->P2": {}}, "a list of messages"),
        ({"": RIGHT, "P1->P2": [{"id": 1, "what": 2}]}, "what"),
        ({"": RIGHT, "P1->P2": [{"id": "x", "body": 1, "sent_index": 1}]}, "no fields"),
    ],
)  # fmt: skip
def test_a_state_of_the_wrong_form_is_refused(states: dict[str, Any], says: str) -> None:
    given = Parts(SYSTEM.codec, SYSTEM.processes, CHANNELS)
    for name, state in states.items():
        data = SYSTEM.codec.pack(state)
        call = pb.FlushRequest(
            snapshot_id="S", node_id="P2", channel_id=name, state_data=data, chunks=1, crc32=zlib.crc32(data)
        )  # fmt: skip
        assert given.take(call) == ""
    with pytest.raises(BadValue, match=says):
        given.bring("P2", "S")


@pytest.mark.slow
def test_a_part_larger_than_a_message_may_be_comes_whole_over_a_link() -> None:
    """Nine chunks, on a connection that takes messages of 4 MiB."""
    own = part(random.Random(3), 0)._replace(document={"whole": "x" * (9 * CHUNK - 1000)})
    channel = SYSTEM.engine.control_channel(0, "P2")
    told = Message(5, channel, CONTROL, {"part": 55}, "S", own, None, None, None)

    async def main() -> None:
        end = await End(SYSTEM).listen()
        link = link_to(SYSTEM)
        link.connect(end.address())
        link.send(message(SYSTEM, 4), 1)
        link.send(told, 2)
        link.send(message(SYSTEM, 6), 3)
        await comes(lambda: len(end.came) == 3, "all have come")
        assert PACK(end.came[1]) == PACK(told)
        assert [one.id for one in end.came] == [4, 5, 6]
        link.close()

    packed = SYSTEM.transport.pack(data_frame(1, told, 1))
    assert len(packed.calls) >= 10 and all(call.ByteSize() < 4 * 2**20 for call in packed.calls)
    assert len(packed.content) < 200
    carried_out(main())


# ---------------------------------------------------------------------- who may call


def called(work: Callable[[aio.Channel, End], Awaitable[Any]]) -> Any:
    """The result of `work` with a node that listens."""

    async def main() -> Any:
        end = await End(SYSTEM).listen()
        async with aio.insecure_channel(f"127.0.0.1:{end.port}") as channel:
            return await work(channel, end)

    return carried_out(main())


NO_TOKENS = (), (("authorization", "Bearer another"),), (("authorization", TOKEN),)


def test_who_does_not_know_the_token_is_refused() -> None:
    async def work(channel: aio.Channel, end: End) -> list[grpc.StatusCode]:
        codes = []
        for method, metadata in product(("SendMarker", "FlushChannelState"), NO_TOKENS):
            with pytest.raises(aio.AioRpcError) as problem:
                await channel.unary_unary(SERVICE + method)(b"", metadata=metadata)
            codes.append(problem.value.code())
        return codes

    assert called(work) == [grpc.StatusCode.UNAUTHENTICATED] * 6


def test_a_stream_without_the_token_brings_nothing() -> None:
    async def work(channel: aio.Channel, end: End) -> str:
        stream = channel.stream_stream("/distributed.snapshot.Channels/Connect")()
        try:
            await stream.write(SYSTEM.transport.pack([HELLO, TOKEN, 0, 1, "sender", "receiver"]).content)
            await stream.read()
        except aio.AioRpcError as problem:
            assert end.hellos == 0
            return str(problem.code())
        raise AssertionError("it was answered")

    assert "UNAUTHENTICATED" in called(work)


async def reason(said: list[list[Any] | bytes]) -> tuple[str, list[Message]]:
    """Why a node ends a stream on which this is said."""
    end = await End(SYSTEM).listen()
    async with aio.insecure_channel(f"127.0.0.1:{end.port}") as channel:
        metadata = (("authorization", f"Bearer {TOKEN}"),)
        open_stream = channel.stream_stream(
            "/distributed.snapshot.Channels/Connect", response_deserializer=pb.Frames.FromString
        )
        stream = open_stream(metadata=metadata)
        for own in said:
            await stream.write(own if isinstance(own, bytes) else SYSTEM.transport.pack(own).content)
        while (answer := await stream.read()) is not aio.EOF:
            for frame in answer.frames:
                if frame.HasField("bye"):
                    return frame.bye.reason, end.came
    raise AssertionError("no reason was given")


GOOD = [HELLO, TOKEN, 0, 1, "sender", "receiver"]
OTHER = SYSTEM.engine.between[1, 0].number


AGAINST_THE_RULES = [
    ([[HELLO, "another", 0, 1, "sender", "receiver"]], "another token"),
    ([[HELLO, TOKEN, 0, 2, "sender", "receiver"]], "no process or service here has the number 2"),
    ([[HELLO, TOKEN, 0, 1, "x" * 2000, "receiver"]], "at most 1024 bytes"),
    ([[WELCOME, 0, 0]], "says 'hello' first"),
    ([pb.Frames(frames=[pb.Frame()]).SerializeToString()], "unknown kind"),
    ([GOOD, GOOD], "sends messages, not 'hello'"),
    ([GOOD, pb.Frames(frames=[pb.Frame(data=pb.Data(number=1, clock=1))]).SerializeToString()], "no value"),
    ([GOOD, [DATA, 1, 1, OTHER, 1, "app", 1, None, None, 1, None, None, 0, 1.0]], "no channel number"),
]


def test_who_breaks_the_rules_of_a_stream_is_told_why() -> None:
    def check(said: list[Any], says: str) -> None:
        why, came = carried_out(reason(said))
        assert says in why
        assert came == []

    check_each(AGAINST_THE_RULES, check)


@pytest.mark.parametrize("problem", [asyncio.CancelledError(), aio.UsageError(), asyncio.InvalidStateError()], ids=repr)
def test_whatever_grpc_does_to_a_stream_is_the_end_of_a_connection(problem: BaseException) -> None:
    """gRPC cancels what is read or written where its channel is closed; that must not cancel the link."""

    async def fails(*_: Any) -> Any:
        raise problem

    async def waits(*_: Any) -> Any:
        await asyncio.Event().wait()

    async def main() -> None:
        for read, write in ((fails, waits), (waits, fails)):
            own = GrpcConnection(cast(Grpc, SYSTEM.transport), read, write, fails, lambda: None)
            own.begin()
            own.write([SYSTEM.transport.pack([WELCOME, 0, 0])])
            with pytest.raises(OSError, match=r".*"):
                await own.read()
            own.close()

    carried_out(main())


@pytest.mark.slow
def test_a_frame_of_too_many_bytes_is_not_sent() -> None:
    with pytest.raises(BadValue, match="at most"):
        Grpc(SYSTEM.codec, SYSTEM.names, SYSTEM.processes, ()).pack(["say", "report", b"x" * (MOST_BYTES + 1)])


def test_a_part_of_too_many_bytes_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be refused again and again."""
    monkeypatch.setattr(packing, "MOST_BYTES", 5000)
    own = part(random.Random(1), 0)._replace(document={"whole": "x" * 5000})
    told = Message(5, SYSTEM.engine.control_channel(0, "P2"), CONTROL, {}, "S", own, None, None, None)
    with pytest.raises(BadValue, match="a part of a snapshot has at most 5000 bytes, and that of P1"):
        SYSTEM.transport.pack(data_frame(1, told, 1))


def test_a_node_takes_no_parts() -> None:
    async def main() -> str:
        listener = await SYSTEM.transport.listen(TOKEN, lambda connection: connection.read(), lambda snapshot: True)
        connection = await SYSTEM.transport.connect("127.0.0.1", listener.port, TOKEN)
        told = Message(
            5, SYSTEM.engine.control_channel(0, "P2"), CONTROL, {}, "S", part(random.Random(1)), None, None, None
        )
        connection.write([SYSTEM.transport.pack(data_frame(1, told, 1))])
        try:
            await connection.read()
        except OSError:
            return "ended"
        finally:
            await listener.close()
        raise BadFrame("it was answered")

    assert carried_out(main()) == "ended"


# ---------------------------------------------------------------------- SendMarker


@pytest.mark.slow
def test_a_marker_call_starts_a_snapshot_once(tmp_path: Path) -> None:
    """A peer with the token may call any node, in a node's name. A second call changes nothing."""
    answers: list[Any] = []

    async def act(supervisor: Supervisor) -> None:
        ports = {node.name: node.port for node in supervisor.nodes()}
        metadata = (("authorization", f"Bearer {supervisor.members.token}"),)

        async def send(node: str, snapshot: str) -> Any:
            async with aio.insecure_channel(f"127.0.0.1:{ports[node]}") as channel:
                call = channel.unary_unary(
                    f"{SERVICE}SendMarker", request_serializer=pb.MarkerRequest.SerializeToString,
                    response_deserializer=pb.MarkerResponse.FromString,
                )  # fmt: skip
                request = pb.MarkerRequest(snapshot_id=snapshot, sender_node_id="P3", timestamp_ns=1)
                try:
                    return (await call(request, metadata=metadata)).accepted
                except aio.AioRpcError as problem:
                    return problem.details()

        own = await taken(supervisor)  # so each of them has begun: before that it accepts none
        answers.append(await send("P2", "asked-outside"))
        await comes(lambda: supervisor.store.registry.snapshot("asked-outside") is not None, "it is known")
        await comes(lambda: supervisor.snapshot("asked-outside").status.is_final, "it ends")
        assert supervisor.snapshot("asked-outside").status is Status.COMPLETED
        for node in ("P2", "P3"):
            answers.append(await send(node, "asked-outside"))
        answers.append(await send("P1", "../../elsewhere"))
        assert [one.id for one in supervisor.snapshots(None, 9, None)] == ["asked-outside", own.id]

    told_again(live(Wanted(bank(), tmp_path, transport=GRPC), act))
    assert answers[:3] == [True, False, False]
    assert "is no id" in answers[3]
