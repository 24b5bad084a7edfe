"""A cluster whose snapshots have little time, and whose controller nothing may hold."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cluster.control.supervisor import Supervisor
from cluster.start.wanted import Wanted
from sim.document.scenario import Scenario
from tests.cluster.live import bank, live
from tests.waiting import budget_s

TTL_S, UNIT = 0.5, 0.01  # how long a snapshot may take here
HELD_S = 2.0  # less than any deadline: so long nothing may hold the controller


def hasty(**settings: Any) -> Scenario:
    """A bank whose snapshots have little time."""
    return replace(bank(), coordinator={"timeout": TTL_S / UNIT, "heartbeat": 20.0, "missed": 40, **settings})


class Watch:
    """The longest time that something has held the event loop."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def look(self) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0)
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now
            await asyncio.sleep(0.001)  # time itself is tested


def watched(wanted: Wanted, act: Callable[[Supervisor], Any]) -> Path:
    """Run a cluster, and do something with it. Fails if anything holds its controller."""

    async def looked_at(supervisor: Supervisor) -> None:
        watch = Watch()
        looking = asyncio.ensure_future(watch.look())
        try:
            await act(supervisor)
        finally:
            looking.cancel()
        assert watch.longest < budget_s(HELD_S), f"something has held the controller for {watch.longest:.1f} s"

    return live(wanted, looked_at)
