"""Event tables as Parquet files, with columns of sim.core.model.EVENT_TYPES.

A small file may hold much data: a text that is stored once may be in each of a million rows. So types are checked
before anything is read, texts are read as dictionaries, and sizes are bounded before values become objects of Python.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import compute, parquet, types

from pipeline.logs.column_types import check_columns
from pipeline.logs.foreign_table import read_table
from pipeline.logs.format import NEVER, Options, Piece, Reading, check_rows
from pipeline.logs.lines import MOST_BYTES, check_stop
from pipeline.logs.split_by_run import SAME, Record, pieces_by_run
from sim.core.errors import InputError, brief

TITLE = "an event table, as Parquet"
SUFFIXES = (".parquet",)

MOST_ROWS_OF_A_FILE = 500_000_000
MOST_FOOTER = 10_000_000  # bytes that describe the columns and row groups: a library needs many times as much memory
MOST_RUN_ID = 100  # letters
_BATCH = 65_536
_TAIL = 8  # bytes: the length of the footer, and a mark


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each run; `begin` and `end` count rows. Raises InputError for bad columns or no rows."""
    return [piece for path in files for piece in pieces_by_run(path, _records(path, stop))]


def _records(path: Path, stop: threading.Event) -> Iterator[Record]:
    """A record for each segment of rows with the same run_id, in each batch of rows."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; name an event table")
    try:
        file = _opened(path, str(path))
        rows = sum(_rows_of_groups(file))
        if rows > MOST_ROWS_OF_A_FILE:
            raise InputError(f"{path}: has {rows:,} rows; use at most {MOST_ROWS_OF_A_FILE:,}, in several files")
        if "run_id" not in file.schema_arrow.names:
            if rows:
                yield Record(SAME, 0, rows, 1)
            return
        row = 0
        for batch in file.iter_batches(_BATCH, columns=["run_id"]):
            check_stop(path, stop)
            for run, length in _segments(batch.column(0)):
                if isinstance(run, str) and len(run) > MOST_RUN_ID:
                    raise InputError(f"{path}: row {row + 1}: run_id is {brief(run)}; it has to be a whole number")
                yield Record(run, row, row + length, row + 1)
                row += length
    except (OSError, pyarrow.ArrowException):
        raise _cut_off(str(path)) from None


def _cut_off(source: str) -> InputError:
    return InputError(f"{source}: is cut off or no Parquet file; bring it anew")


def _opened(path: Path, source: str) -> parquet.ParquetFile:
    """The file, whose texts are read as dictionaries. Raises InputError for columns of no event table.

    May raise OSError and ArrowException as well.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        tail = file.read(_TAIL)
    footer = int.from_bytes(tail[:4], "little")
    if tail.endswith(b"PAR1") and MOST_FOOTER < footer < path.stat().st_size:
        raise InputError(
            f"{source}: its description of columns and row groups takes {footer:,} bytes; use at most {MOST_FOOTER:,}, "
            "as with fewer and larger row groups"
        )
    found = parquet.ParquetFile(path)
    names = found.schema_arrow.names
    check_columns(names, source)
    if len(set(names)) < len(names):
        raise InputError(f"{source}: names a column twice; every column has its own name")
    for field in found.schema_arrow:
        if not _is_plain(field.type):
            raise InputError(f"{source}: column {field.name!r} is {field.type}; use numbers and texts (a body is JSON)")
    for group in range(found.metadata.num_row_groups):
        for column in range(found.metadata.num_columns):
            chunk = found.metadata.row_group(group).column(column)
            if chunk.total_uncompressed_size > MOST_BYTES:
                raise InputError(
                    f"{source}: column {chunk.path_in_schema!r} has {chunk.total_uncompressed_size:,} bytes in a row "
                    f"group; use at most {MOST_BYTES:,}, with smaller row groups"
                )
    texts = [field.name for field in found.schema_arrow if _is_text(field.type)]
    return parquet.ParquetFile(path, metadata=found.metadata, read_dictionary=texts)


def _is_plain(kind: pyarrow.DataType) -> bool:
    """Whether the cells are numbers, truth values or texts."""
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return bool(is_number or types.is_null(kind) or _is_text(kind))


def _is_text(kind: pyarrow.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _rows_of_groups(file: parquet.ParquetFile) -> list[int]:
    """The number of rows of each row group."""
    return [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]


def _segments(column: pyarrow.Array) -> Iterator[tuple[Any, int]]:
    """Yield each value that differs from the one before it, and the number of its consecutive rows."""
    keys = column.indices if types.is_dictionary(column.type) else column
    encoded = compute.run_end_encode(keys)
    begin = 0
    for value, end in zip(encoded.values, encoded.run_ends.to_pylist(), strict=True):
        key = value.as_py()
        yield key if key is None or keys is column else column.dictionary[key].as_py(), end - begin
        begin = end


def read(piece: Piece) -> Reading:
    """Reads one run. Raises InputError, naming file and row."""
    where = f"{piece.source}: row {piece.first_line}"
    check_rows(piece.end - piece.begin, where)
    columns: dict[str, list[Any]] = {}
    size = 0
    try:
        for batch in _batches(_opened(Path(piece.paths[0]), piece.source), piece.begin, piece.end):
            size += sum(map(_size, batch.columns))
            if size > MOST_BYTES:
                raise InputError(f"{where}: an execution of more than {MOST_BYTES:,} bytes; use shorter texts")
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                columns.setdefault(name, []).extend(column.to_pylist())
    except (OSError, pyarrow.ArrowException):
        raise _cut_off(piece.source) from None
    if any(len(cells) != piece.end - piece.begin for cells in columns.values()) or not columns:
        raise _cut_off(piece.source)
    return read_table(columns, lambda row: f"{piece.source}: row {piece.first_line + row}")


def _batches(file: parquet.ParquetFile, begin: int, end: int) -> Iterator[pyarrow.RecordBatch]:
    """Rows from `begin` up to `end`. Reads only the row groups that hold them."""
    groups, first, row = [], 0, None
    for group, rows in enumerate(_rows_of_groups(file)):
        if first < end and first + rows > begin:
            row = first if row is None else row
            groups.append(group)
        first += rows
    place = row or 0
    for batch in file.iter_batches(_BATCH, row_groups=groups):
        inside = batch.slice(max(0, begin - place), max(0, min(end, place + len(batch)) - max(begin, place)))
        place += len(batch)
        if len(inside):
            yield inside
        if place >= end:
            return


def _size(column: pyarrow.Array) -> int:
    """The bytes of a column's values, each counted in every row."""
    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary)
    return int(compute.sum(compute.take(lengths, column.indices), min_count=0).as_py() or 0)
