"""Names of data folders from every door: no name leads out, is taken twice, or is an unexpected failure."""

from __future__ import annotations

import os
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.__main__ import main
from pipeline.ensembles.grid import Grid
from pipeline.spark import spark_session
from pipeline.store import catalog
from pipeline.store.data_root import folder_path, free_name, new_folder_path
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.security.odd_folders import GOOD, GRID, folder
from views import bring_log, ensembles
from views.grid_form import Wanted
from views.jobs import JOBS

LONG = "x" * 300
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

    from views import ensembles, history, traces

    {"ensembles": ensembles.page, "traces": traces.page, "history": lambda: history.page({})}[st.query_params["page"]]()


def shown(page: str, data: str | list[str]) -> AppTest:
    """A page whose address names a folder."""
    test = AppTest.from_function(pages, default_timeout=60)
    test.query_params["page"] = page
    test.query_params["data"] = data
    return test.run()


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_name_is_refused_in_one_sentence(name: str, root: Path) -> None:
    for ask in (folder_path, new_folder_path, catalog.find, catalog.delete):
        with pytest.raises(InputError, match="is no name of a data folder"):
            ask(name)
    with pytest.raises(InputError, match="is no name of a data folder"):
        ensembles._start(Wanted(Grid.from_json(GRID), name))
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in NO_NAMES if "\0" not in name and "\ud800" not in name])
def test_the_command_refuses_it_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["show", name], ["open", name], ["delete", name], ["compare", name, name]):
        assert main(["catalog", *command]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("page", ["ensembles", "traces"])
@pytest.mark.parametrize(
    "name", ["..", "/", LONG, "\0", "ä", "missing", "con", "file", "empty", "loop", "out", "<b>x</b>"]
)
def test_an_address_that_names_nothing_is_told_on_the_page(page: str, name: str, root: Path) -> None:
    (root / "file").write_text("")
    (root / "empty").mkdir()
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to(root.parent)
    test = shown(page, name)
    assert not test.exception
    (told,) = [html for element in test.get("html") if 'role="alert"' in (html := element.proto.body)]
    assert "<b>" not in told
    assert str(root) not in told
    assert not shown("history", name).exception


def test_an_address_without_a_name_or_with_two(root: Path) -> None:
    folder(root, "first", GOOD)
    folder(root, "second", GOOD | {"kind": "trace"})
    for page in ("ensembles", "traces", "history"):
        assert not shown(page, "").exception
        assert not shown(page, ["first", "second"]).exception


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


@pytest.mark.parametrize("name", [LONG, "..", ".", "", "file", "loop", "file/inside", "loop/inside"])
def test_out_takes_any_path_or_refuses_it_in_one_line(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "file").write_text("")
    (root / "loop").symlink_to("loop")
    (root / "here").mkdir()
    monkeypatch.chdir(root / "here")
    monkeypatch.setattr(spark_session, "session", lambda stop=None: None)
    log = Path(__file__).parents[2] / "examples" / "order.log"
    out = name if name in ("..", ".", "") else str(root / name)
    (root / "here" / "mine.txt").write_text("")
    before = sorted(root.rglob("*"))
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
