"""Deadlines: work that has run out of time, or that nobody waits for any more, stops by itself.

Whoever allows only so much time does the work `within` a deadline. Whatever may take long asks `check` now and then, or
goes through its items by `in_time`; both raise OutOfTime. Without a deadline, as on the command line, they do nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

EVERY = 256  # items between two looks at the clock
PATIENCE = 3.0

Item = TypeVar("Item")


class OutOfTime(Exception):
    """The time for this work is spent, or nobody waits for it any more. Not bad input: whoever set it says what."""


class Deadline:
    """The end of the time for the work of this thread.

    The thread has `seconds` of processor time, however busy the machine is with other work, but no more than `patience`
    times as long by the clock. `is_wanted` tells whether somebody still waits for it.
    """

    def __init__(
        self, seconds: float, is_wanted: Callable[[], bool] = lambda: True, patience: float = PATIENCE
    ) -> None:
        self.begin = time.thread_time()
        self.most = seconds
        self.end = time.monotonic() + patience * seconds
        self.is_wanted = is_wanted

    @property
    def spent(self) -> float:
        """Seconds of processor time that the thread has worked since."""
        return time.thread_time() - self.begin

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What the thread waits in the block costs none of its time."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.end += time.monotonic() - begin

    def check(self) -> None:
        """Raises OutOfTime."""
        if self.spent >= self.most or time.monotonic() >= self.end or not self.is_wanted():
            raise OutOfTime


_present: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[Deadline]:
    """The work of the block, in this thread, has this deadline, instead of one that was set before."""
    token = _present.set(deadline)
    try:
        yield deadline
    finally:
        _present.reset(token)


@contextmanager
def at_most(seconds: float) -> Iterator[Deadline]:
    """The work of the block has so many seconds, of those that are left for it; the same people wait for it."""
    outer = _present.get()
    own = Deadline(min(seconds, outer.most - outer.spent), outer.is_wanted) if outer else Deadline(seconds)
    with within(own):
        yield own


def check() -> None:
    """Raises OutOfTime where the work has a deadline, and it has passed."""
    deadline = _present.get()
    if deadline is not None:
        deadline.check()


def in_time(items: Iterable[Item], every: int = EVERY) -> Iterator[Item]:
    """The items one by one, with a `check` after each `every` of them."""
    for number, item in enumerate(items, start=1):
        if number % every == 0:
            check()
        yield item
