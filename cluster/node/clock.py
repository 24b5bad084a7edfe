"""Whether a process of the operating system stood still: stopped, swapped out, or in a virtual machine that stalled.

No process learns of it while it lasts. Whoever looks at the monotonic clock often sees a gap afterwards, which no jump
of the wall clock makes or hides.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

LOOKS_PER_LIMIT = 4  # how often the clock is looked at in as long as a gap may be


class RunningClock:
    """Looks at the clock. A gap of more than `limit` seconds between two looks is a standstill."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._clock = limit, clock
        self._last = clock()
        self._stopped = 0.0  # seconds of all standstills

    def look(self) -> float:
        """Look at the clock. Returns for how many seconds this process has stood still until now (0.0: it has not)."""
        now = self._clock()
        gap, self._last = now - self._last, now
        if gap <= self.limit:
            return 0.0
        self._stopped += gap
        return gap

    @property
    def now(self) -> float:
        """Seconds on a clock that stands still with this process."""
        return self._last - self._stopped

    async def keep_looking(self, on_gap: Callable[[], object]) -> None:
        """Look at the clock for ever. `on_gap` looks, too, and does what has to be done after a standstill."""
        while True:
            on_gap()
            await asyncio.sleep(self.limit / LOOKS_PER_LIMIT)
