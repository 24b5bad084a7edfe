"""However a cluster ends, and whenever: none of its nodes is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

PATIENCE = 20.0


def wait_for(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Look again and again until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


def command_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def nodes_of(pid: int) -> list[int]:
    """The processes of the nodes of a cluster."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return [own for own in found if "cluster.node" in command_of(own)]


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A cluster of three nodes as a program of its own, which has only just been started."""
    command = [
        sys.executable, "-m", "cluster", "up", "--nodes", "3", "--port", "0", "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as program:  # fmt: skip
        yield program
        if program.poll() is None:
            program.kill()


def started(cluster: subprocess.Popen[str]) -> list[int]:
    """The nodes, when all of them run."""
    assert cluster.stdout is not None
    for line in cluster.stdout:
        if "Ctrl-C" in line:
            break
    nodes = nodes_of(cluster.pid)
    assert len(nodes) == 3
    return nodes


def none_is_left(nodes: list[int]) -> None:
    wait_for(lambda: not any(map(is_there, nodes)), f"{nodes} end")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_node_outlives_its_controller(cluster: subprocess.Popen[str], how: signal.Signals) -> None:
    nodes = started(cluster)
    cluster.send_signal(how)
    cluster.wait(PATIENCE)
    none_is_left(nodes)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_node_outlives_a_controller_that_ends_while_it_starts(
    cluster: subprocess.Popen[str], how: signal.Signals
) -> None:
    wait_for(lambda: nodes_of(cluster.pid), "a node is started")
    nodes = nodes_of(cluster.pid)
    cluster.send_signal(how)
    cluster.wait(PATIENCE)
    none_is_left(nodes)


def test_a_node_that_ends_while_it_starts_ends_the_cluster_with_a_sentence(cluster: subprocess.Popen[str]) -> None:
    wait_for(lambda: nodes_of(cluster.pid), "a node is started")
    nodes = nodes_of(cluster.pid)
    os.kill(nodes[0], signal.SIGKILL)
    _, written = cluster.communicate(timeout=60)
    assert cluster.returncode != 0
    assert "did not start" in written
    assert "Traceback" not in written
    none_is_left(nodes)


def test_a_node_that_hears_nothing_of_its_controller_ends_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cluster.node"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
