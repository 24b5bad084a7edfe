"""What a format needs to be followed: a log is read while it grows, line by line, wherever its files are.

Such a format has
    FILES               which files of a folder are followed, such as "*.log"
    rows(lines, path, options) -> Iterator[Grown]
                        the rows of some whole lines of a file, which depend on no other lines but the first one of the
                        file. Raises InputError, naming file and line, for a line that it cannot read.
    whole(lines, path, options) -> int
                        how many of some lines are whole records; optional, where a record may have several lines.
    name_of(run) -> str what a run is called
Rows of one line are one step: one atomic action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeGuard

from pipeline.logs.format import Options
from pipeline.logs.lines import MOST_LINE
from pipeline.store.schema import Types

_BLOCK = 1 << 20


class Text(NamedTuple):
    """A whole line of a file, without its end; it begins at byte `begin`."""

    begin: int
    text: bytes


class Grown(NamedTuple):
    """A row of the event table, as a line says it; what only other lines tell is filled in later.

    `begin` is the byte at which its line begins. `run` names the run among all that are followed. A message is the same
    at both of its ends; `epoch` is given where a process goes back, else it may be None.
    """

    begin: int
    run: str
    process: str
    index: int | None  # type: ignore[assignment]  # hides tuple.index, which is not needed
    kind: str
    channel: str | None
    peer_index: int | None
    message: int | None
    label: str | None
    body: str | None
    snapshot_id: str | None
    state_size: int | None
    epoch: int | None
    time: float | None


GROWN_TYPES: Types = {
    "begin": "int64", "run": "string", "process": "string", "index": "int32", "kind": "string", "channel": "string",
    "peer_index": "int32", "message": "int64", "label": "string", "body": "string", "snapshot_id": "string",
    "state_size": "int64", "epoch": "int32", "time": "float64",
}  # fmt: skip


class Followed(Protocol):
    """What a module in pipeline/formats provides that can be followed, beside what every format does."""

    FILES: str

    def rows(self, lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
        """The rows of some lines."""

    def name_of(self, run: str) -> str:
        """What a run is called."""


def can_be_followed(module: object) -> TypeGuard[Followed]:
    """Whether a format can be followed."""
    return hasattr(module, "rows")


def texts(path: Path, begin: int, end: int) -> Iterator[Text]:
    """The lines of a file from byte `begin` to byte `end`; both are ends of lines. Raises OSError."""
    with path.open("rb") as file:
        file.seek(begin)
        while begin < end:
            line = file.readline(end - begin)
            if not line:
                return
            yield Text(begin, line.rstrip(b"\r\n"))
            begin += len(line)


def whole_until(path: Path, begin: int, most: int) -> int:
    """Where the last whole line ends of the `most` bytes of a file after `begin`; of a longer line, its own end.

    It is `begin` where no line is whole as yet. Raises OSError.
    """
    with path.open("rb") as file:
        file.seek(begin)
        content = file.read(most)
        end = content.rfind(b"\n") + 1
        if end or len(content) < most:
            return begin + end
        size = len(content)
        while size <= MOST_LINE and (block := file.read(_BLOCK)):
            end = block.find(b"\n") + 1
            if end:
                return begin + size + end
            size += len(block)
        return begin


def line_number(path: Path, begin: int) -> int:
    """The number, from 1, of the line that begins at a byte of a file. Raises OSError."""
    count, left = 1, begin
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            count += block.count(b"\n")
            left -= len(block)
    return count


def first_line(path: Path) -> bytes:
    """The first line of a file, without its end. Raises OSError."""
    with path.open("rb") as file:
        return file.readline(MOST_LINE).rstrip(b"\r\n")
