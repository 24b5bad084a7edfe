"""A PostgreSQL server of the tests' own, where Debian's is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import budget_s, until


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
            until(lambda: _answers(folder, server), "PostgreSQL answers")
            yield folder
        finally:
            server.send_signal(2)  # a fast shutdown
            server.wait(budget_s())
    finally:
        shutil.rmtree(folder)


def _answers(folder: Path, server: subprocess.Popen[bytes]) -> bool:
    """Whether somebody can connect. Fails if the server has ended."""
    import psycopg

    assert server.poll() is None, "PostgreSQL has ended"
    with suppress(psycopg.OperationalError):
        psycopg.connect(host=str(folder), user="tester", dbname="postgres").close()
        return True
    return False


def new_database(folder: Path, name: str) -> str:
    """The URL of a new, empty database."""
    import psycopg

    with psycopg.connect(host=str(folder), user="tester", dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"postgresql://tester@/{name}?host={folder}"
