"""A process that is killed at a certain operation on the file system or on the registry, played within a test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from cluster.store import places
from cluster.store.registry import Registry

OPERATIONS = ("mkdir", "open", "write", "fsync", "replace", "unlink", "rmdir")
CHANGES = ("put", "add_epoch")


class Killed(BaseException):
    """The process is no more: it cleans nothing up."""


class Life:
    """So many operations may be done; none after them."""

    def __init__(self, operations: int) -> None:
        self.left = operations

    def spend(self) -> None:
        """Raises Killed when life is over."""
        if self.left <= 0:
            raise Killed
        self.left -= 1

    def limited(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """`own`, which is done or not; but of a write the first half is done by the one who dies in it."""

        def limited(*arguments: Any, **options: Any) -> Any:
            try:
                self.spend()
            except Killed:
                if own is os.write and self.left == 0:
                    os.write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                self.left = -1
                raise
            return own(*arguments, **options)

        return limited


class System:
    """The module os, of which some functions cost life."""

    def __init__(self, life: Life) -> None:
        self._life = life

    def __getattr__(self, name: str) -> Any:
        own = getattr(os, name)
        return self._life.limited(own) if name in OPERATIONS else own


@contextmanager
def killed_after(operations: int, registry: Registry) -> Iterator[Life]:
    """The block is killed after so many operations, or at its end."""
    life = Life(operations)
    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        patch.setattr(places, "os", System(life))
        for name in CHANGES:
            patch.setattr(registry, name, life.limited(getattr(registry, name)))
        yield life
