"""The place of a data folder: a file system of this machine, or a storage address such as s3://bucket/bank.

A place reads and writes complete files, by names such as `manifest.json` and `runs/all.parquet`. A file is either
complete or absent. pyarrow reads Parquet by the place's `filesystem` and the path `inside` it. A place can be pickled:
a worker reaches the same files by it, with its own access rights (on S3 those of the environment or of the machine).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Any, Protocol

from pyarrow import fs

from sim.core.errors import InputError

HIDDEN = "_"  # the first letter of names that readers skip
LOCK = f"{HIDDEN}lock"  # held by the process that writes the folder
MOST_LETTERS = 200  # of a storage's own words

Write = Callable[[IO[bytes]], Any]


class Lock(Protocol):
    """The lock of a folder, held by the process that writes it. It is freed when that process ends in any way."""

    def take(self) -> bool:
        """Takes the lock if it is free. Returns whether it is ours. Raises OSError for a bad path."""

    def free(self) -> None:
        """Frees the lock if it is ours."""

    @property
    def is_lost(self) -> bool:
        """Whether it was ours, but its file or the complete folder has been removed."""

    @property
    def is_held(self) -> bool:
        """Whether a process holds it, here or elsewhere."""


class Place(ABC):
    """A folder of files."""

    address: str
    filesystem: fs.FileSystem

    def __repr__(self) -> str:
        return self.address

    @abstractmethod
    def inside(self, name: str) -> str:
        """The path of a file within `filesystem`."""

    @abstractmethod
    def is_there(self) -> bool:
        """Whether there is a folder."""

    @abstractmethod
    def names(self, folder: str = "") -> list[str]:
        """The sorted names in the folder, or in a folder of it; none if that does not exist. Raises OSError."""

    @abstractmethod
    def read(self, name: str, most: int) -> bytes:
        """The first `most` bytes of a file. Raises FileNotFoundError if there is none, OSError if it cannot be read."""

    @abstractmethod
    def write(self, name: str, write: Write) -> None:
        """Writes or replaces a file with what `write` puts into it. Raises OSError."""

    @abstractmethod
    def rename(self, name: str, new: str) -> None:
        """Gives a file another name. Raises OSError."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Removes a file if it is there. Raises OSError."""

    @abstractmethod
    def remove_all(self) -> None:
        """Removes the folder with all that is in it. Raises OSError."""

    @abstractmethod
    def made(self) -> AbstractContextManager[None]:
        """A context in which the folder exists. A new folder is removed again if the block fails."""

    @abstractmethod
    def make(self, folder: str) -> None:
        """Makes a folder in this one, if the system needs that. Raises OSError, also if this one does not exist."""

    @abstractmethod
    def unmake(self, folder: str) -> None:
        """Removes a folder in this one if it is empty."""

    @abstractmethod
    def own(self) -> None:
        """Makes this folder private to its owner, if the system can do that."""

    @abstractmethod
    def lock(self, name: str) -> Lock:
        """The lock in the file `name`."""


@contextmanager
def writing(address: str) -> Iterator[None]:
    """Turns the block's OSError, such as on a full disk, into an InputError about `address`."""
    try:
        yield
    except OSError as problem:
        cure = (
            "make room, or name another folder" if problem.errno else "look whether it is there, and who may write it"
        )
        raise InputError(f"{address}: cannot be written ({reason(problem)}); {cure}") from None


@contextmanager
def removed(place: Place, names: Iterable[str]) -> Iterator[None]:
    """Removes files at the end of the block. A lost storage is called only once, since each call takes seconds."""
    try:
        yield
    finally:
        with suppress(OSError):
            for name in names:
                place.remove(name)


def reason(problem: OSError) -> str:
    """Why a file system or a storage refuses something, in a few words."""
    if problem.errno:
        return os.strerror(problem.errno)
    words = " ".join(str(problem).split())
    return words.rpartition("AWS Error ")[2][:MOST_LETTERS]  # the request before it can be long
