"""After a first marker a process records at once, but sends its markers only at its next message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.algorithms.chandy_lamport import FIRST, SENDING
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Message, Process


class WaitsWithItsMarkers(BrokenChandyLamport):
    """Messages sent between the recording and the markers are outside the cut, but arrive before the markers."""

    name = "waits_with_its_markers"
    switch = "A process waits with its markers"
    breaks = "A process sends its markers as it records, before it does anything else."
    said_in = SECTION
    shown_by = "two_banks"
    order = 170
    broken = FIRST
    instead = "The process records at once, but sends its markers only when the next message comes."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "marker_records": Caption(
            FIRST.name,
            "{process} receives its first {marker}{of}, from {source}: it {clauses}. Its own {marker}s wait.",
        ),
        "message": Caption(SENDING.name, "Only now {process} {clauses}{per}."),
    }

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Record now; the markers can wait."""
        assert marker.snapshot is not None
        if marker.snapshot in process.snapshots:
            out.close(marker.channel, marker.snapshot)
            return
        out.record(marker.snapshot)
        for channel in process.incoming:
            out.start_recording(channel, marker.snapshot)
        out.close(marker.channel, marker.snapshot)
        process.memory = (*(process.memory or ()), marker.snapshot)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """A message comes: now the markers leave."""
        for snapshot in process.memory or ():
            for channel in process.outgoing:
                out.send_marker(channel, snapshot)
        process.memory = None
