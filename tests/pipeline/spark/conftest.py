"""A client for the ports between Spark's driver and executors, and what all jobs come to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway

from tests.pipeline.some_jobs import COUNTS, LOG, STATES, all_jobs, outcome


@pytest.fixture(scope="session")
def done_here(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder in which all jobs were carried out on the local Spark, and the log that was read."""
    folder = tmp_path_factory.mktemp("here")
    log = folder / "a.log"
    log.write_text(LOG)
    assert all_jobs(folder, log) == STATES
    here = outcome(folder)
    assert all(len(here[f"{name}/{table}"]) == count for name, own in COUNTS.items() for table, count in own.items())
    return folder, log


@pytest.fixture(scope="session")
def probe() -> Iterator[Any]:
    """A Java with Spark's classes, which runs no Spark: a client for the ports between driver and executors."""
    gateway = launch_gateway()
    yield gateway.jvm
    gateway.shutdown()
    gateway.proc.terminate()
    gateway.proc.wait()
