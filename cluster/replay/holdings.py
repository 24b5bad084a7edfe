"""The holdings of a live run: the state of each process and the contents of each channel at any moment.

The event logs have the actions of each process, and the workload computes its states from them. The moment is a
consistent cut: a process that has received a message, whose send is in no log read so far, stops short of the receipt.
States are kept at intervals, so any moment is computed from the nearest one before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from heapq import merge
from typing import Any, NamedTuple

from cluster.node.event_log import Entry
from cluster.node.system import System
from cluster.replay.log_index import LogIndex
from sim.core.effects import Out
from sim.core.model import (
    APP,
    CRASH,
    INTERNAL,
    JOIN,
    LEAVE,
    LOST,
    PUT_BACK,
    RECEIVE,
    RESTORE,
    SEND,
    Message,
    Process,
)

BLOCK = 500  # lines of a log that are read at once
FIRST_GAP = 2_000  # lines of all logs from one moment that is kept to the next
MOST_KEPT = 400  # moments; of more, every second one is forgotten


class OnTheWay(NamedTuple):
    """A message in a channel, and the epoch in which it was sent or put back."""

    body: Any
    epoch: int


class Amount(NamedTuple):
    """The distribution of a conserved good: in each process (None: it is down), and in transit to those that run."""

    unit: str
    total: int
    held: dict[str, int | None]
    on_the_way: int

    @property
    def in_processes(self) -> int:
        """The sum of what all processes hold."""
        return sum(own or 0 for own in self.held.values())


class Holdings:
    """The states of processes and the contents of channels at a moment. `latest` is its time, in time units."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.processes = {own.name: own for own in system.engine.initial().processes}
        self.channels: dict[str, dict[int, OnTheWay]] = {own.name: {} for own in system.engine.channels}
        self.latest = 0.0
        self.read: dict[int, int] = {}  # by log: the number of its lines that were taken in

    def copy(self) -> Holdings:
        """A copy that may go on alone."""
        twin = Holdings.__new__(Holdings)
        twin.system, twin.latest, twin.read = self.system, self.latest, dict(self.read)
        twin.processes = {name: own.copy() for name, own in self.processes.items()}
        twin.channels = {name: dict(own) for name, own in self.channels.items()}
        return twin

    @property
    def states(self) -> dict[str, Any]:
        """The state of each process; None for a process that is down or absent."""
        return {name: own.state if own.alive else None for name, own in self.processes.items()}

    @property
    def is_one_epoch(self) -> bool:
        """Whether all processes are in one epoch. They are not while a recovery restores them one by one."""
        return len({own.epoch for own in self.processes.values() if own.present}) <= 1

    def amounts(self) -> list[Amount]:
        """The distribution of each conserved good (empty: the workload conserves nothing)."""
        workload = self.system.engine.workload
        held = {name: None if state is None else workload.measure(state) for name, state in self.states.items()}
        bodies = [
            workload.measure_body(message.body)
            for name, own in self.channels.items()
            if self.processes[name.partition("->")[2]].alive
            for message in own.values()
        ]
        return [
            Amount(
                good, total, {name: None if own is None else own.get(good, 0) for name, own in held.items()},
                sum(own.get(good, 0) for own in bodies),
            )
            for good, total in workload.total().items()
        ]  # fmt: skip

    def take(self, entry: Entry) -> None:
        """Apply the rows of a line to states and channels."""
        for row in entry.rows:
            process, kind = self.processes.get(row[0]), row[2]
            if process is not None and kind in _DOES:
                _DOES[kind](self, process, row)

    # ------------------------------------------------------------------ effects of a row

    def _internal(self, process: Process, row: list[Any]) -> None:
        process.state = self.system.engine.workload.after_internal(process, row[7], Out())

    def _send(self, process: Process, row: list[Any]) -> None:
        process.state = self.system.engine.workload.after_send(process, row[7])
        if process.epoch >= self._receiver(row).epoch:  # else it will be fenced off
            self.channels[row[3]][row[5]] = OnTheWay(row[7], process.epoch)

    def _receive(self, process: Process, row: list[Any]) -> None:
        channel = self.system.channel_named[row[3]]
        message = Message(row[5], channel, APP, row[7], None, None, row[4], None, row[6])
        process.state = self.system.engine.workload.after_receive(process, message, Out())
        self.channels[row[3]].pop(row[5], None)

    def _put_back(self, process: Process, row: list[Any]) -> None:
        self.channels[row[3]][row[5]] = OnTheWay(row[7], process.epoch)

    def _lost(self, process: Process, row: list[Any]) -> None:
        self.channels[row[3]].pop(row[5], None)

    def _end(self, process: Process, row: list[Any]) -> None:
        process.alive, process.present, process.state = False, row[2] != LEAVE, None

    def _join(self, process: Process, row: list[Any]) -> None:
        process.alive, process.present, process.state = True, True, row[7]

    def _restore(self, process: Process, row: list[Any]) -> None:
        """Begin a new epoch of a process: messages that were sent to it in an earlier one will be fenced off."""
        process.alive, process.epoch, process.state = True, row[7]["epoch"], row[7]["state"]
        process.state = self.system.engine.workload.after_restore(process, Out())
        for name, own in self.channels.items():
            if name.partition("->")[2] == process.name:
                self.channels[name] = {id_: at for id_, at in own.items() if at.epoch >= process.epoch}

    def _receiver(self, row: list[Any]) -> Process:
        return self.processes[row[3].partition("->")[2]]


_DOES = {
    INTERNAL: Holdings._internal, SEND: Holdings._send, RECEIVE: Holdings._receive, PUT_BACK: Holdings._put_back,
    LOST: Holdings._lost, CRASH: Holdings._end, LEAVE: Holdings._end, JOIN: Holdings._join, RESTORE: Holdings._restore,
}  # fmt: skip


class Ledger:
    """The holdings of a run whose logs grow."""

    def __init__(self, system: System, logs: Mapping[int, LogIndex]) -> None:
        self._system, self._logs = system, logs
        self._kept = [Holdings(system)]
        self._gap = FIRST_GAP

    def at(self, time: float) -> Holdings:
        """The holdings after all lines up to `time`, in seconds since the cluster began."""
        return self._after(time / self._system.unit, bisect_right)

    def before(self, time: float) -> Holdings:
        """The holdings before the first line at `time`."""
        return self._after(time / self._system.unit, bisect_left)

    def _after(self, units: float, count: Callable[..., int]) -> Holdings:
        """The holdings at a time. `count` counts the ascending times up to it, as bisect does."""
        found = self._kept[max(0, count([own.latest for own in self._kept], units) - 1)].copy()
        ends = {number: count(log.times, units) for number, log in self._logs.items()}
        since, short = 0, set[int]()  # logs whose next line waits for a line that is not read yet
        unread = (self._lines(number, found.read.get(number, 0), end) for number, end in ends.items())
        for number, place, entry in merge(*unread, key=_order):
            if number in short or any(not self._is_read(found, row[5]) for row in entry.rows if row[2] == RECEIVE):
                short.add(number)
                continue
            found.take(entry)
            found.read[number] = place + 1
            found.latest = max(found.latest, self._logs[number].times[place])
            since += 1
            if since >= self._gap:
                since = 0
                self._keep(found)
        return found

    def _lines(self, number: int, first: int, end: int) -> Iterator[tuple[int, int, Entry]]:
        log = self._logs[number]
        for begin in range(first, end, BLOCK):
            for place, entry in enumerate(log.read(begin, min(begin + BLOCK, end)), start=begin):
                yield number, place, entry

    def _is_read(self, found: Holdings, message: int) -> bool:
        """Whether the line that sent a message is read already, or is in no log at all."""
        names = len(self._system.names)
        number = min(message % names, len(self._system.processes))
        log = self._logs.get(number)
        return log is None or found.read.get(number, 0) > log.line_of(message // names + 1)

    def _keep(self, found: Holdings) -> None:
        if found.latest > self._kept[-1].latest:
            self._kept.append(found.copy())
        if len(self._kept) > MOST_KEPT:
            self._kept, self._gap = self._kept[::2], 2 * self._gap


def _order(line: tuple[int, int, Entry]) -> tuple[int, int]:
    """The place of a line by Lamport's clock: happened-before allows this order."""
    return line[2].clock, line[2].actor
