"""The timers of services. They stand still while the process of the controller does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cluster.control.service_actions import Job
from cluster.node.clock import RunningClock
from cluster.node.site import Site, Wake
from sim.core.model import Timer
from sim.services.membership import silent_in


class ServiceTimers:
    """All timers that are set, by process and name."""

    def __init__(
        self, site: Site, running_clock: RunningClock, put: Callable[[Job], None], fence: Callable[[str], bool]
    ) -> None:  # fmt: skip
        """`put` lets a job wait. `fence` ends a silent node; it returns whether a recovery brings it back."""
        self._site, self._running_clock, self._put, self._fence = site, running_clock, put, fence
        self._timers: dict[tuple[int, str], tuple[Wake, asyncio.TimerHandle]] = {}

    def set(self, wake: Wake) -> None:
        """Set a timer anew, or cancel it (`wake.after` is None)."""
        key = wake.process, wake.name
        old = self._timers.pop(key, None)
        if old is not None:
            old[1].cancel()
        if wake.after is not None:
            seconds = self._site.system.seconds(wake.after)
            self._timers[key] = wake, asyncio.get_running_loop().call_later(seconds, self._ring, wake)

    def save(self) -> Callable[[], None]:
        """Return a function that puts all timers back as they are now."""
        saved = dict(self._timers)

        def put_back() -> None:
            self._timers = saved

        return put_back

    def postpone(self) -> bool:
        """Postpone all timers by as long as the controller has stood still until now. Returns whether it has.

        So no node is judged by messages that the controller could not hear.
        """
        gap = self._running_clock.look()
        for key, (wake, handle) in self._timers.items() if gap else ():
            handle.cancel()
            again = asyncio.get_running_loop().call_at(handle.when() + gap, self._ring, wake)
            self._timers[key] = wake, again
        return gap > 0

    def _ring(self, wake: Wake) -> None:
        """Let a timer go off, unless it is cancelled or set anew before its turn has come."""
        if self.postpone():
            return
        timer = Timer(wake.process, wake.name, wake.after or 0.0, wake.snapshot, 0)
        key = wake.process, wake.name

        def is_set() -> bool:
            if key not in self._timers or self._timers[key][0] is not wake:
                return False
            silent = silent_in(wake.name)
            if silent is not None and self._fence(silent):
                self.set(wake)  # it stays a member, and its silence begins anew
                return False
            return True

        def act() -> None:
            del self._timers[key]
            self._site.rules.fire(self._site.processes[wake.process], timer)

        self._put(Job(wake.process, ["timer", wake.name], act, is_wanted=is_set))
