"""Recording and sending the markers are two actions: an application message can be sent in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.algorithms.broken.rule_book import SECTION, BrokenChandyLamport
from sim.core.algorithm_words import CAPTIONS, Caption
from sim.core.effects import Out
from sim.core.model import Process, Timer
from sim.core.parameters import Parameter


class SlipsIn(BrokenChandyLamport):
    """A process records at once, and its markers leave `gap` later, as if another thread sent them."""

    name = "slips_in"
    switch = "A message goes out before the marker"
    breaks = "A process sends its markers before it sends any other message after recording: one atomic action."
    said_in = SECTION
    shown_by = "two_banks"
    order = 20
    instead = "The process records at once, and sends its markers a while later."
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "gap": Parameter("number", 1.0, "time from the recording until the markers leave"),
    }
    gap: float
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "timer": CAPTIONS["timer"]._replace(
            rule="Marker-sending rule", sentence="Only now {process} {clauses}{per}: it recorded some time ago."
        ),
    }

    @classmethod
    def settings(cls, length: float) -> dict[str, Any]:
        """A twentieth of the run."""
        return {"gap": float(f"{length / 20:.2g}")} if length > 0 else {}

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        """Record, and leave the markers for later."""
        out.record(snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)
        out.set_timer(f"markers of {snapshot}", self.gap, snapshot)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """The markers leave."""
        assert timer.snapshot is not None
        for channel in process.outgoing:
            out.send_marker(channel, timer.snapshot)
