"""In the middle of each job a Python worker is killed, or Spark is lost: the job comes to the same, nothing twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import jobs
from pipeline.ensembles import summaries
from pipeline.spark import spark_session
from pipeline.spark.losses import SparkLost
from sim.explore.report import complete_graph
from tests.pipeline.some_jobs import STATES, outcome
from tests.pipeline.spark.processes import python_workers

pytestmark = pytest.mark.skipif("SPARK_REMOTE" in os.environ, reason="what is killed here has to be our own")


def kill_workers() -> None:
    server = spark_session._STATE.server
    assert server is not None
    for pid in python_workers(server._process.pid):
        os.kill(pid, signal.SIGKILL)


def lose_spark() -> None:
    raise SparkLost("Spark has ended")


@pytest.mark.parametrize("strike", [kill_workers, lose_spark])
def test_every_job_comes_to_the_same(
    done_here: tuple[Path, Path], tmp_path: Path, strike: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Spark that is lost here lives on: test_losses.py kills one, and sees it start again."""
    here, log = done_here
    monkeypatch.setattr(spark_session, "lose", lambda *_: None)
    struck: list[str] = []

    def once(job: str) -> Callable[..., None]:
        """A report of progress at which Spark is struck, when the job has begun."""

        def report(*_: Any) -> None:
            if job not in struck:
                struck.append(job)
                strike()

        return report

    given = {"workload": "bank", "processes": "3,4", "runs": 10, "events": "all"}
    jobs.ensemble(tmp_path / "ensemble", {"transfers": "20"}, progress=once("ensemble"), **given)
    jobs.ingest(tmp_path / "log", [log], "shiviz", progress=once("ingest"))
    for name in ("ensemble", "log"):
        jobs.audit(tmp_path / name, random=3, seed=1, progress=once(f"audit {name}"))
    cells = summaries.cells
    monkeypatch.setattr(summaries, "cells", lambda runs: (once("summarize")(), cells(runs))[1])
    jobs.summarize(tmp_path / "ensemble")
    found = jobs.explore(complete_graph(2, 1), parts=2, scratch=tmp_path, progress=once("explore"))
    assert found.found.states == STATES
    assert outcome(tmp_path) == outcome(here)
    assert len(struck) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ensemble", "log"]
    assert not [path for path in tmp_path.rglob("_*") if path.name != "_tables.json"]
