"""Interrupts Spark jobs that a user cancels, or whose caller has failed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.spark import session as spark_session
from pipeline.spark.background import in_background
from pipeline.spark.kinds import kind_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_S = 4.0  # the time that Spark has to interrupt a job before it is ended itself
GRACE_S = 1.0  # the time that a failed caller waits for that


@contextmanager
def interrupted_by(stop: threading.Event, spark: SparkSession) -> Iterator[None]:
    """Interrupts the Spark jobs of the block when `stop` is set, and when the block raises an exception.

    A Spark that does not interrupt them in time counts as lost, so the block always ends.
    """
    tag, kind = f"cut-{secrets.token_hex(8)}", kind_of(spark)
    finished = threading.Event()

    def interrupt() -> None:
        while not kind.interrupt(tag) and not finished.wait(0.1):  # there may be no job yet
            pass

    def watch() -> None:
        while not finished.wait(0.1):
            if stop.is_set():
                in_background(interrupt)
                if not finished.wait(PATIENCE_S):
                    spark_session.lose(spark, "it did not stop when it was told to")
                return

    watcher = threading.Thread(target=watch, name=tag, daemon=True)
    watcher.start()
    kind.add_tag(tag)
    try:
        yield
    except BaseException:
        wait([in_background(lambda: kind.interrupt(tag))], GRACE_S)
        raise
    finally:
        kind.remove_tag(tag)
        finished.set()
        watcher.join()
