"""Work that outlives a Spark: if Spark ends meanwhile, another one is started, and the work begins again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.spark import session as spark_session
from pipeline.spark.losses import SparkLost, in_one_sentence
from pipeline.spark.progress import Progress, silent
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("pipeline")

Result = TypeVar("Result")

MOST_RESTARTS = 3  # of Spark in a piece of work, without progress in between


def carried_out(
    work: Callable[[SparkSession, Progress], Result],
    progress: Progress = silent,
    stop: threading.Event | None = None,
    session: SparkSession | None = None,
) -> Result:
    """The result of `work`. If Spark is lost meanwhile, it is started again, and `work` begins again.

    `work` gets a session, and reports how much of its work is kept. MOST_RESTARTS without progress end in an
    InputError. Raises the exceptions of `work`; InputError if there is no Spark, or if `stop` is set before there is
    one. With a `session` from `borrowed`, `work` runs there, and a lost Spark is not started again.
    """
    if session is not None:
        with in_one_sentence(session):
            return work(session, progress)
    most, restarts = 0, 0

    def report(done: int, total: int) -> None:
        nonlocal most, restarts
        if done > most:
            most, restarts = done, 0
        progress(done, total)

    while True:
        spark = None
        try:
            spark = spark_session.session(stop)
            with in_one_sentence(spark):
                return work(spark, report)
        except SparkLost as problem:
            if spark is not None:
                spark_session.lose(spark)
            if stop is not None and stop.is_set():
                raise
            if restarts == MOST_RESTARTS:
                raise InputError(f"{problem}; it was started again {restarts} times, and ended each time") from None
            restarts += 1


def ask(question: Callable[[SparkSession], Result], session: SparkSession | None = None) -> Result:
    """The answer to a question, which may be repeated after a loss of Spark. Raises InputError like `carried_out`."""
    return carried_out(lambda spark, _: question(spark), session=session)


def warm_up() -> None:
    """Starts the session in the background, unless it exists or is starting."""
    if not spark_session.has_begun():
        threading.Thread(target=_start_first_worker, name="spark-warm-up", daemon=True).start()


def _start_first_worker() -> None:
    """Starts the session and a Python worker. Logs the reason if there is no Spark."""
    try:
        ask(lambda spark: spark.range(8).mapInArrow(_identity, "id long").count())  # the first one is slow to start
    except InputError as problem:
        log.warning("%s", problem)


def _identity(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
