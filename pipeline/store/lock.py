"""The lock of a data folder: a file in it, held by the process that writes the folder.

The system frees the lock when that process ends in any way. So a lock, unlike the number of a process, cannot outlive
its holder or be mistaken for another's. It works between containers and on network file systems with locks (NFS 4,
SMB). On a file system without locks it never appears to be held.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try(file: int, *, shared: bool) -> None:
        """Locks an open file. Raises OSError if another process holds it; `shared` makes no difference here."""
        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try(file: int, *, shared: bool) -> None:
        """Locks an open file, alone or together with others. Raises OSError if another process holds it."""
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # opening a pipe in its place does not wait
_IS_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_PATIENCE_S = 1.0  # the time that a writer waits: a process that looks at the lock holds it for a moment


class FileLock:
    """The lock in the file `path`, which exists while a process holds it, or longer if the holder was killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def take(self) -> bool:
        """Takes the lock if it is free. Returns whether it is ours. Raises OSError for a bad path."""
        ends = time.monotonic() + _PATIENCE_S
        while self._file is None and time.monotonic() < ends:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _is_held(file, shared=False) and _is_at(self.path, file):
                self._file = file
            else:
                os.close(file)
                time.sleep(0.02)
        return self._file is not None

    def free(self) -> None:
        """Frees the lock if it is ours, and removes its file."""
        file, self._file = self._file, None
        if file is None:
            return
        is_ours = _is_at(self.path, file)  # and not in a new folder in place of ours
        if sys.platform == "win32":  # removes no open file, also none that another process opened
            os.close(file)
        with suppress(OSError):
            if is_ours:
                self.path.unlink()
        if sys.platform != "win32":
            os.close(file)

    @property
    def is_lost(self) -> bool:
        """Whether it was ours, but its file or the complete folder has been removed."""
        return self._file is not None and not _is_at(self.path, self._file)

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    @property
    def is_held(self) -> bool:
        """Whether a process holds it, here or elsewhere."""
        if self._file is not None:
            return True
        try:
            file = os.open(self.path, os.O_RDONLY | _AT_ONCE)
        except PermissionError:  # another user has made it, and only that user can tell
            return True
        except OSError:  # it does not exist
            return False
        try:
            return _is_held(file, shared=True)
        finally:
            os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether an open file is the one at `path`: it is not if its holder has removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except OSError:
        return False


def _is_held(file: int, *, shared: bool) -> bool:
    """Whether another process holds the lock; else it is ours as long as the file is open."""
    try:
        _try(file, shared=shared)
    except OSError as problem:
        return problem.errno in _IS_HELD
    return False
