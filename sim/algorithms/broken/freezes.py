"""The channel of a first marker is frozen, as by a barrier, and is never thawed: the next marker never arrives."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import DESIGN, BrokenChandyLamport
from sim.algorithms.chandy_lamport import FIRST
from sim.core.effects import Out
from sim.core.model import Message, Process


class Freezes(BrokenChandyLamport):
    """A first marker blocks its channel for good."""

    name = "freezes"
    switch = "The first marker freezes its channel"
    breaks = "Taking a snapshot stops nothing: every message is delivered as it would be without it."
    said_in = f"Chandy & Lamport 1985; {DESIGN} freezes the channel"
    shown_by = "two_banks"
    needs_snapshots = True
    order = 110
    broken = FIRST
    instead = "The process takes nothing more from the channel on which its first marker came."

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Block, then do what is right."""
        if marker.snapshot not in process.snapshots:
            out.block(marker.channel)
        super().on_marker(process, marker, out)
