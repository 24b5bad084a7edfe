"""Barriers without alignment: Flink's checkpointing mode "at least once".

Nothing is blocked. Until the last barrier arrives, a process goes on taking the messages sent behind the others, and
its recorded state contains them. After a recovery the senders send those messages once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.effects import Out
from sim.core.model import Channel, Process

GOES_ON = RuleClause(
    "A barrier stops nothing",
    "The process notes that the barrier has come, and goes on with what all its channels bring. What was sent behind "
    "the barrier is in its state when the last barrier comes and it records: after a recovery that comes once more.",
)
FLINK = (
    "P. Carbone, S. Ewen, G. Fóra, S. Haridi, S. Richter and K. Tzoumas, State Management in Apache Flink, PVLDB "
    "10(12), 2017"
)


class WithoutAlignment(SnapshotAlgorithm):
    """The rules for `align = false`. A process remembers, by snapshot, the channels whose barrier has arrived."""

    def aligns_another(self, process: Process, snapshot: str) -> bool:
        """Return False: nothing is aligned, so no two snapshots are in each other's way."""
        return False

    def wait_for_others(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        """Note the channel of a barrier, or record if it is the last."""
        noted: Mapping[str, tuple[Channel, ...]] = process.memory or {}
        come = (*noted.get(snapshot, ()), channel)
        others = {name: channels for name, channels in noted.items() if name != snapshot}
        if self.waits(process, come):  # type: ignore[attr-defined]
            process.memory = {**others, snapshot: come}
            return
        process.memory = others or None
        self.record(process, snapshot, out)  # type: ignore[attr-defined]
        for own in process.incoming:
            if own in come:
                out.close(own, snapshot)

    rules: ClassVar[tuple[Rule, ...]] = (Rule("Without alignment", (GOES_ON,), FLINK),)
    captions: ClassVar[Mapping[str, Caption]] = {
        "marker": Caption(
            GOES_ON.name,
            "{process} receives the {marker}{of} from {source} and waits for others. It goes on taking from {channel}.",
        ),
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "marker_noted": "This {marker} of {snapshot} came at step {second}, before another one that {target} waited "
        "for. {target} went on taking from {channel} all the same. A {marker} is in no recorded state.",
        "empty_when_recorded": "{channel} is empty: all that was sent before the {marker} had been received when "
        "{target} recorded (step {second}), and what was sent behind it may have been received, too.",
    }
