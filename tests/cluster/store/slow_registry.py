"""A registry whose database hangs, or fails, when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from cluster.model import Unavailable
from cluster.store.registry import Registry


class SlowRegistry(Registry):
    """Writes wait while `writes` is not set, reads while `reads` is not. With `fails` they fail instead.

    `asked` counts the reads.
    """

    def __init__(self, url: str) -> None:
        self.writes, self.reads, self.fails = threading.Event(), threading.Event(), False
        self.asked = 0
        self.go_on()
        super().__init__(url)

    def hang(self) -> None:
        """Nothing is answered from now on."""
        self.writes.clear()
        self.reads.clear()

    def go_on(self) -> None:
        """All is answered."""
        self.fails = False
        self.writes.set()
        self.reads.set()

    def _pass(self, gate: threading.Event) -> None:
        if self.fails:
            raise Unavailable("the test lets it fail")
        gate.wait()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self.asked += 1
        self._pass(self.reads)
        with super()._reading() as connection:
            yield connection

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        self._pass(self.writes)
        with super()._changing() as connection:
            yield connection
