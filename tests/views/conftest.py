"""The logs of a cluster, for the tests of what the page Live shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status
from cluster.replay.following import Follower
from cluster.start.wanted import Wanted
from tests.cluster.live import all_running, bank, live, taken
from tests.waiting import comes
from views.live.form_state import FormState


class StillRun:
    """A run as frames and segments need it: here one that was over before."""

    def __init__(self, follower: Follower | None, state: str = "ended") -> None:
        self.id, self.form_state, self.owner = "0123456789abcdef", FormState(3), None
        self.state, self.problem = state, ""
        self.follower, self.lock = follower, threading.Lock()
        self.nodes: list[dict[str, Any]] = [{"node_id": name, "status": "RUNNING", "epoch": 1} for name in ("P1", "P2")]
        self.snapshots: list[dict[str, Any]] = []
        self.epoch = 1
        self.looks = 0
        self.client: Any = None
        self.verdicts = 0

    def verdict(self, snapshot: str) -> None:
        """No audit runs."""

    @property
    def is_over(self) -> bool:
        return self.state == "ended"

    @property
    def now(self) -> float:
        return 0.0 if self.follower is None else self.follower.now

    def watched(self) -> None:
        self.looks += 1


@pytest.fixture(scope="session")
def live_follower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Follower]:
    """A bank of three with a snapshot, a kill and a recovery, and a second snapshot."""
    found: list[Supervisor] = []

    async def act(supervisor: Supervisor) -> None:
        found.append(supervisor)
        begin = supervisor.services.site.now
        await comes(lambda: supervisor.services.site.now > begin + 30, "0.3 s have passed")
        assert (await taken(supervisor)).status is Status.COMPLETED
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.figures()["recoveries"] > 0, "the recovery")
        await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED
        begin = supervisor.services.site.now
        await comes(lambda: supervisor.services.site.now > begin + 30, "0.3 s have passed")

    folder = tmp_path_factory.mktemp("live")
    logs = live(Wanted(bank(3, pace=8), folder, allows_faults=True, delay=(0.01, 0.04)), act)
    own = Follower(logs, found[0].system)
    own.look()
    yield own


@pytest.fixture
def still_run(live_follower: Follower) -> StillRun:
    return StillRun(live_follower)
