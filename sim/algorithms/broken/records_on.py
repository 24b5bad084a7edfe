"""The recording of a channel ends not at its marker, but at the marker of the next snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import DESIGN, BrokenChandyLamport
from sim.algorithms.chandy_lamport import NOT_FIRST
from sim.core.algorithm_words import CAPTIONS, Caption
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process


class RecordsOn(BrokenChandyLamport):
    """The state of a channel goes on growing after its marker."""

    name = "records_on"
    switch = "A channel is recorded on after its marker"
    breaks = "The state of a channel ends at the marker: what comes after it was sent after the sender recorded."
    said_in = f"Chandy & Lamport 1985, section 3.2; {DESIGN} words it so that it goes on"
    shown_by = "two_banks"
    order = 140
    broken = NOT_FIRST
    instead = "The process goes on recording the channel, until the next marker comes to it."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "own": CAPTIONS["own"]._replace(rule=NOT_FIRST.name),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "nothing": "goes on recording {channel}",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until it was closed "
        "(step {second}), which was later than its {marker} if that was not the first. In between came {held}.",
    }

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Close what the last marker should have closed, and remember this one for later."""
        assert marker.snapshot is not None
        known = marker.snapshot in process.snapshots
        late: tuple[tuple[Channel, str], ...] = process.memory or ()
        for channel, snapshot in late:
            out.close(channel, snapshot)
        process.memory = ()
        if known:
            process.memory = ((marker.channel, marker.snapshot),)
        else:
            super().on_marker(process, marker, out)
