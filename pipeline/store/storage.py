"""A data folder at a storage address: s3://bucket/bank, or another address that pyarrow's file systems reach.

A storage has no folders, and no renaming: a file exists when its upload ends, and a rename is a copy. Access rights are
those of each machine, also on workers: on S3 the variables AWS_ACCESS_KEY_ID and so on, or the role of the machine.
AWS_ENDPOINT_URL names a storage of another provider than Amazon.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pyarrow
from pyarrow import fs

from pipeline.store.place import Place, Write, reason
from pipeline.store.storage_lock import StorageLock
from sim.core.errors import InputError

SCHEMES = ("s3", "gs", "abfss", "hdfs")
_NOTHING = fs.FileType.NotFound


def _check(address: str) -> None:
    """Raises InputError for an address that names no folder, or that contains a secret or a setting."""
    scheme, _, rest = address.partition("://")
    bucket, _, folder = rest.partition("/")
    user, at, _ = bucket.rpartition("@")  # abfss://container@account is no user
    if "?" in address or "#" in address or (at and scheme != "abfss") or ":" in user:
        raise InputError(
            f"{scheme}://...: an address has no secrets and no settings in it; give them as variables (docs/cluster.md)"
        )
    if not folder:
        raise InputError(f"{address}: names a bucket; name a folder in it, as in {address}/bank")
    if not all(part.strip(".") for part in (bucket, *folder.split("/"))):
        raise InputError(f"{address}: has an empty name in it; write it as in s3://bucket/bank")


class Storage(Place):
    """The files below an address."""

    def __init__(self, address: str) -> None:
        """Raises InputError if the address cannot be used on this machine."""
        self.address = address.rstrip("/")
        _check(self.address)
        try:
            self.filesystem, path = fs.FileSystem.from_uri(self.address)
        except (OSError, ValueError, pyarrow.ArrowException) as problem:
            words = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise InputError(f"{address}: cannot be used as an address ({words}); see docs/cluster.md") from None
        self._path = path.rstrip("/")

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        return Storage, (self.address,)

    def inside(self, name: str) -> str:
        """Like Place's."""
        return f"{self._path}/{name}" if name else self._path

    def is_there(self) -> bool:
        """Like Place's."""
        return bool(self.names())

    def names(self, folder: str = "") -> list[str]:
        """Like Place's."""
        selector = fs.FileSelector(self.inside(folder), allow_not_found=True)
        return sorted(found.base_name for found in self.filesystem.get_file_info(selector))

    def read(self, name: str, most: int) -> bytes:
        """Like Place's."""
        with self.filesystem.open_input_stream(self.inside(name)) as opened:
            found: bytes = opened.read(most)
            return found

    def write(self, name: str, write: Write) -> None:
        """Like Place's."""
        held = pyarrow.BufferOutputStream()  # closing a stream completes the upload, even after a failure
        write(held)
        with self.filesystem.open_output_stream(self.inside(name)) as opened:
            opened.write(held.getvalue())

    def rename(self, name: str, new: str) -> None:
        """Like Place's."""
        self.filesystem.move(self.inside(name), self.inside(new))

    def remove(self, name: str) -> None:
        """Like Place's."""
        with suppress(FileNotFoundError):
            self.filesystem.delete_file(self.inside(name))

    def remove_all(self) -> None:
        """Like Place's."""
        with suppress(FileNotFoundError):
            self.filesystem.delete_dir(self._path)

    @contextmanager
    def made(self) -> Iterator[None]:
        """Like Place's."""
        yield

    def make(self, folder: str) -> None:
        """Like Place's."""
        pass

    def unmake(self, folder: str) -> None:
        """Like Place's. A storage has no folders, but pyarrow leaves an empty file after a folder's last file."""
        with suppress(OSError):
            if not self.names(folder):
                self.filesystem.delete_dir(self.inside(folder))

    def own(self) -> None:
        """Like Place's."""
        pass

    def lock(self, name: str) -> StorageLock:
        """Like Place's."""
        return StorageLock(self, name)

    def age(self, name: str) -> float | None:
        """Seconds since a file was written, by the storage's clock and that of this machine (None: no file)."""
        found = self.filesystem.get_file_info(self.inside(name))
        return None if found.type == _NOTHING or found.mtime_ns is None else time.time() - found.mtime_ns / 1e9
