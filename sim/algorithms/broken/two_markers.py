"""Every marker is sent twice."""

from __future__ import annotations

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

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Once as it should be, and once more."""
        super().marker_sending_rule(process, snapshot, out)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
