"""Reads text files of any size; the lines and executions held in memory are limited in size."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pipeline.logs.format import NEVER, Piece
from sim.core.errors import InputError

MOST_LINE = 1_000_000  # bytes
MOST_BYTES = 500_000_000  # of one execution: the worker that reads it needs about eight times as much memory
_BLOCK = 1_000_000
_MARK = b"\xef\xbb\xbf"  # the byte order mark with which some programs begin a text


class Line(NamedTuple):
    """A line: its number from 1, its position in bytes, its text; the text is None if it is longer than MOST_LINE."""

    number: int
    begin: int
    end: int
    text: bytes | None


def lines(path: Path, stop: threading.Event = NEVER) -> Iterator[Line]:
    """The lines of a file, one at a time.

    Raises InputError if there is no such file, it cannot be read, or when `stop` is set.
    """
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file; name a log")
        with path.open("rb") as file:
            for line in _lines(file):
                check_stop(path, stop)
                yield line
    except OSError as problem:
        raise read_error(path, problem) from None


def check_stop(path: Path, stop: threading.Event) -> None:
    """Raises InputError if `stop` is set."""
    if stop.is_set():
        raise InputError(f"{path}: reading was stopped, and nothing is kept; bring the log again")


def _lines(file: BinaryIO) -> Iterator[Line]:
    begin = 0
    number = 0
    while text := file.readline(MOST_LINE + 1):
        number += 1
        end = begin + len(text)
        if len(text) > MOST_LINE and text[-1:] != b"\n":
            end += _skip_line(file)
            yield Line(number, begin, end, None)
        else:
            yield Line(number, begin, end, text.removeprefix(_MARK) if begin == 0 else text)
        begin = end


def _skip_line(file: BinaryIO) -> int:
    """Skips to the end of the line, in blocks. Returns the number of bytes skipped."""
    skipped = 0
    while text := file.readline(_BLOCK):
        skipped += len(text)
        if text[-1:] == b"\n":
            break
    return skipped


def too_long(source: str, line: Line) -> str:
    """The text of the error for a line that is too long."""
    return (
        f"{source}:{line.number}: a line of {line.end - line.begin:,} bytes; a line has at most {MOST_LINE:,}: "
        "is this a log, and is its end of line missing?"
    )


def text_of(piece: Piece) -> str:
    """The text of an execution in one file. Lines end in a line feed.

    Raises InputError for more than MOST_BYTES, or, naming the line, for text that is not UTF-8.
    """
    path, size = Path(piece.paths[0]), piece.end - piece.begin
    if size > MOST_BYTES:
        raise InputError(
            f"{piece.source}:{piece.first_line}: an execution of {size:,} bytes; use at most {MOST_BYTES:,}, or "
            "say where one ends and the next begins (--delimiter)"
        )
    try:
        with path.open("rb") as file:
            file.seek(piece.begin)
            content = file.read(size)
    except OSError as problem:
        raise read_error(path, problem) from None
    try:
        return content.removeprefix(_MARK).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = piece.first_line + content.count(b"\n", 0, problem.start)
        raise InputError(f"{piece.source}:{line}: is no UTF-8 text; save the log as UTF-8") from None


def read_error(path: Path, problem: OSError) -> InputError:
    """The error for a file that cannot be read."""
    return InputError(f"{path}: cannot be read ({problem.strerror}); give the path of a log")
