"""Link conditions: what a user injects into the channels that lead to a node."""

from __future__ import annotations

from sim.core.model import Channel


class LinkConditions:
    """Injected conditions of the channels to a node: partitions, delays and losses."""

    def __init__(self) -> None:
        self.severed: frozenset[Channel] = frozenset()
        self.delays: dict[int, tuple[float, float]] = {}  # by channel number, in seconds
        self.shares: dict[int, float] = {}  # of frames that are lost, by channel number
