"""After every kind of interruption, finished chunks are kept, and resuming does not repeat them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from pipeline.ensembles.chunks import plan_of
from pipeline.ensembles.run import grid_of, run_ensemble
from pipeline.ingest import carry_out, plan
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.pipeline.some_ensembles import LONG, MANY, begin, content, files_of, rows
from tests.pipeline.spark.processes import python_workers


@pytest.mark.long("a job that is stopped and resumed while workers are killed, on Spark")
def test_what_was_stopped_is_kept_and_resumed_without_doing_it_twice_though_workers_are_killed(
    spark: Any, tmp_path: Path, undisturbed: Store
) -> None:
    store, grid = begin(tmp_path / "stopped", *LONG)
    stop = threading.Event()
    reported = []

    def progress(done: int, total: int) -> None:
        reported.append((done, total))
        if done:
            stop.set()

    run_ensemble(spark, store, grid, progress, stop)
    assert store.status == "stopped"
    assert reported[0] == (0, MANY)
    before = {file: file.stat().st_mtime_ns for file in files_of(store, "runs")}
    assert 0 < len(before) < plan_of(store, grid).chunk_count
    assert store.read(spark, "runs").count() >= 8 * len(before)  # workers finish their chunks
    reported.clear()
    killed: list[int] = []

    def kill_once(done: int, total: int) -> None:
        reported.append((done, total))
        if done > reported[0][0] and not killed:
            killed.extend(kill_workers())

    run_ensemble(spark, store, grid_of(store), kill_once)
    assert killed, "a worker that is killed costs a retry"
    assert store.status == "complete"
    assert 8 * len(before) <= reported[0][0] < reported[-1][0] == MANY
    assert {part: part.stat().st_mtime_ns for part in before} == before
    assert content(store) == content(undisturbed)


def kill_workers() -> list[int]:
    """Kills the Python workers of the local server."""
    server = spark_session._STATE.server
    if server is None:
        pytest.skip("the workers are not of this machine")
    workers = python_workers(server._process.pid)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    return workers


def test_a_chunk_that_was_not_finished_is_done_anew(workers_here: Any, tmp_path: Path, undisturbed: Store) -> None:
    """The folder is as a killed command leaves it: events without runs, a hidden file, and the status running."""
    store = Store(Path(shutil.copytree(undisturbed.path, tmp_path / "killed")))
    lost = files_of(store, "runs")[3]
    lost.rename(lost.with_name(f"_0123456789ab-{lost.name}"))
    store.update_manifest(status="running", host=socket.gethostname(), pid=os.getpid())
    assert store.status == "stopped"
    run_ensemble(workers_here, store, grid_of(store))
    assert content(store) == content(undisturbed)


def test_a_path_that_cannot_be_written_is_an_error_in_one_sentence(workers_here: Any, tmp_path: Path) -> None:
    store, grid = begin(tmp_path / "full", {"processes": "2", "runs": "20"}, {"transfers": "1"})
    (store.path / "runs").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"full/runs: cannot be written \(File exists\); make room, or name another"):
        run_ensemble(workers_here, store, grid)
    assert (store.status, store.parts("runs")) == ("stopped", [])
    (store.path / "runs").unlink()
    run_ensemble(workers_here, store, grid)
    assert (store.status, len(rows(store, "runs"))) == ("complete", 20)


def test_a_folder_that_another_process_writes_is_left_alone(workers_here: Any, tmp_path: Path) -> None:
    busy, grid = begin(tmp_path / "busy", {"processes": "2", "runs": "2"})
    with pytest.raises(InputError, match="is being written by another process; stop that one first"):
        run_ensemble(workers_here, Store(busy.path), grid)
    assert busy.status == "running"


class Broken:
    """A session that fails."""

    def __init__(self) -> None:
        self.client = SimpleNamespace(is_closed=False)

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self

    def toLocalIterator(self) -> Any:
        raise PySparkException("Nothing\nworks")


def test_a_failure_of_spark_is_an_error_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "is_own", lambda spark: True)
    store, grid = begin(tmp_path / "gone", {"processes": "2", "runs": "2"})
    spark: Any = Broken()
    with pytest.raises(InputError, match=r"gone: Spark gave up \(Nothing works\); what was finished is kept: go"):
        run_ensemble(spark, store, grid)
    assert store.status == "stopped"


def test_only_ensembles_of_this_version_are_resumed(tmp_path: Path) -> None:
    trace = Store.create(tmp_path / "trace", "trace", {})
    with pytest.raises(InputError, match="holds no ensemble; name a folder that ensemble has begun"):
        grid_of(trace)
    store, _ = begin(tmp_path / "old", {"processes": "2"})
    store.update_manifest(version="0.0.1")
    with pytest.raises(InputError, match=r"was begun by version 0.0.1, whose runs may differ from those of this one"):
        grid_of(store)


def test_a_log_whose_reading_is_stopped_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    """A worker searches for a match, which would take ten seconds."""
    log, out = tmp_path / "some.log", tmp_path / "out"
    log.write_text('x\na {"a":1}\ny\nb {"a":1,"b":1}\n' + "a" * 5000 + "\n")
    pattern = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})\n|(a+)+(?<never>$b)"
    stop = threading.Event()
    todo = plan([log], "shiviz", {"pattern": pattern})
    with pytest.raises(InputError, match="out: it was stopped; nothing is kept"):
        carry_out(spark, Store.create(out, "trace", {}), todo, lambda *_: stop.set(), stop)
    assert not out.exists()
    assert spark.range(3).count() == 3, "the session is as good as before"
