"""Work in a thread of its own that ends with the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Runs `work` in a daemon thread; returns its Future."""
    promise: Future[Result] = Future()

    def keep() -> None:
        try:
            promise.set_result(work())
        except Exception as problem:
            promise.set_exception(problem)

    threading.Thread(target=keep, daemon=True).start()
    return promise
