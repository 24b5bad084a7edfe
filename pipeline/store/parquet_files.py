"""Parquet files as tables of given types. Every file is checked before Spark reads it: a bad one is an InputError."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow
from pyarrow import dataset, parquet

from pipeline.store.schema import Types, arrow_schema, check_known, spark_schema, spark_type
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Rows:
    """The rows of a table of a data folder, as far as they are asked for. `path` is the table's folder, for errors."""

    def __init__(self, path: Path, found: dataset.Dataset) -> None:
        self._path = path
        self._found = found

    @property
    def columns(self) -> list[str]:
        """The names of the table's columns."""
        names: list[str] = self._found.schema.names
        return names

    def to_table(self, columns: Sequence[str] | None = None, filter: dataset.Expression | None = None) -> pyarrow.Table:
        """The columns (None: all) of the rows that pass the filter. Raises InputError for a damaged part."""
        with _whole(self._path):
            return self._found.to_table(columns if columns is None else list(columns), filter=filter)

    def to_batches(self, columns: Sequence[str], filter: dataset.Expression) -> Iterator[pyarrow.RecordBatch]:
        """The same, bit by bit."""
        with _whole(self._path):
            yield from self._found.to_batches(columns=list(columns), filter=filter)


def metadata_of(file: Path) -> parquet.FileMetaData:
    """The metadata at the end of a Parquet file. Raises InputError for a file that is cut off."""
    with _whole(file):
        if not file.is_file():
            raise FileNotFoundError
        return parquet.read_metadata(file)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Turns what Arrow says of a damaged file in `path` into an InputError."""
    try:
        yield
    except (OSError, pyarrow.ArrowException):
        raise InputError(
            f"{path}: is cut off or no Parquet file; "
            "delete it and go on with the ensemble (--resume), or bring the log again"
        ) from None


def read_parquet(spark: SparkSession, path: Path, files: Sequence[Path], types: Types) -> DataFrame:
    """Reads the Parquet file or folder `path` as a table of `types`; `files` are all Parquet files there.

    Numbers may have another numeric type, as pandas writes them: they are cast. Raises InputError for a file that is
    cut off or has other columns.
    """
    if check_parts(files, types):
        return spark.read.schema(spark_schema(types)).parquet(str(path.resolve()))
    casts = [f"CAST(`{name}` AS {spark_type(kind)}) AS `{name}`" for name, kind in types.items()]
    return spark.read.parquet(str(path.resolve())).selectExpr(*casts)


def check_parts(files: Sequence[Path], types: Types) -> bool:
    """Whether the columns of all files have exactly the types given. Raises InputError like `read_parquet`."""
    wanted = arrow_schema(types)
    are_exact = [_check_columns(file, metadata_of(file).schema.to_arrow_schema(), wanted) for file in files]
    return all(are_exact)


def _check_columns(file: Path, found: pyarrow.Schema, wanted: pyarrow.Schema) -> bool:
    """Whether the types are exactly those wanted. Raises InputError for other columns and types that cannot be cast."""
    for name in found.names:
        check_known(name, wanted.names, str(file))
    is_exact = True
    for field in wanted:
        if field.name not in found.names:
            raise InputError(f"{file}: has no column {field.name!r}; a table has {', '.join(wanted.names)}")
        given = _unpacked(found.field(field.name).type)
        if given != field.type and not _can_cast(given, field.type):
            raise InputError(f"{file}: column {field.name!r} is {given}; it has to be {field.type}")
        is_exact &= given == field.type
    return is_exact


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
