"""The interface of a log format: a module in pipeline/formats.

A module has
    TITLE               a line for users about the files that it reads
    SUFFIXES            the usual suffixes of its files, or ANYTHING; optional: without it, the format is never guessed
    OPTIONS             the options it takes; optional
    pieces(files, options, stop) -> list[Piece]
                        finds the executions in the files. It runs on the user's machine, so it reads a line at a time
                        and keeps none. Raises InputError for a problem with an option or a whole file, for more than
                        MOST_EXECUTIONS, and when `stop` is set (pipeline.logs.lines looks at it).
    read(piece) -> Reading
                        reads one execution, on a worker. Raises InputError, naming file and line, for a contradiction.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow

from sim.core.errors import InputError

MOST_EXECUTIONS = 100_000  # that are read together
MOST_ROWS = 2_000_000  # of one execution: a worker holds all of them, about 1 kB each
MOST_PROCESSES = 2_000  # of one execution: its unknown channels are listed for each pair
NEVER = threading.Event()  # a `stop` that is never set

Options = Mapping[str, str]  # the values given, by the names of the format's OPTIONS
NO_OPTIONS: Options = {}
ANYTHING = "*"  # as a suffix: this format is guessed for files that no other format's suffix matches


@dataclass(frozen=True)
class Option:
    """An option of a format: a flag of `ingest`, and a field in the form of the Traces page.

    name: the name of the flag.
    label: the label of the field.
    help: a line of help for both.
    takes: the name of the value in --help.
    placeholder: an example that the empty field shows.
    choices: ready-made values by their labels in the form; the first is preselected.
    other: the form's label for a value that is not among the choices; empty if only the choices are allowed.
    default: the field's first value if there are no choices.
    """

    name: str
    label: str
    help: str = ""
    takes: str = "TEXT"
    placeholder: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    other: str = ""
    default: str = ""


class Piece(NamedTuple):
    """The place of one execution in its files.

    paths: the files, several only if the format needs several.
    begin, end: the range, in bytes of a text, or in rows of a Parquet file; `end` is excluded.
    source: the file as the user named it.
    first_line: the line where the execution begins.
    how: information for the format's `read`, such as a pattern.
    problem: why the execution cannot be read, if that is known already.
    total: the size in bytes of all executions read together, if `read` needs it.
    """

    name: str
    source: str
    paths: tuple[str, ...]
    begin: int = 0
    end: int = 0
    first_line: int = 1
    how: str = ""
    problem: str | None = None
    total: int = 0


@dataclass
class Reading:
    """One execution as a format has read it.

    `events` is a table with the columns of EVENT_TYPES and run_id 0. `count` is the number of application events. For
    `pairing`, `exact`, `unknown_channels` and `gaps` see TRACE_TYPES. `notes` are sentences for the user.
    """

    events: pyarrow.Table
    processes: list[str]
    count: int
    messages: int
    unreceived: int
    pairing: str
    exact: bool = True
    unknown_channels: list[str] = field(default_factory=list)
    gaps: int = 0
    notes: list[str] = field(default_factory=list)


class Format(Protocol):
    """The interface of every module in pipeline/formats."""

    TITLE: str

    def pieces(self, files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
        """Find the executions. Raises InputError."""

    def read(self, piece: Piece) -> Reading:
        """Read one execution. Raises InputError, naming file and line."""


def check_executions(count: int, where: str) -> None:
    """Raises InputError for more than MOST_EXECUTIONS."""
    if count > MOST_EXECUTIONS:
        raise InputError(f"{where}: holds more than {MOST_EXECUTIONS:,} executions; read them in several parts")


def check_processes(count: int, where: str) -> None:
    """Raises InputError for an execution of more than MOST_PROCESSES."""
    if count > MOST_PROCESSES:
        raise InputError(f"{where}: an execution of {count:,} processes; use at most {MOST_PROCESSES:,}")


def check_rows(count: int, where: str) -> None:
    """Raises InputError for an execution of more than MOST_ROWS."""
    if count > MOST_ROWS:
        raise InputError(
            f"{where}: an execution of {count:,} rows or more; use at most {MOST_ROWS:,}, or give runs a run_id of "
            "their own"
        )
