"""A process closes its channels after n - 1 markers, even if it has fewer incoming channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport
from sim.algorithms.chandy_lamport import NOT_FIRST
from sim.core.effects import Out
from sim.core.model import Message, Process


class CountsProcesses(BrokenChandyLamport):
    """A process waits for a marker of each other process, not for one on each of its channels."""

    name = "counts_processes"
    switch = "A process waits for n - 1 markers"
    breaks = "A process has done its part when a marker has come on each of its incoming channels, however many."
    said_in = f"Chandy & Lamport 1985, section 3.3; {TUTORIAL} counts processes"
    shown_by = "ring"
    order = 90
    broken = NOT_FIRST
    instead = "The process stops recording its channels only when n - 1 markers have come, one for each other process."
    clauses: ClassVar[Mapping[str, str]] = {
        "nothing": "waits for more markers",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until it had as many "
        "{marker}s as there are other processes (step {second}). In between came {held}.",
    }

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Note the channel, and close all that are noted once n - 1 markers have come."""
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot, out)
        process.memory = (*(process.memory or ()), (marker.snapshot, marker.channel))
        noted = [channel for snapshot, channel in process.memory if snapshot == marker.snapshot]
        if len(noted) == len(self.graph.processes) - 1:
            for channel in noted:
                out.close(channel, marker.snapshot)
