"""The lock of a data folder at a storage address: a file that its holder writes again and again.

A storage has no locks. A file that is older than STALE_S is free: its holder has ended, or cannot reach the storage any
more. If two processes begin at the same moment and both write within SETTLE_S, the last writer holds the lock, and the
other one sees that. The clocks of storages and machines have to agree to within a minute, which they usually do.
"""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from typing import Protocol

from pipeline.store.place import Write

PULSE_S, STALE_S = 10.0, 60.0
SETTLE_S = 2.0  # the time in which a process that begins at the same moment has written, too: it uploads 32 bytes


class Files(Protocol):
    """The operations of a storage that the lock needs."""

    def read(self, name: str, most: int) -> bytes:
        """Like Place's."""

    def write(self, name: str, write: Write) -> None:
        """Like Place's."""

    def remove(self, name: str) -> None:
        """Like Place's."""

    def age(self, name: str) -> float | None:
        """Seconds since a file was written; None: there is no file."""


class StorageLock:
    """The lock in the file `name` of a storage."""

    def __init__(self, files: Files, name: str) -> None:
        self._files, self._name = files, name
        self._mark: bytes | None = None  # what is in the file while the lock is ours
        self._over = threading.Event()
        self._heart: threading.Thread | None = None

    def take(self) -> bool:
        """Takes the lock, unless another process holds it; returns whether it is ours. Raises OSError."""
        if self._mark is not None:
            return True
        if self.is_held:
            return False
        mark = secrets.token_hex(16).encode()
        self._put(mark)
        time.sleep(SETTLE_S)
        if self._found() != mark:
            return False
        self._mark, self._over = mark, threading.Event()
        self._heart = threading.Thread(target=self._beat, args=(mark, self._over), name="storage-lock", daemon=True)
        self._heart.start()
        return True

    def free(self) -> None:
        """Frees the lock if it is ours, and removes its file."""
        mark, self._mark = self._mark, None
        self._over.set()
        if self._heart is not None:
            self._heart.join()  # else it may write once more
        with suppress(OSError):
            if mark is not None and self._found() == mark:
                self._files.remove(self._name)

    @property
    def is_lost(self) -> bool:
        """Whether it was ours, but its file was removed, or another process has taken it. Raises OSError."""
        return self._mark is not None and self._found() != self._mark

    @property
    def is_held(self) -> bool:
        """Whether a process holds it, here or elsewhere. Raises OSError."""
        if self._mark is not None:
            return True
        age = self._files.age(self._name)
        return age is not None and age < STALE_S

    def _beat(self, mark: bytes, over: threading.Event) -> None:
        """Writes the file again and again, until the lock is freed or another process has taken it."""
        while not over.wait(PULSE_S):
            with suppress(OSError, ValueError):  # the next time, perhaps; ValueError: the process ends, and pyarrow has
                if self._found() != mark:
                    return
                self._put(mark)

    def _found(self) -> bytes | None:
        try:
            return self._files.read(self._name, 64)
        except FileNotFoundError:
            return None

    def _put(self, mark: bytes) -> None:
        self._files.write(self._name, lambda file: file.write(mark))
