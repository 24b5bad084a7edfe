"""Runs test cases of Princeton's COS 418 snapshot assignment: CASE.top, CASE.events and, if given, CASE.json.

A case is an .events file. Its topology is the .top file of the same name, else the last .top file listed before it. Its
delays are the .json file of the same name, else a .json file listed right after it. Without either, they are drawn as
`python -m sim cos418` draws them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pyarrow

from pipeline.logs.format import NEVER, Options, Piece, Reading
from pipeline.logs.pairing import GIVEN
from pipeline.store.schema import arrow_schema
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES, SEND
from sim.document.files import decode, read_file
from sim.exchange.cos418 import read_case, read_delays
from sim.run.execution import run

TITLE = "cases of COS 418's snapshot assignment: CASE.top CASE.events [CASE.json]"
SUFFIXES = (".top", ".events")


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each case. Raises InputError for a file of another kind, or a file that belongs to no case."""
    for path in files:
        if path.suffix not in (".top", ".events", ".json"):
            raise InputError(
                f"{path}: is no file of a case; name files that end in .top, .events and, for delays, .json"
            )
        if not path.is_file():
            raise InputError(f"{path}: there is no such file; name the files of a case")
    found = []
    for number, path in enumerate(files):
        if path.suffix == ".events":
            own = (_topology(files, number), path, *_delays(files, number))
            found.append(Piece(path.stem, str(path), tuple(str(file.resolve()) for file in own)))
    used = {name for piece in found for name in piece.paths}
    for path in files:
        if str(path.resolve()) not in used:
            raise InputError(f"{path}: belongs to no case; name its .events file as well, and its .top before that")
    return found


def _topology(files: Sequence[Path], number: int) -> Path:
    events = files[number]
    before = [path for path in files[:number] if path.suffix == ".top"]
    for path in (*(path for path in files if path.suffix == ".top" and path.stem == events.stem), *reversed(before)):
        return path
    raise InputError(f"{events}: its topology is missing; name a .top file before it")


def _delays(files: Sequence[Path], number: int) -> list[Path]:
    stem = files[number].stem
    named = [path for path in files if path.suffix == ".json" and path.stem == stem]
    after = files[number + 1 : number + 2]
    return named[:1] or [path for path in after if path.suffix == ".json"]


def read(piece: Piece) -> Reading:
    """Runs a case. Raises InputError, naming file and line, if it is malformed."""
    top, events, *delays = map(Path, piece.paths)
    files = (top.name, events.name, delays[0].name if delays else "")
    given = [read_delays(_text(path), path.name) for path in delays]
    scenario = read_case(_text(top), _text(events), given[0] if given else None, 0, piece.name, files)
    rows = run(scenario).events
    columns = list(zip(*rows, strict=True)) or [()] * len(EVENT_TYPES)
    sends = [row for row in rows if row.kind == SEND]
    return Reading(
        pyarrow.table(columns, arrow_schema(EVENT_TYPES)),
        list(scenario.processes),
        count=sum(row.kind in APPLICATION_KINDS for row in rows),
        messages=len(sends),
        unreceived=sum(row.peer_index is None for row in sends),
        pairing=GIVEN,
    )


def _text(path: Path) -> str:
    return decode(read_file(path), path.name)
