"""The cuts to audit, from a file. Workers draw random cuts and find those of snapshots (pipeline.cuts.tasks)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from pipeline.cuts.event_columns import fits
from pipeline.store.schema import CUT_TYPES, arrow_schema, check_known
from sim.core.errors import InputError, nearest

_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")
_TEXTS = [name for name, kind in CUT_TYPES.items() if kind == "string"]
_READ = {
    name: pyarrow.dictionary(pyarrow.int32(), pyarrow.string()) if name in _TEXTS else pyarrow.type_for_alias(kind)
    for name, kind in CUT_TYPES.items()
}


def from_file(file: Path) -> pyarrow.Table:
    """The cuts in a Parquet file, or in a CSV file whose first line names the columns: CUT_TYPES, texts in codes.

    A folder of Parquet files is read as one. Raises InputError.
    """
    if not file.exists():
        raise InputError(f"{file}: there is no such file; give one of {', '.join(CUT_TYPES)}")
    if file.suffix.lower() == ".csv":
        return _from_csv(file)
    parts = sorted(file.glob("*.parquet")) if file.is_dir() else [file]
    if not parts:
        raise InputError(f"{file}: holds no Parquet file; give one of {', '.join(CUT_TYPES)}")
    return pyarrow.concat_tables(_from_parquet(part) for part in parts)


def _from_parquet(file: Path) -> pyarrow.Table:
    try:
        with parquet.ParquetFile(file, read_dictionary=_TEXTS) as opened:
            _check_columns(file, opened.schema_arrow)
            read = opened.read(list(CUT_TYPES)).select(list(CUT_TYPES))
    except (OSError, pyarrow.ArrowException):
        raise InputError(f"{file}: is cut off or no Parquet file; write it again") from None
    try:
        return read.cast(pyarrow.schema(list(_READ.items())))
    except pyarrow.ArrowException as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"{file}: holds a number that is none of cuts ({words}); write whole numbers") from None


def _check_columns(file: Path, found: pyarrow.Schema) -> None:
    for name in found.names:
        if not _INDEX_OF_PANDAS.fullmatch(name):
            check_known(name, CUT_TYPES, str(file))
    for wanted in arrow_schema(CUT_TYPES):
        if wanted.name not in found.names:
            raise InputError(f"{file}: has no column {wanted.name!r}; a table has {', '.join(CUT_TYPES)}")
        if not fits(found.field(wanted.name).type, CUT_TYPES[wanted.name]):
            given = found.field(wanted.name).type
            raise InputError(f"{file}: column {wanted.name!r} is {given}; it has to be {wanted.type}")


def _from_csv(file: Path) -> pyarrow.Table:
    with _readable(file), file.open(encoding="utf-8-sig", newline="") as opened:
        header = next(csv.reader(opened), [])
    for name in CUT_TYPES:
        if header.count(name) != 1:
            found = "it names it twice" if name in header else nearest(name, header)
            raise InputError(f"{file}: its first line names no column {name}; {found}")
    for name in header:
        if name not in CUT_TYPES:
            raise InputError(f"{file}: {name!r} is no column of cuts; {nearest(name, CUT_TYPES)}")
    options = arrow_csv.ConvertOptions(column_types=_READ, null_values=[""], strings_can_be_null=True)
    try:
        found = arrow_csv.read_csv(file, convert_options=options).select(list(CUT_TYPES))
    except pyarrow.ArrowException as problem:
        _refuse_line(file)
        raise InputError(f"{file}: cannot be read as CSV ({' '.join(str(problem).split())[:200]})") from None
    if any(column.null_count for column in found.columns):
        _refuse_line(file)
    return found


def _refuse_line(file: Path) -> None:
    """Raises InputError for the first line that is no line of a cut."""
    with _readable(file), file.open(encoding="utf-8-sig", newline="") as opened:
        lines = csv.reader(opened)
        header = next(lines)
        for cells in lines:
            for name, kind in CUT_TYPES.items():
                place = header.index(name)
                if cells and not _is_cell(cells[place] if place < len(cells) else "", kind):
                    what = "text" if kind == "string" else "number"
                    raise InputError(f"{file}: the line {','.join(cells)!r} has no {what} as {name}")
            if len(cells) > len(header):
                raise InputError(f"{file}: the line {','.join(cells)!r} has more cells than the first line")


def _is_cell(cell: str, kind: str) -> bool:
    if kind == "string":
        return bool(cell)
    most = 2 ** (int(kind.removeprefix("int")) - 1)
    return re.fullmatch(r"-?\d{1,19}", cell.strip()) is not None and -most <= int(cell) < most


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Turns Python's exceptions for a file that is no CSV into an InputError."""
    try:
        yield
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{file}: cannot be read as CSV ({problem}); write it again, in UTF-8") from None
