"""Turns Spark's exceptions into one sentence: Spark has ended, or it could not do the work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.spark.kinds import kind_of
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_LETTERS = 200  # of Spark's own words
NO_ROOM = "No space left on device"
DOCS = "docs/cluster.md"
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_VERSIONS = re.compile(r"PYTHON_VERSION_MISMATCH\].*?version: (\d+\.\d+).*?driver: (\d+\.\d+)", re.DOTALL)
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\s*\n)*(\S.*)")


class SparkLost(InputError):
    """Spark has ended, or cannot be reached: the work may be started again with another session."""


@contextmanager
def in_one_sentence(spark: SparkSession, about: str = "", kept: str = "") -> Iterator[None]:
    """Turns Spark's exceptions in the block into an InputError: SparkLost if Spark has ended.

    The sentence begins with `about`, such as a folder, and ends with `kept`, which says what was kept.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        interrupt = _interrupt_behind(problem)
        if interrupt is not None:
            raise interrupt from None
        if kind_of(spark).is_lost(problem):
            raise SparkLost(f"{about}Spark has ended{kept}") from None
        if not isinstance(problem, PySparkException | Py4JError):
            raise
        raise InputError(f"{about}{in_words(str(problem))}{kept}") from None


def _interrupt_behind(problem: BaseException | None) -> KeyboardInterrupt | None:
    """The Ctrl-C that caused `problem`: PySpark passes it on to Spark, and may raise an exception of that attempt."""
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__cause__ or problem.__context__
    return problem


def in_words(text: str) -> str:
    """A failure in Spark's words, as part of a sentence."""
    if NO_ROOM in text:
        return "Spark gave up: the disk with its temporary files is full; make room, or set TMPDIR to another folder"
    missing = _MISSING.search(text)
    if missing:
        return f"Spark's workers lack {missing[1]}: install it there ({DOCS})"
    versions = _VERSIONS.search(text)
    if versions:
        return (
            f"Spark's workers have Python {versions[1]}, and this is Python {versions[2]}: both need the same, to the "
            f"second number; set PYSPARK_PYTHON to one that all have ({DOCS})"
        )
    return f"Spark gave up ({_cause(text)})"


def _cause(text: str) -> str:
    """The cause of a failure: the last line of a worker's traceback, after the lines of its functions."""
    traceback = _TRACEBACK.search(text)
    words = " ".join((traceback[1] if traceback else text).split())
    return words[:MOST_LETTERS]
