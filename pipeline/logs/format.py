"""What a log format is: a module of pipeline.formats.

A module has
    TITLE               what it reads, in a line
    SUFFIXES            how names of its files end, most likely, or ANYTHING; may be left out: it is never guessed
    OPTIONS             what it wants to know besides the files; may be left out: nothing
    pieces(files, options) -> list[Piece]
                        where each execution lies; asked where the work is started, so it reads the files a line at a
                        time and keeps none of it. Raises InputError for what concerns a whole file or an option.
    read(piece) -> Reading
                        one execution, on a worker. Raises InputError, naming file and line, for a contradiction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow

Options = Mapping[str, str]  # what was said, by the names of the format's OPTIONS
NO_OPTIONS: Options = {}
ANYTHING = "*"  # among the suffixes of one format: where no other knows the file


@dataclass(frozen=True)
class Option:
    """Something that a format wants to know: a flag of `ingest`, and a field in the form of the Traces page.

    name: of the flag. label: of the field. help: for both, in a line. takes: what stands for the value in --help.
    placeholder: what an empty field shows, as an example.
    choices: ready-made values, by what the form calls them; the first is the form's own choice.
    other: what the form calls a value that is none of them; empty: there are no others.
    default: what the form's field holds at first, where there are no choices.
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
    """What every module of pipeline.formats has."""

    TITLE: str

    def pieces(self, files: Sequence[Path], options: Options) -> list[Piece]:
        """Where each execution lies."""

    def read(self, piece: Piece) -> Reading:
        """One execution."""
