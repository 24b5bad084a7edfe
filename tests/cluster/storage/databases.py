"""A PostgreSQL server of the tests' own, where Debian's is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

MOST_SECONDS = 60


def programs() -> Path | None:
    """The folder of the newest PostgreSQL on this machine; None if there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: int(path.parent.name), default=None)


@contextmanager
def postgresql() -> Iterator[Path]:
    """A server with an empty database. Yields the folder of its socket. PostgreSQL refuses to be run by root."""
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL on this machine")
    own: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            own = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        make = [found / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **own)
        serve = [found / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        server = subprocess.Popen(serve, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **own)
        try:
            _wait(folder, server)
            yield folder
        finally:
            server.send_signal(2)  # a fast shutdown
            server.wait(MOST_SECONDS)
    finally:
        shutil.rmtree(folder)


def _wait(folder: Path, server: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + MOST_SECONDS
    while True:
        try:
            psycopg.connect(host=str(folder), user="tester", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, "PostgreSQL has ended"
            assert time.monotonic() < ends, "PostgreSQL does not answer"
            time.sleep(0.05)


def new_database(folder: Path, name: str) -> str:
    """The URL of a new, empty database."""
    with psycopg.connect(host=str(folder), user="tester", dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"postgresql://tester@/{name}?host={folder}"
