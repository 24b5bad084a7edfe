"""Event tables as Parquet files, with columns of sim.core.model.EVENT_TYPES."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow
from pyarrow import parquet

from pipeline.logs.column_types import check_columns
from pipeline.logs.foreign_table import read_table
from pipeline.logs.format import Options, Piece, Reading
from pipeline.logs.split_by_run import SAME, Record, pieces_by_run
from sim.core.errors import InputError

TITLE = "an event table, as Parquet"
SUFFIXES = (".parquet",)

MOST_ROWS = 5_000_000  # of one execution: a worker holds all of them, about 1 kB each
_BATCH = 65_536


def pieces(files: Sequence[Path], options: Options) -> list[Piece]:
    """A piece for each run; `begin` and `end` count rows. Raises InputError for bad columns or no rows."""
    return [piece for path in files for piece in pieces_by_run(path, _records(path))]


def _records(path: Path) -> Iterator[Record]:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; name an event table")
    try:
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        check_columns(names, str(path))
        if "run_id" not in names:
            if file.metadata.num_rows:
                yield Record(SAME, 0, file.metadata.num_rows, 1)
            return
        row = 0
        for batch in file.iter_batches(_BATCH, columns=["run_id"]):
            for run in batch.column(0).to_pylist():
                yield Record(run, row, row + 1, row + 1)
                row += 1
    except (OSError, pyarrow.ArrowException):
        raise _cut_off(str(path)) from None


def _cut_off(source: str) -> InputError:
    return InputError(f"{source}: is cut off or no Parquet file; bring it anew")


def read(piece: Piece) -> Reading:
    """Reads one run. Raises InputError, naming file and row."""
    if piece.end - piece.begin > MOST_ROWS:
        raise InputError(
            f"{piece.source}: row {piece.first_line}: an execution of {piece.end - piece.begin:,} rows; use at most "
            f"{MOST_ROWS:,}, or give runs a run_id of their own"
        )
    try:
        table = _rows(parquet.ParquetFile(piece.paths[0]), piece.begin, piece.end)
    except (OSError, pyarrow.ArrowException):
        raise _cut_off(piece.source) from None
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return read_table(columns, lambda row: f"{piece.source}: row {piece.first_line + row}")


def _rows(file: parquet.ParquetFile, begin: int, end: int) -> pyarrow.Table:
    """Rows from `begin` up to `end`. Reads only the row groups that hold them."""
    groups, first, skipped = [], 0, None
    for group in range(file.metadata.num_row_groups):
        after = first + file.metadata.row_group(group).num_rows
        if first < end and after > begin:
            skipped = first if skipped is None else skipped
            groups.append(group)
        first = after
    return file.read_row_groups(groups).slice(begin - (skipped or 0), end - begin)
