"""Exports without a waiting user, or too many of them: the others are made, and soon."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from starlette.applications import Starlette

from diagrams.export import exporter, formats, is_long
from sim.core.deadline import check, in_time
from sim.edit.link import Shared
from tests.waiting import comes
from views.explore.session import ExploreSession
from views.widgets import exports

app = Starlette(routes=exports.ROUTES)
LONG, SHORT = "gif", "svg"


class Connection:
    """A request that can be closed before it is answered."""

    def __init__(self, session: ExploreSession, name: str) -> None:
        path = f"/export/{session.id}/{name}"
        self.scope: dict[str, Any] = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "headers": [], "root_path": "",
            "query_string": b"", "scheme": "http", "http_version": "1.1", "server": ("127.0.0.1", 80),
        }  # fmt: skip
        self.closed = asyncio.Event()
        self.status = 0
        self.body = b""
        self.answered = asyncio.ensure_future(app(self.scope, self._receive, self._send))

    async def _receive(self) -> dict[str, object]:
        await self.closed.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")

    async def close(self) -> None:
        self.closed.set()
        await self.answered


def together(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run it in a loop of its own: a browser test may have one in this thread."""

    async def bounded() -> None:
        await asyncio.wait_for(scenario(), 60)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, bounded()).result()


@pytest.fixture(autouse=True)
def soon(monkeypatch) -> None:
    monkeypatch.setattr(exports, "POLL_S", 0.01)


@pytest.fixture
def sessions() -> list[ExploreSession]:
    made = [ExploreSession() for _ in range(4)]
    for session in made:
        session.open(Shared(scenario="two_banks"))
    return made


class Writing:
    """A writer that goes on until it is stopped, or no user waits; like a long one, it asks frame by frame."""

    def __init__(self) -> None:
        self.begun, self.may_end, self.count = Event(), Event(), 0

    def __call__(self, scene, view) -> bytes:
        self.count += 1
        self.begun.set()
        while not self.may_end.wait(0.005):
            check()
        return b"written"


@pytest.fixture
def writing(monkeypatch) -> Iterator[Writing]:
    """A writer in place of the long format's."""
    own = Writing()
    monkeypatch.setattr(exporter(LONG), "export", own)
    yield own
    own.may_end.set()


def test_the_formats_with_a_picture_of_every_step_say_that_they_are_long():
    assert {name for name in formats() if is_long(name)} == {"gif", "deck", "pptx"}


def test_a_short_format_does_not_wait_for_long_ones(sessions, writing):
    async def scenario() -> None:
        long = [Connection(session, LONG) for session in sessions[:3]]
        await comes(writing.begun.is_set)
        short = Connection(sessions[3], SHORT)
        await short.answered
        assert (short.status, writing.count) == (200, 1)
        writing.may_end.set()
        for connection in long:
            await connection.answered
        assert [connection.status for connection in long] == [200, 200, 200]

    together(scenario)


def test_what_nobody_waits_for_is_dropped_also_while_it_is_written(sessions, writing):
    async def scenario() -> None:
        abandoned = [Connection(session, LONG) for session in sessions]
        await comes(writing.begun.is_set)
        for connection in reversed(abandoned):  # the one that is written comes last
            await connection.close()
        assert writing.count == 1, "those that waited have not been begun"
        assert not exports._UNDER_WAY
        writing.may_end.set()
        again = Connection(sessions[0], LONG)
        await again.answered
        assert (again.status, again.body) == (200, b"written")

    together(scenario)


@pytest.mark.parametrize("name", [name for name in formats() if is_long(name)])
def test_long_writers_stop_at_the_next_page(sessions, monkeypatch, name):
    asked, pages = Event(), []

    def paged(steps, every):
        for step in in_time(steps, every=every):
            pages.append(step)
            asked.set()
            yield step

    monkeypatch.setattr("diagrams.still.slides.in_time", paged)

    async def scenario() -> None:
        connection = Connection(sessions[0], name)
        await comes(asked.is_set)
        await connection.close()

    together(scenario)
    assert len(pages) < sessions[0].scene.last


def test_of_one_session_one_export_is_made_at_a_time_and_the_next_waits_so_long(sessions, writing, monkeypatch):
    async def scenario() -> None:
        first = Connection(sessions[0], LONG)
        await comes(writing.begun.is_set)
        waiting = Connection(sessions[0], SHORT)
        await asyncio.sleep(0)
        assert waiting.status == 0
        monkeypatch.setattr(exports, "WAIT_S", 0.0)
        refused = Connection(sessions[0], SHORT)
        await refused.answered
        assert (refused.status, refused.body.count(b"\n")) == (429, 0)
        assert refused.body.startswith(b"The last export of this page is still being made")
        writing.may_end.set()
        await first.answered
        await waiting.answered
        assert (first.status, waiting.status) == (200, 200)

    together(scenario)


def test_who_waits_too_long_for_others_is_told_so(sessions, writing, monkeypatch):
    async def scenario() -> None:
        first = Connection(sessions[0], LONG)
        await comes(writing.begun.is_set)
        monkeypatch.setattr(exports, "WAIT_S", 0.0)
        refused = Connection(sessions[1], LONG)
        await refused.answered
        assert (refused.status, refused.body) == (
            503,
            b"The server is making many exports; try again in a minute.",
        )
        writing.may_end.set()
        await first.answered
        assert first.status == 200

    together(scenario)


def test_a_file_that_takes_too_long_is_refused_in_a_sentence(sessions, monkeypatch):
    monkeypatch.setattr(exports, "WRITING_S", dict.fromkeys((False, True), 0.0))

    async def scenario() -> None:
        connection = Connection(sessions[0], LONG)
        await connection.answered
        assert (connection.status, connection.body[:22]) == (400, b"This takes longer than")

    together(scenario)
