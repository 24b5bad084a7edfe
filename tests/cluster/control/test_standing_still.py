"""Back-pressure, and faults of channels at run time: nothing is lost, and all goes on afterwards."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status, Wish
from cluster.node.links import WINDOW
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import Wanted
from sim.document import library
from tests.cluster.live import bank, live, taken, told_again
from tests.waiting import comes

pytestmark = pytest.mark.slow
OTHERS = pytest.mark.long("whoever begins a snapshot over severed, slow and lossy channels")


def report(supervisor: Supervisor, node: int, key: str) -> int:
    """The last value that a node has reported."""
    return int(supervisor.members[node].report.get(key, 0))


def test_senders_wait_for_a_node_that_stands_still_and_go_on_with_it(tmp_path: Path) -> None:
    queue = 20

    async def act(supervisor: Supervisor) -> None:
        pid = supervisor.members[1].pid or 0
        await comes(lambda: report(supervisor, 1, "received") > 0, "it works")
        os.kill(pid, signal.SIGSTOP)
        try:
            bound = 2 * (WINDOW + queue)
            await comes(lambda: report(supervisor, 0, "unconfirmed") >= WINDOW + queue, "its outbox is full")
            sent = -1
            while report(supervisor, 0, "sent") != sent:  # what it sends in answer to others fills the outbox once more
                sent, before = report(supervisor, 0, "sent"), supervisor.members[0].report
                await comes(lambda before=before: supervisor.members[0].report is not before, "its next report")
            assert report(supervisor, 0, "unconfirmed") <= bound
        finally:
            os.kill(pid, signal.SIGCONT)
        before = report(supervisor, 0, "sent"), report(supervisor, 1, "received")
        await comes(
            lambda: (
                report(supervisor, 0, "sent") > before[0] and report(supervisor, 1, "received") > before[1] + WINDOW
            ),
            "all goes on",
        )
        assert (await taken(supervisor, Wish(initiator="P1"))).status is Status.COMPLETED

    rich = of_nodes(2, "bank", settings=["pace=0.1", "balance=1000000"])  # nobody waits for money
    told_again(live(Wanted(rich, tmp_path, queue=queue, has_coordinator=False), act))


@pytest.mark.parametrize("initiator", ["P1", pytest.param("P3", marks=OTHERS)])
def test_a_severed_channel_holds_a_snapshot_up_until_it_is_mended(initiator: str, tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await supervisor.inject(Fault("sever", channels=("P1->P2",)))
        own = await supervisor.trigger(Wish(initiator=initiator))
        await comes(lambda: set(supervisor.snapshot(own.id).completed) == {"P1", "P3"}, "the others complete")
        assert supervisor.snapshot(own.id).status is Status.IN_PROGRESS
        await supervisor.inject(Fault("mend", channels=("P1->P2",)))
        await comes(lambda: supervisor.snapshot(own.id).status.is_final, "it ends")
        assert supervisor.snapshot(own.id).status is Status.COMPLETED

    told_again(live(Wanted(bank(), tmp_path, allows_faults=True, has_coordinator=False), act))


@pytest.mark.parametrize("has_coordinator", [pytest.param(True, marks=OTHERS), False])
def test_snapshots_are_taken_over_channels_that_lose_and_delay(has_coordinator: bool, tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await supervisor.inject(Fault("lose", channels=("P1->P2",), share=0.3))
        await supervisor.inject(Fault("delay", channels=("P3->P1",), low=50, high=80))
        slow: list[Any] = []  # what the last snapshot has found in P3->P1
        for initiator in ("P1", "P2", "P3") * 7:  # on a busy machine P3 has perhaps sent nothing just before one
            wish = Wish() if has_coordinator else Wish(initiator=initiator)
            own = await taken(supervisor, wish)
            assert own.status is Status.COMPLETED
            slow = supervisor.contents(own.id)["channels"]["P3->P1"]
            if slow and initiator == "P3":
                break
        assert slow

    told_again(live(Wanted(bank(), tmp_path, allows_faults=True, has_coordinator=has_coordinator), act))


def test_a_barrier_that_waits_for_another_holds_its_channel_and_nothing_is_lost(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await comes(lambda: supervisor.snapshots(Status.COMPLETED, 1, None), "the snapshot of the scenario is complete")

    execution = told_again(live(Wanted(library.find("barriers"), tmp_path, queue=1), act))
    assert {"blocked", "unblocked"} <= {event.kind for event in execution.table}
