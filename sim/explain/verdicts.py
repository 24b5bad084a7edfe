"""Verdicts in words: what holds, the witness that a check fails, or why the check cannot decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.core.algorithm import BY_NOTHING
from sim.explain.domino import LINE, line_in_words
from sim.explain.words import capital
from sim.run.execution import Execution
from sim.run.recovery_lines import recoveries_of
from sim.run.snapshots import ABORTED, COMPLETE, GIVEN_UP, Snapshot
from sim.verify.checks import Verdict

# For each check: its title and sentence if it holds, and its title if it fails. The witness is the sentence then.
_WORDS = {
    "completion": ("Complete", "Every process has recorded, and every channel is closed.", "Not complete"),
    "one_marker": (
        "One {marker} per channel", "Every channel has carried exactly one {marker}.", "Not one {marker} per channel"
    ),
    "consistency": (
        "Consistent cut", "Every message that is received inside the cut is also sent inside it.",
        "Not a consistent cut",
    ),
    "channel_states": (
        "Channel states", "Each channel state holds the messages that cross the cut, in their order.",
        "A wrong channel state",
    ),
    "one_outcome": (
        "One outcome", "All processes agree on the outcome. None keeps state of an abandoned snapshot.",
        "More than one outcome",
    ),
    "conservation": (
        "Conservation", "Nothing is lost or counted twice: {sum}.", "Not conserved"
    ),
}  # fmt: skip
_NO_CHANNELS = "Every process has recorded; no channel is recorded."
_BEFORE_THE_END = ("At most one {marker} per channel", "No channel has carried more than one {marker}.")


class VerdictWords(NamedTuple):
    """A verdict as a page shows it: a title, and a sentence."""

    check: str
    text: str


def verdict_words(execution: Execution, snapshot: Snapshot, verdict: Verdict) -> VerdictWords:
    """A verdict on `snapshot` in words."""
    title, holds, fails = _WORDS[verdict.check]
    if verdict.check == "one_marker" and snapshot.status != COMPLETE:
        title, holds = _BEFORE_THE_END
    if verdict.check == "completion" and execution.engine.algorithm.closes_by == BY_NOTHING:
        holds = _NO_CHANNELS
    marker = execution.engine.algorithm.marker
    text = holds.format(marker=marker, sum=sum_words(execution, snapshot))
    if verdict.holds is None:
        text = _undecided(snapshot, verdict.check)
    elif not verdict.holds:
        title, text = fails, f"{capital(verdict.witness or '')}."
    return VerdictWords(title.format(marker=marker), text)


def recovery_words(execution: Execution, snapshot: Snapshot) -> Iterator[VerdictWords]:
    """Two remarks on uncoordinated checkpoints: whether the last ones are a consistent cut, and their recovery line.

    There is no remark on checkpoints that a recovery has taken back: the system has already gone back to their line.
    """
    recovery = recoveries_of(execution).get(snapshot.id)
    if recovery is None or snapshot.is_over:
        return
    is_cut = execution.history.violation(snapshot.frontier) is None
    last = "Here the latest ones form one." if is_cut else "Here the latest ones do not form one."
    yield VerdictWords("Not coordinated", f"No rule makes the checkpoints a consistent cut. {last}")
    meaning = "It is the latest consistent cut that the processes can go back to after a failure."
    yield VerdictWords(LINE, f"{meaning} {line_in_words(execution, recovery)}")


def sum_words(execution: Execution, snapshot: Snapshot) -> str:
    """The recorded amounts, added up: `720 in processes + 80 in channels = 800 money`."""
    workload = execution.engine.workload
    processes = [workload.measure(local.state) for local in snapshot.local.values()]
    channels = [workload.measure_body(message.body) for message in snapshot.recorded_messages]
    sums = []
    for good in dict.fromkeys(good for weight in processes for good in weight):
        inside, between = (sum(weight.get(good, 0) for weight in weights) for weights in (processes, channels))
        sums.append(f"{inside} in processes + {between} in channels = {inside + between} {good}")
    return "; ".join(sums)


def _undecided(snapshot: Snapshot, check: str) -> str:
    if snapshot.status in GIVEN_UP:
        return f"Not decided: the snapshot {'was aborted' if snapshot.status == ABORTED else f'has {snapshot.status}'}."
    missing = "not every process has recorded" if check == "consistency" else "the snapshot is not complete"
    return f"Not decided: {missing}."
