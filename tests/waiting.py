"""Waiting for a condition, never for a time, with a budget that grows with the machine's measured speed.

Nothing else in the tests sleeps (project/test_waits.py). A budget only ends a test that would fail anyway, so it is
generous.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

BUDGET_S = 60.0  # far more than anything here takes on an idle machine
PAUSE_S = 0.01  # between two looks at a condition
REFERENCE_S = 0.025  # what `_work` takes on the idle machine on which the budgets were set
FRESH_S = 20  # so long one measurement of the machine serves


def budget_s(seconds: float = BUDGET_S) -> float:
    """The seconds that something may take here and now, which takes at most `seconds` on an idle machine."""
    return seconds * _slowness(int(time.monotonic() / FRESH_S))


@lru_cache(maxsize=1)
def _slowness(_: int) -> float:
    """How many times as long as on an idle machine work takes now, by the clock on the wall; at least 1."""
    begun = time.perf_counter()
    _work()
    return max(1.0, (time.perf_counter() - begun) / REFERENCE_S)


def _work() -> int:
    return sum(number * number for number in range(400_000))


def until(condition: Callable[[], T], what: str = "this", seconds: float = BUDGET_S) -> T:
    """Returns what the condition returns as soon as that is true; fails if it never is."""
    end = time.monotonic() + budget_s(seconds)
    while not (found := condition()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(PAUSE_S)
    return found


async def comes(condition: Callable[[], T], what: str = "this", seconds: float = BUDGET_S) -> T:
    """The same for a coroutine: others run meanwhile."""
    end = time.monotonic() + budget_s(seconds)
    while not (found := condition()):
        assert time.monotonic() < end, f"never: {what}"
        await asyncio.sleep(PAUSE_S)
    return found


def apart(act: Callable[[], T]) -> T:
    """What `act` returns, which runs an event loop, in a thread of its own: a test with a browser leaves one here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act).result()


def carried_out(story: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns."""
    return apart(lambda: asyncio.run(story))
