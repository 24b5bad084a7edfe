"""Link conditions: what a user injects into the channels that lead to a node."""

from __future__ import annotations

from sim.core.model import Channel


class LinkConditions:
    """What somebody injects into the channels that come to a node: partition, delays and losses."""

    def __init__(self) -> None:
        self.severed: frozenset[Channel] = frozenset()
        self.delays: dict[int, tuple[float, float]] = {}  # by channel number, in seconds
        self.shares: dict[int, float] = {}  # of frames that are lost, by channel number
