"""The event log of a node: one line of JSON for each atomic action, written before anything that it sends leaves.

So whatever a node has told others is in its log, also after kill -9: what is written is no longer the process's.
A line has the Lamport clock of the action (L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed
System", 1978): sorted by clock, then by node, the lines of all nodes are one run that happened-before allows.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sim.core.errors import InputError
from sim.core.model import DOWN, UP

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
FREEZE, THAW = "freeze", "thaw"  # actions of a node that notices that it stood still, and kinds of faults
RECOVER = "recover"  # the action that begins an epoch; its third word is the number
_TAIL = 1 << 20  # bytes that are read first of the end of a file


class Entry(NamedTuple):
    """A line: what happened, and what it left behind.

    `actor` is the number of the process or service. `action` is a list: its kind, and what is needed to do it again
    (replay/scenario.py). `rows` are as in sim.core.rules.Row, with message ids of the cluster. `index` and `sent` are
    the numbers of the last application event and of the last message of the node.
    """

    clock: int
    time: float  # in time units of the scenario, since the start of the cluster
    actor: int
    action: list[Any]
    rows: list[Any]
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed
    sent: int


class EventLog:
    """Appends to the log of one node."""

    def __init__(self, path: Path) -> None:
        """Goes on after the last whole line: the writer may have been killed in the middle of one."""
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.ftruncate(self._file, _last_line(path)[1])

    def append(self, entry: Entry) -> None:
        """Write one line. Raises InputError if the disk does not take it: then nothing has happened."""
        line = (_encode(entry) + "\n").encode()
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as problem:
            what = f"{self._path}: the event log cannot be written ({problem.strerror})"
            raise InputError(f"{what}; make room, and start the cluster again with --restore") from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_log(path: Path) -> Iterator[Entry]:
    """The lines of a log; a last one that was not written whole is left out."""
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield Entry(*json.loads(line))


def last_entry(path: Path) -> Entry | None:
    """The last whole line of a log (None: there is none)."""
    line, _ = _last_line(path) if path.exists() else (b"", 0)
    return Entry(*json.loads(line)) if line else None


def lived_since(path: Path, clock: int) -> bool:
    """Whether the process of a log has acted after `clock`: not that a channel to it is severed or mended."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        tail = min(_TAIL, size)
        while True:
            file.seek(size - tail)
            lines = file.read(tail).split(b"\n")
            whole = lines[tail < size : -1]  # the first may be half a line, as what is behind the last
            found = [Entry(*json.loads(line)) for line in whole]
            if any(entry.clock > clock and entry.action[0] not in (DOWN, UP) for entry in found):
                return True
            if tail == size or (found and found[0].clock <= clock):
                return False
            tail = min(2 * tail, size)


def last_epoch(folder: Path) -> int | None:
    """The newest epoch that the controller's log of a run has begun; None if it has begun none by a recovery."""
    logs = [path for path in folder.glob("*.log") if path.stem.isdecimal() and path.stat().st_size]
    if not logs:
        return None
    with max(logs, key=lambda path: int(path.stem)).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with content:
            end = content.rfind(b"\n") + 1
            while (found := content.rfind(b'["recover",', 0, end)) >= 0:
                begin = content.rfind(b"\n", 0, found) + 1
                action = Entry(*json.loads(content[begin : content.find(b"\n", found)])).action
                if action[0] == RECOVER:
                    return int(action[2])
                end = begin
    return None


def _last_line(path: Path) -> tuple[bytes, int]:
    """The last whole line of a file (empty: there is none), and the place where it ends."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        tail = min(_TAIL, size)
        while True:
            file.seek(size - tail)
            content = file.read(tail)
            end = content.rfind(b"\n") + 1
            begin = content.rfind(b"\n", 0, max(0, end - 1)) + 1
            if begin or tail == size:
                return content[begin:end], size - tail + end
            tail = min(2 * tail, size)


def severed_in(path: Path) -> set[str]:
    """The names of the channels that a log leaves severed."""
    found: set[str] = set()
    if path.exists():
        with path.open("rb") as lines:
            changes = [line for line in lines if b'["down",' in line or b'["up",' in line]
        for line in changes:
            kind, *about = Entry(*json.loads(line)).action if line.endswith(b"\n") else [""]
            if kind == DOWN:
                found.add(about[0])
            elif kind == UP:
                found.discard(about[0])
    return found


def merged(folder: Path) -> list[Entry]:
    """The lines of all logs in a folder, in an order that happened-before allows: by clock, then by process."""
    found = [entry for path in sorted(folder.glob("*.log")) for entry in read_log(path)]
    return sorted(found, key=lambda entry: (entry.clock, entry.actor))
