"""The results of all jobs without Spark, and a client for the ports between Spark's driver and executors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway

from pipeline.ensembles.run import run_ensemble
from pipeline.store.folder import Store
from tests.pipeline.some_ensembles import LONG, begin
from tests.pipeline.some_jobs import LOG, STATES, Outcome, all_jobs, outcome
from tests.pipeline.without_spark import no_spark


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log that `all_jobs` reads."""
    path = tmp_path_factory.mktemp("log") / "a.log"
    path.write_text(LOG)
    return path


@pytest.fixture(scope="session")
def expected(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The results of all jobs in this process, without Spark."""
    folder = tmp_path_factory.mktemp("alone")
    with no_spark():
        states = all_jobs(folder, log)
    assert states == STATES
    return outcome(folder, states, has_summaries=False)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The ensemble LONG, whose runs this process has carried out, without Spark."""
    store, grid = begin(tmp_path_factory.mktemp("undisturbed"), *LONG)
    with no_spark() as session:
        run_ensemble(session, store, grid)
    return store


@pytest.fixture(scope="session")
def probe() -> Iterator[Any]:
    """A Java with Spark's classes, which runs no Spark: a client for the ports between driver and executors."""
    gateway = launch_gateway()
    yield gateway.jvm
    gateway.shutdown()
    gateway.proc.terminate()
    gateway.proc.wait()
