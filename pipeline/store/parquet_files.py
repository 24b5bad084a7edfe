"""Parquet files as tables of given types. Every file is checked before it is read; a bad file raises InputError."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pyarrow
from pyarrow import dataset, fs, parquet

from pipeline.store.place import Place, reason
from pipeline.store.schema import NEEDED, TABLES, Types, arrow_schema, check_known, spark_schema
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_TASKS = 64  # in which workers read a table
_AT_ONCE = 16  # calls of a storage
_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")  # what pandas adds to a table


class PartGone(InputError):
    """A part has disappeared: another process has replaced the table meanwhile."""


class Rows:
    """The rows of a table, read on demand.

    A column that a table may lack (NEEDED) is null in the files without it. Numbers may have another numeric type, as
    pandas writes them: they are cast.
    """

    def __init__(
        self, place: Place, address: str, files: Sequence[str], table: str, columns: Sequence[str] | None = None
    ) -> None:
        """`files` are all Parquet files of the table at `place`, `address` is for errors; columns: None means all.

        Raises InputError for a file that is cut off or has columns of other types. If all columns are wanted, it raises
        InputError also for a column that this version does not know.
        """
        types = TABLES[table]
        self.place, self.files = place, files
        self.types = types if columns is None else {name: types[name] for name in columns}
        self._address = address
        _check_files(place, files, self.types, needed=NEEDED[table], are_all=columns is None)
        with _whole(place, address):
            self._found = as_dataset(place, files, self.types)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.types)

    def to_table(self, columns: Sequence[str] | None = None, filter: dataset.Expression | None = None) -> pyarrow.Table:
        """The columns (None: all) of the rows that pass the filter. Raises InputError for a damaged part."""
        with _whole(self.place, self._address):
            return self._found.to_table(columns if columns is None else list(columns), filter=filter)

    def to_batches(self, columns: Sequence[str], filter: dataset.Expression) -> Iterator[pyarrow.RecordBatch]:
        """Yield the same rows, a batch at a time."""
        with _whole(self.place, self._address):
            yield from self._found.to_batches(columns=list(columns), filter=filter)


def as_dataset(place: Place, files: Sequence[str], types: Types) -> dataset.Dataset:
    """Parquet files at a place as one table of `types`; nothing is read yet."""
    paths = [place.inside(file) for file in files]
    return dataset.dataset(paths, arrow_schema(types), format="parquet", filesystem=place.filesystem)


def metadata_of(place: Place, file: str) -> parquet.FileMetaData:
    """The metadata at the end of a Parquet file. Raises InputError for a file that is cut off."""
    with _whole(place, f"{place.address}/{file}"):
        found = place.filesystem.get_file_info(place.inside(file)).type
        if found not in (fs.FileType.File, fs.FileType.NotFound):  # opening a pipe would wait
            raise pyarrow.ArrowInvalid("no file")
        return parquet.read_metadata(place.inside(file), filesystem=place.filesystem)


@contextmanager
def _whole(place: Place, address: str) -> Iterator[None]:
    """Turns Arrow's exceptions for a damaged file or a lost storage into an InputError about `address`."""
    try:
        yield
    except FileNotFoundError:
        raise PartGone(f"{address}: was replaced or removed while it was read; ask again") from None
    except (OSError, pyarrow.ArrowException):
        try:
            place.names()
        except OSError as problem:
            raise InputError(f"{address}: cannot be read ({reason(problem)}); look whether it is there") from None
        raise InputError(
            f"{address}: is cut off or no Parquet file; "
            "delete it and go on with the ensemble (--resume), or bring the log again"
        ) from None


def read_by_workers(spark: SparkSession, rows: Rows) -> DataFrame:
    """The rows as a Spark frame: workers read the files, since Spark's own readers do not reach every storage."""
    count = min(MOST_TASKS, len(rows.files))
    work = partial(_read, rows.place, [rows.files[number::count] for number in range(count)], rows.types)
    return spark.range(0, count, 1, count).mapInArrow(work, spark_schema(rows.types))


def _read(
    place: Place, groups: Sequence[Sequence[str]], types: Types, batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    for group in (groups[number] for batch in batches for number in batch.column(0).to_pylist()):
        yield from as_dataset(place, group, types).to_batches(columns=list(types))


# ------------------------------------------------------------------ checks


def _check_files(place: Place, files: Sequence[str], types: Types, *, needed: Collection[str], are_all: bool) -> None:
    """Raises InputError for a file that is cut off or has other columns."""
    wanted = arrow_schema(types)

    def check(file: str) -> None:
        found = metadata_of(place, file).schema.to_arrow_schema()
        _check_columns(f"{place.address}/{file}", found, wanted, needed, are_all=are_all)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(check, files))


def _check_columns(
    file: str, found: pyarrow.Schema, wanted: pyarrow.Schema, needed: Collection[str], *, are_all: bool
) -> None:
    """Raises InputError for other columns and types that cannot be cast."""
    for name in found.names if are_all else ():
        if not _INDEX.fullmatch(name):
            check_known(name, wanted.names, file)
    for field in wanted:
        if field.name in found.names:
            given = _unpacked(found.field(field.name).type)
            if given != field.type and not _can_cast(given, field.type):
                raise InputError(f"{file}: column {field.name!r} is {given}; it has to be {field.type}")
        elif field.name in needed:
            raise InputError(f"{file}: has no column {field.name!r}; a table has {', '.join(wanted.names)}")


def _unpacked(found: pyarrow.DataType) -> pyarrow.DataType:
    """The type that Spark reads: dictionaries become their values, large strings become strings."""
    if pyarrow.types.is_dictionary(found):
        found = found.value_type
    if pyarrow.types.is_list(found):
        return pyarrow.list_(_unpacked(found.value_type))
    return pyarrow.string() if pyarrow.types.is_large_string(found) else found


def _can_cast(found: pyarrow.DataType, wanted: pyarrow.DataType) -> bool:
    """Numbers can be cast to numbers, and a column of nulls to anything."""
    numbers = (pyarrow.types.is_integer, pyarrow.types.is_floating)
    return bool(pyarrow.types.is_null(found)) or all(any(is_one(t) for is_one in numbers) for t in (found, wanted))
