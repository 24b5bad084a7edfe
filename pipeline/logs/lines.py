"""Text files of any size, read so that no line and no execution is larger in memory than is stated here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sim.core.errors import InputError

MOST_LINE = 1_000_000  # bytes
MOST_BYTES = 500_000_000  # of one execution: the worker that reads it needs some eight times as much memory
_BLOCK = 1_000_000
_MARK = b"\xef\xbb\xbf"  # with which some programs begin a text


class Line(NamedTuple):
    """A line with its number (from 1) and place in bytes; `text` is None where it is longer than MOST_LINE."""

    number: int
    begin: int
    end: int
    text: bytes | None


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file, one at a time. Raises InputError where there is no such file."""
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file; name a log")
        with path.open("rb") as file:
            yield from _lines(file)
    except OSError as problem:
        raise unreadable(path, problem) from None


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
    """Go to the end of the line, holding little of it; how many bytes that was."""
    skipped = 0
    while text := file.readline(_BLOCK):
        skipped += len(text)
        if text[-1:] == b"\n":
            break
    return skipped


def too_long(source: str, line: Line) -> str:
    """The sentence for a line that is."""
    return (
        f"{source}:{line.number}: a line of {line.end - line.begin:,} bytes; a line has at most {MOST_LINE:,}: "
        "is this a log, and is its end of line missing?"
    )


def text_of(path: Path, source: str, begin: int, end: int, first_line: int) -> str:
    """The text between two places, its lines ending in a line feed.

    Raises InputError for more than MOST_BYTES, or for what is no UTF-8, naming the line.
    """
    if end - begin > MOST_BYTES:
        raise InputError(
            f"{source}:{first_line}: an execution of {end - begin:,} bytes; use at most {MOST_BYTES:,}, or --delimiter "
            "to say where one ends and the next begins"
        )
    try:
        with path.open("rb") as file:
            file.seek(begin)
            content = file.read(end - begin)
    except OSError as problem:
        raise unreadable(path, problem) from None
    try:
        return content.removeprefix(_MARK).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = first_line + content.count(b"\n", 0, problem.start)
        raise InputError(f"{source}:{line}: is no UTF-8 text; save the log as UTF-8") from None


def unreadable(path: Path, problem: OSError) -> InputError:
    """The sentence for a file that cannot be read."""
    return InputError(f"{path}: cannot be read ({problem.strerror}); give the path of a log")
