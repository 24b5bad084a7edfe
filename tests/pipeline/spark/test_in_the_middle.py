"""In the middle of a job a Python worker is killed, or Spark is lost: the job comes to the same, nothing twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from pipeline import jobs
from pipeline.ensembles import summaries
from pipeline.spark import session as spark_session
from pipeline.spark.losses import SparkLost
from sim.explore.report import complete_graph
from tests.pipeline.some_jobs import GIVEN, Outcome, outcome
from tests.pipeline.spark.processes import python_workers

pytestmark = pytest.mark.skipif("SPARK_REMOTE" in os.environ, reason="what is killed here has to be our own")


def kill_workers() -> None:
    server = spark_session._STATE.server
    assert server is not None
    for pid in python_workers(server._process.pid):
        os.kill(pid, signal.SIGKILL)


def lose_spark() -> None:
    raise SparkLost("Spark has ended")


def nothing() -> None:
    pass


EVERY_JOB = pytest.mark.long("in the middle of every job a killed worker and a lost Spark")


@pytest.mark.parametrize(
    "strikes",
    [
        (kill_workers, nothing, nothing, lose_spark, nothing, nothing),
        pytest.param((kill_workers, lose_spark), marks=EVERY_JOB),
        pytest.param((lose_spark, kill_workers), marks=EVERY_JOB),
    ],
    ids=["two jobs", "killed first", "lost first"],
)
def test_every_job_comes_to_the_same(
    spark: Any,
    expected: Outcome,
    log: Path,
    tmp_path: Path,
    strikes: tuple[Callable[[], None], ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The jobs are struck in turn. The Spark that is lost here lives on: test_losses.py kills one."""
    monkeypatch.setattr(spark_session, "lose", lambda *_: None)
    struck: list[str] = []
    turn = cycle(strikes)

    def once(job: str) -> Callable[..., None]:
        """A report of progress at which Spark is struck, when the job has begun."""

        def report(*_: Any) -> None:
            if job not in struck:
                struck.append(job)
                next(turn)()

        return report

    jobs.ensemble(tmp_path / "ensemble", {"transfers": "20"}, progress=once("ensemble"), **GIVEN)
    jobs.ingest(tmp_path / "log", [log], "shiviz", progress=once("ingest"))
    for name in ("ensemble", "log"):
        jobs.audit(tmp_path / name, random=3, seed=1, progress=once(f"audit {name}"))
    cells = summaries.cells
    monkeypatch.setattr(summaries, "cells", lambda runs: (once("summarize")(), cells(runs))[1])
    jobs.summarize(tmp_path / "ensemble")
    found = jobs.explore(complete_graph(2, 1), parts=2, scratch=tmp_path, progress=once("explore")).found
    assert outcome(tmp_path, found.states) == expected
    assert len(struck) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ensemble", "log"]
    assert not [path for path in tmp_path.rglob("_*") if path.name != "_tables.json"]
