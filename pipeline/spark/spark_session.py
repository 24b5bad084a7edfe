"""The Spark session of this process: a Spark Connect client of `SPARK_REMOTE`, or of a local server of our own.

The first call starts the local server, which then runs as long as this process. `session()` waits until it serves;
`warm_up()` starts it in the background. Without Spark, an InputError says why.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.spark.java import find_java
from pipeline.spark.server import READY
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("pipeline")

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sim", "pipeline")  # that workers import
CONNECT_PORT = 15002  # the default port of a Connect server
CONNECT_TIMEOUT_S = 10.0
ATTEMPTS = 4  # for each task: after a worker is killed, its task is tried again


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Server:
    """A local Spark Connect server: a child process and its scratch folder."""

    def __init__(self, master: str | None = None, *, bundled_java: bool = False, sees_project: bool = True) -> None:
        """Starts the server and waits until it serves. Raises InputError if it cannot start.

        `master` is Spark's master, by default local threads. If `sees_project`, workers import the project from its
        folder; else, as on a cluster, only what `send_project` sends them.
        """
        self.scratch = Path(tempfile.mkdtemp(prefix="consistent-cut-spark-"))
        self.token = secrets.token_hex(16)
        try:
            java = find_java(self.scratch, bundled=bundled_java)
        except InputError:
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise
        log.info("Spark runs on %s", java.words)
        self.port = _free_port()
        self._log = self.scratch / "server.log"
        environment = {
            **os.environ,
            "JAVA_HOME": str(java.home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT) if sees_project else "",
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": self.token,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        for name in ("SPARK_REMOTE", "SPARK_HOME", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
            environment.pop(name, None)
        conf = self.scratch / "conf.json"
        conf.write_text(json.dumps(_conf(master or f"local[{cores()},{ATTEMPTS}]", self.scratch)), encoding="utf-8")
        with self._log.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(ROOT / "pipeline" / "spark" / "server.py"), str(self.port), str(conf)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                cwd=self.scratch, env=environment, start_new_session=True,
            )  # fmt: skip
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != READY.encode():
            reason = self._last_line()
            self.stop()
            raise InputError(f"Spark did not start: {reason}")

    @property
    def url(self) -> str:
        """The address for clients, with the token."""
        return f"sc://localhost:{self.port}/;token={self.token}"

    def stop(self) -> None:
        """Stops the server and removes its files. May be called twice."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _last_line(self) -> str:
        """The last error in the server's log, else its last line."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        errors = [line.strip() for line in lines if "Error" in line or "Exception" in line]
        return (errors or [line for line in lines if line] or ["it ended without a word"])[-1][:300]


def _conf(master: str, scratch: Path) -> dict[str, str]:
    return {
        "spark.master": master,
        "spark.app.name": "Consistent Cut",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.task.maxFailures": str(ATTEMPTS),
        "spark.log.level": "ERROR",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def connect(url: str) -> SparkSession:
    """A new session of the server at `url`. Raises InputError if no Spark answers there."""
    from pyspark.sql import SparkSession

    _check_reachable(url)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # makes pyspark.sql.functions use Connect
    try:
        spark = SparkSession.builder.remote(url).create()
        spark.range(1).count()
    except Exception as problem:  # several libraries, each with exceptions of its own
        address = url.partition(";")[0]
        raise InputError(f"no Spark answers at {address}: {' '.join(str(problem).split())[:200]}") from None
    return spark


def _check_reachable(url: str) -> None:
    """Raises InputError if no server listens at `url`. Spark's own client would retry for many minutes."""
    address = url.partition(";")[0]
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or CONNECT_PORT
        if parts.scheme != "sc" or not host:
            raise ValueError("it is not written as sc://host:15002")
        socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as problem:
        raise InputError(f"no Spark answers at {address}: {problem}") from None


def send_project(spark: SparkSession) -> None:
    """Sends the project's code to the workers of a cluster, which cannot read this machine's files."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "project.zip"
        with zipfile.ZipFile(archive, "w") as zipped:
            for package in PACKAGES:
                for path in sorted((ROOT / package).rglob("*.py")):
                    zipped.write(path, path.relative_to(ROOT))
        spark.addArtifacts(str(archive), pyfile=True)


class _State:
    """The session of this process, and its local server if it has one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.spark: SparkSession | None = None
        self.server: Server | None = None
        self.problem: str | None = None


_STATE = _State()


def session() -> SparkSession:
    """The session of this process; the first call starts it and waits. Raises InputError if there is no Spark."""
    with _STATE.lock:
        if _STATE.spark is None:
            try:
                _STATE.spark = _start()
                _STATE.problem = None
            except InputError as problem:
                _STATE.problem = str(problem)
                raise
        return _STATE.spark


def _start() -> SparkSession:
    remote = os.environ.get("SPARK_REMOTE")
    if remote:
        log.info("Spark runs at %s", remote.partition(";")[0])
        spark = connect(remote)
        send_project(spark)
        return spark
    _STATE.server = Server()
    atexit.register(stop)
    return connect(_STATE.server.url)


def stop() -> None:
    """Ends the session and the local server. The next call of `session` starts both again."""
    with _STATE.lock:
        spark, _STATE.spark = _STATE.spark, None
        server, _STATE.server = _STATE.server, None
        if spark is not None:
            spark.client.close()
        if server is not None:
            server.stop()


def is_warm() -> bool:
    """Whether the session is there, so that `session` returns at once."""
    return _STATE.spark is not None


def problem() -> str | None:
    """Why the last attempt to start failed; None if it did not fail."""
    return _STATE.problem


def warm_up() -> None:
    """Starts the session in the background, unless it is there or already starting."""
    if not is_warm() and not _STATE.lock.locked():
        threading.Thread(target=_start_first_worker, name="spark-warm-up", daemon=True).start()


def _start_first_worker() -> None:
    """Starts the session and a Python worker. Logs why, if there is no Spark."""
    try:
        session().range(8).mapInArrow(_identity, "id long").count()  # the first Python worker is slow to start
    except InputError as problem:
        log.warning("%s", problem)


def _identity(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
