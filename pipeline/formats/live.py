"""The event logs of a live cluster (docs/live.md): logs/1/*.log, one file for each node, a JSON list a line.

A line is one atomic action: [clock, time, actor, action, rows, index, sent]. `rows` are rows of the event table without
the columns that can be derived: [process, index, kind, channel, peer_index, message_id, label, body, snapshot_id]. The
lines of all files in a folder are one run, sorted by Lamport's clock, then by actor.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.logs.foreign_table import read_table
from pipeline.logs.format import NEVER, Options, Piece, Reading, check_rows
from pipeline.logs.growing import Grown, Text, line_number
from pipeline.logs.lines import lines, too_long
from sim.core.errors import InputError, brief
from sim.core.log import to_json
from sim.core.model import APPLICATION_KINDS, CHANNEL_CLOSED, RECORD, RECOVERY, RESTORE, STATE_CHANGED, label_of

TITLE = "the event logs of a live cluster, one file for each node"
FILES = "*.log"
_WITH_SIZE = (RECORD, STATE_CHANGED, CHANNEL_CLOSED)
_COLUMNS = ("process", "index", "kind", "channel", "peer_index", "message_id", "label", "body", "snapshot_id")


class _Line(NamedTuple):
    """The needed parts of a line, and its file and number for errors."""

    clock: int
    time: float
    actor: int
    rows: list[list[Any]]
    where: str


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each folder, in the order of the files. Raises InputError for a file that is not there or empty."""
    found = []
    for folder, own in groupby(files, key=lambda path: path.resolve().parent):
        paths = list(own)
        for path in paths:
            for line in lines(path, stop):
                if line.text is None:
                    raise InputError(too_long(str(path), line))
        size = sum(path.stat().st_size for path in paths)
        if not size:
            raise InputError(f"{paths[0]}: is empty; bring the logs of all nodes of a cluster")
        found.append(
            Piece(name_of(str(folder)), str(paths[0].parent), tuple(str(own.resolve()) for own in paths), 0, size)
        )
    return found


def name_of(run: str) -> str:
    """The name of the run in a folder: `live 2` for data/live/logs/2."""
    folder = Path(run)
    return f"{folder.parent.parent.name} {folder.name}" if folder.parent.name == "logs" else folder.name


def read(piece: Piece) -> Reading:
    """Reads one run. Raises InputError, naming file and line."""
    found = [line for path in piece.paths for line in _lines(Path(path))]
    found.sort(key=lambda line: (line.clock, line.actor))
    columns: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, "time", "step", "state_size", "epoch")}
    where: list[str] = []
    epochs: dict[str, int] = {}
    now = 0.0
    for step, line in enumerate(found, start=1):
        now = max(now, line.time)  # the clocks of nodes differ
        for row in line.rows:
            cells = _cells(row, line.where)
            if row[2] == RECOVERY:
                epochs.update(dict.fromkeys(row[7]["services"], row[7]["epoch"]))
            elif row[2] == RESTORE:
                epochs[row[0]] = row[7]["epoch"]
            cells |= {"time": now, "step": step, "epoch": epochs.get(row[0], 0)}
            for name, column in columns.items():
                column.append(cells[name])
            where.append(line.where)
        check_rows(len(where), piece.source)
    if not where:
        raise InputError(f"{piece.source}: holds no rows; bring the logs of all nodes of a cluster")
    return read_table(columns, where.__getitem__)


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the complete lines of a file; its writer may be in the middle of the last one."""
    for line in lines(path):
        if line.text is not None and line.text.endswith(b"\n"):
            yield _line(line.text, f"{path}:{line.number}")


def _line(text: bytes, where: str) -> _Line:
    try:
        clock, time, actor, _, rows, _, _ = json.loads(text)
        if not all(isinstance(row, list) and len(row) == len(_COLUMNS) for row in rows):
            raise ValueError("a row has 9 values")
        return _Line(int(clock), float(time), int(actor), rows, where)
    except (ValueError, TypeError, RecursionError):
        said = brief(text.decode("utf-8", "replace"))
        right = "[clock, time, actor, action, rows, index, sent], as the nodes of a cluster write it"
        raise InputError(f"{where}: {said} is no line of a live log; it is a list {right}") from None


def _cells(row: list[Any], where: str) -> dict[str, Any]:
    """The cells of a row, by the names of their columns; the body as JSON."""
    cells = dict(zip(_COLUMNS, row, strict=True))
    if not isinstance(cells["process"], str) or not isinstance(cells["kind"], str):
        raise InputError(f"{where}: a row begins with {brief(row[:3])}; it has a process, an index and a kind")
    body = None if row[7] is None else to_json(row[7])
    size = None
    if cells["kind"] in _WITH_SIZE:
        body = to_json(row[7])
        size = len(body.encode())
    if cells["kind"] in APPLICATION_KINDS:
        cells["label"] = label_of(cells["process"], cells["index"], cells["label"])
    return {**cells, "body": body, "state_size": size}


def rows(lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
    """The rows of some lines of a file that grows (pipeline/logs/growing.py). Raises InputError."""
    run = str(path.resolve().parent)
    for begin, text in lines:
        if not text:
            continue
        try:
            line = _line(text, "")
            cells = [_cells(row, "") for row in line.rows]
        except InputError as problem:
            raise InputError(f"{path}:{line_number(path, begin)}{problem}") from None
        for row, own in zip(line.rows, cells, strict=True):
            epoch = row[7]["epoch"] if row[2] in (RESTORE, RECOVERY) else None
            yield Grown(
                begin, run, own["process"], own["index"], own["kind"], own["channel"], own["peer_index"],
                own["message_id"], own["label"], own["body"], own["snapshot_id"], own["state_size"], epoch, line.time,
            )  # fmt: skip
