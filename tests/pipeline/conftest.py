"""One Spark session for all tests of the pipeline: it takes ten seconds to start. And one that is none."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.spark import java
from pipeline.spark import session as spark_session
from tests.pipeline.s3 import rights
from tests.pipeline.without_spark import no_spark
from tests.tools import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Most jobs here are of a few rows: what prepares a plan for many rows takes longer than they do.
FOR_FEW_ROWS = {"spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false"}


@pytest.fixture(scope="session")
def door() -> Iterator[socket.socket]:
    """The address of a storage for Spark's workers, which know it from the beginning."""
    with socket.create_server(("127.0.0.1", 0)) as own:
        yield own


@pytest.fixture(scope="session")
def spark(door: socket.socket) -> Iterator[SparkSession]:
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JAVA)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in rights(door.getsockname()[1]).items():
            patch.setenv(name, value)
        patch.setattr(java, "_system_java", lambda: None)  # the Java that comes with the app, as on a bare machine
        session = spark_session.session()
    for name, value in FOR_FEW_ROWS.items():
        session.conf.set(name, value)
    yield session
    spark_session.stop()


@pytest.fixture
def workers_here() -> Iterator[Any]:
    """In the place of Spark a session whose tasks this process carries out."""
    with no_spark() as session:
        yield session
