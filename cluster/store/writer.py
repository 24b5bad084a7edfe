"""The thread that writes into the registry, change by change in order, while the controller goes on."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from cluster.model import Superseded
from cluster.stderr import warn
from cluster.store.circuit import Circuit
from cluster.store.database import DEADLINE_S
from cluster.store.lease import LEASE_S, RENEW_S
from cluster.store.registry import Registry

MOST_AT_ONCE = 64  # changes in a transaction
EPOCHS_AHEAD = 100  # epochs that a controller may begin while it cannot write


def ticks() -> float:
    """Seconds on a clock that cannot be set, and that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Change(NamedTuple):
    """A change: `write` writes it, and `settle` is called once it is written."""

    write: Callable[[], object]
    settle: Callable[[], object]


class Writer:
    """Writes changes, and renews the lease with each transaction and in between.

    `changed` is the condition, with its lock, under which changes settle. `epoch` is the newest epoch (None: none has
    begun yet). The registry knows that epochs up to `epochs` are in reserve.
    """

    def __init__(self, registry: Registry, on_return: Callable[[], object]) -> None:
        """The registry has the lease. `on_return` is called when it answers again after a failure."""
        self.changed = threading.Condition(threading.RLock())
        self.epoch: int | None = None
        self.epochs: int | None = None
        self.superseded: Superseded | None = None
        self._registry, self._circuit, self._on_return = registry, Circuit(), on_return
        self._waiting: deque[Change] = deque()
        self._renewed = self._tried = ticks()
        self._asking_since = 0.0
        self._close_by: float | None = None
        self._on_superseded: Callable[[Superseded], object] = lambda problem: None
        self._thread = threading.Thread(target=self._run, name="registry", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------------ for other threads

    def add(self, *changes: Change) -> None:
        """Let changes be written, after all that wait."""
        with self.changed:
            self._waiting.extend(changes)
            self.changed.notify_all()

    @property
    def waiting(self) -> int:
        """The number of changes that are not written yet."""
        return len(self._waiting)

    @property
    def problem(self) -> str:
        """The reason for which nothing is written now; empty if changes are written."""
        began = self._asking_since
        is_late = bool(began) and ticks() - began > DEADLINE_S
        return self._circuit.reason or (f"no answer for {DEADLINE_S:g} s" if is_late else "")

    @property
    def has_slept(self) -> bool:
        """Whether the registry was not asked for so long that another controller may have taken the lease."""
        return ticks() - max(self._renewed, self._tried) > LEASE_S

    def renew(self) -> None:
        """Renew the lease and the epochs in reserve, in this thread. Raises Superseded and Unavailable."""
        self._transact([])

    def watch(self, on_superseded: Callable[[Superseded], object]) -> None:
        """Call `on_superseded`, in any thread, once another controller has the registry."""
        with self.changed:
            self._on_superseded = on_superseded
            if self.superseded is not None:
                on_superseded(self.superseded)

    def close(self, seconds: float) -> int:
        """Write the changes that wait, for at most `seconds`, and give the lease back. Returns the number left over."""
        with self.changed:
            self._close_by = time.monotonic() + seconds
            self.changed.notify_all()
        self._thread.join(seconds)
        return self.waiting

    # ------------------------------------------------------------------ the thread

    def _run(self) -> None:
        try:
            while (changes := self._next()) is not None:
                self._try(changes)
            if not self._waiting:
                self._registry.release_lease()
        except Superseded:
            pass  # `on_superseded` was called
        except Exception as problem:
            warn(f"the lease of the registry was not given back: {problem}")

    def _next(self) -> list[Change] | None:
        """The changes to write next, once their time has come: none of them renews the lease only. None: no more."""
        with self.changed:
            while True:
                now, pause = time.monotonic(), self._circuit.pause_s
                if self._close_by is not None and (not self._waiting or now >= self._close_by):
                    return None
                rest = self._renewed + RENEW_S - ticks()
                if pause == 0 and (self._waiting or rest <= 0):
                    return list(islice(self._waiting, MOST_AT_ONCE))
                self.changed.wait(pause or rest)

    def _try(self, changes: list[Change]) -> None:
        """Write some changes. After any error but Superseded, which it raises, they are written later."""
        try:
            self._transact(changes)
        except Superseded:
            raise
        except Exception as problem:
            if not self._circuit.reason:
                warn(f"{problem}. Snapshots go on, and are written later.")
            self._circuit.failed(str(problem))
        else:
            if self._circuit.reason:
                self._on_return()
            self._circuit.worked()

    def _transact(self, changes: list[Change]) -> None:
        self._asking_since = began = ticks()
        epochs = None if self.epoch is None else self.epoch + EPOCHS_AHEAD
        try:
            with self._registry.together():
                for change in changes:
                    change.write()
                self._registry.renew_lease(epochs)
        except Superseded as problem:
            with self.changed:
                self.superseded = problem
                self.changed.notify_all()
                self._on_superseded(problem)
            raise
        finally:
            self._asking_since, self._tried = 0.0, ticks()
        with self.changed:
            self._renewed, self.epochs = began, epochs
            for change in changes:
                self._waiting.popleft()
                change.settle()
            self.changed.notify_all()
