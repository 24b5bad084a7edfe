"""An index of the event logs of a run, which grows with them: any segment of the run can be read at once.

The index keeps the time of each line, its place in the file and the number of the last message. So a long run takes
little memory. The few lines about snapshots, faults and recoveries are kept in full.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from cluster.node.event_log import Entry
from cluster.node.system import System
from cluster.replay.holdings import Ledger
from cluster.replay.log_index import LogIndex
from sim.core.model import (
    COMMITTED,
    CONTROL_SEND,
    CRASH,
    DECISION,
    DOWN,
    FROZEN,
    JOIN,
    LEAVE,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    RECOVERY,
    RESTORE,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    THAWED,
    UP,
)

MARKS = frozenset({
    RECORD, SNAPSHOT_COMPLETE, SNAPSHOT_ABORTED, DECISION, COMMITTED, CRASH, RECOVERY, RESTORE, DOWN, UP, JOIN, LEAVE,
    FROZEN, THAWED,
})  # fmt: skip
SENDS = frozenset({SEND, MARKER_SEND, CONTROL_SEND})
MOST_MARKS = 20_000  # lines that are kept in full; older ones are forgotten
MOST_TIMED = 20  # messages of a look whose latency is measured
_MARK_WORDS = tuple(f'"{kind}",'.encode() for kind in sorted(MARKS))
_RECEIVE_WORD = f'"{RECEIVE}",'.encode()


class Follower:
    """The logs in `folder` of the run of a system, as they grow.

    `receipts` counts the messages received in each second of the run. `latencies` has the seconds that some of them
    took. `marks` are the lines about snapshots, faults and recoveries, in the order in which they were read. `ledger`
    has the holdings at any moment.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self.folder, self.system, self.unit = folder, system, system.unit
        self.logs: dict[int, LogIndex] = {}
        self.lines = 0
        self.marks: deque[Entry] = deque(maxlen=MOST_MARKS)
        self.receipts: Counter[int] = Counter()
        self.latencies: dict[int, list[float]] = {}
        self.ledger = Ledger(system, self.logs)

    @property
    def size(self) -> int:
        """The number of bytes that were read."""
        return sum(log.size for log in self.logs.values())

    @property
    def now(self) -> float:
        """The time of the last line, in seconds since the cluster began."""
        return max((log.times[-1] for log in self.logs.values() if log.times), default=0.0) * self.unit

    def look(self) -> bool:
        """Read the lines that have come since the last look. Returns whether there were any."""
        before = self.lines
        for number in range(len(self.system.processes) + 1):  # the last one is the controller's
            path = self.folder / f"{number}.log"
            if number not in self.logs and path.exists():
                self.logs[number] = LogIndex(path)
        receipts: list[bytes] = []
        for number in sorted(self.logs):  # the controller's last: what nodes do in a recovery comes after its beginning
            for line in self.logs[number].look():
                self.lines += 1
                if _RECEIVE_WORD in line:
                    self.receipts[int(float(line.split(b",", 2)[1]) * self.unit)] += 1
                    receipts.append(line)
                if any(word in line for word in _MARK_WORDS):
                    entry = Entry(*json.loads(line))
                    if any(row[2] in MARKS for row in entry.rows):
                        self.marks.append(entry)
        for line in receipts[:: len(receipts) // MOST_TIMED + 1]:
            self._note_latency(Entry(*json.loads(line)))
        return self.lines != before

    def _note_latency(self, entry: Entry) -> None:
        for row in entry.rows:
            send = self.sending(row[5]) if row[2] == RECEIVE else None
            if send is not None and send.time <= entry.time:
                took = (entry.time - send.time) * self.unit
                self.latencies.setdefault(int(entry.time * self.unit), []).append(took)

    def heard(self, process: str) -> float:
        """The time of the last line of a process, in seconds since the cluster began."""
        log = self.logs.get(self.system.processes.index(process))
        return log.times[-1] * self.unit if log is not None and log.times else 0.0

    def sending(self, message: int) -> Entry | None:
        """The line that sent a message (None: it has not been read). The id says which node (cluster/node/site.py)."""
        names = len(self.system.names)
        log = self.logs.get(min(message % names, len(self.system.processes)))
        number = message // names + 1
        if log is None:
            return None
        at = log.line_of(number)
        return log.read(at, at + 1)[0] if at < len(log.sent) else None

    def most_recent(self, begin: float, end: float, most: int) -> float:
        """The time, in seconds from `begin` on, from which about `most` lines at most lie before `end`."""
        low, high = begin, end
        if self._lines_between(begin, end) <= most:
            return begin
        for _ in range(30):
            middle = (low + high) / 2
            if self._lines_between(middle, end) > most:
                low = middle
            else:
                high = middle
        return high

    def _lines_between(self, begin: float, end: float) -> int:
        return sum(last - first for _, first, last in self._between(begin, end))

    def _between(self, begin: float, end: float) -> Iterator[tuple[LogIndex, int, int]]:
        for log in self.logs.values():
            yield log, bisect_left(log.times, begin / self.unit), bisect_right(log.times, end / self.unit)

    def entries(self, begin: float, end: float) -> list[Entry]:
        """The lines from `begin` to `end`, in seconds, by their time and in an order that happened-before allows."""
        return in_time(entry for log, first, last in self._between(begin, end) for entry in log.read(first, last))


def in_time(entries: Iterable[Entry]) -> list[Entry]:
    """Lines by their time, and in an order that happened-before allows.

    If a clock was set, a line gets a later time: no actor goes back in time, and no message arrives before it was sent.
    """
    latest: dict[int, float] = {}  # by actor
    sent: dict[int, float] = {}  # by message
    timed = []
    for entry in sorted(entries, key=lambda entry: (entry.clock, entry.actor)):
        known = [sent[row[5]] for row in entry.rows if row[5] in sent]
        at = max([entry.time, latest.get(entry.actor, entry.time), *known])
        latest[entry.actor] = at
        sent |= {row[5]: at for row in entry.rows if row[2] in SENDS}
        timed.append(entry._replace(time=at))
    return sorted(timed, key=lambda entry: (entry.time, entry.clock, entry.actor))
