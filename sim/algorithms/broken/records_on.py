"""The recording of a channel ends not at its marker, but at the marker of the next snapshot."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import DESIGN, BrokenChandyLamport
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process


class RecordsOn(BrokenChandyLamport):
    """The state of a channel goes on growing after its marker."""

    name = "records_on"
    switch = "A channel is recorded on after its marker"
    breaks = "The state of a channel ends at the marker: what comes after it was sent after the sender recorded."
    said_in = f"Chandy & Lamport 1985, section 3.1; {DESIGN} words it so that it goes on"
    shown_by = "two_banks"
    order = 140

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Close what the last marker should have closed, and remember this one for later."""
        assert marker.snapshot is not None
        known = marker.snapshot in process.snapshots
        late: tuple[tuple[Channel, str], ...] = process.memory or ()
        for channel, snapshot in late:
            out.close(channel, snapshot)
        process.memory = ()
        if known:
            process.memory = ((marker.channel, marker.snapshot),)
        else:
            super().on_marker(process, marker, out)
