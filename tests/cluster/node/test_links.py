"""A link hands everything on, in order, once: over connections that are cut, slow and lossy, within its bounds."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import count, product
from typing import Any

import pytest

from cluster.node import links
from cluster.node.data_frames import data_frame, message_of
from cluster.node.links import WINDOW, Link
from cluster.node.receiver import Source
from cluster.node.system import TRANSPORTS, System
from cluster.wire.frames import AGAIN, DATA, HELLO, TAKEN, WELCOME
from cluster.wire.tcp import Tcp, TcpConnection
from sim.algorithms.unaligned_barriers.recording import AHEAD
from tests.cluster.network import TOKEN, End, Proxy, carried_out, link_to, marker, message, system_of
from tests.tools import thinned
from tests.waiting import budget_s, comes

SYSTEM = system_of()
EACH = pytest.mark.parametrize("system", [system_of(transport=name) for name in TRANSPORTS], ids=TRANSPORTS)


class Written:
    """Notes the frames that are written to it."""

    def __init__(self) -> None:
        self.frames, self.is_closed = list[Any](), False

    def write(self, packed: Sequence[bytes]) -> None:
        self.frames += [SYSTEM.codec.unpack(content[4:]) for content in packed]

    def close(self) -> None:
        self.is_closed = True


def source_with(written: Any, incarnation: str = "one", before: Source | None = None) -> Source:
    source = Source(SYSTEM.transport, incarnation, before)
    source.welcome(written)
    written.frames.clear()
    return source


def unsent(link: Link) -> int:
    """Bytes that the network has not taken yet."""
    connection = link._connection
    assert isinstance(connection, TcpConnection)
    return connection._writer.transport.get_write_buffer_size()


# ---------------------------------------------------------------------- everything, once, in order


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "seed"), thinned(product(TRANSPORTS, range(3)), 2, "links over connections that are cut, more seeds")
)
def test_everything_arrives_once_and_in_order_over_connections_that_are_cut(
    transport: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "SILENCE", 0.03)
    system = system_of(transport=transport)

    async def main() -> None:
        chance, losing = random.Random(seed), random.Random(-seed)
        end = await End(system).listen()
        end.receiver.is_lost = lambda channel: losing.random() < 0.05
        proxy = await Proxy(end.port, seed).listen()
        link = link_to(system)
        link.connect(end.address(proxy.port))
        for number in range(1500):
            link.send(message(system, number, body=[number]), number + 1)
            if chance.random() < 0.02:
                some = chance.randint(1, number + 1)
                await comes(lambda some=some: len(end.came) >= some, "some have come")
            if chance.random() < 0.01:
                proxy.cut()
        await comes(lambda: link.is_idle, "everything is confirmed")
        assert [(own.id, own.body) for own in end.came] == [(number, [number]) for number in range(1500)]
        assert proxy.connections > 1
        link.close()

    carried_out(main())


@EACH
def test_the_last_message_may_be_lost_many_times(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "SILENCE", 0.01)

    async def main() -> None:
        end = await End(system).listen()
        losses = iter([True] * 10)
        end.receiver.is_lost = lambda channel: next(losses, False)
        link = link_to(system)
        link.connect(end.address())
        for number in range(3):
            link.send(message(system, number), 1)
        await comes(lambda: link.is_idle, "everything is confirmed")
        assert [own.id for own in end.came] == [0, 1, 2]
        link.close()

    carried_out(main())


@pytest.mark.slow
@EACH
def test_a_frame_that_comes_in_pieces_slower_than_a_silence_is_one_frame(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "SILENCE", 0.005)
    monkeypatch.setattr(links, "WELCOME_S", budget_s())

    async def main() -> None:
        end = await End(system).listen()
        proxy = await Proxy(end.port, 1, pause=0.02, piece=20).listen()
        link = link_to(system)
        for number in range(5):
            link.send(message(system, number), 1)
        link.connect(end.address(proxy.port))
        await comes(lambda: link.is_idle, "everything is confirmed")
        assert [own.id for own in end.came] == list(range(5))
        assert proxy.connections == 1
        link.close()

    carried_out(main())


def test_a_gap_is_asked_for_once_however_much_comes_after_it() -> None:
    written = Written()
    source = source_with(written)
    assert source.is_next(1, "app")
    assert not any(source.is_next(number, "app") for number in range(3, 250))
    assert written.frames == [[AGAIN, 2]]


def test_a_gap_is_asked_for_once_more_if_what_is_sent_again_is_lost_again() -> None:
    written = Written()
    source = source_with(written)
    for number in (2, 3, 4, 2, 3, 4, 5):
        assert not source.is_next(number, "app")
    assert written.frames == [[AGAIN, 1], [AGAIN, 1]]
    assert [source.is_next(number, "app") for number in (1, 1, 2, 3)] == [True, False, True, True]
    assert not source.is_next(5, "app")
    assert written.frames[2:] == [[AGAIN, 4]]


@pytest.mark.slow
def test_a_receiver_that_stands_still_is_not_sent_more_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "SILENCE", 0.005)

    async def main() -> None:
        came: list[asyncio.StreamWriter] = []

        async def welcome_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(Tcp(SYSTEM.codec).pack([WELCOME, 0, 0]))
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            came.append(writer)

        server = await asyncio.start_server(welcome_only, "127.0.0.1", 0)
        end = End(SYSTEM)
        link = link_to(SYSTEM)
        link.connect(end.address(server.sockets[0].getsockname()[1]))
        for number in range(40):
            link.send(message(SYSTEM, number, body="x" * 500_000), 1)
        await comes(lambda: link._connection is not None, "the connection is there")
        await comes(lambda: unsent(link) > 0, "the network is full")
        full, looks = unsent(link), count()
        monkeypatch.setattr(TcpConnection, "has_unsent", property(lambda own: next(looks) >= 0 and unsent(link) > 0))
        await comes(lambda: next(looks) > 50, "the sender has looked again and again")
        assert unsent(link) <= full
        link.close()
        came[0].close()
        server.close()

    carried_out(main())


@pytest.mark.slow
def test_who_is_not_welcomed_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first listener takes connections and says nothing, like a process that is about to end."""
    monkeypatch.setattr(links, "WELCOME_S", 0.05)

    async def main() -> None:
        end = await End(SYSTEM).listen()
        silent = await Proxy(end.port, 1).listen()
        silent.is_mute = True
        link = link_to(SYSTEM)
        link.connect(end.address(silent.port))
        link.send(message(SYSTEM, 1), 1)
        await comes(lambda: silent.connections > 2, "it has tried again")
        monkeypatch.setattr(links, "WELCOME_S", budget_s())
        silent.is_mute = False
        await comes(lambda: link.is_idle, "it has come")
        assert [own.id for own in end.came] == [1]
        link.close()

    carried_out(main())


# ---------------------------------------------------------------------- bounds


@EACH
def test_the_window_and_the_outbox_are_bounds_and_room_is_told(system: System) -> None:
    async def main() -> None:
        end = await End(system).listen()
        end.takes_at_once = False
        told: list[bool] = []
        link = link_to(system, 10, lambda: told.append(link.is_full))
        for number in range(WINDOW + 9):
            link.send(message(system, number), 1)
        assert not link.is_full
        link.send(message(system, WINDOW + 9), 1)
        link.connect(end.address())
        await comes(lambda: len(end.came) == WINDOW, "the window is used")
        assert link.is_full and not link.is_overfull
        await comes(lambda: link.waiting == 10, "all that was sent is confirmed")
        assert len(end.came) == WINDOW
        assert told == []
        end.take_all()
        await comes(lambda: told, "the sender hears of room")
        assert told == [False]
        await comes(lambda: len(end.came) == WINDOW + 10, "the rest comes")
        for number in range(WINDOW + 20):
            link.send(message(system, number), 1)
        assert link.is_overfull
        link.close()

    carried_out(main())


@EACH
def test_what_was_delivered_is_known_after_the_connection_has_dropped(system: System) -> None:
    """The word that makes room may be lost with the connection on which it was said."""

    async def main() -> None:
        end = await End(system).listen()
        end.takes_at_once = False
        proxy = await Proxy(end.port, 1).listen()
        link = link_to(system)
        link.connect(end.address(proxy.port))
        for number in range(WINDOW + 10):
            link.send(message(system, number), 1)
        await comes(lambda: link.waiting == 10, "the window is used, and all of it is confirmed")
        proxy.is_mute = True
        end.take_all()
        await comes(lambda: proxy.lost > 0, "the word is on its way, and lost")
        proxy.cut()
        proxy.is_mute = False
        await comes(lambda: len(end.came) == WINDOW + 10, "the rest comes")
        link.close()

    carried_out(main())


@pytest.mark.parametrize("goes_ahead", [True, False])
def test_a_marker_that_goes_ahead_takes_the_outbox_along(goes_ahead: bool) -> None:
    system = system_of(algorithm="unaligned_barriers" if goes_ahead else "chandy_lamport")

    async def main() -> None:
        end = await End(system).listen()
        end.takes_at_once = False
        link = link_to(system)
        link.connect(end.address())
        for number in range(WINDOW + 50):
            link.send(message(system, number), 1)
        own = marker(system, 1_000, AHEAD)
        assert system.engine.algorithm.goes_ahead(own.body) is goes_ahead
        link.send(own, 1)
        link.send(message(system, 2_000), 1)
        among, waiting = (WINDOW + 51, 1) if goes_ahead else (WINDOW, 52)
        await comes(lambda: link.waiting == waiting, "all that was sent is confirmed")
        assert [own.id for own in end.came] == [*range(WINDOW + 50), 1_000][:among]
        end.take_all()
        await comes(lambda: end.came[-1].id == 2_000 or (end.take_all() and False), "the rest comes")
        link.close()

    carried_out(main())


def test_what_waits_from_a_life_before_opens_the_window_no_further() -> None:
    written = Written()
    before = source_with(written)
    for number in range(1, 6):
        before.is_next(number, "app")
    before.take()
    after = source_with(written, "two", before)
    after.is_next(1, "app")
    assert after.apps_waiting == 5
    for _ in range(5):
        after.take()
    assert (after.apps_taken, after.apps_waiting) == (1, 0)
    after.acknowledge()
    assert written.frames == [[TAKEN, 1, 1]]


# ---------------------------------------------------------------------- other lives


@EACH
def test_nothing_of_what_was_sent_to_a_life_before_reaches_the_next(system: System) -> None:
    async def main() -> None:
        first = await End(system, "first").listen()
        first.takes_at_once = False
        link = link_to(system, 10)
        link.connect(first.address())
        for number in range(WINDOW + 20):
            link.send(message(system, number), 1)
        await comes(lambda: len(first.came) == WINDOW, "the first incarnation has some")
        second = await End(system, "second").listen()
        link.connect(second.address())
        assert not link.is_full and link.is_idle
        link.send(message(system, 5_000), 1)
        await comes(lambda: link.is_idle, "it has come")
        assert [own.id for own in second.came] == [5_000]
        link.close()

    carried_out(main())


@EACH
def test_another_life_on_the_same_port_is_not_taken_for_the_one_before(system: System) -> None:
    async def main() -> None:
        end = await End(system, "second").listen()
        link = link_to(system)
        link.connect(end.address()._replace(incarnation="first"))
        link.send(message(system, 1), 1)
        await comes(lambda: end.hellos > 1, "it has tried, and tried again")
        assert end.came == []
        link.connect(end.address())
        link.send(message(system, 2), 1)
        await comes(lambda: link.is_idle, "it has come")
        assert [own.id for own in end.came] == [2]
        link.close()

    carried_out(main())


def test_a_sender_that_has_started_anew_takes_the_place_of_the_one_before() -> None:
    async def main() -> None:
        end = await End(SYSTEM).listen()

        async def said_by(incarnation: str) -> Any:
            raw = await end.raw()
            raw.say([HELLO, TOKEN, 0, 1, incarnation, "receiver"])
            assert await raw.heard() == [WELCOME, 0, 0]
            return raw

        old = await said_by("old")
        new = await said_by("new")
        assert await old.reader.read() == b""
        old.say(data_frame(1, message(SYSTEM, 1), 1))
        new.say(data_frame(1, message(SYSTEM, 2), 1))
        assert await new.heard() == [TAKEN, 1, 1]
        assert [own.id for own in end.came] == [2]
        new.writer.close()

    carried_out(main())


def test_the_frame_of_a_message_says_all_of_it() -> None:
    own = message(SYSTEM, 3)
    frame = data_frame(9, own, 4)
    assert frame[0] == DATA
    number, clock, found = message_of(frame, SYSTEM, 0, 1)
    assert (number, clock) == (9, 4)
    assert all(getattr(found, name) == getattr(own, name) for name in type(own).__dataclass_fields__)
