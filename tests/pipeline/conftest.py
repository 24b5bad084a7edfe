"""One Spark session for all tests of the pipeline: it takes ten seconds to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.spark import spark_session
from tests.tools import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JAVA)
    yield spark_session.session()
    spark_session.stop()
