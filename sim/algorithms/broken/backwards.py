"""The recorded messages of a channel are in reverse order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport, record_and_tell
from sim.algorithms.chandy_lamport import NOT_FIRST
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
    broken = NOT_FIRST
    instead = "The process notes what comes in a pile, the latest on top, and records the pile from the top."
    clauses: ClassVar[Mapping[str, str]] = {
        "overtaken": "records what it has noted, the latest first: {messages}",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "recorded_until": "{target} noted what came on {channel} from its own recording (step {first}) until the "
        "{marker} on it (step {second}), and recorded it from the latest to the first: {held}.",
    }

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
