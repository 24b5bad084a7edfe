"""A class on one server: visitors change nothing of others, and none takes more than a share."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import MutableHeaders
from streamlit.testing.v1 import AppTest

from pipeline.__main__ import main as pipeline
from pipeline.ensembles.grid import Grid
from pipeline.store import catalog
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.security.asgi import scope_of
from tests.tools import ROOT
from tests.waiting import budget_s
from views.history.page import _delete
from views.server import jobs, visitors
from views.server.jobs import STOPPED, Job, Jobs
from views.widgets.waits import Situation

GRID = {"workload": "bank", "processes": "3", "runs": "2"}
NOW = Situation((), is_warm=False, problem=None, loss=None)


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    monkeypatch.setenv(visitors.CLASS_VARIABLE, "1")
    return tmp_path


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    queue = Jobs()
    monkeypatch.setattr(visitors, "JOBS", queue)
    yield queue
    queue.close()


@pytest.fixture
def browser_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function: from now on a visitor with this key looks at the pages (None: its browser takes no cookies)."""

    def come(key: str | None) -> None:
        cookies = {} if key is None else {visitors.COOKIE: key}
        streamlit = SimpleNamespace(context=SimpleNamespace(cookies=cookies), session_state={})
        monkeypatch.setattr(visitors, "st", streamlit)

    come("ada")
    return come


def wait(progress: Any, stop: threading.Event) -> None:
    """Work that ends when it is told to."""
    stop.wait(budget_s())


def folder(root: Path, name: str, owner: object = None, status: str = "complete") -> catalog.Entry:
    store = Store.create(root / name, "ensemble", Grid.read(GRID).to_json())
    store.finish(status)
    if owner is not None:
        store.update_manifest(owner=owner)
    return catalog.entry_of(root / name)


# ------------------------------------------------------------------ who it is


def cookies_for(headers: list[tuple[str, str]], scheme: str = "http") -> list[str]:
    answer = MutableHeaders()
    visitors.welcome({**scope_of("http", headers, ("127.0.0.1", 8501)), "scheme": scheme}, answer)
    return answer.getlist("set-cookie")


def test_a_browser_gets_one_key_that_no_script_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ("Accept", "text/html,*/*")
    (first,), (second,) = cookies_for([page]), cookies_for([page], "https")
    assert first.split(";")[0] != second.split(";")[0]
    assert "HttpOnly" in first and "SameSite=Lax" in first and "Secure" not in first
    assert second.endswith("; Secure")
    assert cookies_for([page, ("Cookie", first.split(";")[0])]) == []
    assert cookies_for([("Accept", "*/*")]) == []
    monkeypatch.delenv(visitors.CLASS_VARIABLE)
    assert cookies_for([page]) == []


def test_a_visitor_is_a_browser_and_without_cookies_a_tab(browser_of: Any) -> None:
    ada = visitors.visitor()
    browser_of("bob")
    bob = visitors.visitor()
    browser_of(None)
    tab = visitors.visitor()
    assert tab == visitors.visitor()
    browser_of(None)
    assert len({ada, bob, tab, visitors.visitor()}) == 4
    browser_of("ada")
    assert visitors.visitor() == ada
    assert "ada" not in str(ada), "a manifest does not give the key away"


def test_without_a_class_there_are_no_visitors(root: Path, monkeypatch: pytest.MonkeyPatch, queue: Jobs) -> None:
    for off in ("", "0"):
        monkeypatch.setenv(visitors.CLASS_VARIABLE, off)
        assert visitors.visitor() is None
        assert visitors.may_change(folder(root, f"of-ada{off}", "ada"), Job("a", wait, owner="ada"))
    visitors.check_grid(Grid.read({**GRID, "runs": "5000000", "events": "all"}))
    assert [visitors.submit(name, wait, "").owner for name in ("a", "b", "c")] == [None] * 3


def test_what_others_made_is_not_changed(root: Path, browser_of: Any) -> None:
    ada = visitors.visitor()
    own, of_the_lecturer = folder(root, "own", ada), folder(root, "lecture")
    odd = [folder(root, f"odd-{number}", owner) for number, owner in enumerate(([ada], {"a": ada}, 7, ""))]
    assert visitors.may_change(own, Job("a", wait, owner=ada))
    assert not any(visitors.may_change(entry) for entry in (of_the_lecturer, *odd))
    assert not visitors.may_change(own, of_the_lecturer)
    browser_of("bob")
    assert not visitors.may_change(own)
    assert not visitors.may_change(Job("a", wait, owner=ada))


# ------------------------------------------------------------------ how much


def test_one_job_for_each_visitor(browser_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def work(progress: Any, stop: threading.Event) -> None:
        begun.set()
        stop.wait(budget_s())

    first = visitors.submit("a", work, "ensembles")
    assert begun.wait(budget_s())
    with pytest.raises(InputError, match="one of your jobs runs or waits already"):
        visitors.submit("b", wait, "ensembles")
    monkeypatch.setattr(jobs, "MOST_WAITING_IN_A_CLASS", 2)
    for name in ("bob", "cid"):
        browser_of(name)
        visitors.submit(name, wait, "ensembles")
        with pytest.raises(InputError, match="one of your jobs"):
            visitors.submit(f"{name}-2", wait, "traces")
    browser_of("dan")
    with pytest.raises(InputError, match="2 jobs wait already"):
        visitors.submit("dan", wait, "ensembles")
    assert not first.stop.is_set()


def test_each_sees_an_own_job_first(browser_of: Any, queue: Jobs) -> None:
    visitors.submit("a", wait, "ensembles")
    assert queue.latest("ensembles", visitors.visitor()) is queue.find("a")
    browser_of("bob")
    assert queue.latest("ensembles", visitors.visitor()) is None


def test_a_job_ends_when_its_time_is_over(browser_of: Any, queue: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "MOST_MINUTES", 0.0001)
    ended = threading.Event()

    def work(progress: Any, stop: threading.Event) -> None:
        assert stop.wait(budget_s())
        ended.set()

    job = visitors.submit("a", work, "ensembles")
    assert ended.wait(budget_s())
    queue.close()
    assert (job.state, job.reason) == (STOPPED, "after 0.0001 minutes, other visitors have their turn")


def test_one_that_its_visitor_cancels_has_no_such_reason(browser_of: Any, queue: Jobs) -> None:
    job = visitors.submit("a", wait, "ensembles")
    queue.cancel(job)
    queue.close()
    assert (job.state, job.reason) == (STOPPED, None)


def page_of_a_log() -> None:
    from views.traces import page as traces

    traces.page()


def page_of_an_ensemble() -> None:
    from views.ensembles import page as ensembles

    ensembles.page()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "kind", "told"),
    [
        (page_of_a_log, None, "The reading of a was stopped{why}; nothing of it is kept, so bring the log again."),
        (page_of_an_ensemble, "ensemble", "This ensemble was stopped before all of its 2 runs were done{why}."),
    ],
)
@pytest.mark.parametrize("reason", ["after 10 minutes others have their turn", None])
def test_the_page_says_that_a_job_was_stopped_and_why(
    monkeypatch: pytest.MonkeyPatch, root: Path, queue: Jobs, page: Any, kind: str | None, told: str, reason: str | None
) -> None:
    if kind is not None:
        Store.create(root / "a", kind, Grid.read(GRID).to_json()).finish("stopped")
    job = queue.submit("a", wait)
    job.reason = reason
    queue.cancel(job)
    queue.close()
    for module in ("traces", "ensembles"):
        monkeypatch.setattr(f"views.{module}.page.JOBS", queue)
        monkeypatch.setattr(f"views.{module}.page.waiting", lambda *words: NOW)  # no Spark is started
    monkeypatch.setattr("views.ensembles.page.get_ready", lambda: None)
    monkeypatch.setattr(visitors, "visitor", lambda: "ada")
    shown = AppTest.from_function(page, default_timeout=60)
    shown.query_params["data"] = "a"
    shown.run()
    assert not shown.exception
    words = [html.proto.body for html in shown.get("html")] + [warning.value for warning in shown.warning]
    assert told.format(why=f": {reason}" if reason else "") in " ".join(words)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"runs": "100001"}, "asks for 100,001 runs; ask for at most 100,000"),
        ({"processes": "3,4,5", "runs": "33334"}, "asks for 100,002 runs"),
        ({"events": "all"}, "--events: a class shares this server"),
    ],
)
def test_an_ensemble_is_small_and_keeps_a_sample_of_its_events(more: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        visitors.check_grid(Grid.read({**GRID, **more}))
    visitors.check_grid(Grid.read({**GRID, "runs": "100000"}))


def test_all_visitors_together_keep_a_bounded_amount(root: Path, browser_of: Any, monkeypatch) -> None:
    monkeypatch.setattr(visitors, "MOST_KEPT_GB", 5e-6)
    (folder(root, "lecture").path / "more").write_bytes(bytes(10_000))
    visitors.submit("a", wait, "ensembles")
    (folder(root, "bobs", "bob").path / "more").write_bytes(bytes(10_000))
    browser_of("cid")
    with pytest.raises(InputError, match=r"the class keeps .* delete some of yours"):
        visitors.submit("b", wait, "ensembles")


def nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=12_000_000))


def test_nothing_begins_on_a_full_disk(monkeypatch: pytest.MonkeyPatch, queue: Jobs, browser_of: Any) -> None:
    nearly_full(monkeypatch)
    for value in ("1", "0"):
        monkeypatch.setenv(visitors.CLASS_VARIABLE, value)
        with pytest.raises(InputError, match="has 12 MB free, and 500 MB are needed"):
            visitors.submit("a", wait, "ensembles")
    assert queue.active() == []


@pytest.mark.parametrize(
    "command", [["ensemble", "--runs", "2"], ["ingest", "examples/order.log", "--format", "shiviz"]]
)
def test_nor_does_a_command(command: list[str], root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    nearly_full(monkeypatch)
    monkeypatch.chdir(ROOT)
    assert pipeline([*command, "--out", str(root / "deep" / "new")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has 12 MB free" in line
    assert not (root / "deep").exists()


# ------------------------------------------------------------------ on the pages


def history() -> None:
    from pipeline.store import catalog
    from views.history.page import _delete_button

    _delete_button(catalog.entries())


@pytest.mark.slow
def test_history_offers_no_deleting_of_what_others_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "visitor", lambda: "ada")
    folder(root, "own", "ada")
    page = AppTest.from_function(history, default_timeout=60).run()
    assert [button.label for button in page.button] == ["Delete …"]
    folder(root, "others", "bob")
    page.run()
    assert not page.button
    assert [caption.value for caption in page.caption] == ["Only its owner and the lecturer can delete this."]


def test_history_asks_again_when_it_deletes(root: Path, browser_of: Any) -> None:
    """Meanwhile another visitor may have made a folder of that name."""
    folder(root, "own", visitors.visitor())
    shutil.rmtree(root / "own")
    folder(root, "own", "bob")
    with pytest.raises(InputError, match="own: another visitor has made a folder of this name"):
        _delete("own")
    assert (root / "own").exists()
    folder(root, "mine", visitors.visitor())
    _delete("mine")
    assert not (root / "mine").exists()
    with pytest.raises(InputError, match="there is no data folder 'mine'"):
        _delete("mine")


def progress() -> None:
    from views.server import visitors
    from views.widgets.waits import progress_of

    for job in visitors.JOBS.active():
        progress_of(job)


def stopped() -> None:
    from pipeline.store import catalog
    from views.ensembles.page import _stopped

    for entry in catalog.entries():
        _stopped(entry.store, None)


@pytest.mark.slow
@pytest.mark.parametrize(("who", "labels"), [("ada", ["Cancel"]), ("bob", [])])
def test_only_its_owner_cancels_a_job(who: str, labels: list[str], queue: Jobs, monkeypatch) -> None:
    queue.submit("a", wait, "ensembles", "ada")
    monkeypatch.setattr(visitors, "visitor", lambda: who)
    page = AppTest.from_function(progress, default_timeout=60).run()
    assert not page.exception
    assert [button.label for button in page.button] == labels


@pytest.mark.slow
@pytest.mark.parametrize(("who", "labels"), [("ada", ["Go on"]), ("bob", [])])
def test_only_its_owner_goes_on_with_what_was_stopped(who: str, labels: list[str], root: Path, monkeypatch) -> None:
    folder(root, "a", "ada", "stopped")
    monkeypatch.setattr(visitors, "visitor", lambda: who)
    page = AppTest.from_function(stopped, default_timeout=60).run()
    assert not page.exception
    assert ("Only its owner and the lecturer can go on" in page.warning[0].value) == (who == "bob")
    assert [button.label for button in page.button] == labels


def test_make_class_says_that_it_is_one() -> None:
    if shutil.which("make") is None:
        pytest.skip("there is no make on this machine")
    shown = subprocess.run(["make", "-n", "class"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"{visitors.CLASS_VARIABLE}=1" in shown
