"""The recording of one process: its state, its barriers, its channels."""

from __future__ import annotations

from collections.abc import Collection

from sim.core.effects import Out
from sim.core.model import Channel, Process

AHEAD = "ahead"  # the body of a barrier that may overtake


def record(process: Process, snapshot: str, came: Collection[Channel], out: Out, *, ahead: bool) -> None:
    """Record the state, send the barriers, and record the incoming channels except those whose barrier `came`."""
    out.record(snapshot)
    for channel in process.outgoing:
        out.send_marker(channel, snapshot, AHEAD if ahead else None)
    for channel in process.incoming:
        if channel in came:
            out.close(channel, snapshot)
        else:
            out.start_recording(channel, snapshot)
