"""Server-sent events: all rows to who reads them, an end to who does not, and nothing worse for the others."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from cluster.api.app import create_app
from cluster.api.streaming import EventStream, Streams
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving
from tests.waiting import budget_s, carried_out, until


@contextmanager
def reading(server: Server) -> Iterator[http.client.HTTPResponse]:
    """A stream of events, after its first comment."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=budget_s())
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert [answer.readline(), answer.readline()] == [b": events from now on\n", b"\n"]
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


def test_all_who_read_get_the_rows_in_order_and_the_end(server: Server, controller: FakeController) -> None:
    rows = [{"row": number, "kind": "send", "body": 'a\n"é\ud800', "time": 0.5, "index": None} for number in range(3)]
    with reading(server) as one, reading(server) as other:
        for row in [*rows, None]:
            controller.emit(row)
        for answer in (one, other):
            *events, end, nothing = answer.read().decode().split("\n\n")
            assert [json.loads(event.removeprefix("data: ")) for event in events] == rows
            assert (end, nothing) == ('event: end\ndata: {"reason": "the cluster has ended"}', "")
    until(lambda: controller.readers == [])


def test_who_goes_is_forgotten(server: Server, controller: FakeController) -> None:
    with reading(server):
        until(lambda: len(controller.readers) == 1)
    until(lambda: controller.readers == [])


@pytest.mark.slow
def test_only_so_many_clients_read(controller: FakeController) -> None:
    streams = Streams(controller.events, most_clients=1)
    with serving(create_app(controller, None, streams=streams)) as server:
        with reading(server):
            answer = server.ask("GET", "/v1/events")
            assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
            assert answer.detail == "1 clients read events already, which is the most; ask again later."
        until(lambda: streams.open == 0)
        with reading(server):
            pass


@pytest.mark.slow
def test_a_quiet_stream_is_kept_alive(controller: FakeController) -> None:
    with (
        serving(create_app(controller, None, streams=Streams(controller.events, keep_alive_s=0.01))) as server,
        reading(server) as answer,
    ):
        assert [answer.readline() for _ in range(4)] == [b": still here\n", b"\n"] * 2
        controller.emit({"row": 1})
        assert b'data: {"row": 1}\n' in iter(answer.readline, b"")


class Client:
    """A client in the same process, which takes nothing while it is not `awake`."""

    def __init__(self) -> None:
        self.awake = asyncio.Event()
        self.gone = asyncio.Event()
        self.got = ""

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            await self.awake.wait()
            self.got += message["body"].decode()

    async def read(self, streams: Streams) -> None:
        await EventStream(streams)({"type": "http", "path": "/v1/events"}, self.receive, self.send)

    async def has_got(self, count: int) -> None:
        """Returns when it has so many rows."""
        async with asyncio.timeout(budget_s()):
            while self.got.count("data:") < count:
                await asyncio.sleep(0)


class Source:
    """Rows for all readers, all at once."""

    def __init__(self) -> None:
        self.queues: list[asyncio.Queue[Mapping[str, Any]]] = []

    async def rows(self) -> AsyncIterator[Mapping[str, Any]]:
        mine: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.queues.append(mine)
        try:
            while True:
                yield await mine.get()
        finally:
            self.queues.remove(mine)

    def emit(self, *numbers: int) -> None:
        for queue in self.queues:
            for number in numbers:
                queue.put_nowait({"row": number})

    async def has_readers(self, count: int) -> None:
        """Returns when there are so many."""
        async with asyncio.timeout(budget_s()):
            while len(self.queues) != count:
                await asyncio.sleep(0)


SLOW = (
    'event: end\ndata: {"reason": "this reader is too slow, so rows after the last one are missing; '
    'connect again to go on from now"}\n\n'
)


def rows_of(count: int) -> str:
    return "".join(f'data: {{"row": {number}}}\n\n' for number in range(count))


def test_a_slow_reader_is_cut_off_and_harms_no_other() -> None:
    async def story() -> tuple[str, str, int]:
        source, slow, quick = Source(), Client(), Client()
        streams = Streams(source.rows, most_waiting=5)
        quick.awake.set()
        tasks = [asyncio.create_task(client.read(streams)) for client in (slow, quick)]
        await source.has_readers(2)
        for number in range(12):
            source.emit(number)
            await quick.has_got(number + 1)
        await source.has_readers(1)  # nothing is collected for the slow one any more
        slow.awake.set()
        await tasks[0]
        quick.gone.set()
        await tasks[1]
        return slow.got, quick.got, streams.open

    slow, quick, still_open = carried_out(story())
    assert slow == f": events from now on\n\n{rows_of(5)}{SLOW}"  # what it gets has no gap
    assert quick == f": events from now on\n\n{rows_of(12)}"
    assert still_open == 0


def test_rows_that_come_all_at_once_cut_off_no_client_that_is_ready() -> None:
    async def story() -> str:
        source, ready = Source(), Client()
        ready.awake.set()
        task = asyncio.create_task(ready.read(Streams(source.rows, most_waiting=5)))
        await source.has_readers(1)
        source.emit(*range(100))
        await ready.has_got(100)
        ready.gone.set()
        await task
        return ready.got

    assert carried_out(story()) == f": events from now on\n\n{rows_of(100)}"


def test_who_never_reads_again_does_not_stay() -> None:
    async def story() -> tuple[str, int]:
        source, dead = Source(), Client()
        streams = Streams(source.rows, most_waiting=1, grace_s=0.01)
        task = asyncio.create_task(dead.read(streams))
        await source.has_readers(1)
        source.emit(*range(5))
        await asyncio.wait_for(task, budget_s())
        return dead.got, streams.open

    assert carried_out(story()) == ("", 0)


def test_a_log_that_cannot_be_read_ends_the_stream(
    server: Server, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reading(server) as answer:
        controller.emit({"row": object()})  # no JSON
        assert answer.read().decode().startswith('event: end\ndata: {"reason": "the cluster cannot read its event logs')
    assert server.ask("GET", "/healthz").status == 200
