"""A session whose tasks this process carries out: for what does not depend on Spark itself (tests/pipeline/spark).

What a task does is copied first, as it is sent to workers, and its results have to have the columns that were promised.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest

from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from pipeline.store.schema import TABLES, arrow_schema

Work = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


class Here:
    """In the place of a Connect session, as far as jobs of tasks ask for one."""

    client = SimpleNamespace(is_closed=False)

    def range(self, start: int, stop: int, step: int, tasks: int) -> Tasks:
        assert tasks == len(range(start, stop, step)), "each number is a task"
        return Tasks(range(start, stop, step))

    def addTag(self, tag: str) -> None: ...

    def removeTag(self, tag: str) -> None: ...

    def interruptTag(self, tag: str) -> list[str]:
        return []


class Tasks:
    """In the place of a frame: numbers, and what is done with each."""

    def __init__(self, numbers: range, work: Work | None = None, columns: str = "") -> None:
        self._numbers, self._work = numbers, work
        self._names = re.findall(r"(?:^|, )`?(\w+)", columns)

    def mapInArrow(self, work: Work, columns: str) -> Tasks:
        return Tasks(self._numbers, work, columns)

    def toLocalIterator(self) -> Iterator[Any]:
        from pyspark.sql import Row

        for batch in self._batches():
            yield from (Row(**row) for row in batch.to_pylist())

    def collect(self) -> list[Any]:
        return list(self.toLocalIterator())

    def toArrow(self) -> pyarrow.Table:
        return pyarrow.Table.from_batches(list(self._batches()))

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import cloudpickle

        assert self._work is not None
        sent = cloudpickle.dumps(self._work)
        for number in self._numbers:
            numbers = pyarrow.record_batch({"id": pyarrow.array([number], pyarrow.int64())})
            for batch in pickle.loads(sent)(iter([numbers])):
                assert batch.schema.names == self._names
                yield batch


def not_summed_up(_: object, store: Store) -> None:
    """The tables of `summarize`, without rows: Spark alone fills them."""
    with store.replacing("summaries", "extremes", "sample") as new:
        for table in ("summaries", "extremes", "sample"):
            new.keep(new.write_part(table, "all", arrow_schema(TABLES[table]).empty_table()))


@contextmanager
def no_spark() -> Iterator[Any]:
    """In the block the Spark of this process is one whose tasks are carried out here; nothing is summed up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_session, "session", lambda stop=None: session)
        patch.setattr(spark_session, "is_own", lambda spark: spark is session)
        patch.setattr("pipeline.ensembles.summaries.summarize", not_summed_up)
        session = Here()
        yield session
