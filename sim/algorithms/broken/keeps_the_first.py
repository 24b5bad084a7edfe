"""The channel of a first marker is not closed: it is recorded until a second marker, which never comes."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.algorithms.chandy_lamport import FIRST
from sim.core.effects import Out
from sim.core.model import Message, Process


class KeepsTheFirst(BrokenChandyLamport):
    """A first marker makes a process record, and closes nothing."""

    name = "keeps_the_first"
    switch = "The first marker's channel is kept open"
    breaks = "The channel on which the first marker comes is recorded as empty, at once."
    said_in = SECTION
    shown_by = "lecture"
    order = 60
    broken = FIRST
    instead = "The process goes on recording the channel on which its first marker came."

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Record, or close; never both."""
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot, out)
        else:
            out.close(marker.channel, marker.snapshot)
