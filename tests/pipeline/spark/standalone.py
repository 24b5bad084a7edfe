"""A standalone cluster of Spark's own: a master and two workers on the loopback address, from PySpark alone.

Each worker has a working directory of its own, and none of them sees the project: what they run has been sent to them.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyspark

from pipeline.spark.java import find_java
from pipeline.spark.local_server import free_port
from pipeline.spark.preparing import NEEDED
from tests.tools import QUICK_JAVA
from tests.waiting import until

WORKERS = 2
MEMORY_MB = 512  # of an executor
HERE = ("--host", "127.0.0.1", "--webui-port", "0")
_HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Cluster:
    """`url` is spark://...; `conf` is what a session of it needs: builder.master(url).config(map=conf)."""

    url: str
    conf: Mapping[str, str]

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a program with a session of the cluster, such as a notebook's."""
        return environment_of_users(**more)


@contextmanager
def standalone_cluster(folder: Path, hidden: Path | None = None, **environment: str) -> Iterator[Cluster]:
    """A cluster with its files in `folder`, which is new or empty. Its workers have `environment` beside this one's.

    hidden: a folder of this machine that is empty for the workers, as if they were elsewhere (see `can_hide`).
    """
    own = {**_environment(), "JAVA_HOME": str(find_java(folder).home), **environment}
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.append(_start(folder / "master", own, "master.Master", *HERE, "--port", "0"))
        url = _told(folder / "master", r"(spark://127\.0\.0\.1:\d+)")
        for number in range(WORKERS):
            place = folder / f"worker-{number}"
            words = (*HERE, "--cores", "1", "--memory", f"{MEMORY_MB}m", "--work-dir", str(place / "work"), url)
            mine = {name: str(place) for name in ("HOME", "TMPDIR", "SPARK_LOCAL_DIRS")}
            started.append(_start(place, {**own, **mine}, "worker.Worker", *words, before=_without(hidden)))
        for number in range(WORKERS):
            _told(folder / f"worker-{number}", "(Successfully registered)")
        yield Cluster(url, settings_of_users())
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)  # a worker's executors are of its group
            process.wait()


@contextmanager
def connect_server(cluster: Cluster, folder: Path) -> Iterator[str]:
    """A Connect server whose jobs the cluster carries out; its address. `folder` is for its log."""
    port = free_port()
    conf = {**cluster.conf, "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port}
    words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    own = {**cluster.environment(), "JAVA_HOME": str(find_java(folder).home)}
    process = _start(folder / "connect", own, "SparkSubmit", "--master", cluster.url, *words, "--class", name)
    try:
        until(lambda: process.poll() is not None or _listens(port), "the Connect server listens")
        assert process.poll() is None, (folder / "connect" / "log").read_text(errors="replace")
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def can_hide() -> bool:
    """Whether this machine lets us hide a folder from a process: on Linux, for root or with namespaces of users."""
    return not subprocess.run([*_without(Path("/mnt")), "true"], capture_output=True, check=False).returncode


def _without(hidden: Path | None) -> list[str]:
    """The beginning of a command that sees an empty folder in place of `hidden`."""
    if hidden is None:
        return []
    return ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(hidden)]


def bare_python(folder: Path) -> Path:
    """A Python in `folder` that has the packages which docs/cluster.md asks of workers, and no others."""
    site = folder / "site"
    site.mkdir(parents=True)
    for name in NEEDED:
        for place in (Path(find_spec(name).origin).parent, Path(sysconfig.get_path("platlib"), f"{name}.libs")):  # type: ignore[union-attr, arg-type]
            if place.is_dir():
                (site / place.name).symlink_to(place)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{site}:$PYTHONPATH" exec "{sys.executable}" -S "$@"\n')
    script.chmod(0o700)
    return script


def _environment() -> dict[str, str]:
    """This process's environment, without what leads Spark elsewhere."""
    own = {**os.environ, "JAVA_TOOL_OPTIONS": QUICK_JAVA, "SPARK_LOCAL_IP": "127.0.0.1"}
    for name in ("SPARK_REMOTE", "SPARK_HOME", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE", "PYTHONPATH"):
        own.pop(name, None)
    return own


def _start(
    place: Path, environment: dict[str, str], name: str, *words: str, before: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    place.mkdir(parents=True)
    command = [*before, str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *words]
    with (place / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=place, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip


def _told(place: Path, pattern: str) -> str:
    """The text in the log of a master or worker, once it is there."""
    return until(lambda: re.search(pattern, (place / "log").read_text(errors="replace")), f"{place.name}: {pattern}")[1]


def environment_of_users(**more: str) -> dict[str, str]:
    """The environment of a program of a user with a classic session."""
    return {**_environment(), "PYSPARK_PYTHON": sys.executable, **more}


def settings_of_users() -> dict[str, str]:
    """The settings of a classic session of a user."""
    return {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.executor.memory": f"{MEMORY_MB}m", "spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }  # fmt: skip
