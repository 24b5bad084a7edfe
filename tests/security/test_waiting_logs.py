"""Logs that wait to be read: they take no memory, and leave nothing behind, however their job ends."""

from __future__ import annotations

import gc
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.spark.scratch import Scratch
from sim.core.errors import InputError
from tests.tools import ROOT
from tests.waiting import budget_s
from views.server import jobs, visitors
from views.server.jobs import FAILED, STOPPED, Jobs
from views.traces import page as traces
from views.traces.form import FormState


class Content(bytearray):
    """One that says when it is forgotten."""


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Jobs]:
    """A queue of its own, whose worker is busy; temporary files are in `tmp_path / "tmp"`."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(traces, "_show", lambda name: None)
    queue = Jobs()
    monkeypatch.setattr(visitors, "JOBS", queue)
    begun = threading.Event()

    def busy(progress: Any, stop: threading.Event) -> None:
        begun.set()
        stop.wait(budget_s())

    queue.submit("busy", busy)
    assert begun.wait(budget_s())
    yield queue
    queue.close()


def bring(name: str = "some", content: bytes = b"no log") -> None:
    traces._start(FormState(name, {"lock": content}, "csv", {}, False))


def test_a_log_that_waits_is_in_a_private_folder_and_not_in_memory(queue: Jobs, tmp_path: Path) -> None:
    content = Content(b"no log")
    told = weakref.ref(content)
    bring(content=content)
    del content
    gc.collect()
    assert told() is None
    (folder,) = (tmp_path / "tmp").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "log" / "lock").read_bytes() == b"no log"


def test_one_that_is_cancelled_while_it_waits_leaves_nothing(queue: Jobs, tmp_path: Path) -> None:
    bring()
    job = queue.find("some")
    assert job is not None
    queue.cancel(job)
    assert job.state == STOPPED and list((tmp_path / "tmp").iterdir()) == []


def test_one_that_has_been_read_leaves_nothing(queue: Jobs, tmp_path: Path) -> None:
    bring()
    job = queue.find("some")
    assert job is not None
    job.run()
    assert (job.state, job.problem is not None and job.problem.startswith("lock")) == (FAILED, True)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_end_of_the_app_leaves_nothing_also_of_what_does_not_end(queue: Jobs, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "GOODBYE_S", 0)
    begun, go_on = threading.Event(), threading.Event()

    def slow(*given: Any, **named: Any) -> None:
        begun.set()
        go_on.wait(budget_s())
        raise InputError("it was stopped")

    monkeypatch.setattr(traces, "plan", slow)
    bring("slow")
    bring("waits")
    (busy,) = (job for job in queue.active() if job.name == "busy")
    queue.cancel(busy)
    assert begun.wait(budget_s()) and len(list((tmp_path / "tmp").iterdir())) == 2
    queue.close()
    assert list((tmp_path / "tmp").iterdir()) == []
    go_on.set()


def test_one_that_is_refused_leaves_nothing(queue: Jobs, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "MOST_WAITING", 0)
    with pytest.raises(InputError, match="0 jobs wait already"):
        bring()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_full_disk_is_said_in_a_sentence(queue: Jobs, tmp_path: Path, monkeypatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"your files cannot be saved there \(No space left on device\); make room"):
        bring()
    assert list((tmp_path / "tmp").iterdir()) == []


KILLED = """
import os, signal
from pipeline.spark.scratch import Scratch
(Scratch().path / "some.log").write_text("secret")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_app_has_left_is_removed_by_the_next_one(queue: Jobs, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    ended = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT)
    (left,) = (tmp_path / "tmp").iterdir()
    assert ended.returncode == -signal.SIGKILL and (left / "some.log").exists()
    own, other = Scratch(), Scratch()
    assert not left.exists() and own.path.exists(), "what somebody holds stays"
    own.remove()
    other.remove()
