"""What the documents claim of four algorithms, and whether what was measured agrees.

The claims are those of the table "Technical Trade-offs & Strategic Compromises" in the description of the system. A
judge looks at the measured values only, and its remark says what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.ensembles.tradeoff_grids import BEHIND_A_SOURCE
from pipeline.ensembles.tradeoffs import Measured, Table
from sim.core.algorithm import ALGORITHMS
from sim.explain.words import counted, listing

HOLDS, DEPENDS, REFUTED = "holds", "depends", "does not hold"
LATENCY, MEMORY, NETWORK, TOPOLOGY, RECOVERY = "latency", "memory", "network", "topology", "recovery"

# The columns of the documents' table, by our names.
COLUMNS: Mapping[str, str] = {
    LATENCY: "Latency impact", MEMORY: "Memory overhead", NETWORK: "Network overhead",
    TOPOLOGY: "Topology constraint", RECOVERY: "Recovery complexity",
}  # fmt: skip
# Its rows, by our algorithms.
METHODS: Mapping[str, str] = {
    "stop_the_world": "Synchronous Stop-The-World", "chandy_lamport": "Standard Chandy-Lamport",
    "aligned_barriers": "Asynchronous Barrier (Flink ABS)", "copy_on_write": "Redis RDB (Copy-on-Write)",
}  # fmt: skip


class Judged(NamedTuple):
    """Whether a claim HOLDS, DEPENDS on something or is REFUTED, and a remark: what the measured values say."""

    verdict: str
    remark: str


class Claim(NamedTuple):
    """What the documents say in one cell of their table, and who judges it."""

    text: str
    judge: Callable[[Table, Measured], Judged]


def said(value: float) -> str:
    """A measured value as it is read: two digits, and all digits before the point: `0.014`, `4.6`, `1,235`."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def delay_in_words(text: str) -> str:
    """A delay of a grid as it is read: `1 to 9` for `uniform:1:9`."""
    kind, _, ends = text.partition(":")
    ends = ends.replace(":", " to ")
    plain = {parameter_values.SAME: "as long as messages", "fixed": ends, "uniform": ends}
    return plain.get(kind, f"{ends} on average" if kind == "exponential" else f"{kind} {ends}")


def times(value: float) -> str:
    """A length of time: `1 time unit`, `4.6 time units`."""
    return f"{said(value)} time unit{'' if value == 1 else 's'}"


def _value(own: Measured, column: str) -> float:
    return own.median(column) or 0.0


def _most(own: Measured, column: str) -> float:
    return own.figures[column].most if column in own.figures else 0.0


def _title(name: str) -> str:
    return ALGORITHMS[name].title


# ------------------------------------------------------------------ latency


def _later(own: Measured) -> str:
    return f"{said(_value(own, 'delayed'))} later on average, at most {said(_most(own, 'delayed_most'))}"


def pauses_cluster(table: Table, own: Measured) -> Judged:
    """Everything stands still, and nobody delays messages more."""
    if not _value(own, "blocked_time"):
        return Judged(REFUTED, "Nothing stood still.")
    delays = {group.marker_delay: group.medians["delayed"] for group in own.groups}
    slower = [
        (name, group.marker_delay, group.medians["delayed"])
        for name, other in table.rows.items()
        for group in other.groups
        if group.medians.get("delayed", 0.0) > delays.get(group.marker_delay, math.inf)
    ]
    if slower:
        name, markers, delayed = max(slower, key=lambda found: found[2])
        return Judged(
            DEPENDS,
            f"The cluster stood still. But where markers take {delay_in_words(markers)}, {_title(name)} delayed "
            f"messages by {said(delayed)} on average, and this by {said(delays[markers])}.",
        )
    return Judged(HOLDS, "")


def low_without_pause(table: Table, own: Measured) -> Judged:
    """Nothing stands still, and no message comes later."""
    blocked = _value(own, "blocked_time")
    if blocked:
        return Judged(
            REFUTED,
            f"It is not pause-free: channels were blocked for {times(blocked)} in all, and what came meanwhile waited.",
        )
    if _most(own, "delayed_most"):
        by_delay = ", ".join(
            f"{said(group.medians['delayed'])} where markers take {delay_in_words(group.marker_delay)}"
            for group in own.groups
            if group.medians.get("delayed")
        )
        return Judged(
            DEPENDS,
            "Nothing stood still. But a late marker holds back the messages behind it on its FIFO channel: they came "
            f"later by {by_delay or said(_value(own, 'delayed'))} on average, at most by "
            f"{said(_most(own, 'delayed_most'))}.",
        )
    return Judged(HOLDS, "")


def minimal_latency(table: Table, own: Measured) -> Judged:
    """The process goes on at once."""
    if _value(own, "blocked_time") or _most(own, "delayed_most"):
        return Judged(REFUTED, f"Messages came {_later(own)}.")
    return Judged(HOLDS, "A fork takes no time here. A real one stops the process while it copies the page table.")


# ------------------------------------------------------------------ memory


def no_memory(table: Table, own: Measured) -> Judged:
    """Nothing is buffered, and nothing is kept."""
    if _most(own, "recorded_messages"):
        return Judged(REFUTED, f"It recorded {said(_value(own, 'recorded_messages'))} messages.")
    states = _value(own, "state_bytes")
    if states:
        return Judged(
            DEPENDS,
            "No message was buffered, since every channel was empty. But the recorded states are kept until they are "
            f"stored, as with every algorithm: {said(states)} bytes.",
        )
    return Judged(HOLDS, "")


def high_memory(table: Table, own: Measured) -> Judged:
    """More messages are buffered than by any other algorithm of the documents."""
    recorded = _value(own, "recorded_messages")
    others = {name: _value(table.rows[name], "recorded_messages") for name in METHODS if name in table.rows}
    more = [name for name, value in others.items() if name != own.algorithm and value >= recorded]
    if not recorded or more:
        beside = f", and {_title(more[0])} {said(others[more[0]])}" if more else ""
        return Judged(REFUTED, f"It recorded {said(recorded)} messages{beside}.")
    return Judged(HOLDS, "")


def minimal_memory(table: Table, own: Measured) -> Judged:
    """Nothing is recorded, and nothing waits."""
    if _value(own, "recorded_messages"):
        return Judged(REFUTED, f"It recorded {said(_value(own, 'recorded_messages'))} messages.")
    circle = own.tried.get(BEHIND_A_SOURCE)
    parts = []
    if _value(own, "delayed_messages"):
        waiting = counted(int(_value(own, "delayed_messages")), "message")
        parts.append(f"{waiting} came later because of the blocked channels, and wait in buffers meanwhile")
    if circle is not None and circle.recorded:
        recorded = counted(int(circle.recorded), "message")
        parts.append(f"on a {BEHIND_A_SOURCE}, which has a circle, it recorded {recorded}")
    if parts:
        return Judged(DEPENDS, f"No message was recorded on a {own.on}. But {'; and '.join(parts)}.")
    return Judged(HOLDS, "")


def grows_with_writes(table: Table, own: Measured) -> Judged:
    """The more is written, the more pages are copied."""
    groups = sorted(own.groups, key=lambda group: group.pace)
    copied = [group.medians.get("copied_pages", 0.0) for group in groups]
    if len(copied) > 1 and copied[0] > copied[-1]:
        return Judged(HOLDS, "")
    return Judged(REFUTED, f"It copied {listing([said(each) for each in copied])} pages, however often it wrote.")


# ------------------------------------------------------------------ network


def messages_of(own: Measured) -> float:
    """Markers and control messages of a snapshot."""
    return _value(own, "markers") + _value(own, "control_messages")


def _marker_standard(table: Table) -> Measured | None:
    return table.rows.get("chandy_lamport")


def low_network(table: Table, own: Measured) -> Judged:
    """Fewer messages than those of Chandy and Lamport, which the documents call medium."""
    standard = _marker_standard(table)
    if standard is None or messages_of(own) < messages_of(standard):
        return Judged(HOLDS, "")
    mine, theirs = messages_of(own), messages_of(standard)
    if mine == theirs and _value(own, "control_bytes") == _value(standard, "control_bytes"):
        same = f"{counted(int(mine), 'message')}, one on each channel"
        return Judged(REFUTED, f"It sent as many as {_title('chandy_lamport')}, which they call medium: {same}.")
    return Judged(
        REFUTED,
        f"It sent {said(mine)} messages of {said(_value(own, 'control_bytes'))} bytes, and {_title('chandy_lamport')}, "
        f"which they call medium, {said(theirs)} of {said(_value(standard, 'control_bytes'))}.",
    )


def medium_network(table: Table, own: Measured) -> Judged:
    """Some other algorithm sends less, and some other sends more."""
    others = [messages_of(row) for name, row in table.rows.items() if name != own.algorithm]
    mine = messages_of(own)
    if others and min(others) < mine < max(others):
        return Judged(HOLDS, "")
    return Judged(REFUTED, f"It sent {said(mine)} messages; the others sent {said(min(others, default=0.0))} and more.")


# ------------------------------------------------------------------ topology


def _right_on(own: Measured) -> list[str]:
    return [name for name, tried in own.tried.items() if tried.runs and tried.right == tried.runs]


def no_constraint(table: Table, own: Measured) -> Judged:
    """It runs on every topology."""
    wrong = [name for name in own.tried if name not in _right_on(own)]
    return Judged(REFUTED, f"It did not run on {listing(wrong)}.") if wrong else Judged(HOLDS, "")


def full_mesh(table: Table, own: Measured) -> Judged:
    """It runs on complete graphs only, and needs FIFO channels."""
    others = [name for name in _right_on(own) if name != "complete"]
    if not others:
        return Judged(HOLDS, "")
    fifo = "It does need FIFO channels." if own.needs_fifo else "Nor does it need FIFO channels."
    runs = sum(own.tried[name].runs for name in others)
    return Judged(REFUTED, f"No full mesh is needed: all {runs:,} runs on {listing(others)} were right. {fifo}")


def without_circles(table: Table, own: Measured) -> Judged:
    """It runs on graphs without circles only."""
    circle = own.tried.get(BEHIND_A_SOURCE)
    if circle is None or not circle.right:
        return Judged(HOLDS, "")
    return Judged(
        DEPENDS,
        f"It needs a source, a process without incoming channels. A circle behind one is no obstacle: "
        f"{circle.right} of {circle.runs} runs on a {BEHIND_A_SOURCE} were right, with "
        f"{counted(int(circle.recorded), 'message')} recorded.",
    )


def one_process(table: Table, own: Measured) -> Judged:
    """Of several processes the copies are no consistent cut."""
    runs = sum(tried.runs for tried in own.tried.values())
    consistent = sum(tried.consistent for tried in own.tried.values())
    told = f"On several processes, the copies were a consistent cut in {consistent:,} of {runs:,} runs."
    return Judged(REFUTED if consistent == runs else HOLDS, told)


# ------------------------------------------------------------------ recovery


def low_recovery(table: Table, own: Measured) -> Judged:
    """Only states have to be restored: there is nothing to put back into channels."""
    to_put_back = own.median("put_back") or _value(own, "recorded_messages")
    if to_put_back:
        return Judged(REFUTED, f"There were {said(to_put_back)} messages to put back into channels.")
    why = "No recovery was carried out with it; what it recorded has nothing to put back." if own.no_recovery else ""
    return Judged(HOLDS, why)


def medium_recovery(table: Table, own: Measured) -> Judged:
    """Beside the states, messages have to be put back."""
    if _most(own, "put_back"):
        return Judged(HOLDS, "")
    circle = own.tried.get(BEHIND_A_SOURCE)
    only = f" On a {BEHIND_A_SOURCE} there would be: it recorded {counted(int(circle.recorded), 'message')}." if (
        circle and circle.recorded) else ""  # fmt: skip
    return Judged(
        DEPENDS if only else REFUTED,
        "Nothing had to be put back into channels: the states were enough, as after stop-the-world, which they call "
        f"low.{only}",
    )


CLAIMS: Mapping[tuple[str, str], Claim] = {
    ("stop_the_world", LATENCY): Claim("Catastrophic (Pauses cluster)", pauses_cluster),
    ("stop_the_world", MEMORY): Claim("Zero", no_memory),
    ("stop_the_world", NETWORK): Claim("Low", low_network),
    ("stop_the_world", TOPOLOGY): Claim("None", no_constraint),
    ("stop_the_world", RECOVERY): Claim("Low", low_recovery),
    ("chandy_lamport", LATENCY): Claim("Low (Zero-Pause)", low_without_pause),
    ("chandy_lamport", MEMORY): Claim("High (Buffers in-flight channels)", high_memory),
    ("chandy_lamport", NETWORK): Claim("Medium", medium_network),
    ("chandy_lamport", TOPOLOGY): Claim("Fully Connected FIFO", full_mesh),
    ("chandy_lamport", RECOVERY): Claim("Medium", medium_recovery),
    ("aligned_barriers", LATENCY): Claim("Low (Zero-Pause)", low_without_pause),
    ("aligned_barriers", MEMORY): Claim("Minimal (Uses backpressure)", minimal_memory),
    ("aligned_barriers", NETWORK): Claim("Low", low_network),
    ("aligned_barriers", TOPOLOGY): Claim("Directed Acyclic Graph (DAG)", without_circles),
    ("aligned_barriers", RECOVERY): Claim("Medium", medium_recovery),
    ("copy_on_write", LATENCY): Claim("Minimal (Uses OS fork)", minimal_latency),
    ("copy_on_write", MEMORY): Claim("Medium (Increases during writes)", grows_with_writes),
    ("copy_on_write", NETWORK): Claim("Low", low_network),
    ("copy_on_write", TOPOLOGY): Claim("Single Node", one_process),
    ("copy_on_write", RECOVERY): Claim("Low", low_recovery),
}
