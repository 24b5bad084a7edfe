"""The two kinds of Spark sessions, Connect and classic (with a driver on this machine), and their differences."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pipeline.spark.background import in_background

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, Row, SparkSession

Work: TypeAlias = "Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]"

WAVE = 4  # tasks for each core in a job of a classic session
FLYING = 2  # jobs of a classic session at a time: the next one begins while the last tasks of one run
_ENDED = "SparkContext was shut down", "stopped SparkContext", "Connection refused", "Error while receiving"


def kind_of(spark: SparkSession) -> Kind:
    """The kind of a session."""
    from pyspark.sql import SparkSession as ClassicSession

    return Classic(spark) if isinstance(spark, ClassicSession) else Kind(spark)


class Kind:
    """The operations on a Connect session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def add_tag(self, tag: str) -> None:
        """Marks the jobs that this thread begins from now on."""
        self.spark.addTag(tag)

    def remove_tag(self, tag: str) -> None:
        """Ends `add_tag`."""
        self.spark.removeTag(tag)

    def interrupt(self, tag: str) -> bool:
        """Interrupts the jobs with this mark. Returns whether there are some (False also if that is unknown)."""
        return bool(self.spark.interruptTag(tag))

    def results(self, work: Work, count: int, columns: str) -> Iterator[Row]:
        """Yield the rows that `work` makes of each number from 0 up to `count`, in order, as soon as they are there.

        Each number is a task. `work` runs on workers, with Arrow batches of the numbers; its result has `columns`.
        """
        found: Iterator[Row] = self._tasks(work, range(count), columns).toLocalIterator()
        return found

    def tables(self, frames: Sequence[DataFrame]) -> list[pyarrow.Table]:
        """The rows of small frames, computed at the same time: for few rows Spark spends most of the time planning."""
        tags = self.spark.getTags()

        def ask(frame: DataFrame) -> pyarrow.Table:
            for tag in tags:  # those of the calling thread, by which its work is interrupted
                self.spark.addTag(tag)
            return frame.toArrow()

        with ThreadPoolExecutor(len(frames)) as pool:
            return list(pool.map(ask, frames))

    def _tasks(self, work: Work, numbers: range, columns: str) -> Any:
        return self.spark.range(numbers.start, numbers.stop, 1, len(numbers)).mapInArrow(work, columns)

    def send(self, archive: Path) -> None:
        """Sends a zip of Python modules to the workers of the session's jobs."""
        self.spark.addArtifacts(str(archive), pyfile=True)

    def is_lost(self, problem: Exception) -> bool:
        """Whether `problem`, raised by PySpark, means that Spark has ended or cannot be reached."""
        from grpc import StatusCode
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException

        if isinstance(problem, SparkConnectGrpcException):
            closed = problem.getGrpcStatusCode() in (StatusCode.UNAVAILABLE, StatusCode.CANCELLED)
            return self.spark.client.is_closed or closed
        return self.spark.client.is_closed or "closed channel" in str(problem)

    def release(self) -> None:
        """Ends the session, but not Spark."""
        self.spark.client.release_session()
        self.spark.client.close()

    def give_up(self) -> None:
        """Ends the calls that wait for a Spark that does not answer."""
        self.spark.client.close()


class Classic(Kind):
    """The operations on a classic session. Its tags reach the jobs of a session only through the SparkContext."""

    def add_tag(self, tag: str) -> None:
        """Like Kind's."""
        self.spark.sparkContext.addJobTag(tag)

    def remove_tag(self, tag: str) -> None:
        """Like Kind's."""
        self.spark.sparkContext.removeJobTag(tag)

    def interrupt(self, tag: str) -> bool:
        """Interrupts the jobs with this mark. Returns False, since Spark does not say whether there are some."""
        self.spark.sparkContext.cancelJobsWithTag(tag)
        return False

    def results(self, work: Work, count: int, columns: str) -> Iterator[Row]:
        """Like Kind's, in waves of tasks: a classic toLocalIterator would carry out one task after the other."""
        from pyspark import inheritable_thread_target

        size = WAVE * max(1, self.spark.sparkContext.defaultParallelism)
        collected = inheritable_thread_target(self.spark)(lambda numbers: self._tasks(work, numbers, columns).collect())
        flying: deque[Future[list[Row]]] = deque()
        for begin in range(0, count, size):
            wave = range(begin, min(begin + size, count))
            flying.append(in_background(lambda wave=wave: collected(wave)))  # type: ignore[misc]  # it is a range
            if len(flying) == FLYING:
                yield from flying.popleft().result()
        while flying:
            yield from flying.popleft().result()

    def tables(self, frames: Sequence[DataFrame]) -> list[pyarrow.Table]:
        """The rows of small frames, one frame after the other."""
        return [frame.toArrow() for frame in frames]

    def send(self, archive: Path) -> None:
        """Sends a zip of Python modules to the workers, for all sessions of this Spark; the same one only once."""
        self.spark.sparkContext.addPyFile(str(archive))

    def is_lost(self, problem: Exception) -> bool:
        """Like Kind's."""
        return isinstance(problem, ConnectionError) or any(words in str(problem) for words in _ENDED)

    def release(self) -> None:
        """Does nothing: the Spark belongs to the caller."""

    def give_up(self) -> None:
        """Does nothing: the driver belongs to the caller."""
