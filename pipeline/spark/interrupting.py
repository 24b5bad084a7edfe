"""Ending what Spark does before it is done: when a person cancels it, or when whoever wanted it is gone."""

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
    """What Spark does within the block ends when `stop` is set, and when the block ends with an exception."""
    tag = f"cut-{secrets.token_hex(8)}"
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
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
        over.set()
        watcher.join()
