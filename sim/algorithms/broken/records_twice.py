"""Every marker makes its receiver record again: the cut moves on."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
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

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Record again, then close."""
        assert marker.snapshot is not None
        if marker.snapshot in process.snapshots:
            out.record(marker.snapshot)
        super().on_marker(process, marker, out)
