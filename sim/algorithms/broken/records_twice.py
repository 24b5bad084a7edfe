"""Every marker makes its receiver record again: the cut moves on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.algorithms.chandy_lamport import FIRST, NOT_FIRST
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Message, Process


class RecordsTwice(BrokenChandyLamport):
    """A process takes each marker for its first."""

    name = "records_twice"
    switch = "Every marker makes a process record again"
    breaks = "A process records once for each snapshot: only the first marker makes it record."
    said_in = SECTION
    shown_by = "lecture"
    order = 160
    records_once = False
    broken = NOT_FIRST
    instead = "The process records its state again, and all its channels anew."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "marker_records": Caption(
            FIRST.name, "{process} receives a {marker}{of} from {source} and takes it for its first: it {clauses}."
        ),
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "by_marker": "A {marker} of {snapshot} came from {source} on {channel} at step {step}: {process} took it for "
        "its first, and recorded.",
        "marker_records": "{target} took this {marker} of {snapshot} for its first: it recorded its state (step "
        "{second}). A {marker} is in no recorded state.",
        "empty_at_once": "{channel} is empty: {target} took the {marker} on it for its first (step {second}).",
    }

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Record again, then close."""
        assert marker.snapshot is not None
        if marker.snapshot in process.snapshots:
            out.record(marker.snapshot)
        super().on_marker(process, marker, out)
