"""One flag for all snapshots: a process that has recorded once never records again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport
from sim.algorithms.chandy_lamport import FIRST, NOT_FIRST, SENDING
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Message, Process


class OneFlag(BrokenChandyLamport):
    """Whether a process has recorded is asked without asking for which snapshot."""

    name = "one_flag"
    switch = "One flag for all snapshots"
    breaks = "Each snapshot has an id, which its markers carry; a process keeps apart what it records for each."
    said_in = f"Chandy & Lamport 1985; {TUTORIAL} never resets its flag"
    shown_by = "overlapping"
    needs_snapshots = True
    order = 70
    broken = FIRST
    instead = "A process that has recorded once takes no marker for its first, whatever its snapshot is."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "asked": Caption(
            SENDING.name,
            "{process} is asked to start {snapshot}, but its only flag says that it has recorded: nothing happens.",
        ),
        "marker": Caption(NOT_FIRST.name, "{process} receives the {marker}{of} from {source}: it {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "nothing": "changes nothing, as its only flag says that it has recorded",
    }

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Only the first snapshot begins."""
        if not process.snapshots:
            super().on_initiate(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Markers of other snapshots change nothing."""
        if not process.snapshots or marker.snapshot in process.snapshots:
            super().on_marker(process, marker, out)
