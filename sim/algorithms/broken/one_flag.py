"""One flag for all snapshots: a process that has recorded once never records again."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport
from sim.core.effects import Out
from sim.core.model import Message, Process


class OneFlag(BrokenChandyLamport):
    """Whether a process has recorded is asked without asking for which snapshot."""

    name = "one_flag"
    switch = "One flag for all snapshots"
    breaks = "Each snapshot has an id, which its markers carry; a process keeps apart what it records for each."
    said_in = f"Chandy & Lamport 1985, section 3.3; {TUTORIAL} never resets its flag"
    shown_by = "overlapping"
    order = 70

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Only the first snapshot begins."""
        if not process.snapshots:
            super().on_initiate(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Markers of other snapshots change nothing."""
        if not process.snapshots or marker.snapshot in process.snapshots:
            super().on_marker(process, marker, out)
