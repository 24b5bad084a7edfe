"""Claims about four algorithms, checked against measured values.

The claims are those of the table "Technical Trade-offs & Strategic Compromises" in the description of the system. Each
claim is checked in every measured case, over all topologies and sizes. An algorithm is compared with others in the same
case only, since numbers on different topologies cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.tradeoffs.agreement import HOLDS, REFUTED, Judged, judged, said, spread, topologies
from pipeline.tradeoffs.cases import BEHIND_A_SOURCE, ONE_NODE, RECOVERY, SNAPSHOT
from pipeline.tradeoffs.table import Measured, Outcome, Table
from sim.core.algorithm import ALGORITHMS

LATENCY, MEMORY, NETWORK, TOPOLOGY, COMING_BACK = "latency", "memory", "network", "topology", "recovery"

# The columns of the table of claims, by our names.
COLUMNS: Mapping[str, str] = {
    LATENCY: "Latency impact", MEMORY: "Memory overhead", NETWORK: "Network overhead",
    TOPOLOGY: "Topology constraint", COMING_BACK: "Recovery complexity",
}  # fmt: skip
# Its rows, by our algorithms.
METHODS: Mapping[str, str] = {
    "stop_the_world": "Synchronous Stop-The-World", "chandy_lamport": "Standard Chandy-Lamport",
    "aligned_barriers": "Asynchronous Barrier (Flink ABS)", "copy_on_write": "Redis RDB (Copy-on-Write)",
}  # fmt: skip
STANDARD = "chandy_lamport"


class Claim(NamedTuple):
    """A claim in one cell of the table, and the function that checks it."""

    text: str
    judge: Callable[[Table, Measured], Judged]


def _value(own: Outcome, column: str) -> float:
    return own.median(column) or 0.0


def _spread(outcomes: list[Outcome], column: str) -> str:
    return spread([_value(own, column) for own in outcomes])


def _costs(own: Measured) -> list[Outcome]:
    """The cases without a crash."""
    return own.of_kind(SNAPSHOT, ONE_NODE)


def _beside(table: Table, own: Outcome, names: Iterable[str], but: str) -> list[Outcome]:
    """The outcomes of other algorithms in the same case."""
    found = (table.outcome(name, own.kind, own.setting) for name in names if name != but)
    return [other for other in found if other is not None]


# ------------------------------------------------------------------ latency


def pauses_cluster(table: Table, own: Measured) -> Judged:
    """Everything stands still, and no other algorithm delays messages more in the same case.

    Blocked times are not compared: they add up processes here and channels there.
    """
    outcomes = _costs(own)
    others = {
        each.setting: max((_value(other, "delayed") for other in _beside(table, each, table.rows, own.algorithm)),
                          default=0.0)
        for each in outcomes
    }  # fmt: skip
    return judged(
        outcomes,
        lambda own: _value(own, "blocked_time") > 0 and _value(own, "delayed") >= others[own.setting],
        lambda verdict: (
            f"Messages were late by {_spread(outcomes, 'delayed')} on average, and by at most "
            f"{said(max(others.values(), default=0.0))} with any other algorithm."
        ),
    )


def low_without_pause(table: Table, own: Measured) -> Judged:
    """Nothing stands still, and no message is late by more than the mean delay of a message."""
    rule = parameter_values.delay_rule(table.asked.delay)
    usual = (parameter_values.mean_delay(rule) if rule else None) or 0.0
    outcomes = _costs(own)

    def remark(verdict: str) -> str:
        blocked = [outcome for outcome in outcomes if _value(outcome, "blocked_time")]
        still = f"Channels were blocked on {topologies(blocked)}." if blocked else "Nothing stood still."
        late = f"Messages were late by at most {_spread(outcomes, 'delayed_most')}."
        return f"{still} {late} Low means up to {said(usual)}, the mean delay of a message."

    return judged(
        outcomes, lambda own: not _value(own, "blocked_time") and _value(own, "delayed_most") <= usual, remark
    )


def minimal_latency(table: Table, own: Measured) -> Judged:
    """The process goes on at once."""
    outcomes = _costs(own)

    def remark(verdict: str) -> str:
        if verdict == HOLDS:
            return "A fork takes no time here. A real one stops the process while it copies the page table."
        return f"Messages were late by at most {_spread(outcomes, 'delayed_most')}."

    return judged(outcomes, lambda own: not (_value(own, "blocked_time") or _value(own, "delayed_most")), remark)


# ------------------------------------------------------------------ memory


def no_memory(table: Table, own: Measured) -> Judged:
    """No message is buffered. Every algorithm keeps states."""
    outcomes = _costs(own)
    return judged(outcomes, lambda own: not _value(own, "recorded_messages"), lambda verdict: (
        "Every channel was empty. But like every algorithm it keeps the recorded states until they are stored: "
        f"{_spread(outcomes, 'state_bytes')} bytes." if verdict == HOLDS
        else f"It recorded {_spread(outcomes, 'recorded_messages')} messages."
    ))  # fmt: skip


def high_memory(table: Table, own: Measured) -> Judged:
    """More messages are buffered than by any other algorithm with claims in the same case."""
    outcomes = _costs(own)

    def holds(outcome: Outcome) -> bool:
        others = _beside(table, outcome, METHODS, own.algorithm)
        return _value(outcome, "recorded_messages") > max((_value(each, "recorded_messages") for each in others),
                                                          default=0.0)  # fmt: skip

    return judged(outcomes, holds, lambda verdict: (
        f"It recorded {_spread(outcomes, 'recorded_messages')} messages. High means more than the other three methods "
        "with claims record in the same case."
    ))  # fmt: skip


def minimal_memory(table: Table, own: Measured) -> Judged:
    """No message is recorded. The remark says how many wait."""
    outcomes = _costs(own)
    waiting = [outcome for outcome in outcomes if _value(outcome, "blocked_time")]
    return judged(outcomes, lambda own: not _value(own, "recorded_messages"), lambda verdict: (
        f"It recorded {_spread(outcomes, 'recorded_messages')} messages. On {topologies(waiting) or 'no topology'} "
        f"{_spread(waiting, 'delayed_messages')} messages were late: they wait in buffers before blocked channels."
    ))  # fmt: skip


def grows_with_writes(table: Table, own: Measured) -> Judged:
    """The more often the process writes, the more pages are copied."""
    outcomes = sorted(own.of_kind(ONE_NODE), key=lambda each: each.setting.pace)
    copied = [_value(each, "copied_pages") for each in outcomes]
    values = ", ".join(f"{said(pages)} with a write every {said(each.setting.pace)}"
                       for pages, each in zip(copied, outcomes, strict=True))  # fmt: skip
    grows = len(copied) > 1 and all(fast > slow for fast, slow in pairwise(copied))
    return Judged(HOLDS if grows else REFUTED, f"Pages copied: {values}.")


# ------------------------------------------------------------------ network


def messages_of(own: Outcome) -> float:
    """Markers and control messages of a snapshot."""
    return _value(own, "markers") + _value(own, "control_messages")


def low_network(table: Table, own: Measured) -> Judged:
    """Fewer messages than those of Chandy and Lamport in the same case, which the table of claims calls medium."""
    outcomes = _costs(own)

    def holds(outcome: Outcome) -> bool:
        other = table.outcome(STANDARD, outcome.kind, outcome.setting)
        return not messages_of(outcome) if other is None else messages_of(outcome) < messages_of(other)

    theirs = [messages_of(each) for each in (table.rows[STANDARD].of_kind(SNAPSHOT) if STANDARD in table.rows else [])]
    return judged(outcomes, holds, lambda verdict: (
        f"It sent {spread([messages_of(each) for each in outcomes])} messages. Low means fewer than "
        f"{ALGORITHMS[STANDARD].title} in the same case, whose claim is medium: {spread(theirs)} over all cases."
    ))  # fmt: skip


def medium_network(table: Table, own: Measured) -> Judged:
    """Some other algorithm sends less in the same case, and some other sends more."""
    outcomes = _costs(own)

    def holds(outcome: Outcome) -> bool:
        others = [messages_of(each) for each in _beside(table, outcome, table.rows, own.algorithm)]
        return min(others, default=0.0) < messages_of(outcome) < max(others, default=0.0)

    return judged(outcomes, holds, lambda verdict: (
        f"It sent {spread([messages_of(each) for each in outcomes])} messages, one on each channel. Medium means "
        "between the least and the greatest number that others send in the same case."
    ))  # fmt: skip


# ------------------------------------------------------------------ topology


def _right(own: Outcome) -> bool:
    return own.right == own.runs


def no_constraint(table: Table, own: Measured) -> Judged:
    """It runs on every topology, and is right in all runs."""
    if own.refused:
        return Judged(REFUTED, f"It cannot run on {', '.join(own.refused)}.")
    runs = sum(each.runs for each in own.of_kind(SNAPSHOT))
    return judged(own.of_kind(SNAPSHOT), _right, lambda verdict: (
        f"All {runs:,} runs were right." if verdict == HOLDS else ""
    ))  # fmt: skip


def full_mesh(table: Table, own: Measured) -> Judged:
    """It is right on complete graphs only, and needs FIFO channels."""
    others = [each for each in own.of_kind(SNAPSHOT) if each.setting.topology != "complete"]
    fifo = "It does need FIFO channels." if own.needs_fifo else "Nor does it need FIFO channels."

    def remark(verdict: str) -> str:
        if verdict != REFUTED:
            return fifo if others else ""
        runs = sum(each.runs for each in others)
        return f"No full mesh is needed: all {runs:,} runs on {topologies(others)} were right. {fifo}"

    return judged(others, lambda own: not _right(own), remark)


def without_circles(table: Table, own: Measured) -> Judged:
    """It is right on graphs without circles only. It cannot be right on a graph that it refuses."""
    outcomes = own.of_kind(SNAPSHOT)
    circle = [each for each in outcomes if each.setting.topology == BEHIND_A_SOURCE]
    return judged(outcomes, lambda own: _right(own) == (own.setting.topology != BEHIND_A_SOURCE), lambda verdict: (
        "" if verdict == HOLDS else
        f"It needs a source, a process without incoming channels. A circle behind one is no obstacle: "
        f"{sum(each.right for each in circle)} of {sum(each.runs for each in circle)} runs on a {BEHIND_A_SOURCE} were "
        f"right, with {_spread(circle, 'recorded_messages')} messages recorded."
    ))  # fmt: skip


def one_process(table: Table, own: Measured) -> Judged:
    """The checkpoints of several processes are no consistent cut."""
    outcomes = own.of_kind(SNAPSHOT)
    runs, consistent = sum(each.runs for each in outcomes), sum(each.consistent for each in outcomes)
    return judged(outcomes, lambda own: own.consistent < own.runs, lambda verdict: (
        f"On several processes, the checkpoints were a consistent cut in {consistent:,} of {runs:,} runs."
    ))  # fmt: skip


# ------------------------------------------------------------------ recovery


def _put_back(own: Measured) -> tuple[list[Outcome], str]:
    """The cases with a number of messages to put back, and the column of that number: of recoveries, if any."""
    recoveries = own.of_kind(RECOVERY)
    return (recoveries, "put_back") if recoveries else (_costs(own), "recorded_messages")


def low_recovery(table: Table, own: Measured) -> Judged:
    """Only states have to be restored: no message has to be put back into a channel."""
    outcomes, column = _put_back(own)
    why = "No recovery was carried out with it; what it recorded has nothing to put back." if own.no_recovery else ""
    return judged(outcomes, lambda own: not _value(own, column), lambda verdict: (
        why if verdict == HOLDS else f"There were {_spread(outcomes, column)} messages to put back into channels."
    ))  # fmt: skip


def medium_recovery(table: Table, own: Measured) -> Judged:
    """Messages have to be put back in addition to the states."""
    outcomes, column = _put_back(own)
    return judged(outcomes, lambda own: _value(own, column) > 0, lambda verdict: (
        f"There were {_spread(outcomes, column)} messages to put back into channels. Without any, the states would be "
        "enough, as after stop-the-world, whose claim is low."
    ))  # fmt: skip


CLAIMS: Mapping[tuple[str, str], Claim] = {
    ("stop_the_world", LATENCY): Claim("Catastrophic (Pauses cluster)", pauses_cluster),
    ("stop_the_world", MEMORY): Claim("Zero", no_memory),
    ("stop_the_world", NETWORK): Claim("Low", low_network),
    ("stop_the_world", TOPOLOGY): Claim("None", no_constraint),
    ("stop_the_world", COMING_BACK): Claim("Low", low_recovery),
    ("chandy_lamport", LATENCY): Claim("Low (Zero-Pause)", low_without_pause),
    ("chandy_lamport", MEMORY): Claim("High (Buffers in-flight channels)", high_memory),
    ("chandy_lamport", NETWORK): Claim("Medium", medium_network),
    ("chandy_lamport", TOPOLOGY): Claim("Fully Connected FIFO", full_mesh),
    ("chandy_lamport", COMING_BACK): Claim("Medium", medium_recovery),
    ("aligned_barriers", LATENCY): Claim("Low (Zero-Pause)", low_without_pause),
    ("aligned_barriers", MEMORY): Claim("Minimal (Uses backpressure)", minimal_memory),
    ("aligned_barriers", NETWORK): Claim("Low", low_network),
    ("aligned_barriers", TOPOLOGY): Claim("Directed Acyclic Graph (DAG)", without_circles),
    ("aligned_barriers", COMING_BACK): Claim("Medium", medium_recovery),
    ("copy_on_write", LATENCY): Claim("Minimal (Uses OS fork)", minimal_latency),
    ("copy_on_write", MEMORY): Claim("Medium (Increases during writes)", grows_with_writes),
    ("copy_on_write", NETWORK): Claim("Low", low_network),
    ("copy_on_write", TOPOLOGY): Claim("Single Node", one_process),
    ("copy_on_write", COMING_BACK): Claim("Low", low_recovery),
}
