"""The one Spark session of this process: a Connect client of `SPARK_REMOTE`, or of an own local server.

The own server is started once, by whoever first asks, is kept warm, and ends with this process. Nobody waits
for it but who needs an answer of it: `warm_up` starts it in the background.
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
OURS = ("sim", "pipeline")  # what a worker needs of the project
CONNECT_PORT = 15002  # of a Connect server, unless its address says otherwise
KNOCK_S = 10.0
ATTEMPTS = 4  # of one task: a worker that is killed costs a retry, not the run


class NoSpark(InputError):
    """There is no Spark to work with. The text is one sentence that says why."""


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Server:
    """An own local Connect server: a child process, and the folder in which it keeps its scratch files."""

    def __init__(self, master: str | None = None, *, bundled_java: bool = False, sees_project: bool = True) -> None:
        """Starts it and waits until it serves. Raises NoSpark.

        `master`: local threads unless given. `sees_project`: whether workers import the project from its folder;
        else they have what `connect` sends them, as on a cluster.
        """
        self.scratch = Path(tempfile.mkdtemp(prefix="consistent-cut-spark-"))
        self.token = secrets.token_hex(16)
        try:
            java = find_java(self.scratch, bundled=bundled_java)
        except RuntimeError as problem:
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise NoSpark(str(problem)) from None
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
            raise NoSpark(f"Spark did not start: {reason}")

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"sc://localhost:{self.port}/;token={self.token}"

    def stop(self) -> None:
        """Ends the server and removes its files. May be called twice."""
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
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        told = [line.strip() for line in lines if "Error" in line or "Exception" in line] or [
            line for line in lines if line
        ]
        return told[-1][:300] if told else "it ended without a word"


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
    """A session of the server at `url`; one that is not our own gets the project's code. Raises NoSpark."""
    from pyspark.sql import SparkSession

    _knock(url)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # so that pyspark.sql.functions speaks Connect
    try:
        spark = SparkSession.builder.remote(url).create()
        spark.range(1).count()
    except Exception as problem:  # of many libraries: one sentence for all
        place = url.partition(";")[0]
        raise NoSpark(f"no Spark answers at {place}: {' '.join(str(problem).split())[:200]}") from None
    return spark


def _knock(url: str) -> None:
    """Raises NoSpark where nobody listens at `url`: the client would try again for many minutes."""
    place = url.partition(";")[0]
    try:
        address = urlsplit(place)
        host, port = address.hostname, address.port or CONNECT_PORT
        if address.scheme != "sc" or not host:
            raise ValueError("it is not written as sc://host:15002")
        socket.create_connection((host, port), timeout=KNOCK_S).close()
    except (OSError, ValueError) as problem:
        raise NoSpark(f"no Spark answers at {place}: {problem}") from None


def send_project(spark: SparkSession) -> None:
    """Send the project's code to the workers of a cluster, which cannot see this machine's files."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "project.zip"
        with zipfile.ZipFile(archive, "w") as zipped:
            for package in OURS:
                for path in sorted((ROOT / package).rglob("*.py")):
                    zipped.write(path, path.relative_to(ROOT))
        spark.addArtifacts(str(archive), pyfile=True)


class _Kept:
    """What this process keeps: its session, and the server of its own if it has one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.spark: SparkSession | None = None
        self.server: Server | None = None
        self.problem: str | None = None


_KEPT = _Kept()


def session() -> SparkSession:
    """The session of this process; the first to ask waits for it to start. Raises NoSpark."""
    with _KEPT.lock:
        if _KEPT.spark is None:
            try:
                _KEPT.spark = _start()
                _KEPT.problem = None
            except NoSpark as problem:
                _KEPT.problem = str(problem)
                raise
        return _KEPT.spark


def _start() -> SparkSession:
    remote = os.environ.get("SPARK_REMOTE")
    if remote:
        log.info("Spark runs at %s", remote.partition(";")[0])
        spark = connect(remote)
        send_project(spark)
        return spark
    _KEPT.server = Server()
    atexit.register(stop)
    return connect(_KEPT.server.url)


def stop() -> None:
    """End the session, and the own server with it. The next to ask starts anew."""
    with _KEPT.lock:
        spark, _KEPT.spark = _KEPT.spark, None
        server, _KEPT.server = _KEPT.server, None
        if spark is not None:
            spark.client.close()
        if server is not None:
            server.stop()


def is_warm() -> bool:
    """Whether `session` answers at once."""
    return _KEPT.spark is not None


def problem() -> str | None:
    """Why the last attempt to start failed (None: it did not)."""
    return _KEPT.problem


def warm_up() -> None:
    """Start the session in the background, unless it is there or on its way."""
    if not is_warm() and not _KEPT.lock.locked():
        threading.Thread(target=_quietly, name="spark-warm-up", daemon=True).start()


def _quietly() -> None:
    try:
        spark = session()
        spark.range(8).mapInArrow(_same, "id long").count()  # the first Python worker takes its time as well
    except NoSpark as problem:
        log.warning("%s", problem)


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
