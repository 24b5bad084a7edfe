"""Nodes that come and go, stand still, or end."""

from __future__ import annotations

import asyncio
import sys

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Problem, Status, Wish
from cluster.node.system import Patience
from cluster.start.wanted import Wanted
from sim.core.errors import InputError
from sim.core.model import FROZEN, THAWED
from tests.cluster.live import all_running, bank, live, money, taken, told_again
from tests.waiting import comes

pytestmark = pytest.mark.slow
DELAY = (0.005, 0.02)


def test_nodes_join_and_leave_and_the_next_snapshot_has_the_members_of_then(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        assert (await taken(supervisor)).nodes == ("P1", "P2", "P3")
        joined = await supervisor.join(None)
        assert (joined.name, joined.status) == ("P4", NodeStatus.RUNNING)
        await comes(lambda: supervisor.nodes()[3].counts["received"] > 0, "P4 hears of the others")
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        assert own.nodes == ("P1", "P2", "P3", "P4")
        assert money(supervisor.contents(own.id)) == 400, "who joins brings a balance of its own"
        left = await supervisor.leave("P2")
        assert left.status is NodeStatus.ABSENT
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        assert own.nodes == ("P1", "P3", "P4")
        assert (await supervisor.join("P2")).status is NodeStatus.RUNNING
        assert set((await taken(supervisor)).nodes) == {"P1", "P2", "P3", "P4"}

    live(Wanted(bank(3, most=4), tmp_path / "cluster", delay=DELAY), act)


def test_a_node_that_is_killed_as_it_starts_does_not_join_and_the_others_go_on(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        member = supervisor.members.named("P3")
        joining = asyncio.ensure_future(supervisor.join("P3"))
        await comes(lambda: member.process is not None, "it starts")
        member.process.kill()
        with pytest.raises(Problem, match=r"node P3: did not start, it ended with status -9; .*; join it again"):
            await joining
        assert (await taken(supervisor)).nodes == ("P1", "P2")
        assert (await supervisor.join("P3")).status is NodeStatus.RUNNING

    live(Wanted(bank(2, most=3), tmp_path / "cluster", delay=DELAY), act)


def test_a_snapshot_under_way_fails_when_the_members_change(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        own = await supervisor.trigger(Wish())
        await comes(lambda: supervisor.snapshot(own.id).status is Status.IN_PROGRESS, "it has begun")
        await supervisor.join(None)
        await comes(lambda: supervisor.snapshot(own.id).status.is_final, "it has ended")
        found = supervisor.snapshot(own.id)
        assert found.status is Status.FAILED
        assert found.reason == "membership changed: P3 joined"

    live(Wanted(bank(2, most=3), tmp_path / "cluster", delay=(5.0, 5.0)), act)


def test_a_node_that_stands_still_for_too_long_is_ended_and_comes_back_with_all(tmp_path):
    """It sends no heartbeats: the snapshot under way fails, and no snapshot is complete without it."""

    async def act(supervisor: Supervisor) -> None:
        await taken(supervisor)
        pid = supervisor.nodes()[2].pid
        await supervisor.inject(Fault("freeze", "P3"))
        await comes(lambda: supervisor.nodes()[2].status is NodeStatus.FROZEN, "it is seen")
        with pytest.raises(Problem, match="P3 is FROZEN; only one that is RUNNING can leave"):
            await supervisor.leave("P3")
        own = await supervisor.trigger(Wish("P1"))
        await comes(lambda: supervisor.snapshot(own.id).status.is_final, "it has ended")
        found = supervisor.snapshot(own.id)
        assert (found.status, found.reason) == (Status.FAILED, "the system is rolled back: P3 had ended")
        await comes(lambda: supervisor.epochs()[0].number == 1, "a recovery")
        await all_running(supervisor)
        assert supervisor.nodes()[2].pid != pid
        last = await taken(supervisor)
        assert money(supervisor.contents(last.id)) == 300
        for complete in supervisor.snapshots(Status.COMPLETED, 100, None):
            assert {*complete.nodes} == {*complete.completed} == {"P1", "P2", "P3"}

    patience = Patience(heartbeat=0.25, timeout=60.0)
    wanted = Wanted(bank(), tmp_path / "cluster", delay=DELAY, allows_faults=True, patience=patience)
    told_again(live(wanted, act))


def test_a_node_that_stands_still_for_a_moment_asks_and_goes_on(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        await taken(supervisor)
        before = supervisor.nodes()[2].pid
        await supervisor.inject(Fault("freeze", "P3"))
        await comes(lambda: supervisor.nodes()[2].status is NodeStatus.FROZEN, "it is seen")
        await supervisor.inject(Fault("thaw", "P3"))
        await comes(lambda: supervisor.nodes()[2].status is NodeStatus.RUNNING, "it goes on")
        last = await taken(supervisor)
        assert {*last.nodes} == {*last.completed} == {"P1", "P2", "P3"}
        assert (supervisor.nodes()[2].pid, supervisor.epochs()[0].number) == (before, 0)

    wanted = Wanted(bank(), tmp_path / "cluster", delay=DELAY, allows_faults=True)
    execution = told_again(live(wanted, act))
    assert [row.kind for row in execution.table if row.kind in (FROZEN, THAWED)] == [FROZEN, THAWED]


def test_a_node_that_is_killed_makes_the_snapshot_under_way_fail_and_the_next_is_complete(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        own = await supervisor.trigger(Wish("P1"))
        await comes(lambda: supervisor.snapshot(own.id).status is Status.IN_PROGRESS, "it has begun")
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.snapshot(own.id).status.is_final, "it has ended")
        found = supervisor.snapshot(own.id)
        assert (found.status, found.is_kept) == (Status.FAILED, False)
        assert "P2" in found.reason, "it names who has ended"
        await comes(lambda: supervisor.epochs()[0].number == 1, "a new epoch")
        await all_running(supervisor)
        assert supervisor.epochs()[0].snapshot is None, "no snapshot was complete: from the beginning"
        assert money(supervisor.contents((await taken(supervisor)).id)) == 300

    live(Wanted(bank(), tmp_path / "cluster", delay=(0.6, 0.6), allows_faults=True), act)


def test_a_node_that_is_lost_at_the_start_is_named(tmp_path, monkeypatch):
    async def act(supervisor: Supervisor) -> None:
        raise AssertionError("it has started")

    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match=r"node P\d: did not start, it ended with status 1"):
        live(Wanted(bank(), tmp_path / "cluster"), act)
