"""A cluster for a cell: a bank of four, and room for a fifth, that can be hindered, killed, and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.cluster.matrix.gates import Gates
from tests.cluster.matrix.launcher import VARIABLE
from tests.cluster.running import is_alive, nodes_of, surroundings
from tests.tools import ROOT
from tests.waiting import budget_s, until

HEARTBEAT, MISSED = 0.4, 8
LIMIT = HEARTBEAT * MISSED  # seconds: a node without a heartbeat for so long is taken for gone
NAMES = ("P1", "P2", "P3", "P4")
NEWCOMER = "P5"
SNAPSHOTS = "/v1/snapshots"
COMES_S = 20.0  # in which everything comes that has to, where nothing is wrong as yet
OPTIONS = (
    "--nodes", "4", "--most", "5", "--set", "pace=3", "--allow-faults", "--delay", "5ms..20ms", "--port", "0",
    "--heartbeat", f"{HEARTBEAT * 1000:g}ms", "--timeout", "3s",
)  # fmt: skip


class Said(NamedTuple):
    """An answer of the cluster: its status (0: there was none in time) and its JSON."""

    status: int
    body: Any

    @property
    def is_a_mistake(self) -> bool:
        """Whether it is one that no fault excuses: the cluster may say that it cannot now (503), and no worse."""
        return self.status >= 500 and self.status != 503


class Stage:
    """The cluster in a folder. `options` say where its registry and its storage are, `environment` what it finds."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self._environment = folder / "out", environment or {}
        self.options: tuple[str, ...] = ()
        (folder / "gates").mkdir(parents=True)
        self.gates = Gates(folder / "gates")
        self.asked: list[tuple[str, Said]] = []
        self.process: subprocess.Popen[str]
        self.url = ""
        self.said: list[str] = []
        self._known: set[int] = set()

    # ------------------------------------------------------------------ its processes

    def start(self, *more: str) -> None:
        """Start it, and wait until it says that it runs. Fails if it does not."""
        line = [sys.executable, "-m", "tests.cluster.matrix.launcher", "up", "--out", str(self.folder), *OPTIONS]
        around = surroundings(ROOT)
        around["env"] = {**around["env"], **self._environment, VARIABLE: str(self.gates.folder)}
        said: list[str] = []
        self.said = said
        self.process = subprocess.Popen(
            [*line, *self.options, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **around
        )
        threading.Thread(target=self._listen, args=(self.process, said), daemon=True).start()
        until(lambda: self.has_ended or any(text.startswith("Ctrl-C") for text in said), "the cluster starts", COMES_S)
        found = re.findall(r"(http://\S+)/docs", "\n".join(said))
        assert found, f"the cluster did not start: {self.last_words}"
        self.url = found[0]
        self.all_run()

    @staticmethod
    def _listen(process: subprocess.Popen[str], said: list[str]) -> None:
        assert process.stdout is not None
        said += (line.rstrip() for line in process.stdout)

    @property
    def has_ended(self) -> bool:
        """Whether the controller has."""
        return self.process.poll() is not None

    @property
    def last_words(self) -> str:
        """The last words of the controller and its nodes."""
        return " / ".join(self.said[-4:])

    @property
    def pids(self) -> list[int]:
        """The processes of the nodes."""
        found = [] if self.has_ended else nodes_of(self.process)
        self._known |= {*found}
        return found

    def pid(self, name: str) -> int:
        """The process of a node."""
        return until(
            lambda: next((own["pid"] for own in self.nodes() if own["node_id"] == name), 0), f"{name} is there"
        )

    def end(self) -> list[int]:
        """End it, as Ctrl-C does. Returns the processes of nodes that are left, which are killed."""
        pids = {*self.pids} | self._known
        for gate in self.gates.folder.iterdir():
            self.gates.set(gate.name)
        for pid in (self.process.pid, *pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(budget_s(10))
        self.process.kill()
        self.process.wait()
        with suppress(AssertionError):
            until(lambda: not any(map(is_alive, pids)), "the nodes end", 5)
        left = [pid for pid in pids if is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    # ------------------------------------------------------------------ what it answers

    def ask(self, method: str, path: str, body: Any = None, seconds: float = 2.0) -> Said:
        """Ask over HTTP."""
        found = self._asked(method, path, body, seconds)
        self.asked.append((f"{method} {path}", found))
        return found

    def _asked(self, method: str, path: str, body: Any, seconds: float) -> Said:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=budget_s(seconds)) as answer:
                status, text = answer.status, answer.read()
        except HTTPError as problem:
            status, text = problem.code, problem.read()
        except (OSError, HTTPException):
            return Said(0, None)
        return Said(status, json.loads(text) if text.startswith(b"{") else None)

    def in_background(self, method: str, path: str, body: Any = None) -> threading.Thread:
        """Ask, and do not wait for the answer."""
        thread = threading.Thread(target=self.ask, args=(method, path, body, 30.0), daemon=True)
        thread.start()
        return thread

    def nodes(self) -> list[dict[str, Any]]:
        """All nodes that are part of the system, as the API has them; none if it does not answer."""
        found = self.ask("GET", "/v1/nodes")
        listed = found.body.get("nodes", found.body.get("items", [])) if found.status == 200 else []
        return [own for own in listed if own["status"] != "ABSENT"]

    def all_run(self) -> None:
        """Wait until all nodes run."""
        until(
            lambda: (own := self.nodes()) and all(one["status"] == "RUNNING" for one in own), "all nodes run", COMES_S
        )

    def inject(self, kind: str, *channels: str) -> None:
        """A fault of the cluster's own, unless it ends."""
        until(
            lambda: (
                self.has_ended or self.ask("POST", "/v1/faults", {"kind": kind, "channels": channels}).status == 204
            ),
            kind,
            COMES_S,
        )

    def trigger(self) -> str:
        """Ask for a snapshot. Returns its id (empty: it is refused, or there is no answer)."""
        found = self.ask("POST", f"{SNAPSHOTS}/trigger")
        return str(found.body["snapshot_id"]) if found.status == 202 else ""

    def taken(self, snapshot: str) -> dict[str, Any]:
        """The answer of the API about a snapshot; empty if there is none."""
        found = self.ask("GET", f"{SNAPSHOTS}/{snapshot}")
        return found.body if found.status == 200 else {}

    def complete(self) -> str:
        """Take a snapshot that is complete, and return its id."""
        return until(lambda: self._completed(self.trigger()), "a snapshot is complete", COMES_S)

    def _completed(self, snapshot: str) -> str:
        if snapshot:
            until(lambda: self.taken(snapshot).get("ended_at"), f"{snapshot} ends", COMES_S)
        return snapshot if snapshot and self.taken(snapshot).get("status") == "COMPLETED" else ""

    # ------------------------------------------------------------------ what it has logged

    def has_logged(self, who: str, *words: str) -> bool:
        """Whether a line of a log in the last start has all `words`: of the controller, or (empty) of any process."""
        logs = max((self.folder / "logs").iterdir(), key=lambda own: int(own.name))
        paths = [logs / f"{len(NAMES) + 1}.log"] if who == "controller" else list(logs.glob("*.log"))
        needles = [word.encode() for word in words]
        lines = (line for path in paths if path.exists() for line in path.read_bytes().splitlines())
        return any(all(needle in line for needle in needles) for line in lines)
