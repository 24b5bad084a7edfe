"""Calls that may hang, in threads of their own: each has a deadline, and the number of threads is bounded.

A thread that hangs in a system call cannot be ended. So a caller that has waited long enough gives it up, and it ends
with the process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Call(Generic[T]):
    """One call. It ends in time, or is given up, never both."""

    def __init__(self, act: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._act = act
        self._lock = threading.Lock()
        self._is_given_up = False

    def give_up(self) -> bool:
        """Give the call up: its caller waits no more. Returns False if it has ended meanwhile."""
        with self._lock:
            self._is_given_up = not self.future.done()
            return self._is_given_up

    def carry_out(self) -> None:
        """Carry the call out, in this thread, unless it was given up before its turn."""
        if self._is_given_up:
            return
        try:
            found = self._act()
        except Exception as problem:
            self._end(self.future.set_exception, problem)
        else:
            self._end(self.future.set_result, found)

    def _end(self, settle: Callable[[Any], None], outcome: Any) -> None:
        """Give the outcome to the caller, if it still waits."""
        with self._lock:
            if not self._is_given_up:
                settle(outcome)


class Threads:
    """At most `most` threads, each started when it is needed."""

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most
        self._calls: SimpleQueue[_Call[Any]] = SimpleQueue()
        self._lock = threading.Lock()
        self._count, self._idle = 0, 0

    def _begin(self, call: _Call[Any]) -> None:
        with self._lock:
            is_needed = self._idle == 0 and self._count < self._most
            self._count += is_needed
            self._idle -= self._idle > 0
        self._calls.put(call)
        if is_needed:
            threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while True:
            self._calls.get().carry_out()
            with self._lock:
                self._idle += 1

    def wait(self, seconds: float, act: Callable[[], T]) -> T:
        """Call `act` and wait for its result or error. Raises TimeoutError after `seconds`."""
        call = _Call(act)
        self._begin(call)
        try:
            return call.future.result(seconds)
        except TimeoutError:
            if call.give_up():
                raise
            return call.future.result()

    async def within(self, seconds: float, act: Callable[[], T]) -> T:
        """Like wait, in an event loop."""
        call = _Call(act)
        self._begin(call)
        ending = asyncio.wrap_future(call.future)
        try:
            await asyncio.wait([ending], timeout=seconds)
        except asyncio.CancelledError:
            call.give_up()
            raise
        if not ending.done() and call.give_up():
            raise TimeoutError
        return await ending
