"""The formats that ingest reads: one module each, found by its presence here.

A module has
    TITLE               what it reads, in a line
    OPTIONS             the names of those Options that mean something to it
    pieces(files, options) -> list[Piece]
                        where each execution lies; asked where the work is started, so it reads the files a line at a
                        time and keeps none of it. Raises DataError for what concerns a whole file or an option.
    read(piece) -> Reading
                        one execution, on a worker. Raises DataError, naming file and line, for what cannot be believed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow

from pipeline.store import DataError
from sim.tables import nearest


class Options(NamedTuple):
    """How to take a log apart: expressions, in the syntax of Python or of JavaScript."""

    pattern: str | None = None
    delimiter: str | None = None


NO_OPTIONS = Options()


class Piece(NamedTuple):
    """One execution where it lies: in `paths` (one, but for formats of several files), from `begin` up to `end`.

    These are bytes of a text, rows of a Parquet file. `source` is the file as it was named, `first_line` where the
    execution begins in it, `how` what the format needs to know to read it, `problem` why it cannot be read, where that
    is known already.
    """

    name: str
    source: str
    paths: tuple[str, ...]
    begin: int = 0
    end: int = 0
    first_line: int = 1
    how: str = ""
    problem: str | None = None


@dataclass
class Reading:
    """One execution as it was understood.

    `events` has the columns of EVENT_TYPES, `run_id` still 0. `pairing`, `exact` and `unknown_channels` are those of
    TRACE_TYPES; `gaps` counts the events that clocks count and nobody logged; `notes` are sentences for whoever brings
    the log.
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
    """What a module of this package has."""

    TITLE: str
    OPTIONS: tuple[str, ...]

    def pieces(self, files: Sequence[Path], options: Options) -> list[Piece]:
        """Where each execution lies."""

    def read(self, piece: Piece) -> Reading:
        """One execution."""


def names() -> list[str]:
    """The formats there are."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def find(name: str) -> Format:
    """The format of that name. Raises DataError where there is none."""
    if name not in names():
        raise DataError(f"--format: {name!r} is no format; {nearest(name, names())}")
    module: Format = importlib.import_module(f"{__name__}.{name}")
    return module
