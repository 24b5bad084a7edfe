"""What Spark raises, in one sentence: that it has ended, or that it could not do the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_LETTERS = 200  # of Spark's own words
NO_ROOM = "No space left on device"


class SparkLost(InputError):
    """Spark has ended, or cannot be reached: the work may be begun anew with another session."""


@contextmanager
def in_one_sentence(spark: SparkSession, about: str = "", kept: str = "") -> Iterator[None]:
    """Raises an InputError for what Spark raises in the block: SparkLost if Spark has ended.

    The sentence begins with `about`, such as a folder, and ends with `kept`, which says what there is now.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        if _is_lost(spark, problem):
            raise SparkLost(f"{about}Spark has ended{kept}") from None
        if not isinstance(problem, PySparkException):
            raise
        raise InputError(f"{about}{_in_words(problem)}{kept}") from None


def _is_lost(spark: SparkSession, problem: Exception) -> bool:
    """Whether `problem` means that the server of `spark` has ended, or that the way to it is closed."""
    from grpc import StatusCode
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    if isinstance(problem, SparkConnectGrpcException):
        return spark.client.is_closed or problem.getGrpcStatusCode() in (StatusCode.UNAVAILABLE, StatusCode.CANCELLED)
    return spark.client.is_closed or "closed channel" in str(problem)


def _in_words(problem: Exception) -> str:
    words = " ".join(str(problem).split())
    if NO_ROOM in words:
        return "Spark gave up: the disk with its temporary files is full; make room, or set TMPDIR to another folder"
    return f"Spark gave up ({words[:MOST_LETTERS]})"
