"""The live cluster of this server: at most one runs at a time, and all visitors of the page Live watch it.

The cluster is a process of its own (`python -m cluster up`), which is controlled over HTTP. Its events are read from
its event logs. Only its owner can control it; all others watch. Nothing here imports Streamlit.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster.client import TOKEN, Client
from cluster.node.system import System
from cluster.replay.following import Follower
from cluster.replay.scenario import SCENARIO
from cluster.start.durations import seconds
from pipeline.spark.scratch import Scratch
from pipeline.store.free_space import check_free_space
from pipeline.streaming.auditing import Judged
from pipeline.streaming.following import InBackground
from sim.core.errors import InputError
from sim.document.files import read_toml
from views.live import words
from views.live.form_state import SPEEDS, FormState

STARTING, RUNNING, ENDED, FAILED = "starting", "running", "ended", "failed"
LOOK_S = 0.1  # between two looks at the logs
ASK_S = 0.4  # between two questions to the controller
UNWATCHED_S = 600.0  # a cluster that is unwatched for so long ends
MOST_S = 3_600.0  # that a cluster runs
MOST_BYTES = 2_000_000_000  # of event logs
GOODBYE_S = 5.0  # that a cluster has to end in good order
MOST_SNAPSHOTS = 100  # that the page knows of
ROOT = Path(__file__).resolve().parents[2]
LAST_VERDICTS_S = 5.0  # that the audit goes on after the end of the cluster
_ADDRESS = re.compile(r"--url (http://127\.0\.0\.1:\d+)")

Answer = Mapping[str, Any]


class LiveRun:
    """A cluster that this server has started. `owner` is the visitor who started it (None: no visitors)."""

    def __init__(self, form_state: FormState, owner: str | None) -> None:
        """Raises InputError without room on the disk."""
        self.id = secrets.token_hex(8)
        self.form_state, self.owner = form_state, owner
        self.state, self.problem = STARTING, ""
        self.follower: Follower | None = None
        self.nodes: Sequence[Answer] = ()
        self.snapshots: Sequence[Answer] = ()  # the newest first
        self.epoch = 0
        self.severed: frozenset[str] = frozenset()
        self.lock = threading.Lock()  # of the follower
        self._scratch = Scratch()
        check_free_space(self._scratch.path)
        self._folder = self._scratch.path / "cluster"
        self._client: Client | None = None
        self._audit: InBackground | None = None
        self._printed: deque[str] = deque(maxlen=20)  # the last lines that the cluster has printed
        self._began: float | None = None  # on this computer's monotonic clock
        self._watched_at = self._started_at = time.monotonic()
        token = secrets.token_urlsafe(24)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "views.live.owner", *form_state.command(self._folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
            start_new_session=True, env={**os.environ, TOKEN: token, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._token = token
        threading.Thread(target=self._listen, name="live-listen", daemon=True).start()
        threading.Thread(target=self._watch, name="live-watch", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return self.state in (ENDED, FAILED)

    @property
    def now(self) -> float:
        """Seconds since the cluster began; at its end, those that it ran."""
        follower = self.follower
        if follower is None:
            return 0.0
        if self._began is None or self.is_over:
            return follower.now
        return max(follower.now, time.monotonic() - self._began)

    def watched(self) -> None:
        """Note that a visitor watches it."""
        self._watched_at = time.monotonic()

    @property
    def client(self) -> Client:
        """The client of the controller. Raises InputError while there is no controller."""
        if self._client is None or self.state != RUNNING:
            raise InputError(words.not_there(is_starting=self.state == STARTING))
        return self._client

    def stop(self) -> None:
        """End the cluster and all its nodes. Returns when they have ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GOODBYE_S)
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # its nodes end by themselves
            self._process.wait()

    def verdict(self, snapshot: str) -> Judged | None:
        """The streamed audit's verdict on a snapshot (None: there is none yet, or no Spark)."""
        return None if self._audit is None else self._audit.verdict(snapshot)

    @property
    def verdicts(self) -> int:
        """The number of verdicts of the streamed audit."""
        return 0 if self._audit is None else self._audit.news.verdicts

    def remove(self) -> None:
        """End the cluster, and delete its folder."""
        self.stop()
        if self._audit is not None:
            self._audit.stop(GOODBYE_S)
        with self.lock:
            self._scratch.remove()

    # ------------------------------------------------------------------ threads

    def _listen(self) -> None:
        """Read the lines that the cluster prints, until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.append(line.rstrip())
            found = _ADDRESS.search(line)
            if found is not None and self._client is None:
                self._follow()
                self._client = Client(found[1], self._token)
                self.state = RUNNING

    def _follow(self) -> None:
        """Read the logs of the cluster, which has begun, from now on."""
        logs = max((self._folder / "logs").iterdir(), key=lambda path: int(path.name))
        scenario = read_toml((logs / SCENARIO).read_text("utf-8"), self.form_state.title)
        unit = seconds(SPEEDS[self.form_state.speed].unit, "unit")
        self.follower = Follower(logs, System(scenario, unit))
        with suppress(InputError):  # without room on the disk, the page has no verdicts
            self._audit = InBackground(self._scratch.path / "audit", [logs], "live")

    def _watch(self) -> None:
        """Keep everything that pages show up to date, until the cluster has ended."""
        asked_at = 0.0
        while self._process.poll() is None:
            self._look()
            if time.monotonic() - asked_at >= ASK_S and self.state == RUNNING:
                asked_at = time.monotonic()
                with suppress(InputError):  # it is ending: the process says so
                    self._ask()
            if self._is_too_much():
                self.stop()
            time.sleep(LOOK_S)
        time.sleep(LOOK_S)  # for the last lines that it has printed
        if self._audit is not None:
            self._audit.stop_soon(LAST_VERDICTS_S)
        self._look()
        if self.state == STARTING:
            printed = " ".join(line for line in self._printed if line) or words.PRINTED_NOTHING
            self.state, self.problem = FAILED, words.did_not_start(printed[-300:])
        else:
            self.state = ENDED

    def _look(self) -> None:
        follower = self.follower
        if follower is None:
            return
        with self.lock, suppress(OSError):  # its folder is deleted
            if follower.look():
                began = time.monotonic() - follower.now
                self._began = began if self._began is None else min(self._began, began)

    def _ask(self) -> None:
        client = self.client
        self.nodes = client.nodes()
        self.snapshots = client.newest_snapshots(MOST_SNAPSHOTS)
        self.epoch = max((node["epoch"] for node in self.nodes), default=0)

    def _is_too_much(self) -> bool:
        """Whether the cluster has to end by itself; then `problem` is the reason."""
        now = time.monotonic()
        if now - self._watched_at > UNWATCHED_S:
            self.problem = words.unwatched(UNWATCHED_S / 60)
        elif now - self._started_at > MOST_S:
            self.problem = words.ran_too_long(MOST_S / 60)
        elif self.follower is not None and self.follower.size > MOST_BYTES:
            self.problem = words.too_many_logs(MOST_BYTES / 1e9)
        return bool(self.problem)


class LiveRuns:
    """The cluster of this server (None: none was started)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.current: LiveRun | None = None

    def start(self, form_state: FormState, owner: str | None) -> LiveRun:
        """Start a cluster in the place of one that is over. Raises InputError while one runs."""
        with self._lock:
            if self.current is not None and not self.current.is_over:
                raise InputError(words.RUNS_ALREADY)
            if self.current is not None:
                self.current.remove()
            self.current = LiveRun(form_state, owner)
            return self.current

    def find(self, name: str) -> LiveRun | None:
        """The cluster with this id, if it is still there."""
        current = self.current
        return current if current is not None and current.id == name else None

    def close(self) -> None:
        """End the cluster, if any, and delete its folder."""
        with self._lock:
            if self.current is not None:
                self.current.remove()
                self.current = None


LIVE = LiveRuns()  # the app's own
