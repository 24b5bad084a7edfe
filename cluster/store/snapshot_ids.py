"""The ids of new snapshots, from numbers that are reserved in the registry beforehand."""

from __future__ import annotations

import secrets
import string
from collections import deque

from cluster.model import Unavailable
from cluster.store.registry import Registry
from cluster.store.writer import Change, Writer

BLOCK = 100  # numbers of snapshots that are reserved at a time


class SnapshotIds:
    """Numbers in reserve. No number is given twice, even by two controllers, one after the other."""

    def __init__(self, registry: Registry, writer: Writer) -> None:
        self._registry, self._writer = registry, writer
        self._numbers: deque[int] = deque()
        self._is_reserving = False

    def begin(self) -> None:
        """Reserve the first block. Raises Unavailable."""
        self._numbers.extend(self._registry.reserve(BLOCK))

    def next(self, problem: str) -> str:
        """An id such as snap-0001-abcde. Raises Unavailable, for the reason `problem`, if none is in reserve."""
        with self._writer.changed:
            if len(self._numbers) <= BLOCK // 2 and not self._is_reserving:
                self._reserve()
            if not self._numbers:
                raise Unavailable(f"the registry does not answer ({problem}), and no numbers of snapshots are left")
            letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(5))
            return f"snap-{self._numbers.popleft():04}-{letters}"

    def _reserve(self) -> None:
        found: list[range] = []

        def settle() -> None:
            self._numbers.extend(found[-1])
            self._is_reserving = False

        self._is_reserving = True
        self._writer.add(Change(lambda: found.append(self._registry.reserve(BLOCK)), settle))

    def give_back(self) -> None:
        """Let the numbers that are left be free again, if they are one block."""
        left = [*self._numbers]
        if left and left == [*range(left[0], left[-1] + 1)]:
            unused = range(left[0], left[-1] + 1)
            self._writer.add(Change(lambda: self._registry.give_back(unused), lambda: None))
