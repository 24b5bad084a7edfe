"""A circuit breaker: the pause before a service that has failed is asked again."""

from __future__ import annotations

import random
import time

LEAST_S, MOST_S = 0.1, 2.0  # the first pause, and the longest


class Circuit:
    """Open for a while after a failure: the service is not asked. Each failure in a row doubles the longest pause.

    The pause is drawn at random, so that not all waiting callers return at once.
    """

    def __init__(self) -> None:
        self.reason = ""  # of the last failure; empty: it works
        self._failures, self._until = 0, 0.0

    @property
    def pause_s(self) -> float:
        """The seconds until the service may be asked again; 0 if it may be asked now."""
        return max(0.0, self._until - time.monotonic())

    def failed(self, reason: str) -> None:
        """Note that the service has not answered."""
        longest = min(MOST_S, LEAST_S * 2 ** min(self._failures, 10))
        self.reason, self._failures = reason, self._failures + 1
        self._until = time.monotonic() + longest * random.uniform(0.5, 1.0)

    def worked(self) -> None:
        """Note that the service has answered."""
        self.reason, self._failures, self._until = "", 0, 0.0
