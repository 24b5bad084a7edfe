"""A peer that breaks the rules hears the reason and is cut off; no other peer is harmed."""

from __future__ import annotations

import asyncio
import os
import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Status
from cluster.node.data_frames import data_frame, message_of
from cluster.start.wanted import Wanted
from cluster.wire import frames, tcp
from cluster.wire.frames import (
    AGAIN,
    BYE,
    DATA,
    DO,
    HELLO,
    MOST_BYTES,
    MOST_BYTES_OF_HELLO,
    MOST_STRANGERS,
    SAY,
    TAKEN,
    WELCOME,
    BadFrame,
    checked,
)
from cluster.wire.tcp import Tcp
from tests.cases import check_each
from tests.cluster.live import bank, live, taken, told_again
from tests.cluster.network import TOKEN, End, Raw, marker, message, system_of
from tests.waiting import budget_s, carried_out, comes

SYSTEM = system_of()
PACK = Tcp(SYSTEM.codec).pack
GOOD = [HELLO, TOKEN, 0, 1, "sender", "receiver"]


def reason_for(*said: bytes | list[Any], greets: bool = False) -> str:
    """Why a node ends a connection on which this is said (`greets`: after a hello that is good)."""

    async def main() -> str:
        end = await End(SYSTEM).listen()
        raw = await end.raw()
        if greets:
            raw.say(GOOD)
            assert (await raw.heard())[0] == WELCOME
        for own in said:
            raw.writer.write(own if isinstance(own, bytes) else PACK(own))
        reason = await raw.reason()
        assert end.came == []
        return reason

    return carried_out(main())


def sized(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


NO_HELLO = [
    (struct.pack(">I", MOST_BYTES_OF_HELLO + 1), "at most 1024 bytes"),
    (b"\xff" * 8, "at most 1024 bytes"),
    (b"GET / HTTP/1.1\r\n\r\n", "at most 1024 bytes"),
    (sized(b""), "no value"),
    (sized(b"\xc1"), "no value"),
    (sized(b"\x91" * 500), "no value"),
    (sized(b"\x01\x01"), "no value"),
    (sized(msgpack.packb({1: 2})), "the kind of a frame"),
    (sized(msgpack.packb([])), "the kind of a frame"),
    (sized(msgpack.packb([[]])), "the kind of a frame"),
    (sized(msgpack.packb(["hullo", 1])), "the kind of a frame"),
    (sized(msgpack.packb([HELLO])), "has 6 entries, not 1"),
    ([*GOOD, 1], "has 6 entries, not 7"),
    ([HELLO, 5, 0, 1, "sender", "receiver"], "entry 1"),
    ([HELLO, TOKEN, "0", 1, "sender", "receiver"], "entry 2"),
    ([HELLO, TOKEN, True, 1, "sender", "receiver"], "entry 2"),
    ([HELLO, TOKEN, 0, 1.0, "sender", "receiver"], "entry 3"),
    ([HELLO, TOKEN, 0, -2, "sender", "receiver"], "entry 3"),
    ([HELLO, TOKEN, 0, 1, None, "receiver"], "entry 4"),
    ([HELLO, "another", 0, 1, "sender", "receiver"], "another token"),
    ([HELLO, "", 0, 1, "sender", "receiver"], "another token"),
    ([HELLO, TOKEN, 0, 2, "sender", "receiver"], "no process or service here has the number 2"),
    ([HELLO, TOKEN, 0, -1, "sender", "receiver"], "no process or service here has the number -1"),
    ([HELLO, TOKEN, 1, 1, "sender", "receiver"], "no other node"),
    ([HELLO, TOKEN, 99, 1, "sender", "receiver"], "no other node"),
    ([HELLO, TOKEN, -1, 1, "sender", "receiver"], "no other node"),
    ([HELLO, TOKEN, 0, 1, "sender", "another"], "has ended"),
    ([HELLO, TOKEN, 0, 1, "sender", {"port": 1}], "has ended"),
    ([TAKEN, 1, 1], "says 'hello' first"),
    ([DO, "stop", {}], "says 'hello' first"),
]  # fmt: skip


@pytest.mark.slow
def test_who_says_no_hello_is_told_why() -> None:
    def check(said: bytes | list[Any], reason: str) -> None:
        assert reason in reason_for(said)

    check_each(NO_HELLO, check)


DATA_FRAME = data_frame(1, message(SYSTEM, 3), 1)
MARKER_FRAME = data_frame(1, marker(SYSTEM, 3), 1)
OTHER = SYSTEM.engine.between[1, 0].number
CONTROL = SYSTEM.engine.control_channel(0, "P2").number


WRONG = ([], {}, True, -1, 1.5, "x", None, (1,), 2**63)
RIGHT: dict[int, list[Any]] = {  # by field, those of them that it may be; more than 64 bits are a number as well
    1: [2**63], 2: [2**63], 3: [], 4: [2**63], 5: [], 6: [*WRONG], 7: ["x", None], 8: [*WRONG], 9: [2**63],
    10: ["x", None], 11: ["x", None], 12: [2**63], 13: [1.5],
}  # fmt: skip


def test_a_message_with_a_field_of_a_wrong_type_is_no_frame() -> None:
    def check(at: int, wrong: Any) -> None:
        frame = [*DATA_FRAME[:at], wrong, *DATA_FRAME[at + 1 :]]
        with pytest.raises(BadFrame):
            message_of(checked(SYSTEM.codec.unpack(SYSTEM.codec.pack(frame))), SYSTEM, 0, 1)

    cases = [(at, wrong) for at, right in RIGHT.items() for wrong in WRONG if repr(wrong) not in map(repr, right)]
    assert len(cases) == 87
    check_each(cases, check)


def test_a_message_with_a_field_of_a_wrong_type_ends_its_connection() -> None:
    assert reason_for([*DATA_FRAME[:2], "x", *DATA_FRAME[3:]], greets=True)


NO_MESSAGE = [
    (struct.pack(">I", MOST_BYTES + 1), "at most 67108864 bytes"),
    (sized(b"\xc1"), "no value"),
    (DATA_FRAME[:-1], "has 14 entries, not 13"),
    ([*DATA_FRAME, 1], "has 14 entries, not 15"),
    ([DATA, 0, *DATA_FRAME[2:]], "at least 1"),
    ([DATA, 1, 0, *DATA_FRAME[3:]], "at least 1"),
    ([DATA, 1, 1, OTHER, *DATA_FRAME[4:]], "no channel number"),
    ([DATA, 1, 1, 10**6, *DATA_FRAME[4:]], "no channel number"),
    ([DATA, 1, 1, CONTROL, *DATA_FRAME[4:]], "not of the kind 'app'"),
    ([*DATA_FRAME[:5], "control", *DATA_FRAME[6:]], "not of the kind 'control'"),
    ([*DATA_FRAME[:5], "apps", *DATA_FRAME[6:]], "not of the kind 'apps'"),
    ([*DATA_FRAME[:9], None, *DATA_FRAME[10:]], "has an index"),
    ([*MARKER_FRAME[:7], None, *MARKER_FRAME[8:]], "a marker a snapshot"),
    (GOOD, "sends messages, not 'hello'"),
    ([AGAIN, 1], "sends messages, not 'again'"),
    ([SAY, "report", {}], "sends messages, not 'say'"),
    ([BYE, "so long"], "sends messages, not 'bye'"),
]  # fmt: skip


def test_a_node_that_says_something_wrong_is_told_why() -> None:
    def check(said: bytes | list[Any], reason: str) -> None:
        assert reason in reason_for(said, greets=True)

    check_each(NO_MESSAGE, check)


@pytest.mark.slow
def test_who_says_nothing_or_half_a_hello_has_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "HELLO_SECONDS", 0.05)
    assert "within" in reason_for(b"")
    assert "within" in reason_for(PACK(GOOD)[:-1])


def test_strangers_do_not_pile_up_and_keep_no_node_out() -> None:
    async def main() -> None:
        end = await End(SYSTEM).listen()
        idle = [await end.raw() for _ in range(MOST_STRANGERS + 20)]
        await comes(lambda: sum(raw.reader.at_eof() for raw in idle) >= 20, "the oldest are gone")
        assert [raw.reader.at_eof() for raw in idle] == [True] * 20 + [False] * MOST_STRANGERS
        raw = await end.raw()
        raw.say(GOOD)
        assert (await raw.heard())[0] == WELCOME
        for own in (*idle, raw):
            own.writer.close()

    carried_out(main())


def test_strangers_who_say_the_wrong_thing_do_not_pile_up_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is refused is read for a moment: it has a descriptor as long."""
    monkeypatch.setattr(tcp, "LINGER_SECONDS", 60.0)

    def held() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def main() -> None:
        end = await End(SYSTEM).listen()
        before, count = held(), MOST_STRANGERS + 20
        strangers = [await end.raw() for _ in range(count)]
        for raw in strangers:
            raw.say([HELLO, "no token", 0, 1, "incarnation", "incarnation"])
        for raw in strangers:
            with suppress(ConnectionError):  # it had to go
                await raw.reader.read()
        await comes(lambda: held() <= before + count + MOST_STRANGERS, "no more than the limit are held")
        for raw in strangers:
            raw.writer.close()
        await comes(lambda: held() <= before, "none is held when they have gone")

    carried_out(main())


async def attack(port: int, system: Any, seed: int) -> None:
    """Say one wrong thing to a port."""
    chance = random.Random(seed)
    hello = PACK([HELLO, "no token", 0, 1, "incarnation", "incarnation"])
    said = [
        chance.randbytes(chance.randint(1, 3_000)),
        hello + chance.randbytes(500),
        b"\xff\xff\xff\xff" + b"x" * 100_000,
        hello[: chance.randint(1, len(hello) - 1)],
        hello,
        PACK(data_frame(1, message(SYSTEM, 1), 1)) * 10,
        b"",
    ][seed % 7]
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        if chance.random() < 0.5:
            writer.close()
        else:
            async with asyncio.timeout(budget_s()):
                await Raw(system, reader, writer).reader.read()
            writer.close()
    except OSError:
        pass


@pytest.mark.slow
def test_a_cluster_goes_on_while_strangers_attack_its_ports(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        ports = [supervisor.nodes()[0].port, supervisor.members.port]
        pids = [node.pid for node in supervisor.nodes()]
        attacks = [
            asyncio.ensure_future(attack(port or 0, supervisor.system, seed)) for seed in range(120) for port in ports
        ]
        for _ in range(3):
            assert (await taken(supervisor)).status is Status.COMPLETED
        await asyncio.gather(*attacks)
        before = [node.counts["received"] for node in supervisor.nodes() if node.counts]
        await comes(
            lambda: all(
                (node.counts or {}).get("received", 0) > old
                for node, old in zip(supervisor.nodes(), before, strict=True)
            ),
            "all nodes go on",
        )
        assert (await taken(supervisor)).status is Status.COMPLETED
        assert [node.pid for node in supervisor.nodes()] == pids
        assert supervisor.figures()["recoveries"] == 0

    told_again(live(Wanted(bank(), tmp_path), act))
