"""Event tables as JSON Lines: an object for each row, whose keys are columns of sim.core.model.EVENT_TYPES."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.logs.column_types import check_columns
from pipeline.logs.foreign_table import read_table
from pipeline.logs.format import NEVER, Options, Piece, Reading, check_rows
from pipeline.logs.growing import Grown, Text, line_number
from pipeline.logs.grown_table import grown_rows, name_of
from pipeline.logs.lines import lines, text_of, too_long
from pipeline.logs.split_by_run import SAME, Record, pieces_by_run
from pipeline.store.schema import check_known
from sim.core.errors import InputError, brief
from sim.core.model import EVENT_TYPES

TITLE = "an event table, a JSON object a line"
SUFFIXES = (".jsonl",)
FILES = "*.jsonl"
__all__ = ["FILES", "SUFFIXES", "TITLE", "name_of", "pieces", "read", "rows"]


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each run. Raises InputError for a file without rows."""
    return [piece for path in files for piece in pieces_by_run(path, _records(path, stop))]


def _records(path: Path, stop: threading.Event) -> Iterator[Record]:
    for line in lines(path, stop):
        if line.text is None:
            yield Record(SAME, line.begin, line.end, line.number, too_long(str(path), line))
        elif not line.text.isspace():
            yield Record(_run_of(line.text), line.begin, line.end, line.number)


def _run_of(text: bytes) -> object:
    """The row's run_id. A line that is no JSON object counts to the current run; `read` refuses it."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return SAME
    run = row.get("run_id") if isinstance(row, dict) else SAME
    return run if isinstance(run, int | str) or run is None else SAME


def read(piece: Piece) -> Reading:
    """Reads one run. Raises InputError, naming file and line."""
    text = text_of(piece)
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    names: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), start=piece.first_line):
        if line and not line.isspace():
            row = _row(line, f"{piece.source}:{number}")
            for name in row.keys() - names.keys():
                check_known(name, EVENT_TYPES, f"{piece.source}:{number}")
                names[name] = None
            rows.append(row)
            numbers.append(number)
            check_rows(len(numbers), f"{piece.source}:{piece.first_line}")
    check_columns(names, f"{piece.source}:{numbers[0]}")
    columns = {name: [row.get(name) for row in rows] for name in names}
    return read_table(columns, lambda row: f"{piece.source}:{numbers[row]}")


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f'{where}: is no JSON ({problem}); a row is an object such as {{"process": "P1", ...}}'
        ) from None
    if "\\u" in line and not _is_unicode(row):
        raise InputError(f"{where}: holds half a character, which no file can hold; write all of it")
    if not isinstance(row, dict):
        raise InputError(f'{where}: {brief(row)} is no row; a row is an object such as {{"process": "P1", ...}}')
    return row


def _is_unicode(row: Any) -> bool:
    """Whether the texts of a row can be written as UTF-8, which has no halves of surrogate pairs."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def rows(lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
    """The rows of some lines of a file that grows (pipeline/logs/growing.py). Raises InputError."""
    own = [(begin, text) for begin, text in lines if text and not text.isspace()]
    cells, names = [], dict[str, None]()
    for begin, text in own:
        try:
            cells.append(_row(text.decode("utf-8"), ""))
            for name in cells[-1].keys() - names.keys():
                check_known(name, EVENT_TYPES, "")
                names[name] = None
        except (InputError, UnicodeDecodeError) as problem:
            said = problem if isinstance(problem, InputError) else ": is no UTF-8 text; write the log as UTF-8"
            raise InputError(f"{path}:{line_number(path, begin)}{said}") from None
    yield from grown_rows(list(names), cells, [begin for begin, _ in own], path)
