"""The live cluster of this server: at most one runs at a time, and everybody who opens the page Live watches that one.

The cluster is a process of its own (`python -m cluster up`), told what to do over HTTP. What it does is read from its
event logs. Who has started it may act on it; others watch. Nothing here imports Streamlit.
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
from views.live.form_state import SPEEDS, Asked

STARTING, RUNNING, ENDED, FAILED = "starting", "running", "ended", "failed"
LOOK_S = 0.1  # between two looks at the logs
ASK_S = 0.4  # between two questions to the controller
UNWATCHED_S = 600.0  # without anybody who watches, a cluster ends
MOST_S = 3_600.0  # that a cluster runs
MOST_BYTES = 2_000_000_000  # of event logs
GOODBYE_S = 5.0  # that a cluster has to end in good order
MOST_SNAPSHOTS = 100  # that the page knows of
ROOT = Path(__file__).resolve().parents[2]
LAST_VERDICTS_S = 5.0  # that the audit goes on after the end of the cluster
_ADDRESS = re.compile(r"--url (http://127\.0\.0\.1:\d+)")

Answer = Mapping[str, Any]


class LiveRun:
    """A cluster that this server has started. `owner` is the visitor who has asked for it (None: no visitors)."""

    def __init__(self, asked: Asked, owner: str | None) -> None:
        """Raises InputError without room on the disk."""
        self.id = secrets.token_hex(8)
        self.asked, self.owner = asked, owner
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
        self._said: deque[str] = deque(maxlen=20)  # the last lines that the cluster has printed
        self._began: float | None = None  # on this computer's monotonic clock
        self._watched_at = self._started_at = time.monotonic()
        token = secrets.token_urlsafe(24)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "views.live.owner", *asked.command(self._folder)],
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
        """Somebody looks at it."""
        self._watched_at = time.monotonic()

    @property
    def client(self) -> Client:
        """What asks the controller. Raises InputError while there is none to ask."""
        if self._client is None or self.state != RUNNING:
            raise InputError(f"the cluster is {'starting' if self.state == STARTING else 'over'}; start another one")
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
        """What the streamed audit says of a snapshot (None: nothing as yet, or there is no Spark)."""
        return None if self._audit is None else self._audit.verdict(snapshot)

    @property
    def verdicts(self) -> int:
        """How many verdicts the streamed audit has given."""
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
        """Hear what the cluster prints, until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line.rstrip())
            found = _ADDRESS.search(line)
            if found is not None and self._client is None:
                self._follow()
                self._client = Client(found[1], self._token)
                self.state = RUNNING

    def _follow(self) -> None:
        """The cluster has begun: read its logs from now on."""
        logs = max((self._folder / "logs").iterdir(), key=lambda path: int(path.name))
        scenario = read_toml((logs / SCENARIO).read_text("utf-8"), self.asked.title)
        unit = seconds(SPEEDS[self.asked.speed].unit, "unit")
        self.follower = Follower(logs, System(scenario, unit))
        with suppress(InputError):  # there is no room: the page does without verdicts
            self._audit = InBackground(self._scratch.path / "audit", [logs], "live")

    def _watch(self) -> None:
        """Keep all that pages show up to date, until the cluster has ended."""
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
            said = " ".join(line for line in self._said if line) or "it has said nothing"
            self.state, self.problem = FAILED, f"the cluster did not start: {said[-300:]}"
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
        """Whether the cluster has to end by itself, for a reason that the page tells."""
        now = time.monotonic()
        if now - self._watched_at > UNWATCHED_S:
            self.problem = f"nobody watched it for {UNWATCHED_S / 60:.0f} minutes, so it was ended"
        elif now - self._started_at > MOST_S:
            self.problem = f"it ran for {MOST_S / 60:.0f} minutes, which is the most, so it was ended"
        elif self.follower is not None and self.follower.size > MOST_BYTES:
            self.problem = f"its event logs have {MOST_BYTES / 1e9:.0f} GB, which is the most, so it was ended"
        return bool(self.problem)


class LiveRuns:
    """The cluster of this server (None: none was started)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.current: LiveRun | None = None

    def start(self, asked: Asked, owner: str | None) -> LiveRun:
        """Start a cluster in the place of one that is over. Raises InputError while one runs."""
        with self._lock:
            if self.current is not None and not self.current.is_over:
                raise InputError("a cluster runs on this server already; watch that one, or stop it first")
            if self.current is not None:
                self.current.remove()
            self.current = LiveRun(asked, owner)
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
