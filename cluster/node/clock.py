"""The detection of standstills of this process: it was stopped or swapped out, or its virtual machine stalled.

A process cannot notice its standstill while it lasts. If it reads the monotonic clock often, it sees a gap afterwards.
Jumps of the wall clock neither make nor hide such a gap.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

LOOKS_PER_LIMIT = 4  # looks at the clock in the time that a gap may last


class RunningClock:
    """A clock that stands still with this process. A gap of over `limit` seconds between two looks is a standstill."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._clock = limit, clock
        self._last = clock()
        self._stopped = 0.0  # seconds of all standstills

    def look(self) -> float:
        """Look at the clock. Returns the seconds for which this process has just stood still (0.0: it has not)."""
        now = self._clock()
        gap, self._last = now - self._last, now
        if gap <= self.limit:
            return 0.0
        self._stopped += gap
        return gap

    @property
    def now(self) -> float:
        """The time of the last look, in seconds without standstills."""
        return self._last - self._stopped

    async def keep_looking(self, on_gap: Callable[[], object]) -> None:
        """Call `on_gap` often, for ever. It must look at the clock, and act after a standstill."""
        while True:
            on_gap()
            await asyncio.sleep(self.limit / LOOKS_PER_LIMIT)
