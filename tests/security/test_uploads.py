"""Uploads: two of one name are both kept, odd names do no harm, and the server's memory for them is bounded."""

from __future__ import annotations

import asyncio
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from sim.core.errors import InputError
from tests.tools import ROOT
from views.server import held_uploads, visitors
from views.server.held_uploads import HeldUploads
from views.server.jobs import Job, Jobs
from views.server.uploads import MOST_MEGABYTES, by_name, shared_from

TOML = b'processes = ["P1", "P2"]\n'


class Sent(NamedTuple):
    name: str
    content: bytes = b""


def names_of(*names: str) -> list[str]:
    return list(by_name(Sent(name) for name in names))


def test_two_uploads_of_one_name_are_both_there() -> None:
    found = by_name(
        [Sent("a.log", b"1"), Sent("b.log"), Sent("a.log", b"2"), Sent("a (2).log", b"3"), Sent("a.log", b"4")]
    )
    assert {name: sent.content for name, sent in found.items()} == {
        "a.log": b"1", "b.log": b"", "a (2).log": b"2", "a (2) (2).log": b"3", "a (3).log": b"4",
    }  # fmt: skip


def test_explore_says_what_it_was_given_twice() -> None:
    twice = {name: sent.content for name, sent in by_name([Sent("a.toml", TOML), Sent("a.toml", TOML)]).items()}
    with pytest.raises(InputError, match=r"a\.toml, a \(2\)\.toml: open one \.toml file"):
        shared_from(twice)


ODD = [
    "..",
    ".",
    "",
    "a/../b.log",
    "C:\\x.log",
    "\x00",
    "\ud800.log",
    "/",
    "\U0001f600" * 300 + "." + "\U0001f600" * 90,
]


@given(st.lists(st.text(max_size=400) | st.sampled_from(ODD)))
def test_any_name_is_one_that_a_file_may_have(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("names")
    found = names_of(*names)
    assert len(found) == len(names)
    for name in found:
        assert PurePath(name).name == name and name not in (".", "..") and name[0] != "."
        (folder / name).write_bytes(b"")
    assert {path.name for path in folder.iterdir()} == set(found)


# --------------------------------------------------------------------------- how much


def test_the_server_takes_what_the_forms_promise() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] > visitors.MOST_MEGABYTES_ALONE > MOST_MEGABYTES == 1
    assert visitors.MOST_MEGABYTES_ALONE * 2**20 < held_uploads.MOST_OF_A_SESSION < held_uploads.MOST_HELD


def put(app: Any, path: str, length: int | None, method: str = "PUT") -> int:
    """The status of the answer to a request."""
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    with ThreadPoolExecutor(1) as thread:  # this one may have the event loop of the tests with a browser
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    return int(sent[0]["status"])


async def streamlit(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """Streamlit's own keeper of uploads, with small limits for everything."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")

    class Runtime:
        uploaded_file_mgr = manager

    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    monkeypatch.setattr("streamlit.runtime.get_instance", Runtime)
    monkeypatch.setattr(held_uploads, "MOST_HELD", 100)
    monkeypatch.setattr(held_uploads, "MOST_OF_A_SESSION", 60)
    monkeypatch.setattr(held_uploads, "MOST_FILES", 3)
    return manager


def test_what_is_held_is_bounded_for_a_session_and_in_all(manager: MemoryUploadedFileManager) -> None:
    app = HeldUploads(streamlit)
    one, two = "/base/_stcore/upload_file/one/x", "/_stcore/upload_file/two/x"
    assert [put(app, one, size) for size in (60, 61, None)] == [204, 413, 413]
    manager.add_file("one", UploadedFileRec("a", "a.log", "", b"a" * 50))
    assert [put(app, one, size) for size in (10, 11)] == [204, 413]
    assert [put(app, two, size) for size in (50, 51)] == [204, 413]
    manager.remove_file("one", "a")
    assert put(app, one, 60) == 204
    for number in range(3):
        manager.add_file("two", UploadedFileRec(str(number), "a.log", "", b""))
    assert [put(app, two, 1), put(app, one, 1)] == [413, 204]
    assert put(app, two, None, "DELETE") == put(app, "/elsewhere", None) == 204


def test_a_session_of_a_class_holds_a_smaller_share(monkeypatch: pytest.MonkeyPatch) -> None:
    biggest = visitors.MOST_MEGABYTES * 2**20
    assert biggest < held_uploads.MOST_OF_A_SESSION_IN_A_CLASS <= held_uploads.MOST_HELD / 40
    app, path = HeldUploads(streamlit), "/_stcore/upload_file/one/x"
    assert put(app, path, 2 * biggest) == 204
    monkeypatch.setenv(visitors.CLASS_VARIABLE, "1")
    assert [put(app, path, size) for size in (biggest, 2 * biggest)] == [204, 413]


def test_uploads_under_way_count(manager: MemoryUploadedFileManager) -> None:
    path = "/_stcore/upload_file/one/x"
    answers: list[int] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        worker = threading.Thread(target=lambda: answers.append(put(app, path, 20)))
        worker.start()
        worker.join()
        await streamlit(scope, receive, send)

    app = HeldUploads(slow)
    assert put(app, path, 50) == 204 and answers == [413]
    app.app = streamlit
    assert put(app, path, 50) == 204


def test_a_job_that_is_over_holds_no_files() -> None:
    files = {"a.log": b"a" * 100}

    def work(progress: Any, stop: Any) -> None:
        assert files

    job = Job("some", work)
    job.run()
    waiting = Job("other", work)
    Jobs().cancel(waiting)
    assert job.work is waiting.work is not work
