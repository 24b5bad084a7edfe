"""The initiator sends its markers at once, but records only when a marker comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Message, Process


class RecordsLate(BrokenChandyLamport):
    """Messages that the initiator sends behind its markers are in no recorded state."""

    name = "records_late"
    switch = "The initiator records late"
    breaks = "A process records its state first, and sends its markers after that, before anything else."
    said_in = SECTION
    shown_by = "two_banks"
    order = 50
    instead = "A process that starts a snapshot sends its markers at once, and records when a marker comes back."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "initiates": Caption(
            "Marker-sending rule", "{process} starts snapshot {snapshot}: it {clauses}. It does not record yet."
        ),
        "marker_records": Caption(
            "Marker-receiving rule, first marker", "{process} receives a {marker}{of} from {source}: it {clauses}."
        ),
    }

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Send the markers; the state can wait."""
        if snapshot in process.snapshots or snapshot in (process.memory or ()):
            return
        process.memory = (*(process.memory or ()), snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """A marker comes back: the initiator records now."""
        assert marker.snapshot is not None
        if marker.snapshot in (process.memory or ()) and marker.snapshot not in process.snapshots:
            out.record(marker.snapshot)
            for channel in process.incoming:
                out.start_recording(channel, marker.snapshot)
            out.close(marker.channel, marker.snapshot)
        else:
            super().on_marker(process, marker, out)
