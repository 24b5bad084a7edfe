"""Clusters as people run them: python -m cluster in a process of its own, asked by other commands."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from cluster.__main__ import main
from cluster.client import Client
from cluster.commands import PARSERS
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.document.command_line import Parser
from tests.tools import ROOT
from tests.waiting import budget_s, until


def command(*arguments: str, package: str = "cluster") -> list[str]:
    """The line that runs a command of a package."""
    return [sys.executable, "-m", package, *arguments]


def surroundings(project: Path) -> dict[str, Any]:
    """For subprocess: what makes a command use the packages in the folder `project`."""
    return {"cwd": project, "env": {**os.environ, "PYTHONPATH": str(project)}, "text": True}


def asked(*arguments: str, project: Path = ROOT, package: str = "cluster") -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    line = command(*arguments, package=package)
    return subprocess.run(line, capture_output=True, timeout=budget_s(), **surroundings(project))


def said(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same of python -m cluster, without a process of its own."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def refused(*arguments: str) -> str:
    """The one sentence of a command that is refused."""
    return sentence_of(said(*arguments))


def sentence_of(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a command that was refused."""
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def none_is_left(pids: list[int]) -> None:
    """Fails if a process does not end."""
    until(lambda: not any(map(is_alive, pids)), f"{pids} end")


def nodes_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes of the nodes that `process` has started."""
    children = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    return [pid for pid in children if is_alive(pid) and b"cluster.node.process" in _line_of(pid)]


def ports_of(pid: int) -> set[int]:
    """The ports on which a process listens."""
    folder = Path(f"/proc/{pid}/fd")
    own = {os.readlink(path) for path in folder.iterdir() if path.is_symlink()}
    tables = (Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own}


def _line_of(pid: int) -> bytes:
    """The command line of a process; empty if it is no more."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


class Up:
    """A cluster that runs. `said` is what it has printed, `url` where it answers to `token`."""

    def __init__(self, process: subprocess.Popen[str], token: str | None = None) -> None:
        self.process, self.token = process, token
        self.said: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("Ctrl-C"):
                break
        (self.url,) = re.findall(r"(http://\S+)/docs", "\n".join(self.said)) or [""]
        assert self.url, self.said

    def ask(self, *arguments: str) -> Any:
        """The output of a command that asks this cluster, as JSON if it is that."""
        done = said(*arguments, *self._where)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout

    def refuses(self, *arguments: str) -> str:
        """The one sentence of a command that this cluster refuses."""
        return refused(*arguments, *self._where)

    @property
    def _where(self) -> tuple[str, ...]:
        return ("--url", self.url, *(("--token", self.token) if self.token else ()))

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """All nodes, as the API has them."""
        return Client(self.url, self.token).nodes()

    def kill(self) -> None:
        """kill -9 of the controller: its nodes end by themselves."""
        pids = nodes_of(self.process)
        self.process.kill()
        self.process.wait(budget_s())
        none_is_left(pids)


@contextmanager
def up(
    *arguments: str, project: Path = ROOT, token: str | None = None, descriptors: int | None = None
) -> Iterator[Up]:  # fmt: skip
    """A cluster that runs while this lasts. It may have so many file descriptors (None: as many as the tests)."""
    secret = ("--token", token) if token else ()
    line = command("up", *arguments, *secret, "--port", "0")
    if descriptors is not None:
        line = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *line]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **surroundings(project))
    try:
        yield Up(process, token)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=budget_s())
        finally:
            process.kill()


def said_by(wanted: Wanted) -> list[str]:
    """The lines that are printed when a cluster is prepared."""
    lines: list[str] = []
    with prepared(wanted, lines.append):
        return lines


def parser_of_all() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m cluster")
    commands = parser.add_subparsers()
    for add in PARSERS:
        add(commands)
    return parser
