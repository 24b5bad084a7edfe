"""The lock on the folder of a cluster: one cluster at a time uses it."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.store.places import reason
from sim.core.errors import InputError

LOCK = "lock"
_IS_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A context in which no other cluster can use the folder.

    The kernel frees the lock when this process ends, however it ends. The file stays. A program that is started
    meanwhile does not inherit the lock, but a plain fork does. Raises InputError if another cluster has the folder, or
    if it cannot be locked.
    """
    file = _open(folder)
    try:
        _take(folder, file)
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def _open(folder: Path) -> int:
    try:
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
    except OSError as problem:
        raise InputError(
            f"{folder}: cannot be locked ({reason(problem)}); name a folder that is there and can be written"
        ) from None


def _take(folder: Path, file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in _IS_HELD:
            raise InputError(f"{folder}: cannot be locked ({reason(problem)}); name a folder on another disk") from None
        holder = os.pread(file, 20, 0).decode("ascii", "replace")
        who = f"process {holder}" if holder.isdecimal() else "another process"
        raise InputError(
            f"{folder}: a cluster is running in it ({who}); end that one, or name another folder"
        ) from None
