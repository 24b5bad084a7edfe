"""Puts the rows of a run into a causal order as they are read, for files and lines in any order.

A row is released after the rows before it: the earlier events of its process, and for a receive its send. Until then it
waits. So the rows released so far are at every moment a run by themselves, up to a consistent cut. If event number n of
a process is released, all of its events up to n are released.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pipeline.logs.growing import Grown
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COPIED, RECEIVE, RECORD, SEND

MOST_WAITING = 1_000_000  # rows


class Unit(NamedTuple):
    """The rows of a line, which wait for event number `after` of `process`. `number` counts the lines read.

    `process` is the file itself if no event has to come before, as in the log of a cluster's services.
    """

    after: int
    number: int
    process: str
    file: str
    rows: list[Grown]


@dataclass
class Process:
    """A process so far: the number of its last event, its epoch, and by file the last event read there.

    `restores` are the recoveries that took it back: the last event kept, and the last event removed.
    """

    count: int = 0
    epoch: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    restores: list[tuple[int, int]] = field(default_factory=list)
    waiting: list[Unit] = field(default_factory=list)  # a heap


def is_sent(row: Grown) -> bool:
    """Whether a row sends an application message, or stands for the copy of one."""
    return row.kind == SEND or (row.kind == COPIED and row.index is not None)


class Releasing:
    """The release of a run's rows: those that wait, and those that can go."""

    def __init__(self) -> None:
        self.processes: dict[str, Process] = {}
        self.waiting: dict[int, Unit] = {}  # by number
        self._blocked: dict[int, set[str]] = {}  # by message, the processes that wait for its send

    def process(self, name: str) -> Process:
        """A process, known or new."""
        return self.processes.setdefault(name, Process())

    def take(self, file: str, rows: Iterable[Grown], number: int) -> int:
        """Adds rows of one file. Their lines are numbered from `number` on. Returns the number after the last."""
        for _, own in groupby(rows, key=attrgetter("begin")):
            self.put(self._unit(file, list(own), number))
            number += 1
        return number

    def _unit(self, file: str, rows: list[Grown], number: int) -> Unit:
        first = next((row for row in rows if row.kind in APPLICATION_KINDS), rows[0])
        process = self.process(first.process)
        after = process.seen.get(file, 0)
        if first.kind in APPLICATION_KINDS:
            after = (first.index or 1) - 1
        elif first.kind == RECORD:
            after = max(after, first.index or 0)
        for row in rows:
            if row.kind in APPLICATION_KINDS:
                own = self.process(row.process)
                own.seen[file] = max(own.seen.get(file, 0), row.index or 0)
        has_own = after or first.kind in APPLICATION_KINDS
        return Unit(after, number, first.process if has_own else file, file, rows)

    def put(self, unit: Unit) -> None:
        """Makes a line wait."""
        self.waiting[unit.number] = unit
        heappush(self.process(unit.process).waiting, unit)

    def is_awaited(self, message: int) -> bool:
        """Whether a receive waits for the send of a message."""
        return message in self._blocked

    def released(self, open_sends: Container[int | None], find: Callable[[int], bool]) -> Iterator[Unit]:
        """Yield the units that can be released, in order. The caller adds a unit's sends to `open_sends` at once.

        `open_sends` has the messages whose sends are released and which were not received. If a message is not there,
        `find(message)` looks for it once among forgotten ones, adds it if it finds it, and returns whether it did.
        """
        todo = [name for name, process in self.processes.items() if process.waiting]
        while todo:
            process = self.processes[todo.pop()]
            while process.waiting and process.waiting[0].after <= process.count:
                unit = process.waiting[0]
                missing = self._missing(unit, open_sends)
                if missing is not None and missing not in self._blocked and find(missing):
                    continue
                if missing is not None:
                    self._blocked.setdefault(missing, set()).add(unit.process)
                    break
                heappop(process.waiting)
                del self.waiting[unit.number]
                yield unit
                for row in unit.rows:
                    if is_sent(row) and row.message in self._blocked:
                        todo += sorted(self._blocked.pop(row.message))

    @staticmethod
    def _missing(unit: Unit, open_sends: Container[int | None]) -> int | None:
        """The first message that a line receives before its send is released."""
        own = {row.message for row in unit.rows if is_sent(row)}
        for row in unit.rows:
            if row.kind == RECEIVE and row.message not in open_sends and row.message not in own:
                return row.message
        return None

    def why(self) -> str | None:
        """The missing row for which the first waiting line waits, in words (None: no line waits)."""
        if not self.waiting:
            return None
        unit = self.waiting[min(self.waiting)]
        process = self.processes[unit.process]
        if unit.after > process.count:
            lacks = f"event {process.count + 1} of {unit.process}"
        else:
            top = process.waiting[0]
            received = [row.message for row in top.rows if row.kind == RECEIVE]
            lacks = f"the send of message {received[0] if received else '?'}"
        return f"{len(self.waiting):,} lines wait, the first of {unit.file} for {lacks}, which no file has yet"

    def check_size(self) -> None:
        """Raises InputError if too many lines wait."""
        if len(self.waiting) > MOST_WAITING:
            raise InputError(f"{self.why()}; at most {MOST_WAITING:,} may wait: bring the file that has it")
