"""Clusters as people run them: python -m cluster in a process of its own, asked by other commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster.client import Client
from tests.tools import ROOT

PATIENCE = 30.0  # seconds: far more than anything here takes


def command(*arguments: str, package: str = "cluster") -> list[str]:
    """The line that runs a command of a package."""
    return [sys.executable, "-m", package, *arguments]


def surroundings(project: Path) -> dict[str, Any]:
    """For subprocess: what makes a command use the packages in the folder `project`."""
    return {"cwd": project, "env": {**os.environ, "PYTHONPATH": str(project)}, "text": True}


def asked(*arguments: str, project: Path = ROOT, package: str = "cluster") -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    line = command(*arguments, package=package)
    return subprocess.run(line, capture_output=True, timeout=120, **surroundings(project))


def refused(*arguments: str) -> str:
    """The one sentence of a command that is refused."""
    return sentence_of(asked(*arguments))


def sentence_of(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a command that was refused."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def until(condition: Callable[[], object]) -> None:
    """Wait until something is so. Fails if it never is."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def none_is_left(pids: list[int]) -> None:
    """Fails if a process does not end."""
    until(lambda: not any(map(is_alive, pids)))


def nodes_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes of the nodes that `process` has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    found = [(int(pid), Path(f"/proc/{pid}/cmdline")) for pid in children]
    return [pid for pid, line in found if is_alive(pid) and b"cluster.node" in line.read_bytes()]


class Up:
    """A cluster that runs. `said` is what it has printed, `url` where it answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("Ctrl-C"):
                break
        (self.url,) = re.findall(r"(http://\S+)/docs", "\n".join(self.said)) or [""]
        assert self.url, self.said

    def ask(self, *arguments: str) -> Any:
        """What a command says that asks this cluster, as JSON if it is that."""
        done = asked(*arguments, "--url", self.url)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout

    def refuses(self, *arguments: str) -> str:
        """The one sentence of a command that this cluster refuses."""
        return refused(*arguments, "--url", self.url)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """All nodes, as the API has them."""
        return Client(self.url).nodes()

    def kill(self) -> None:
        """kill -9 of the controller: its nodes end by themselves."""
        pids = nodes_of(self.process)
        self.process.kill()
        self.process.wait(PATIENCE)
        none_is_left(pids)


@contextmanager
def up(*arguments: str, project: Path = ROOT) -> Iterator[Up]:
    """A cluster that runs while this lasts."""
    process = subprocess.Popen(
        command("up", *arguments, "--port", "0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        **surroundings(project),
    )  # fmt: skip
    try:
        yield Up(process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
