"""The timers that the rule book of a node has set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cluster.node.site import Wake
from cluster.node.system import System


class Timers:
    """Timers by name. `fire` is called with each timer that goes off."""

    def __init__(self, system: System, is_postponed: Callable[[], bool], fire: Callable[[Wake], None]) -> None:
        """`is_postponed` is asked before a timer goes off: whether `postpone` has just moved it."""
        self._system, self._is_postponed, self._fire = system, is_postponed, fire
        self._timers: dict[str, tuple[asyncio.TimerHandle, Wake]] = {}

    def set(self, wake: Wake) -> None:
        """Set a timer, or cancel it (`wake.after` None). It replaces the timer with its name."""
        old = self._timers.pop(wake.name, None)
        if old is not None:
            old[0].cancel()
        if wake.after is not None:
            loop = asyncio.get_running_loop()
            handle = loop.call_later(self._system.seconds(wake.after), self._go_off, wake)
            self._timers[wake.name] = (handle, wake)

    def postpone(self, gap: float) -> None:
        """Let all timers go off `gap` seconds later."""
        loop = asyncio.get_running_loop()
        for name, (handle, wake) in self._timers.items():
            handle.cancel()
            self._timers[name] = loop.call_at(handle.when() + gap, self._go_off, wake), wake

    def clear(self) -> None:
        """Cancel all timers."""
        for handle, _ in self._timers.values():
            handle.cancel()
        self._timers.clear()

    def _go_off(self, wake: Wake) -> None:
        if self._is_postponed():
            return  # the timer stood still with the node
        del self._timers[wake.name]
        self._fire(wake)
