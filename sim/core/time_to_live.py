"""A time to live at each process: rules that an algorithm may add to its own, as an option.

Without a coordinator each process can only decide for itself. One that has recorded waits so long for its part to be
done; then it throws it away. Another may have finished its own part by then, and keeps it: the same snapshot has two
outcomes. This is why a coordinator decides for all (sim/services/coordinator.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.effects import Out
from sim.core.model import Message, Process, Timer
from sim.core.parameters import Parameter

TIME_TO_LIVE = Parameter("number", 0.0, "time units that a process gives its own part of a snapshot (0: for ever)")

GIVES_UP = RuleClause(
    "Time to live",
    "A process whose part is not done within this time after it recorded throws the part away. It asks no other "
    "process.",
)
_TIMER = "time to live of "


class TimeToLive(SnapshotAlgorithm):
    """The rules of the option."""

    allows_coordinator = False
    allows_recovery = False
    time_to_live: float

    checks: ClassVar[tuple[str, ...]] = (*SnapshotAlgorithm.checks, "one_outcome")

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """The time begins when a process records."""
        self._begin(process, snapshot, out)
        super().on_initiate(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """The time begins when a process records."""
        assert marker.snapshot is not None
        self._begin(process, marker.snapshot, out)
        super().on_marker(process, marker, out)

    def _begin(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            out.set_timer(f"{_TIMER}{snapshot}", self.time_to_live, snapshot)

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """The part is done in time."""
        super().on_done(process, snapshot, out)
        out.cancel_timer(f"{_TIMER}{snapshot}")

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """The time is over."""
        if timer.name.startswith(_TIMER) and timer.snapshot is not None:
            out.abort(timer.snapshot)
        else:
            super().on_timer(process, timer, out)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Time to live", (GIVES_UP,), "Seen in designs without a coordinator; not in Chandy & Lamport 1985"),
    )
    captions: ClassVar[Mapping[str, Caption]] = {
        "timer": Caption(GIVES_UP.name, "The time of {process} for {snapshot} is over: {process} {clauses}."),
    }
