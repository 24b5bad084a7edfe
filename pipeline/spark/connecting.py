"""Connects to a Spark Connect server, and sends it the project's code."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipeline.spark.local_server import ROOT
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = ("sim", "pipeline")  # that workers import
CONNECT_PORT = 15002  # the default port of a Connect server
CONNECT_TIMEOUT_S = 10.0
MOST_BACKOFF_MS = 2000  # between two attempts of a call


def connect(url: str, retries: int) -> SparkSession:
    """A new session of the server at `url`, whose calls are tried again so often while it cannot be reached.

    Raises InputError if no Spark answers there.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    _check_reachable(url)
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # the exception says so
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # makes pyspark.sql.functions use Connect
    try:
        spark = SparkSession.builder.remote(url).create()
        policy = DefaultPolicy(max_retries=retries, max_backoff=MOST_BACKOFF_MS, max_server_retry_delay=MOST_BACKOFF_MS)
        spark.client.set_retry_policies([policy])
        spark.range(1).count()
    except Exception as problem:  # several libraries, each with exceptions of its own
        address = url.partition(";")[0]
        raise InputError(f"no Spark answers at {address}: {' '.join(str(problem).split())[:200]}") from None
    return spark


def _check_reachable(url: str) -> None:
    """Raises InputError if no server listens at `url`. Spark's own client would retry for many minutes."""
    address = url.partition(";")[0]
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or CONNECT_PORT
        if parts.scheme != "sc" or not host:
            raise ValueError("it is not written as sc://host:15002")
        socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as problem:
        raise InputError(f"no Spark answers at {address}: {problem}") from None


def send_project(spark: SparkSession) -> None:
    """Sends the project's code to the workers of a cluster, which cannot read this machine's files."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "project.zip"
        with zipfile.ZipFile(archive, "w") as zipped:
            for package in PACKAGES:
                for path in sorted((ROOT / package).rglob("*.py")):
                    zipped.write(path, path.relative_to(ROOT))
        spark.addArtifacts(str(archive), pyfile=True)
