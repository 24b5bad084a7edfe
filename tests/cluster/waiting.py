"""Waiting until something is so, with a bound; and coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

PATIENCE_S = 30.0
T = TypeVar("T")


def until(condition: Callable[[], bool]) -> None:
    """Returns as soon as the condition holds; fails if it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "this has not come about"
        time.sleep(0.005)


def apart(act: Callable[[], T]) -> T:
    """What `act` returns, which runs an event loop, in a thread of its own: a test with a browser leaves one here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act).result()


def carried_out(story: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns."""
    return apart(lambda: asyncio.run(story))
