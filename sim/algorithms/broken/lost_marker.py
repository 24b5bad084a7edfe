"""One marker is never sent: the one that the initiator owes its last channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.algorithms.chandy_lamport import SENDING
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Process


class LostMarker(BrokenChandyLamport):
    """The initiator forgets its last outgoing channel."""

    name = "lost_marker"
    switch = "One marker is never sent"
    breaks = "A process that records sends one marker on each of its outgoing channels."
    said_in = SECTION
    shown_by = "lecture"
    order = 80
    instead = "A process that starts a snapshot sends no marker on its last channel."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "initiates": Caption(
            SENDING.name,
            "{process} starts snapshot {snapshot}: it {clauses}. It forgets the {marker} on its last channel.",
        ),
    }

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Markers on all channels but one."""
        if snapshot in process.snapshots:
            return
        out.record(snapshot)
        for channel in process.outgoing[:-1]:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)
