"""The measures of a snapshot and the dimensions in which runs of an ensemble differ, with the words of charts.

Rows are plain mappings. A *run row* is a row of the table of runs. A *cell row* is a row of the summary of cells, with
the quantiles of each measure (`latency_10`, `latency_50`, ...).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.core.algorithm import ALGORITHMS

Row = Mapping[str, Any]
Rows = Sequence[Row]


class Measure(NamedTuple):
    """A measure: its column, a short name, a long one, and its unit."""

    column: str
    name: str
    words: str
    unit: str

    @property
    def title(self) -> str:
        """The title of its axis."""
        return f"{self.words} ({self.unit})" if self.unit else self.words


MEASURES = {
    measure.column: measure
    for measure in (
        Measure("latency", "Time taken", "Time from the first recording to the last channel closed", "time units"),
        Measure("recorded_messages", "Messages recorded", "Messages recorded in the channels", ""),
        Measure("recorded_bytes", "Bytes recorded", "Size of the messages recorded in the channels", "bytes"),
        Measure("markers", "Markers", "Markers sent", ""),
        Measure("in_flight_peak", "Most in transit", "Most messages in transit at one moment", ""),
        Measure("events", "Events", "Events of the application", ""),
        Measure("faults", "Faults", "Faults: crashes, restarts, channels severed or mended", ""),
        Measure("lost", "Messages lost", "Messages lost, of any kind", ""),
        Measure("refusals", "Uploads refused", "Uploads that the storage refused (503)", ""),
        Measure("commit_latency", "Time to commit", "Time from the first recording to the manifest", "time units"),
        Measure("stored_bytes", "Bytes stored", "Size of a snapshot in the storage", "bytes"),
        Measure("recoveries", "Recoveries", "Number of times that the system restored a snapshot", ""),
        Measure("recovery_time", "Time to recover", "Time from a crash to the last process restored", "time units"),
        Measure("rolled_back", "Events rolled back", "Events of the application that recoveries took back", ""),
        Measure("put_back", "Messages put back", "Messages that recoveries put back into their channels", ""),
        Measure(
            "end_to_end", "End-to-end duration", "Time from the beginning of the snapshot to its end", "time units"
        ),
        Measure("start_delay", "Start delay", "Time until the last process hears of the snapshot", "time units"),
        Measure("alignment", "Alignment duration", "Time that the slowest process takes for its part", "time units"),
        Measure(
            "blocked_time", "Blocked time", "Time for which channels and processes stood still, in sum", "time units"
        ),
        Measure("delayed", "Delay of messages", "Mean delay of a message by the snapshot", "time units"),
        Measure("delayed_most", "Longest delay", "Longest delay of a message by the snapshot", "time units"),
        Measure("delayed_messages", "Messages delayed", "Messages that arrive later than without the snapshot", ""),
        Measure("processed_bytes", "Bytes processed", "Size of the messages received before a part was done", "bytes"),
        Measure("control_messages", "Control messages", "Control messages sent", ""),
        Measure("control_bytes", "Bytes of markers", "Size of markers and control messages", "bytes"),
        Measure("stamp_bytes", "Bytes of stamps", "Size of the stamps that the algorithm puts on messages", "bytes"),
        Measure("copied_pages", "Pages copied", "Pages of the state that had to be copied", ""),
        Measure("state_bytes", "Bytes of states", "Size of the recorded states", "bytes"),
        Measure("duration", "Length of the run", "Time from the start to the last step", "time units"),
    )
}


def measured(cells: Rows) -> list[Measure]:
    """The measures of which some cell has a value, such as those of a storage; all of them if no cell has any."""
    found = [own for own in MEASURES.values() if any(row.get(f"{own.column}_50") is not None for row in cells)]
    return found or list(MEASURES.values())


def delay_words(text: str | None) -> str:
    """A delay as an axis writes it: `1 to 9` for `uniform:1:9`."""
    kind, _, ends = (text or "same").partition(":")
    ends = ends.replace(":", " to ")
    return {"fixed": ends, "uniform": ends, "same": "as messages"}.get(kind, f"{kind} {ends}".strip())


@dataclass(frozen=True)
class Dimension:
    """A dimension in which runs may differ: its column, and `position`, the column of numbers that scales its axis."""

    column: str
    name: str
    title: str
    position: str | None = None

    def value(self, row: Row) -> Any:
        """The value of `row`."""
        return row.get(self.column)

    def label(self, row: Row) -> str:
        """The value of `row` as an axis or a menu writes it."""
        value = self.value(row)
        if self.column == "algorithm" and value in ALGORITHMS:
            return ALGORITHMS[value].title or str(value)
        if self.column in ("delay", "marker_delay"):
            return delay_words(value)
        if self.column == "fifo":
            return "FIFO" if value else "not FIFO"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def place(self, row: Row) -> float | None:
        """The coordinate of `row` on an axis of numbers; None if it has none."""
        found = row.get(self.position) if self.position else None
        return float(found) if isinstance(found, int | float) else None


DIMENSIONS = (
    Dimension("processes", "processes", "Processes", "processes"),
    Dimension("marker_delay", "delay of markers", "Mean delay of a marker (time units)", "mean_marker_delay"),
    Dimension("delay", "delay of messages", "Mean delay of a message (time units)", "mean_delay"),
    Dimension("topology", "topology", "Topology"),
    Dimension("algorithm", "algorithm", "Algorithm"),
    Dimension("fifo", "channels", "Channels"),
    Dimension("crash", "crashes", "Crashes of a process per time unit", "crash"),
    Dimension("restart", "restarts", "Restarts of a process that is down, per time unit", "restart"),
    Dimension("sever", "severed", "Rate at which channels are severed, per time unit", "sever"),
    Dimension("mend", "mended", "Rate at which severed channels are mended, per time unit", "mend"),
    Dimension("lose", "messages lost", "Share of the messages that the network loses", "lose"),
    Dimension("copy", "messages copied", "Share of the messages that the network copies", "copy"),
    Dimension("faults_until", "faults until", "Time after which no fault happens", "faults_until"),
    Dimension("storage_bandwidth", "bandwidth", "Bytes that the storage takes per time unit", "storage_bandwidth"),
    Dimension("storage_limit", "uploads at a time", "Uploads that the storage takes at a time", "storage_limit"),
    Dimension("storage_jitter", "jitter", "Longest random wait before an upload (time units)", "storage_jitter"),
    Dimension("checkpoint_interval", "interval", "Time from snapshot to snapshot (time units)", "checkpoint_interval"),
    Dimension("initiators", "initiators", "Processes that start the snapshot", "initiators"),
)
OF_WORKLOAD = "parameter "  # begins the name of a column that holds a parameter of the workload


def with_parameters(rows: Rows) -> list[dict[str, Any]]:
    """Copies of the rows, with a column for each parameter of the workload."""
    found = []
    for row in rows:
        parameters = json.loads(row.get("parameters") or "{}")
        found.append({**row, **{OF_WORKLOAD + name: _plain(value) for name, value in parameters.items()}})
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else json.dumps(value, ensure_ascii=False)


def varying(rows: Rows) -> list[Dimension]:
    """The dimensions in which rows (with parameters) differ, the most important first.

    A dimension that follows from another is left out: the transfers of each process may follow from their number.
    """
    columns = dict.fromkeys(column for row in rows for column in row if column.startswith(OF_WORKLOAD))
    own = tuple(_parameter(column, rows) for column in columns)
    found: list[Dimension] = []
    for dimension in DIMENSIONS + own:
        is_new = not any(_follows(dimension, other, rows) for other in found)
        if is_new and len({dimension.value(row) for row in rows}) > 1:
            found.append(dimension)
    return found


def _follows(dimension: Dimension, other: Dimension, rows: Rows) -> bool:
    """Whether each value of `other` goes with one value of `dimension`."""
    pairs = {(other.value(row), dimension.value(row)) for row in rows}
    return len(pairs) == len({value for value, _ in pairs})


def _parameter(column: str, rows: Rows) -> Dimension:
    name = column.removeprefix(OF_WORKLOAD)
    numbers = all(isinstance(row.get(column), int | float) for row in rows)
    return Dimension(column, name, name.replace("_", " ").capitalize(), column if numbers else None)


def values(dimension: Dimension, rows: Rows) -> dict[Any, str]:
    """The values of the rows in a dimension, with their labels, by size or in order of appearance."""
    found: dict[Any, Row] = {}
    for row in rows:
        found.setdefault(dimension.value(row), row)
    if all(dimension.place(row) is not None for row in found.values()):
        found = dict(sorted(found.items(), key=lambda item: dimension.place(item[1]) or 0.0))
    return {value: dimension.label(row) for value, row in found.items()}


def alike(rows: Rows, held: Mapping[Dimension, Any]) -> list[Row]:
    """The rows with the given values."""
    return [row for row in rows if all(dimension.value(row) == value for dimension, value in held.items())]
