"""A live cluster of the app: it starts, says why it does not, is stopped with all its processes; whose it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.streaming.auditing import Judged
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.running import none_is_left
from tests.views.conftest import StillRun
from tests.waiting import until
from views.live import page as live
from views.live.cluster import ENDED, FAILED, ROOT, RUNNING, LiveRun, LiveRuns
from views.live.form_state import FormState
from views.live.frame import about, read_place
from views.live.page import LivePage

pytestmark = pytest.mark.slow


@pytest.fixture
def runs() -> Iterator[LiveRuns]:
    own = LiveRuns()
    yield own
    own.close()


def children(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [other for child in task.read_text().split() for other in children(int(child))]
    return found


def started(runs: LiveRuns, owner: str | None = None) -> tuple[LiveRun, list[int]]:
    """A cluster of two that runs, and its processes."""
    run = runs.start(FormState(2, speed="lively"), owner)
    until(lambda: run.state == RUNNING and len(run.nodes) == 2)
    return run, children(run._process.pid)


class Audit:
    """Stands for the streamed audit of a run: it judges what it is told to."""

    def __init__(self, folder: Path, logs: list[Path], name: str) -> None:
        self.asked = (folder, logs, name)
        self.judged: dict[str, Judged] = {}
        self.ends: list[str] = []

    @property
    def news(self) -> SimpleNamespace:
        return SimpleNamespace(verdicts=len(self.judged))

    def verdict(self, snapshot: str) -> Judged | None:
        return self.judged.get(snapshot)

    def stop_soon(self, seconds: float) -> None:
        self.ends.append(f"in {seconds:g} s")

    def stop(self, seconds: float) -> None:
        self.ends.append(f"within {seconds:g} s")


def shown(run: LiveRun) -> dict[str, Any]:
    """The newest snapshot, as the page shows it; nothing while there is none that is complete."""
    found = about(run, read_place({}))["snapshots"]
    return next((own for own in found if own["status"] == "COMPLETED"), {})


def test_a_snapshot_is_shown_and_its_verdict_when_the_audit_has_one(runs, monkeypatch):
    monkeypatch.setattr("views.live.cluster.InBackground", Audit)
    run, _ = started(runs)
    run.client.trigger(None)
    until(lambda: shown(run), "the snapshot is shown")
    assert "verdict" not in shown(run) and run.verdicts == 0
    audit = run._audit
    assert audit.asked == (run._scratch.path / "audit", [run._folder / "logs" / "1"], "live")
    for is_good, words in (
        (True, "consistent"),
        (False, "inconsistent: message 7 was received before the cut, and sent after it"),
    ):
        audit.judged[shown(run)["id"]] = Judged(0, shown(run)["id"], is_good, None if is_good else 7, 0)
        assert shown(run)["verdict"] == {"consistent": is_good, "words": words}
    assert run.verdicts == 1 and audit.ends == []
    run.stop()
    until(lambda: run.is_over)
    assert audit.ends == ["in 5 s"] and "verdict" in shown(run), "it has some time for the last snapshots"
    runs.close()
    assert audit.ends == ["in 5 s", "within 5 s"]


def test_stop_leaves_no_process_and_close_no_folder(runs):
    run, pids = started(runs)
    assert len(pids) >= 4, "who runs it, the controller, and two nodes"
    with pytest.raises(InputError, match="a cluster runs on this server already"):
        runs.start(FormState(2), None)
    until(lambda: run.now > 0.2)
    run.stop()
    none_is_left(pids)
    until(lambda: run.is_over)
    assert (run.state, run.problem) == (ENDED, "")
    with pytest.raises(InputError, match="the cluster is over; start another one"):
        _ = run.client
    folder = run._scratch.path
    assert folder.exists()
    runs.close()
    assert not folder.exists() and runs.find(run.id) is None


@pytest.mark.long("a live cluster of the app that is ended by force")
def test_a_cluster_that_does_not_answer_is_ended_by_force(runs, monkeypatch):
    monkeypatch.setattr("views.live.cluster.GOODBYE_S", 0.2)
    run, pids = started(runs)
    os.kill(pids[0], signal.SIGSTOP)
    run.stop()
    none_is_left(pids)


def test_it_ends_when_the_app_has_been_killed():
    """The app is gone and cannot end it: the pipe to it is closed."""
    program = (
        "import threading; from views.live.cluster import LIVE; from views.live.form_state import FormState\n"
        "run = LIVE.start(FormState(2), None)\n"
        "from tests.waiting import until; until(lambda: len(run.nodes) == 2)\n"
        "print(run._process.pid, flush=True); threading.Event().wait()"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        pids = children(int(app.stdout.readline()))
        assert len(pids) >= 4
        app.kill()
    none_is_left(pids)


def test_one_that_does_not_start_says_why(runs, monkeypatch):
    monkeypatch.setattr(
        FormState, "command", lambda self, folder: [sys.executable, "-m", "cluster", "up", "--nodes", "0"]
    )
    run = runs.start(FormState(2), None)
    until(lambda: run.is_over)
    assert run.state == FAILED
    assert run.problem.startswith("the cluster did not start: ") and "0" in run.problem


BOUNDS = {
    "UNWATCHED_S": "the cluster was stopped, because it was unwatched for 0 minutes",
    "MOST_S": "the cluster was stopped, because it ran for 0 minutes, the limit",
    "MOST_BYTES": "the cluster was stopped, because its event logs reached 0 GB, the limit",
}


def test_what_is_too_much_ends_it_and_is_told(runs, monkeypatch):
    run, pids = started(runs)
    assert not run._is_too_much()
    for bound, told in BOUNDS.items():
        with monkeypatch.context() as patch:
            patch.setattr(run, "problem", "")
            patch.setattr(f"views.live.cluster.{bound}", 0)
            assert run._is_too_much() and run.problem == told
    monkeypatch.setattr("views.live.cluster.UNWATCHED_S", 0)
    until(lambda: run.is_over)
    assert (run.state, run.problem) == (ENDED, BOUNDS["UNWATCHED_S"])
    none_is_left(pids)


def entry(number: int, wish: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A wish as the browser sends it."""
    return [{"seq": number, "time": 0, "edit": wish}]


def test_a_stranger_watches_and_the_owner_acts(runs, monkeypatch):
    """In a class; without visitors, every user may control it."""
    monkeypatch.setattr(live, "LIVE", runs)
    run, _ = started(runs, owner="lecturer")
    wishes = ["snapshot", "restore", "kill", "sever", "mend", "stop"]
    monkeypatch.setattr(live.visitors, "visitor", lambda: "student")
    page = LivePage()
    assert page.data(run)["may_act"] is False
    for number, wish in enumerate(wishes, start=1):
        page.take(entry(number, {"do": wish, "run": run.id, "node": "P1"}))
        assert page.notice == {"seq": number, "text": "Another visitor started this cluster; you may watch it."}
    page.take(entry(9, {"do": "explore", "run": run.id, "begin": 0, "end": 1}))
    assert page.segment == ("explore", 0, 1) and page.notice is None
    assert run.state == RUNNING and not run.snapshots
    monkeypatch.setattr(live.visitors, "visitor", lambda: "lecturer")
    page = LivePage()
    assert page.data(run)["may_act"] is True
    page.take(entry(1, {"do": "kill", "run": run.id, "node": "P7"}))
    assert page.notice is not None and "P7" in page.notice["text"]
    page.take(entry(2, {"do": "stop", "run": run.id}))
    until(lambda: run.is_over)


NONSENSE = [
    {"do": "explore", "begin": "0", "end": None}, {"do": "traces", "begin": 5, "end": 1},
    {"do": "explore", "begin": float("nan"), "end": 1}, {"do": "dance"}, {"do": "kill"},
    {"do": "sever", "channels": 7},
]  # fmt: skip


def test_nonsense_is_not_carried_out(monkeypatch):
    run = StillRun(None, RUNNING)
    run.client = _Refuses()
    monkeypatch.setattr(live, "LIVE", _Only(run))

    def check(wish):
        page = LivePage()
        page.take(entry(1, {**wish, "run": run.id}))
        assert page.ack == 1 and page.segment is None
        page.take(entry(2, {**wish, "run": "another"}))
        assert page.ack == 2 and page.notice is None

    check_each(NONSENSE, check)


class _Only:
    """The runs of a server: this one."""

    def __init__(self, run: StillRun) -> None:
        self._run = run

    def find(self, name: str) -> StillRun | None:
        return self._run if name == self._run.id else None


class _Refuses:
    def inject(self, kind: str, **_: object) -> None:
        raise InputError(f"{kind}: what is meant?")
