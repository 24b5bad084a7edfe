"""Connects to a Spark Connect server."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from concurrent.futures import wait
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipeline.spark.background import in_background
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT_PORT = 15002  # the default port of a Connect server
PATIENCE_S = 20.0  # the time for a server's answer
GOODBYE_S = 1.0  # the time for closing the session of a server that does not answer
MOST_BACKOFF_MS = 2000  # between two attempts of a call


def connect(url: str, retries: int, patience_s: float = PATIENCE_S) -> SparkSession:
    """A new session of the server at `url`. Its calls are repeated up to `retries` times if it cannot be reached.

    Raises InputError if no Spark answers there within `patience_s`, such as one behind a firewall.
    """
    address, spark = url.partition(";")[0], None
    try:
        spark = own = _session(url, retries)
        answer = in_background(lambda: _ask(own, address, patience_s))
        if not wait([answer], patience_s).done:
            raise TimeoutError(f"no answer within {patience_s:g} s; is it Spark Connect, is a firewall in between?")
        answer.result()
        return spark
    except Exception as problem:  # several libraries, each with exceptions of its own
        if spark is not None:  # else PySpark's functions in this thread would go on using it
            wait([in_background(spark.client.close)], GOODBYE_S)
        raise InputError(f"no Spark answers at {address}: {' '.join(str(problem).split())[:200]}") from None


def _session(url: str, retries: int) -> SparkSession:
    """A session that has not called its server yet."""
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # the exception says so
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # makes pyspark.sql.functions use Connect
    spark = SparkSession.builder.remote(url).create()
    policy = DefaultPolicy(max_retries=retries, max_backoff=MOST_BACKOFF_MS, max_server_retry_delay=MOST_BACKOFF_MS)
    spark.client.set_retry_policies([policy])
    return spark


def _ask(spark: SparkSession, address: str, patience_s: float) -> None:
    """Makes a first call. If no process listens there, it fails at once: Spark's client would try again and again."""
    parts = urlsplit(address)
    socket.create_connection((parts.hostname, parts.port or CONNECT_PORT), timeout=patience_s).close()
    spark.conf.get("spark.sql.session.timeZone")
