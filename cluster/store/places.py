"""The places in which a checkpoint store keeps its files: a folder of this machine, or a folder of a bucket on S3.

A file is complete or does not exist. On S3 an object appears when its upload ends. In a folder it is written under a
temporary name, synced, and renamed, and then the folder is synced; a process that is killed meanwhile leaves the
temporary file.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import pyarrow
from pyarrow import fs

from sim.core.errors import InputError

TEMPORARY = ".tmp"  # the end of a temporary file's name
CONNECT_S, ANSWER_S, ATTEMPTS = 3.0, 5.0, 3  # of a bucket: seconds to connect and without a byte, and tries
MOST_LETTERS = 200  # of a storage's description of a failure


class Listing(NamedTuple):
    """The names of the files and of the folders in a folder."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def _listing(entries: Iterable[tuple[str, bool]]) -> Listing:
    """The listing of a folder, from the names in it and whether each is a folder."""
    known = sorted(entries)
    files = tuple(name for name, is_folder in known if not is_folder)
    return Listing(files, tuple(name for name, is_folder in known if is_folder))


class Place(Protocol):
    """A folder, and the operations on the files in it. Names are relative, with `/`. All methods raise OSError.

    `uri` names it without secrets; `addresses` are all texts by which it may be named.
    """

    uri: str
    addresses: frozenset[str]

    def is_there(self) -> bool:
        """Whether the folder, or the bucket, exists."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, replacing an older one. Makes the folders between this one and the file."""

    def read(self, name: str, most: int) -> bytes:
        """The first `most` bytes of a file."""

    def listing(self, folder: str) -> Listing:
        """The names in a folder: none if it does not exist."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""

    def remove_folder(self, folder: str) -> None:
        """Remove a folder, if it exists and is empty."""


def place_at(address: str) -> Place:
    """The place at a path, or at a URI file:///... or s3://bucket/folder?region=...

    Raises InputError for an address that cannot be used.
    """
    scheme = address.partition("://")[0] if "://" in address else ""
    if scheme not in ("", "file", "s3"):
        raise InputError(f"{scheme}://...: a storage root is a path, or a URI that begins with file:// or s3://")
    if not address or "\0" in address:
        raise InputError("a storage root has an empty address; give a path, or a URI such as s3://bucket/folder")
    if not scheme:
        return LocalFolder(address, os.path.abspath(address))
    if scheme == "s3" and not urlsplit(address).netloc:
        raise InputError("s3://: names no bucket; write it as in s3://bucket/folder")
    shown = f"{scheme}://{urlsplit(address).netloc.rpartition('@')[2]}{urlsplit(address).path}".rstrip("/")
    try:
        filesystem, path = fs.FileSystem.from_uri(address)
    except (OSError, ValueError, pyarrow.ArrowException) as problem:
        words = reason(problem) if isinstance(problem, OSError) else "it is no URI of a storage"
        raise InputError(f"{shown}: cannot be used as a storage root ({words})") from None
    return LocalFolder(address, path) if scheme == "file" else Bucket(address, shown, _patient(filesystem), path)


def _patient(filesystem: fs.S3FileSystem) -> fs.S3FileSystem:
    """The same bucket, whose silence has an end: an address cannot say so, and the usual patience is long."""
    _, (settings,) = filesystem.__reduce__()
    again = fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)
    own = {name: value for name, value in settings.items() if value is not None and name != "default_metadata"}
    own |= {"connect_timeout": CONNECT_S, "request_timeout": ANSWER_S, "retry_strategy": again}
    return fs.S3FileSystem(**own)


class LocalFolder:
    """A folder of this machine."""

    def __init__(self, address: str, path: str) -> None:
        self._path = path.rstrip("/") or "/"
        self.uri = Path(self._path).as_uri()
        self.addresses = frozenset({address.rstrip("/"), self._path, self.uri})

    def is_there(self) -> bool:
        """Like Place's."""
        return os.path.isdir(self._path)

    def write(self, name: str, data: bytes) -> None:
        """Like Place's."""
        *between, last = name.split("/")
        folders = [self._path]
        for each in between:
            folders.append(os.path.join(folders[-1], each))
            with suppress(FileExistsError):
                os.mkdir(folders[-1], 0o700)
        hidden = os.path.join(folders[-1], f".{secrets.token_hex(6)}{TEMPORARY}")
        try:
            _write_synced(hidden, data)
            os.replace(hidden, os.path.join(folders[-1], last))
        except OSError:
            with suppress(OSError):
                os.unlink(hidden)
            raise
        for folder in reversed(folders):
            _sync_folder(folder)

    def read(self, name: str, most: int) -> bytes:
        """Like Place's."""
        with open(self._inside(name), "rb") as opened:
            return opened.read(most)

    def listing(self, folder: str) -> Listing:
        """Like Place's."""
        try:
            with os.scandir(self._inside(folder)) as found:
                return _listing((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
        except FileNotFoundError:
            return Listing()

    def remove(self, name: str) -> None:
        """Like Place's."""
        path = self._inside(name)
        with suppress(FileNotFoundError):
            os.unlink(path)
            _sync_folder(os.path.dirname(path))

    def remove_folder(self, folder: str) -> None:
        """Like Place's."""
        if self.listing(folder) == Listing():
            with suppress(FileNotFoundError):
                os.rmdir(self._inside(folder))

    def _inside(self, name: str) -> str:
        return os.path.join(self._path, name)


def _write_synced(path: str, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    finally:
        os.close(file)


def _sync_folder(path: str) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Bucket:
    """A folder of a bucket on S3. It need not exist: a bucket has only names of files."""

    def __init__(self, address: str, shown: str, filesystem: fs.FileSystem, path: str) -> None:
        self.uri = shown
        self.addresses = frozenset({address.rstrip("/"), shown})
        self._filesystem = filesystem
        self._path = path.rstrip("/")

    def is_there(self) -> bool:
        """Like Place's."""
        found = self._filesystem.get_file_info(self._path.partition("/")[0])
        return bool(found.type == fs.FileType.Directory)

    def write(self, name: str, data: bytes) -> None:
        """Like Place's."""
        with self._filesystem.open_output_stream(self._inside(name)) as opened:
            opened.write(data)

    def read(self, name: str, most: int) -> bytes:
        """Like Place's."""
        with self._filesystem.open_input_stream(self._inside(name)) as opened:
            found: bytes = opened.read(most)
            return found

    def listing(self, folder: str) -> Listing:
        """Like Place's."""
        found = self._filesystem.get_file_info(fs.FileSelector(self._inside(folder), allow_not_found=True))
        return _listing((entry.base_name, entry.type == fs.FileType.Directory) for entry in found)

    def remove(self, name: str) -> None:
        """Like Place's."""
        with suppress(FileNotFoundError):
            self._filesystem.delete_file(self._inside(name))

    def remove_folder(self, folder: str) -> None:
        """Like Place's. pyarrow leaves an empty object in place of a folder's last file."""
        if self.listing(folder) == Listing():
            with suppress(FileNotFoundError):
                self._filesystem.delete_dir(self._inside(folder))

    def _inside(self, name: str) -> str:
        return f"{self._path}/{name}"


def reason(problem: OSError) -> str:
    """The reason for which a file system or a storage refuses a request, in a few words."""
    if problem.errno:
        return os.strerror(problem.errno)
    words = " ".join(str(problem).split())
    return words.rpartition("AWS Error ")[2][:MOST_LETTERS]  # before that is what was asked, which can be long
