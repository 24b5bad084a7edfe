"""The figures that say what the snapshots of a run cost: the name of each, one sentence on it, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sim.core.notation import captions
from sim.explain.words import counted, listing
from sim.run.costs import Costs, InFlight, Lateness, all_costs, lateness, mean_recovery_time
from sim.run.execution import Execution

TIME, COUNT, BYTES = "time units", "", "bytes"
NONE = "–"  # what is read where there is no value


class Measured(NamedTuple):
    """What was measured of a run: the costs of its snapshots, how late messages were, how long recoveries took.

    `late` is None where there is no run to compare with, `recovery` where nothing recovers.
    """

    costs: Costs
    late: Lateness | None
    recovery: float | None


class Figure(NamedTuple):
    """A figure: its `name` in data, its `title`, a `sentence` on it, and its `unit`: TIME, COUNT or BYTES.

    `of` gives its value (None: there is none), and `more` what is read beside it ("": nothing). `is_flinks`: the title
    is that of a column in which Apache Flink shows a checkpoint.
    """

    name: str
    title: str
    sentence: str
    unit: str
    of: Callable[[Measured], float | None]
    more: Callable[[Measured], str] = lambda own: ""
    is_flinks: bool = False


def measured(execution: Execution, without: Execution | None) -> Measured:
    """What the snapshots of a run cost, all together. `without` is the same run without them, if there is one."""
    late = None if without is None else lateness(execution, without)
    return Measured(all_costs(execution), late, mean_recovery_time(execution))


def read(figure: Figure, own: Measured) -> str:
    """The value of a figure as it is read: `4.5`, `1,050`."""
    value = figure.of(own)
    return NONE if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def read_with_unit(figure: Figure, own: Measured) -> str:
    """The same with its unit, and what is read beside it: `5 time units (p1 and p2)`."""
    value = figure.of(own)
    if value is None:
        return NONE
    unit = figure.unit.removesuffix("s") if value == 1 else figure.unit
    more = figure.more(own)
    return " ".join(part for part in (read(figure, own), unit, more and f"({more})") if part)


def _where(lengths: Mapping[str, float], processes: tuple[str, ...]) -> str:
    """`C12 3, C32 1.5`; of many the number and the longest."""
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
    """Who hears of the snapshot last."""
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
        "From the beginning of the snapshot until every process has done its part; where snapshots are stored, until "
        "the manifest is written.",
        TIME, lambda own: own.costs.duration, is_flinks=True,
    ),
    Figure(
        "start_delay", "Start delay",
        "From the beginning of the snapshot until the last process hears of it, by a marker or a control message.",
        TIME, lambda own: own.costs.start_delay, _slowest, is_flinks=True,
    ),
    Figure(
        "alignment", "Alignment duration",
        "From the moment when a process hears of the snapshot until its part is done; that of the slowest process.",
        TIME, lambda own: own.costs.alignment, _longest_alignment, is_flinks=True,
    ),
    Figure(
        "blocked_time", "Blocked time",
        "How long channels brought nothing, and processes stood still, for the snapshot. It is added up.",
        TIME, lambda own: own.costs.blocked_time, _blocked,
    ),
    Figure(
        "processed_bytes", "Processed in-flight data",
        "What processes received between the moment when they heard of the snapshot and the end of their part.",
        BYTES, lambda own: own.costs.processed.bytes, lambda own: _messages(own.costs.processed), is_flinks=True,
    ),
    Figure(
        "persisted_bytes", "Persisted in-flight data",
        "The messages that are in the recorded states of channels.",
        BYTES, lambda own: own.costs.persisted.bytes, lambda own: _messages(own.costs.persisted), is_flinks=True,
    ),
    Figure(
        "stored_bytes", "Checkpointed data size",
        "What has to be stored: the recorded states and messages; where there is a storage, what its manifest names.",
        BYTES, lambda own: own.costs.stored, is_flinks=True,
    ),
    Figure(
        "markers", "Markers", "The markers, or barriers, that were sent for the snapshot.",
        COUNT, lambda own: own.costs.markers,
    ),
    Figure(
        "control_messages", "Control messages",
        "What a coordinator, a storage and the processes told each other about the snapshot.",
        COUNT, lambda own: own.costs.controls,
    ),
    Figure(
        "delayed", "Messages delayed",
        "How much later application messages came than in the same run without a snapshot, on average.",
        TIME, lambda own: own.late and own.late.mean,
        lambda own: f"at most {own.late.most:g}" if own.late and own.late.most else "",
    ),
    Figure(
        "recovery_time", "Time to recover",
        "From a crash until the last process has gone back to the snapshot. A scenario without a recovery has none.",
        TIME, lambda own: own.recovery,
    ),
)  # fmt: skip
