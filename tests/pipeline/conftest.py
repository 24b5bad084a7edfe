"""One Spark session for all tests of the pipeline: it takes ten seconds to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # One compiler instead of two: jobs are slower, but all of them are tiny, and start-up takes half as long.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    yield session.session()
    session.stop()
