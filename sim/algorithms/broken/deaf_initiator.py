"""The initiator does not record its incoming channels: messages on their way to it are lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport, record_and_tell
from sim.core.algorithm_words import Caption
from sim.core.effects import Out
from sim.core.model import Process


class DeafInitiator(BrokenChandyLamport):
    """The initiator records its state and sends its markers, and nothing more."""

    name = "deaf_initiator"
    switch = "The initiator does not record its channels"
    breaks = "Every process records its incoming channels from its own recording on, the initiator as well."
    said_in = f"Chandy & Lamport 1985, section 3.2; {TUTORIAL} leaves it out"
    shown_by = "two_banks"
    order = 30
    instead = "A process that starts a snapshot records no channel."
    initiator_listens = False
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "initiates": Caption(
            "Marker-sending rule", "{process} starts snapshot {snapshot}: it {clauses}. It records no channel."
        ),
    }
    clauses: ClassVar[Mapping[str, str]] = {"close": "closes {channel}, whose state is {contents}"}
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "marker_closes": "This {marker} of {snapshot} closed {channel} (step {second}); {target} had recorded its "
        "state at step {first}. A {marker} is in no recorded state.",
        "recorded_until": "{target} recorded its state at step {first}, and {channel} was closed at step {second}. "
        "Recorded in between: {held}.",
        "still_recorded": "{target} recorded its state at step {first}. No {marker} has closed {channel}. Recorded so "
        "far: {held}.",
    }

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Record and tell, but do not listen."""
        if snapshot not in process.snapshots:
            record_and_tell(process, snapshot, out)
