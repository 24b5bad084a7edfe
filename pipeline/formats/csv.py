"""Event tables as CSV: a line of column names (EVENT_TYPES), then a record for each row; an empty cell is null.

The apostrophe before a text that a spreadsheet would take for a formula (sim/exchange/csv_cells.py) is no part of it.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path

from pipeline.logs.column_types import check_columns
from pipeline.logs.foreign_table import read_table
from pipeline.logs.format import NEVER, Options, Piece, Reading, check_rows
from pipeline.logs.growing import Grown, Text, first_line, line_number
from pipeline.logs.grown_table import grown_rows, name_of
from pipeline.logs.lines import MOST_LINE, Line, lines, text_of, too_long
from pipeline.logs.split_by_run import SAME, Record, pieces_by_run
from sim.core.errors import InputError
from sim.exchange.csv_cells import original

TITLE = "an event table, comma-separated, with a line of column names"
SUFFIXES = (".csv",)
FILES = "*.csv"
__all__ = ["FILES", "SUFFIXES", "TITLE", "name_of", "pieces", "read", "rows"]

csv.field_size_limit(MOST_LINE)  # after a quotation mark that is never closed, the rest of the file is one field


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each run. Raises InputError for bad columns, no rows, or text that is no CSV."""
    return [piece for path in files for piece in _pieces(path, stop)]


def _pieces(path: Path, stop: threading.Event) -> list[Piece]:
    source_lines = _Lines(path, stop)
    reader = csv.reader(source_lines)
    try:
        names = [name.strip() for name in next(reader, [])]
        check_columns(names, f"{path}:1")
        if len(set(names)) < len(names):
            raise InputError(f"{path}:1: names a column twice; every column has its own name")
        return pieces_by_run(path, _records(source_lines, reader, names), json.dumps(names))
    except csv.Error as problem:
        raise InputError(
            f"{path}:{source_lines.last.number}: is no CSV ({problem}); is a quotation mark missing?"
        ) from None


class _Lines:
    """The lines of a file as text for csv.reader; `last` is the latest line, `problem` says if one is too long."""

    def __init__(self, path: Path, stop: threading.Event) -> None:
        self._path = path
        self._lines = lines(path, stop)
        self.last = Line(0, 0, 0, b"")
        self.problem: str | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.last = next(self._lines)
        if self.last.text is None:
            self.problem = too_long(str(self._path), self.last)
            return "\n"
        return self.last.text.decode("utf-8", "replace")


def _records(source_lines: _Lines, reader: Iterator[list[str]], names: Sequence[str]) -> Iterator[Record]:
    column = names.index("run_id") if "run_id" in names else len(names)
    while True:
        begin, line = source_lines.last.end, source_lines.last.number + 1
        record = next(reader, None)
        if record is None:
            return
        if record or source_lines.problem:
            run = record[column] if column < len(record) else SAME
            yield Record(run, begin, source_lines.last.end, line, source_lines.problem)
            source_lines.problem = None


def read(piece: Piece) -> Reading:
    """Reads one run. Raises InputError, naming file and line."""
    names: list[str] = json.loads(piece.how)
    text = text_of(piece)
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    numbers: list[int] = []
    reader = csv.reader(StringIO(text, newline="\n"))
    line = piece.first_line
    for record in reader:
        if record and len(record) != len(names):
            right = f"{len(names)} cells, as the first line has names"
            raise InputError(f"{piece.source}:{line}: has {len(record)} cells; a record has {right}")
        for name, cell in zip(names, record, strict=False):
            columns[name].append(original(cell) or None)
        numbers += [line] if record else []
        check_rows(len(numbers), f"{piece.source}:{piece.first_line}")
        line = piece.first_line + reader.line_num
    return read_table(columns, lambda row: f"{piece.source}:{numbers[row]}")


def rows(lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
    """The rows of some lines of a file that grows (pipeline/logs/growing.py), a record each. Raises InputError."""
    names = [name.strip() for name in _cells(first_line(path).decode("utf-8-sig", "replace"), path, 0)]
    check_columns(names, f"{path}:1")
    begins, cells = [], []
    for begin, text in lines:
        if begin and text:
            found = _cells(text.decode("utf-8", "replace"), path, begin)
            if len(found) != len(names):
                right = f"a record has {len(names)} cells, as the first line has names"
                raise InputError(f"{path}:{line_number(path, begin)}: has {len(found)} cells; {right}")
            begins.append(begin)
            cells.append({name: original(cell) or None for name, cell in zip(names, found, strict=True)})
    yield from grown_rows(names, cells, begins, path)


def _cells(text: str, path: Path, begin: int) -> list[str]:
    """The cells of a record in the line that begins at a byte of a file."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as problem:
        where = f"{path}:{line_number(path, begin)}"
        raise InputError(f"{where}: is no CSV ({problem}); a record of a table that is followed is one line") from None
