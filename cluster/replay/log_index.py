"""The index of one event log, which grows with it: the time, the place and the last message of each line."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from pathlib import Path

from cluster.node.event_log import Entry

MOST_AT_ONCE = 32_000_000  # bytes of a log that are read in one look


class LogIndex:
    """The lines of one log, by their number. Times are in time units, as in the log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.times = array("d")
        self.sent = array("q")
        self._begins = array("q")  # where each line begins
        self._end = 0  # of the last complete line

    @property
    def size(self) -> int:
        """The number of bytes in complete lines."""
        return self._end

    def look(self) -> list[bytes]:
        """Read and return the complete lines that have come since the last look."""
        with self._path.open("rb") as file:
            file.seek(self._end)
            content = file.read(MOST_AT_ONCE)
        lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
        for line in lines:
            time = float(line.split(b",", 2)[1])
            self.times.append(max(time, self.times[-1] if self.times else time))  # a clock may be set back
            self.sent.append(int(line[line.rfind(b",") + 1 : -2]))
            self._begins.append(self._end)
            self._end += len(line)
        return lines

    def line_of(self, sent: int) -> int:
        """The number of the line that sent message number `sent` of its writer; past the last line if none has."""
        return bisect_left(self.sent, sent)

    def read(self, first: int, last: int) -> list[Entry]:
        """The lines `first` to `last` - 1."""
        if first >= last:
            return []
        end = self._begins[last] if last < len(self._begins) else self._end
        with self._path.open("rb") as file:
            file.seek(self._begins[first])
            content = file.read(end - self._begins[first])
        return [Entry(*json.loads(line)) for line in content.splitlines()]
