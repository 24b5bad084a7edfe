"""Interrupts Spark jobs that somebody cancels, or whose caller has failed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def interrupted_by(stop: threading.Event, spark: SparkSession) -> Iterator[None]:
    """Interrupts the Spark jobs of the block when `stop` is set, and when the block raises an exception."""
    tag = f"cut-{secrets.token_hex(8)}"
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(0.1):
            if stop.is_set() and spark.interruptTag(tag):
                return

    watcher = threading.Thread(target=watch, name=tag, daemon=True)
    watcher.start()
    spark.addTag(tag)
    try:
        yield
    except BaseException:
        spark.interruptTag(tag)
        raise
    finally:
        spark.removeTag(tag)
        finished.set()
        watcher.join()
