"""A folder on a file system of this machine, or one that several machines share.

A file is written under a hidden name and renamed when it is complete, so it is either complete or absent.

A data folder is private to its owner, and files in it get the permissions of the folder. With SPARK_REMOTE the workers
may be other users: then the folder's mode is left to its owner (umask, chmod).
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyarrow import fs

from pipeline.store.lock import FileLock
from pipeline.store.place import HIDDEN, LOCK, Place, Write

OWNER = 0o700  # the mode of a data folder


class LocalFolder(Place):
    """The folder at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)
        self.filesystem = fs.LocalFileSystem()

    def __reduce__(self) -> tuple[type[LocalFolder], tuple[Path]]:
        return LocalFolder, (Path(os.path.abspath(self.path)),)  # a worker has another working directory

    def inside(self, name: str) -> str:
        """Like Place's."""
        return os.path.abspath(self.path / name)

    def is_there(self) -> bool:
        """Like Place's."""
        try:
            return self.path.is_dir()
        except OSError:  # such as: the name is too long
            return False

    def names(self, folder: str = "") -> list[str]:
        """Like Place's."""
        try:
            return sorted(os.listdir(self.path / folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, name: str, most: int) -> bytes:
        """Like Place's."""
        file = self.path / name
        if not os.path.lexists(file):
            raise FileNotFoundError
        if not file.is_file():
            raise IsADirectoryError
        with file.open("rb") as opened:
            return opened.read(most)

    def write(self, name: str, write: Write) -> None:
        """Like Place's."""
        file = self.path / name
        hidden = file.with_name(
            f"{HIDDEN}{secrets.token_hex(6)}.part"
        )  # a short name, since the file's own may be long
        try:
            with hidden.open("xb") as opened:
                write(opened)
                opened.flush()
                os.fsync(opened.fileno())
            hidden.chmod(self._mode & 0o666)
            hidden.replace(file)
        finally:
            hidden.unlink(missing_ok=True)

    def rename(self, name: str, new: str) -> None:
        """Like Place's."""
        (self.path / name).replace(self.path / new)

    def remove(self, name: str) -> None:
        """Like Place's."""
        file = self.path / name
        if file.is_symlink() or not file.is_dir():  # a folder in place of a file is removed with its content
            file.unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Like Place's."""
        shutil.rmtree(self.path)

    @contextmanager
    def made(self) -> Iterator[None]:
        """Like Place's."""
        made: list[Path] = []
        try:
            for folder in reversed([one for one in (self.path, *self.path.parents) if not one.exists()]):
                folder.mkdir(exist_ok=True)
                made.append(folder)
                if not os.environ.get("SPARK_REMOTE"):
                    folder.chmod(OWNER)
            yield
        except BaseException:
            with suppress(OSError):  # another process uses it meanwhile
                for folder in reversed(made):
                    folder.rmdir()
            raise

    def make(self, folder: str) -> None:
        """Like Place's."""
        (self.path / folder).mkdir(exist_ok=True)  # no parents: this folder may have been deleted meanwhile
        _set_mode(self.path / folder, self._mode)

    def unmake(self, folder: str) -> None:
        """Like Place's."""
        with suppress(OSError):  # it is not empty
            (self.path / folder).rmdir()

    def own(self) -> None:
        """Like Place's."""
        if not os.environ.get("SPARK_REMOTE"):
            _set_mode(self.path, OWNER)
        if (self.path / LOCK).exists():
            _set_mode(self.path / LOCK, self._mode & 0o666)

    def lock(self, name: str) -> FileLock:
        """Like Place's."""
        return FileLock(self.path / name)

    @property
    def _mode(self) -> int:
        """The mode of files in the folder: that of the folder."""
        return stat.S_IMODE(self.path.stat().st_mode)


def _set_mode(path: Path, mode: int) -> None:
    """Sets a mode, unless the file belongs to another user, such as a worker on a cluster."""
    with suppress(PermissionError):
        path.chmod(mode)
