"""Every marker is sent twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.core.effects import Out
from sim.core.model import Process


class TwoMarkers(BrokenChandyLamport):
    """Nothing recorded is wrong, but a channel carries two markers of a snapshot."""

    name = "two_markers"
    switch = "Every marker is sent twice"
    breaks = "A process that records sends one marker on each of its outgoing channels."
    said_in = SECTION
    shown_by = "lecture"
    order = 120
    instead = "The process sends two markers on each outgoing channel."
    clauses: ClassVar[Mapping[str, str]] = {
        "markers": "sends two {marker}s on each outgoing channel",
    }

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Once as it should be, and once more."""
        super().marker_sending_rule(process, snapshot, out)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
