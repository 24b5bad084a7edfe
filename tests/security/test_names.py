"""Names of data folders from every door: no name leads out, is taken twice, or is an unexpected failure."""

from __future__ import annotations

import os
import threading
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pipeline.__main__ import main
from pipeline.ensembles.grid import Grid
from pipeline.spark import session as spark_session
from pipeline.store import catalog
from pipeline.store.data_root import data_root, folder_path, free_name, new_folder_path
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.cases import check_each
from tests.security.odd_folders import GOOD, GRID, folder
from tests.tools import examples
from views.ensembles import page as ensembles
from views.ensembles.form import FormState
from views.server.jobs import JOBS
from views.traces import form as bring_log

LONG = "x" * 300
PAGES = ("ensembles", "traces")
NO_NAMES = [
    "..", ".", "", " ", "/", "//", "\\", "a/b", "../bank", "/etc/passwd", LONG, "x" * 81, "\0", "bank\0", "ä", "📷",
    "bank ", " bank", "bank\n", "bank.", "bank...", ".bank", "_bank", "con", "NUL", "nul.txt", "Com1", "lpt9.log",
    "a:b", "a*", "\ud800", "[1]", "<b>", "%2e%2e",
]  # fmt: skip


@pytest.fixture(autouse=True)
def root(no_spark: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def pages() -> None:
    import streamlit as st

    from views.ensembles import page as ensembles
    from views.history import page as history
    from views.traces import page as traces

    {"ensembles": ensembles.page, "traces": traces.page, "history": lambda: history.page({})}[st.query_params["page"]]()


def shown(page: str, data: str | list[str]) -> AppTest:
    """A page whose address names a folder."""
    test = AppTest.from_function(pages, default_timeout=60)
    test.query_params["page"] = page
    test.query_params["data"] = data
    return test.run()


def test_what_is_no_name_is_refused_in_one_sentence(root: Path) -> None:
    def check(name: str) -> None:
        for ask in (folder_path, new_folder_path, catalog.find, catalog.delete):
            with pytest.raises(InputError, match="is no name of a data folder"):
                ask(name)
        with pytest.raises(InputError, match="is no name of a data folder"):
            ensembles._start(FormState(Grid.from_json(GRID), name))

    check_each(NO_NAMES, check)
    assert list(root.iterdir()) == []


WORDS = st.sampled_from(["", "a", "Bank-7", "con", "nul.x", "..", ".", "x" * 79, "x" * 80])
BETWEEN = st.text(max_size=3) | st.sampled_from([*"-._/\\ \0ä~\n:", "/../", ""])


@examples(150)
@given(st.builds(lambda *parts: "".join(parts), WORDS, BETWEEN, WORDS))
def test_any_name_is_that_of_a_folder_in_the_root_or_refused(name: str) -> None:
    try:
        path = folder_path(name)
    except InputError as problem:
        assert "is no name of a data folder" in str(problem)
        assert len(str(problem).splitlines()) == 1
    else:
        assert (path.parent, path.name) == (data_root(), name)
        assert os.path.normpath(path) == str(path)
        assert name.isascii() and 1 <= len(name) <= 80 and name[0].isalnum() and name[-1] not in ". "


@pytest.mark.slow
def test_the_command_refuses_it_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def check(name: str) -> None:
        for command in (["show", name], ["open", name], ["delete", name], ["compare", name, name]):
            status = main(["catalog", *command])
            assert (status, capsys.readouterr().err.count("\n")) == (2, 1)

    check_each([name for name in NO_NAMES if "\0" not in name and "\ud800" not in name], check)


NOTHING = ["..", "/", LONG, "\0", "ä", "missing", "con", "file", "empty", "loop", "out", "<b>x</b>"]
SOON = [("ensembles", "missing"), ("ensembles", "<b>x</b>"), ("traces", ".."), ("traces", "out")]
LATER = pytest.mark.long("every address that names nothing, on each page")


@pytest.fixture
def odd_entries(root: Path) -> None:
    (root / "file").write_text("")
    (root / "empty").mkdir()
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to(root.parent)


def test_what_names_nothing_is_refused_in_one_line(odd_entries: None) -> None:
    def check(name: str) -> None:
        with pytest.raises(InputError) as caught:
            catalog.find(name)
        assert len(str(caught.value).splitlines()) == 1

    check_each(NOTHING, check)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "name"), [own if own in SOON else pytest.param(*own, marks=LATER) for own in product(PAGES, NOTHING)]
)
def test_an_address_that_names_nothing_is_told_on_the_page(page: str, name: str, odd_entries: None, root: Path) -> None:
    test = shown(page, name)
    assert not test.exception
    (told,) = [html for element in test.get("html") if 'role="alert"' in (html := element.proto.body)]
    assert "<b>" not in told
    assert str(root) not in told
    assert not shown("history", name).exception


@pytest.mark.slow
def test_an_address_without_a_name_or_with_two(root: Path) -> None:
    folder(root, "first", GOOD)
    folder(root, "second", GOOD | {"kind": "trace"})
    for page in ("ensembles", "traces", "history"):
        assert not shown(page, "").exception
        assert not shown(page, ["first", "second"]).exception


@pytest.mark.slow
def test_folders_with_names_that_are_none_are_listed_and_ours_deleted(root: Path) -> None:
    os.mkdir(os.fsencode(root) + b"/\xff\xfe")
    for name in ("with blank", "con", "bank.", "![x](y)"):
        folder(root, name, GOOD)
    (root / "out").symlink_to(root.parent)
    found = catalog.entries()
    assert len(found) == 6
    assert all("is no name of a data folder" in str(entry.problem) for entry in found)
    assert main(["catalog"]) == 0
    assert main(["catalog", "list", "--json"]) == 0
    assert not shown("history", "").exception
    for entry in found:
        if entry.name == "out":
            with pytest.raises(InputError, match="is a link to a folder elsewhere"):
                catalog.delete("out")
        else:
            catalog.delete(entry.name)
    assert [path.name for path in root.iterdir()] == ["out"]


def test_names_that_differ_by_capitals_are_one_name(root: Path) -> None:
    folder(root, "Bank", GOOD)
    for name in ("bank", "BANK", "Bank"):
        with pytest.raises(InputError, match="there is a data folder called Bank already; choose another name"):
            new_folder_path(name)
    assert free_name("bank") == "bank-2"
    assert free_name("bank", ["BANK-2"]) == "bank-3"
    assert new_folder_path("bank-2") == root / "bank-2"


@pytest.mark.slow
def test_out_takes_any_path_or_refuses_it_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "file").write_text("")
    (root / "loop").symlink_to("loop")
    (root / "here").mkdir()
    monkeypatch.chdir(root / "here")
    monkeypatch.setattr(spark_session, "session", lambda stop=None: None)
    log = Path(__file__).parents[2] / "examples" / "order.log"
    (root / "here" / "mine.txt").write_text("")
    before = sorted(root.rglob("*"))

    def check(name: str) -> None:
        out = name if name in ("..", ".", "") else str(root / name)
        for command in (
            ["ensemble", "--processes", "2", "--runs", "1", "--out", out],
            ["ensemble", "--resume", "--out", out],
            ["ingest", str(log), "--format", "shiviz", "--out", out],
            ["audit", out, "--random", "1"],
            ["summarize", out],
        ):
            status = main(command)
            told = capsys.readouterr().err
            assert (status, told.count("\n")) == (2, 1), told
        assert sorted(root.rglob("*")) == before

    check_each([LONG, "..", ".", "", "file", "loop", "file/inside", "loop/inside"], check)


def test_two_logs_in_one_second_or_after_the_clock_was_set_back_have_two_names(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Clock:
            return cls(2026, 11, 22, 8, 0, 0)

    monkeypatch.setattr(bring_log, "datetime", Clock)
    first = bring_log.folder_name(["node.log"])
    Store.create(root / first, "trace", {}).finish()
    assert bring_log.folder_name(["node.log"]) == f"{first}-2"
    waiting = JOBS.submit(f"{first}-2", lambda progress, stop: stop.wait(60) and None)
    try:
        assert bring_log.folder_name(["node.log"]) == f"{first}-3"
    finally:
        JOBS.cancel(waiting)


def test_a_job_never_writes_into_a_folder_that_somebody_else_made_meanwhile(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "session", lambda stop=None: None)
    mine = Store.create(root / "bank", "ensemble", {"whose": "mine"})
    mine.finish()
    before = (root / "bank" / "manifest.json").read_text()
    with pytest.raises(InputError, match="the folder exists and is not empty; name a new one"):
        ensembles._begin(root / "bank", Grid.from_json(GRID), None, lambda done, total: None, threading.Event())
    assert (root / "bank" / "manifest.json").read_text() == before
