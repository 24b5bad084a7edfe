"""Faults of channels hold for a node that starts again, and a node that is hit twice comes back."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from cluster.control.snapshot_store import Store
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Problem
from cluster.node.event_log import Entry, EventLog, severed_in
from cluster.node.system import System, live
from cluster.replay.scenario import replayed, table
from cluster.start.full_graph import of_nodes
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from cluster.store.checkpoints import CheckpointStore
from sim.core.model import LocalSnapshot
from sim.run.execution import run
from sim.services.uploads import Part
from tests.waiting import budget_s, carried_out, comes

QUEUE = 100_000  # so that what waits for a severed channel makes nobody stand still


def while_running(folder: Path, act: Callable[[Supervisor], Awaitable[None]]) -> Path:
    """Run a bank on three nodes, do something to it, and end it. Returns the folder of its logs."""

    async def go(supervisor: Supervisor) -> None:
        try:
            await supervisor.start()
            await act(supervisor)
        finally:
            await supervisor.close()
        assert supervisor.failure is None

    wanted = Wanted(of_nodes(3, "bank", settings=["pace=1"]), folder, queue=QUEUE, allows_faults=True)
    with prepared(wanted, print) as supervisor:
        carried_out(go(supervisor))
        return supervisor.logs


def reported(supervisor: Supervisor, node: str, what: str = "received") -> int:
    return int(supervisor.members.named(node).report.get(what, 0))


def runs_again(supervisor: Supervisor, recoveries: int) -> bool:
    every = all(node.status is NodeStatus.RUNNING for node in supervisor.nodes())
    return every and supervisor.figures()["recoveries"] >= recoveries


@pytest.mark.slow
def test_a_channel_stays_severed_when_its_receiver_starts_again(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        severed = ("P1->P2", "P3->P2")
        await comes(lambda: reported(supervisor, "P2") > 0, "P2 works")
        await supervisor.inject(Fault("sever", channels=severed))
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: runs_again(supervisor, 1), "all run again")
        supervisor.members.named("P2").report.clear()
        before = reported(supervisor, "P1")
        await comes(lambda: reported(supervisor, "P1") > before + 20, "the others go on")
        await comes(lambda: reported(supervisor, "P2", "waiting") > 20, "much waits on the severed channels")
        assert reported(supervisor, "P2") == 0
        await supervisor.inject(Fault("mend", channels=severed))
        await comes(lambda: reported(supervisor, "P2") > 0, "it is received")

    logs = while_running(tmp_path, act)
    bare = [row._replace(time=0.0, row=0, step=0) for row in table(logs)]
    assert [row._replace(time=0.0, row=0, step=0) for row in run(replayed(logs)).table] == bare


@pytest.mark.slow
def test_a_node_that_is_killed_while_it_starts_again_comes_back(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        member, tries = supervisor.members.named("P2"), list[int]()

        def born(process: asyncio.subprocess.Process | None) -> None:
            """The first to start again is killed at once."""
            tries.append(process.pid if process else 0)
            if process is not None and len(tries) == 2:
                assert member.status is NodeStatus.STARTING
                os.kill(process.pid, signal.SIGKILL)

        on_change(member, "process", born)
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: runs_again(supervisor, 1), "all run again")
        assert len(tries) >= 3 and tries[-1] == member.pid, "it ended, was killed, and has come back"

    while_running(tmp_path, act)


def on_change(own: object, name: str, tell: Callable[[Any], None]) -> None:
    """Tells of each new value of an attribute, as soon as it is set."""

    class Told(type(own)):  # type: ignore[misc]
        def __setattr__(self, changed: str, value: Any) -> None:
            super().__setattr__(changed, value)
            if changed == name:
                tell(value)

    own.__class__ = Told  # type: ignore[assignment]


@pytest.mark.slow
def test_a_cluster_that_is_drained_has_nothing_on_its_way_and_begins_nothing_more(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await comes(lambda: reported(supervisor, "P2") > 20, "P2 works")
        await supervisor.inject(Fault("sever", channels=("P1->P2",)))
        await comes(lambda: reported(supervisor, "P2", "waiting") > 20, "much waits on the severed channel")
        assert not await supervisor.drain(0.3), "a severed channel holds what was sent on it"
        await supervisor.inject(Fault("mend"))
        assert await supervisor.drain(budget_s())

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


class FullCheckpointStore:
    """One that can write nothing."""

    roots = ("usual",)

    def write_part(self, *about: Any) -> None:
        raise Problem(503, "no space is left")

    def delete(self, *about: Any) -> None:
        """Deletes nothing."""


def test_a_part_of_a_snapshot_that_is_deleted_meanwhile_need_not_be_written() -> None:
    system = System(live(of_nodes(2, "bank"), 0.01), 0.01)
    registry = type("None", (), {"row": lambda self, name: None})()
    store = Store(system, registry, cast("CheckpointStore", FullCheckpointStore()), "c")
    store.time_to_live = budget_s()
    part = Part(LocalSnapshot(1, 0, {}, frozenset(), True), {}, None, 1)

    async def act() -> None:
        with pytest.raises(Problem, match="no space is left"):
            await store.write_part("a", "P1", part)
        await store.delete("a", ["P1"])
        await store.write_part("a", "P1", part)

    carried_out(act())
