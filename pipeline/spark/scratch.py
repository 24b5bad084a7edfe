"""Scratch folders of Spark's servers, and of logs before they are read.

No other user can read them. Making a scratch folder also removes those of killed owners: an owner holds a lock on a
file of its folder, and the system frees the lock when the owner ends in any way.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: the folder of a killed owner stays there
    fcntl = None  # type: ignore[assignment]

PREFIX = "consistent-cut-"
LOCK = "lock"


class Scratch:
    """A new scratch folder at `path`, and the descriptors that hold it, which a child process may inherit.

    Folders without a holder are removed first.
    """

    def __init__(self) -> None:
        """Raises OSError if there is no room for a folder."""
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.held: tuple[int, ...] = ()
        if fcntl is not None:
            self.held = (os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600),)
            fcntl.flock(self.held[0], fcntl.LOCK_EX)

    def remove(self) -> None:
        """Removes the folder. May be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        held, self.held = self.held, ()
        for descriptor in held:
            os.close(descriptor)


def _remove_abandoned() -> None:
    """Removes this user's scratch folders without a holder."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _unheld(folder):
            shutil.rmtree(folder)


@contextmanager
def _unheld(folder: Path) -> Iterator[None]:
    """Holds `folder` during the block. Raises OSError if it is another user's, or if another process holds it."""
    if folder.lstat().st_uid != os.getuid():
        raise PermissionError(f"{folder}: another user's")
    lock = os.open(folder / LOCK, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)
