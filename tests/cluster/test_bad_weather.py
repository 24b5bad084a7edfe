"""What is done to a cluster stays done to a node that starts again; and what is hit twice comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from cluster.event_log import Entry, EventLog, severed_in
from cluster.model import Fault, NodeStatus, Problem
from cluster.retold import retold, table
from cluster.starting import Wanted, of_nodes, prepared
from cluster.store import Store
from cluster.supervisor import Supervisor
from cluster.system import System, live
from cluster.vault import Vault
from sim.core.model import LocalSnapshot
from sim.run.execution import run
from sim.services.uploads import Part
from tests.cluster.waiting import carried_out

PATIENCE_S = 30.0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.005)


def while_running(folder: Path, act: Callable[[Supervisor], Awaitable[None]]) -> Path:
    """Run a bank on three nodes, do something to it, and end it. Returns the folder of its logs."""

    async def go(supervisor: Supervisor) -> None:
        try:
            await supervisor.start()
            await act(supervisor)
        finally:
            await supervisor.close()
        assert supervisor.failure is None

    wanted = Wanted(of_nodes(3, "bank", settings=["pace=1"]), folder, allows_faults=True)
    with prepared(wanted, print) as supervisor:
        carried_out(go(supervisor))
        return supervisor.logs


def received(supervisor: Supervisor, node: str) -> int:
    return int(supervisor.members.named(node).report.get("received", 0))


def runs_again(supervisor: Supervisor, recoveries: int) -> bool:
    every = all(node.status is NodeStatus.RUNNING for node in supervisor.nodes())
    return every and supervisor.figures()["recoveries"] >= recoveries


@pytest.mark.slow
def test_a_channel_stays_severed_when_its_receiver_starts_again(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        severed = ("P1->P2", "P3->P2")
        await until(lambda: received(supervisor, "P2") > 0)
        await supervisor.inject(Fault("sever", channels=severed))
        await supervisor.inject(Fault("kill", "P2"))
        await until(lambda: runs_again(supervisor, 1))
        supervisor.members.named("P2").report.clear()
        before = received(supervisor, "P1")
        await until(lambda: bool(supervisor.members.named("P2").report) and received(supervisor, "P1") > before + 20)
        assert received(supervisor, "P2") == 0
        await supervisor.inject(Fault("mend", channels=severed))
        await until(lambda: received(supervisor, "P2") > 0)

    logs = while_running(tmp_path, act)
    bare = [row._replace(time=0.0, row=0, step=0) for row in table(logs)]
    assert [row._replace(time=0.0, row=0, step=0) for row in run(retold(logs)).table] == bare


@pytest.mark.slow
def test_a_node_that_is_killed_while_it_starts_again_comes_back(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        member = supervisor.members.named("P2")
        first = member.process
        await supervisor.inject(Fault("kill", "P2"))
        await until(lambda: member.process not in (first, None))
        assert member.status is NodeStatus.STARTING
        await supervisor.inject(Fault("kill", "P2"))
        await until(lambda: runs_again(supervisor, 1))

    while_running(tmp_path, act)


@pytest.mark.slow
def test_a_cluster_that_is_drained_has_nothing_on_its_way_and_begins_nothing_more(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await until(lambda: received(supervisor, "P2") > 20)
        await supervisor.inject(Fault("sever", channels=("P1->P2",)))
        await until(lambda: supervisor.members.named("P2").report["received"] > 40)
        assert not await supervisor.drain(0.3), "a severed channel holds what was sent on it"
        await supervisor.inject(Fault("mend"))
        assert await supervisor.drain(PATIENCE_S)

    rows = table(while_running(tmp_path, act))
    sent, got = ({row.message_id for row in rows if row.kind == kind} for kind in ("send", "receive"))
    assert sent == got


# ---------------------------------------------------------------------- small parts


def test_a_log_says_which_channels_it_leaves_severed(tmp_path: Path) -> None:
    log = EventLog(path := tmp_path / "1.log")
    for clock, action in enumerate((["down", "P1->P2"], ["down", "P3->P2"], ["turn"], ["up", "P1->P2"]), start=1):
        log.append(Entry(clock, 0.0, 1, action, [], 0, 0))
    log.close()
    assert severed_in(path) == {"P3->P2"}
    assert severed_in(tmp_path / "2.log") == set()


class FullVault:
    """One that can write nothing."""

    roots = ("usual",)

    def write_part(self, *about: Any) -> None:
        raise Problem(503, "no space is left")

    def delete(self, *about: Any) -> None:
        """Deletes nothing."""


def test_a_part_of_a_snapshot_that_is_deleted_meanwhile_need_not_be_written() -> None:
    system = System(live(of_nodes(2, "bank"), 0.01), 0.01)
    registry = type("None", (), {"snapshot": lambda self, name: None})()
    store = Store(system, registry, cast("Vault", FullVault()), "c")
    part = Part(LocalSnapshot(1, 0, {}, frozenset(), True), {}, None, 1)

    async def act() -> None:
        with pytest.raises(Problem, match="no space is left"):
            await store.write_part("a", "P1", part)
        await store.delete("a", ["P1"])
        await store.write_part("a", "P1", part)

    carried_out(act())
