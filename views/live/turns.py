"""Turns for drawing: one at a time, for a share of the time, and few wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


class Turns:
    """Work that is done one at a time, and takes at most `share` of the time of one core; at most `most` wait."""

    def __init__(self, share: float, most: int) -> None:
        self._rest = 1 / share - 1  # after work, by the time that it took
        self._most = most
        self._waiting = 0
        self._counting, self._working = threading.Lock(), threading.Lock()
        self._free_at = 0.0  # on this computer's monotonic clock

    def take(self, work: Callable[[], Made], *, waits: bool = True) -> Made | None:
        """The result of `work`. None: it is not the caller's turn, and it does not wait, or too many wait already."""
        with self._counting:
            if waits and self._waiting >= self._most:
                return None
            self._waiting += waits
        try:
            if not self._working.acquire(blocking=waits):
                return None
            try:
                return self._do(work, waits=waits)
            finally:
                self._working.release()
        finally:
            with self._counting:
                self._waiting -= waits

    def _do(self, work: Callable[[], Made], *, waits: bool) -> Made | None:
        pause = self._free_at - time.monotonic()
        if pause > 0:
            if not waits:
                return None
            time.sleep(pause)
        began = time.monotonic()
        try:
            return work()
        finally:
            ended = time.monotonic()
            self._free_at = ended + (ended - began) * self._rest
