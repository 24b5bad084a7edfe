"""The figures for the costs of a run's snapshots: the name of each, a sentence on it, and its form in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sim.core.notation import captions
from sim.explain.words import counted, listing
from sim.run.costs import Costs, InFlight, Lateness, all_costs, lateness, mean_recovery_time
from sim.run.execution import Execution

TIME, COUNT, BYTES = "time units", "", "bytes"
NONE = "–"  # the text of a figure without a value


class Measured(NamedTuple):
    """The measurements of a run: the costs of its snapshots, the lateness of messages, the mean time to recover.

    `late` is None if there is no run to compare with, `recovery` if nothing recovers.
    """

    costs: Costs
    late: Lateness | None
    recovery: float | None


class Figure(NamedTuple):
    """A figure: its `name` in data, its `title`, a `sentence` on it, and its `unit`: TIME, COUNT or BYTES.

    `of` returns its value (None: there is none), and `more` a note beside it ("": nothing). `is_flinks`: the title is
    that of a column in which Apache Flink shows a checkpoint.
    """

    name: str
    title: str
    sentence: str
    unit: str
    of: Callable[[Measured], float | None]
    more: Callable[[Measured], str] = lambda own: ""
    is_flinks: bool = False


def measured(execution: Execution, without: Execution | None) -> Measured:
    """The costs of all snapshots of a run together. `without` is the same run without them, if there is one."""
    late = None if without is None else lateness(execution, without)
    return Measured(all_costs(execution), late, mean_recovery_time(execution))


def read(figure: Figure, own: Measured) -> str:
    """The value of a figure as a text: `4.5`, `1,050`."""
    value = figure.of(own)
    return NONE if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def read_with_unit(figure: Figure, own: Measured) -> str:
    """The same with its unit and its note: `5 time units (p1 and p2)`."""
    value = figure.of(own)
    if value is None:
        return NONE
    unit = figure.unit.removesuffix("s") if value == 1 else figure.unit
    more = figure.more(own)
    return " ".join(part for part in (read(figure, own), unit, more and f"({more})") if part)


def _where(lengths: Mapping[str, float], processes: tuple[str, ...]) -> str:
    """`C12 3, C32 1.5`; of many only their number and the longest time."""
    if len(lengths) > 6:
        longest = max(lengths, key=lengths.__getitem__)
        return f"{len(lengths)} in all, at most {lengths[longest]:g}"
    called = captions(processes, [name for name in lengths if "->" in name])
    return ", ".join(f"{called.get(name, name)} {length:g}" for name, length in lengths.items())


def _blocked(own: Measured) -> str:
    processes = tuple(own.costs.parts)
    parts = [
        f"{what}: {_where(lengths, processes)}"
        for what, lengths in (("blocked", own.costs.blocked), ("paused", own.costs.paused))
        if lengths
    ]
    return "; ".join(parts)


def _messages(own: InFlight) -> str:
    return counted(own.messages, "message") if own.messages else ""


def _slowest(own: Measured) -> str:
    """The processes that hear of the snapshot last."""
    last = own.costs.start_delay
    names = [name for name, part in own.costs.parts.items() if part.start_delay == last]
    return listing(names) if last and names else ""


def _longest_alignment(own: Measured) -> str:
    longest = own.costs.alignment
    names = [name for name, part in own.costs.parts.items() if part.alignment == longest]
    return listing(names) if longest and names else ""


FIGURES = (
    Figure(
        "duration", "End-to-end duration",
        "From the beginning of the snapshot until every process has done its part. If snapshots are stored: until the "
        "manifest is written.",
        TIME, lambda own: own.costs.duration, is_flinks=True,
    ),
    Figure(
        "start_delay", "Start delay",
        "From the beginning of the snapshot until the last process hears of it, by a marker or a control message.",
        TIME, lambda own: own.costs.start_delay, _slowest, is_flinks=True,
    ),
    Figure(
        "alignment", "Alignment duration",
        "From the moment when a process hears of the snapshot until its part is done. The slowest process counts.",
        TIME, lambda own: own.costs.alignment, _longest_alignment, is_flinks=True,
    ),
    Figure(
        "blocked_time", "Blocked time",
        "The time for which the snapshot blocked channels and paused processes, added up.",
        TIME, lambda own: own.costs.blocked_time, _blocked,
    ),
    Figure(
        "processed_bytes", "Processed in-flight data",
        "The messages that processes received after they heard of the snapshot and before their part was done.",
        BYTES, lambda own: own.costs.processed.bytes, lambda own: _messages(own.costs.processed), is_flinks=True,
    ),
    Figure(
        "persisted_bytes", "Persisted in-flight data",
        "The messages in the recorded states of channels.",
        BYTES, lambda own: own.costs.persisted.bytes, lambda own: _messages(own.costs.persisted), is_flinks=True,
    ),
    Figure(
        "stored_bytes", "Checkpointed data size",
        "The size of the recorded states and messages. With a storage: the size of everything that its manifest names.",
        BYTES, lambda own: own.costs.stored, is_flinks=True,
    ),
    Figure(
        "markers", "Markers", "The markers, or barriers, that were sent for the snapshot.",
        COUNT, lambda own: own.costs.markers,
    ),
    Figure(
        "control_messages", "Control messages",
        "The messages about the snapshot between processes, the coordinator and the storage.",
        COUNT, lambda own: own.costs.controls,
    ),
    Figure(
        "delayed", "Messages delayed",
        "The average time by which application messages came later than in the same run without a snapshot.",
        TIME, lambda own: own.late and own.late.mean,
        lambda own: f"at most {own.late.most:g}" if own.late and own.late.most else "",
    ),
    Figure(
        "recovery_time", "Time to recover",
        "From a crash until the last process has gone back to the snapshot. A scenario without a recovery has none.",
        TIME, lambda own: own.recovery,
    ),
)  # fmt: skip
