"""A client for the ports between Spark's driver and executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway


@pytest.fixture(scope="session")
def probe() -> Iterator[Any]:
    """A Java with Spark's classes, which runs no Spark: a client for the ports between driver and executors."""
    gateway = launch_gateway()
    yield gateway.jvm
    gateway.shutdown()
    gateway.proc.terminate()
    gateway.proc.wait()
