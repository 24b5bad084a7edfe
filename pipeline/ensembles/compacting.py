"""Joins the many small parts of a finished ensemble into a few: opening thousands takes longer than reading them.

A task of Spark joins consecutive parts, and its worker writes one part, which is named after its runs like any other.
So an ensemble is resumed as before. A killed compaction changes nothing. Big parts stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow
from pyarrow import parquet

from pipeline.ensembles.chunks import part_name, run_ids_of
from pipeline.spark.kinds import kind_of
from pipeline.store.folder import Store
from pipeline.store.parquet_files import metadata_of
from pipeline.store.schema import TABLES, Types, arrow_schema, spark_schema
from pipeline.store.tables import Replacement, Written
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = 64  # parts: fewer are opened in a moment
MOST_ROWS = {"runs": 125_000, "events": 500_000}  # in a joined part; a worker holds all of them


class _Group(NamedTuple):
    """Consecutive parts, and the name of the part that replaces them."""

    name: str
    parts: tuple[str, ...]


def compact(spark: SparkSession, store: Store) -> None:
    """Joins the parts of the tables that have many. Readers see either the old parts or the new ones.

    Raises InputError if a part cannot be read or written, and every exception of Spark; then nothing has changed.
    """
    for table in MOST_ROWS:
        count = len(store.parts(table))
        if count > MANY:
            groups = _groups(store, table)
            if 2 * len(groups) <= count:  # else the parts are big
                with store.replacing(table) as new:
                    _join_on_workers(spark, store, table, new, groups)


def _groups(store: Store, table: str) -> list[_Group]:
    """The parts of a table, joined until they have MOST_ROWS."""
    found: list[list[str]] = []
    rows = 0
    for part in store.parts(table):
        own = metadata_of(store.place, part.file).num_rows
        if not found or rows + own > MOST_ROWS[table]:
            found.append([])
            rows = 0
        found[-1].append(part.name)
        rows += own
    return [_Group(_joined(parts), tuple(parts)) for parts in found]


def _joined(parts: Sequence[str]) -> str:
    """The name of a part that holds the runs of these parts."""
    ranges = [run_ids_of(part) for part in parts]
    return part_name(range(ranges[0].start, ranges[-1].stop))


def _join_on_workers(spark: SparkSession, store: Store, table: str, new: Replacement, groups: Sequence[_Group]) -> None:
    """Writes a part of `new` for each group."""
    work = partial(_run_task, store, table, new, groups)
    for result in kind_of(spark).results(work, len(groups), spark_schema(_RESULT_TYPES)):
        if result.problem is not None:
            raise InputError(result.problem)
        new.keep(Written(table, result.part, result.rows))


# ------------------------------------------------------------------ on a worker

# For each group: the part that was written and its number of rows, or the reason why it cannot be joined.
_RESULT_TYPES: Types = {"part": "string", "rows": "int64", "problem": "string"}


def _run_task(
    store: Store, table: str, new: Replacement, groups: Sequence[_Group], batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[Any]:
    """Joins the groups in `batches`. Results report problems, since Spark would retry after an error."""
    for group in (groups[index] for batch in batches for index in batch.column(0).to_pylist()):
        result: dict[str, Any] = {"part": group.name}
        try:
            result["rows"] = _join(store, table, new, group).rows
        except InputError as problem:
            result["problem"] = str(problem)
        yield pyarrow.RecordBatch.from_pylist([result], arrow_schema(_RESULT_TYPES))


def _join(store: Store, table: str, new: Replacement, group: _Group) -> Written:
    """Writes the rows of a group as one part. A text that thousands of rows share, such as a document, is held once."""
    texts = [name for name, kind in TABLES[table].items() if kind == "string"]
    place, files = store.place, {part.name: store.place.inside(part.file) for part in store.parts(table)}
    found = [
        parquet.read_table(files[part], read_dictionary=texts, filesystem=place.filesystem) for part in group.parts
    ]
    rows = pyarrow.concat_tables(found, promote_options="default").unify_dictionaries()
    return new.write_part(table, group.name, rows)
