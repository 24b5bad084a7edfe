"""PostgreSQL servers of the tests' own, where Debian's is installed: they can be killed, stopped, and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

MISSING = "no PostgreSQL is installed"  # why tests are skipped
HOST, USER = "127.0.0.1", "tester"
_QUICK = ("fsync=off", "listen_addresses=127.0.0.1", "max_connections=40", "shared_buffers=16MB")


def programs() -> Path | None:
    """The folder of the newest PostgreSQL on this machine; None if there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: int(path.parent.name), default=None)


class Server:
    """A server with a folder and a port of its own. PostgreSQL refuses to be run by root, so another user runs it."""

    def __init__(self, folder: Path, found: Path) -> None:
        self._folder, self._found, self.port = folder, found, _free_port()
        self._own: dict[str, Any] = {"cwd": folder}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            self._own |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        make = [str(found / "initdb"), "-D", str(folder / "data"), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(make, check=True, capture_output=True, **self._own)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, at the port that it had, and wait until it answers."""
        serve = [str(self._found / "postgres"), "-D", str(self._folder / "data"), "-k", str(self._folder)]
        settings = [word for setting in (*_QUICK, f"port={self.port}") for word in ("-c", setting)]
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen([*serve, *settings], stdout=nowhere, stderr=nowhere, **self._own)
        until(self._answers, "PostgreSQL answers")

    def stop(self) -> None:
        """End it in order. Connections are closed."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """kill -9 of all its processes."""
        self._send(signal.SIGKILL)
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP to all its processes: connections stay open, and nothing answers."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT to all of them."""
        self._send(signal.SIGCONT)

    def new_database(self, name: str) -> str:
        """The URL of a new, empty database."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    def url(self, name: str) -> str:
        """The URL of a database."""
        return f"postgresql://{USER}@{HOST}:{self.port}/{name}"

    def close(self) -> None:
        """End it in any state."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def _end(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait()

    def _send(self, number: signal.Signals) -> None:
        """Send a signal to the server and to those of its processes that serve a connection or write."""
        assert self._process is not None
        first = self._process.pid
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for pid in (first, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _answers(self) -> bool:
        """Whether a client can connect. Fails if the server has ended."""
        import psycopg

        assert self._process is not None
        assert self._process.poll() is None, "PostgreSQL has ended"
        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            return True
        return False


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def postgres() -> Iterator[Server]:
    """A server that runs, with databases yet to be made. Skips the test where there is none to be had."""
    found = programs()
    if found is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        server = Server(folder, found)
        try:
            server.start()
            yield server
        finally:
            server.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
