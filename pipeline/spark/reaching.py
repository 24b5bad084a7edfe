"""Checks that the workers of a Spark reach the files that this process reaches, before they get any work.

The driver writes a file with a secret number. Workers read it, and write the number into files of their own, which the
driver reads. A Spark of this process's own runs on this machine and needs no check.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow

from pipeline.spark import session as spark_session
from pipeline.spark.losses import in_one_sentence
from pipeline.store.place import HIDDEN, Place, reason, removed, writing
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS = 4  # tasks of the check: more than one, since workers may differ
_DIGITS = 32


def check_reach(spark: SparkSession, place: Place) -> None:
    """Raises InputError unless the workers of `spark` read and write the files of `place`, as this process does."""
    if spark_session.is_own(spark):
        return
    number, name = secrets.token_hex(_DIGITS // 2), f"{HIDDEN}reach-{secrets.token_hex(4)}"
    answers = [f"{name}-{task}" for task in range(TASKS)]
    with removed(place, [name, *answers]):
        with writing(place.address):
            place.write(name, lambda file: file.write(number.encode()))
        frame = spark.range(0, TASKS, 1, TASKS).mapInArrow(partial(_answer, place, name, number), "problem string")
        with in_one_sentence(spark, f"{place.address}: "):
            problems = [row.problem for row in frame.collect() if row.problem is not None]
        with writing(place.address):
            if not problems and any(_found(place, answer) != number for answer in answers):
                problems = ["this machine does not see files that they write"]
        if problems:
            raise InputError(
                f"{place.address}: the workers of this Spark do not reach it ({problems[0]}); name a folder that this "
                "machine and all workers share, or a storage address that all may use, such as s3://bucket/name"
            )


def _answer(
    place: Place, name: str, number: str, batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The answers of a worker: null, or the problem. It raises no exception, since Spark would try again."""
    for task in (index for batch in batches for index in batch.column(0).to_pylist()):
        problem = None
        try:
            if _found(place, name) != number:
                problem = "they do not see files that this machine writes"
            else:
                place.write(f"{name}-{task}", lambda file: file.write(number.encode()))
        except OSError as error:
            problem = reason(error)
        yield pyarrow.RecordBatch.from_pydict({"problem": pyarrow.array([problem], pyarrow.string())})


def _found(place: Place, name: str) -> str | None:
    try:
        return place.read(name, _DIGITS).decode()
    except FileNotFoundError:
        return None
