"""A local Spark Connect server of this process: a child process (pipeline/spark/server.py) and its scratch folder.

Its ports are on the loopback address, and each requires a secret that is new for every server. The Connect server
requires a token, the ports between driver and executors the secret of `spark.authenticate`, the others one of
PySpark's. The secrets are in a file that only this user can read, never on a command line.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from pipeline.spark import class_archive
from pipeline.spark.java import find_java
from pipeline.spark.losses import SparkLost
from pipeline.spark.scratch import Scratch
from pipeline.spark.server import GOODBYE_S, READY
from sim.core.errors import InputError

log = logging.getLogger("pipeline")

ROOT = Path(__file__).resolve().parents[2]
ATTEMPTS = 4  # for each task: after a worker is killed, its task is tried again
START_S = 180.0  # the time that a server has to start
MOST_MEMORY, LEAST_MEMORY = 1024, 512  # MB of Java's heap
LEAST_ROOM = 200  # MB of the disk


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Server:
    """A local server, which ends with this process. This process notices at once if the server ends earlier."""

    def __init__(
        self,
        master: str | None = None,
        *,
        bundled_java: bool = False,
        sees_project: bool = True,
        java_options: Sequence[str] | None = None,
        goodbye_s: float = GOODBYE_S,
    ) -> None:
        """Begins to start the server; `wait` waits until it serves. Raises InputError if it cannot start.

        `master` is Spark's master, by default local threads. If `sees_project`, workers import the project from its
        folder; otherwise only code that is sent to them, as on a cluster. java_options: options of Java, in place of
        those for the archive of Spark's classes. goodbye_s: the seconds that Java has to end before it is killed.
        """
        memory = java_memory()
        try:
            self._scratch = Scratch()
        except OSError as problem:
            raise InputError(f"Spark did not start: {problem.strerror}; set TMPDIR to a folder with room") from None
        self.scratch = self._scratch.path
        try:
            self._check_room()
            self.java = find_java(self.scratch, bundled=bundled_java)
        except InputError:
            self._scratch.remove()
            raise
        log.info("Spark runs on %s", self.java.words)
        self._goodbye_s = goodbye_s
        options = class_archive.options(self.java) if java_options is None else java_options
        self.port = free_port()
        self._token = secrets.token_hex(16)
        self._ending, self._is_over, self._why = threading.Lock(), False, ""
        self._log = self.scratch / "server.log"
        environment = {
            **os.environ,
            "JAVA_HOME": str(self.java.home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT) if sees_project else "",
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        for name in ("SPARK_REMOTE", "SPARK_HOME", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
            environment.pop(name, None)
        conf = self.scratch / "conf.properties"
        conf.touch(mode=0o600)
        properties = self._conf(master or f"local[{cores()},{ATTEMPTS}]", memory, options)
        conf.write_text(_properties(properties), encoding="utf-8")
        with self._log.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(ROOT / "pipeline" / "spark" / "server.py"), str(conf), str(goodbye_s)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, pass_fds=self._scratch.held,
                cwd=self.scratch, env=environment, start_new_session=True,
            )  # fmt: skip

    def _check_room(self) -> None:
        room = shutil.disk_usage(self.scratch).free >> 20
        if room < LEAST_ROOM:
            raise InputError(
                f"Spark did not start: {self.scratch.parent} has room for {room} MB, and Spark needs {LEAST_ROOM}; "
                "make room there, or set TMPDIR to a folder with more"
            )

    def _conf(self, master: str, memory: int, options: Sequence[str]) -> dict[str, str]:
        return {
            "spark.master": master,
            "spark.app.name": "Consistent Cut",
            "spark.ui.enabled": "false",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.connect.authenticate.token": self._token,
            "spark.authenticate": "true",
            "spark.authenticate.secret": secrets.token_hex(32),  # of executors; the driver alone makes one of its own
            "spark.network.crypto.enabled": "true",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": f"{memory}m",
            # Without the first option Java goes on when its memory is full, but does not answer.
            "spark.driver.extraJavaOptions": " ".join(("-XX:+ExitOnOutOfMemoryError", *options)),
            "spark.local.dir": str(self.scratch / "local"),
            "spark.sql.warehouse.dir": str(self.scratch / "warehouse"),
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.session.timeZone": "UTC",
            "spark.task.maxFailures": str(ATTEMPTS),
            "spark.log.level": "ERROR",
        }

    def wait(self) -> None:
        """Waits until the server serves. Raises InputError if it does not start, SparkLost if it is killed."""
        assert self._process.stdout is not None
        patience = threading.Timer(START_S, self.kill)
        patience.start()
        is_ready = self._process.stdout.readline().strip() == READY.encode()
        patience.cancel()
        if not is_ready:
            self.stop()
            error = SparkLost if self._was_killed() else InputError
            raise error(f"Spark did not start: {self.reason}")

    @property
    def url(self) -> str:
        """The address for clients, with the token."""
        return f"sc://localhost:{self.port}/;token={self._token}"

    def at_its_end(self, act: Callable[[], None]) -> None:
        """Calls `act` in a thread as soon as the server has ended."""

        def wait() -> None:
            self._process.wait()
            act()

        threading.Thread(target=wait, name="spark-end", daemon=True).start()

    def stop(self) -> None:
        """Stops the server and removes its files. May be called twice."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=self._goodbye_s + 1)
        self.kill()

    def kill(self) -> None:
        """Kills the server with all its processes, and removes its files. May be called twice."""
        with self._ending:
            if self._is_over:
                return
            self._is_over = True
            with suppress(ProcessLookupError):
                if os.name == "posix":
                    os.killpg(self._process.pid, signal.SIGKILL)  # also what a killed server has left
                else:
                    self._process.kill()
            self._process.wait()
            self._why = self._reason()
            self._scratch.remove()

    @property
    def reason(self) -> str:
        """The reason for its end, in words; empty before it has ended."""
        return self._why

    def _reason(self) -> str:
        """The reason for its end, from its log and its status."""
        try:
            text = self._log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        if "java.lang.OutOfMemoryError" in text:
            return "it ran out of memory"
        if self._was_killed():
            return "it was killed, as happens when memory runs out"
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        errors = [line for line in lines if "Error" in line or "Exception" in line]
        return (errors or lines or ["it ended without a message"])[-1][:300]

    def _was_killed(self) -> bool:
        """Whether a signal has ended the server, or its Java."""
        status = self._process.returncode
        return status is not None and (status < 0 or status > 128)


def java_memory() -> int:
    """MB for Java: half of what is free. Raises InputError if that is too little."""
    free = free_memory()
    if free is None:
        return MOST_MEMORY
    if free < LEAST_MEMORY:
        raise InputError(f"Spark did not start: {free} MB of memory are free, and it needs {LEAST_MEMORY} at least")
    return min(MOST_MEMORY, max(LEAST_MEMORY, free // 2))


def free_memory() -> int | None:
    """The MB of memory that are free on this machine and that this process's group may use (None: unknown)."""
    found = []
    with suppress(OSError, KeyError, ValueError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) >> 10)
    with suppress(OSError, ValueError):  # ValueError: there is no limit
        group = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        found.append(int(Path("/sys/fs/cgroup", group, "memory.max").read_text()) >> 20)
    return min(found, default=None)


def _properties(conf: dict[str, str]) -> str:
    """A file of Java's properties, in which a backslash begins an escape."""
    return "".join(f"{name} {value}\n" for name, value in conf.items()).replace("\\", "\\\\")


def free_port() -> int:
    """A free port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
