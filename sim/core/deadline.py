"""Deadlines: work that has run out of time, or that is not wanted any more, stops by itself.

Work with limited time runs `within` a deadline. Long work calls `check` now and then, or goes through its items by
`in_time`; both raise OutOfTime. Without a deadline, as on the command line, they do nothing.
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
    """The time for this work is spent, or it is not wanted any more. Not bad input: the caller chooses the message."""


class Deadline:
    """The end of the time for the work of this thread.

    The thread has `seconds` of processor time, but at most `patience` times as many seconds by the clock. Other work of
    the machine does not count. `is_wanted` tells whether the work is still wanted.
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
        """A block whose waiting costs the thread none of its time."""
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
    """Give the work of the block `seconds` of those that are left; it stays wanted as before."""
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
