"""The recorded messages of a channel are in reverse order."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport, record_and_tell
from sim.core.effects import Out
from sim.core.model import Message, Process


class Backwards(BrokenChandyLamport):
    """A process notes what comes in a pile, the latest on top, and records the pile when the marker comes."""

    name = "backwards"
    switch = "A channel is recorded in reverse order"
    breaks = "The state of a channel is a sequence: its messages in the order in which they came."
    said_in = SECTION
    shown_by = "two_banks"
    order = 150

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Record and tell; what comes is noted by hand."""
        record_and_tell(process, snapshot, out)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Put the message on top of the pile."""
        open_here = any(message.channel not in local.closed for local in process.snapshots.values())
        process.memory = ((message, *(process.memory or ())) if open_here else process.memory) or ()

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Record the pile from the top."""
        assert marker.snapshot is not None
        if marker.snapshot in process.snapshots:
            for message in process.memory or ():
                if message.channel is marker.channel:
                    out.keep(message, marker.snapshot)
        super().on_marker(process, marker, out)
