"""Back-pressure, and what somebody does to channels at run time: nothing is lost, and all goes on afterwards."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from cluster.links import WINDOW
from cluster.model import Fault, Status, Wish
from cluster.starting import Wanted
from cluster.supervisor import Supervisor
from sim.document import library
from tests.cluster.live import bank, live, taken, told_again, until


def report(supervisor: Supervisor, node: int, key: str) -> int:
    """What a node has reported last."""
    return int(supervisor.members[node].report.get(key, 0))


def test_senders_wait_for_a_node_that_stands_still_and_go_on_with_it(tmp_path: Path) -> None:
    queue = 20

    async def act(supervisor: Supervisor) -> None:
        pid = supervisor.members[1].pid or 0
        await until(lambda: report(supervisor, 1, "received") > 0, "it works")
        os.kill(pid, signal.SIGSTOP)
        try:
            last, since = -1, time.monotonic()

            def stands_still() -> bool:
                nonlocal last, since
                sent = report(supervisor, 0, "sent")
                if sent != last:
                    last, since = sent, time.monotonic()
                return sent > 0 and time.monotonic() - since > 1.0

            await until(stands_still, "its sender waits")
            assert report(supervisor, 0, "unconfirmed") <= 2 * (WINDOW + queue)
        finally:
            os.kill(pid, signal.SIGCONT)
        before = report(supervisor, 0, "sent"), report(supervisor, 1, "received")
        await until(
            lambda: (
                report(supervisor, 0, "sent") > before[0] and report(supervisor, 1, "received") > before[1] + WINDOW
            ),
            "all goes on",
        )
        assert (await taken(supervisor, Wish(initiator="P1"))).status is Status.COMPLETED

    told_again(live(Wanted(bank(2, pace=0.1), tmp_path, queue=queue, has_coordinator=False), act))


@pytest.mark.parametrize("initiator", ["P1", "P3"])
def test_a_severed_channel_holds_a_snapshot_up_until_it_is_mended(initiator: str, tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await supervisor.inject(Fault("sever", channels=("P1->P2",)))
        own = await supervisor.trigger(Wish(initiator=initiator))
        await until(lambda: set(supervisor.snapshot(own.id).completed) == {"P1", "P3"}, "the others complete")
        assert supervisor.snapshot(own.id).status is Status.IN_PROGRESS
        await supervisor.inject(Fault("mend", channels=("P1->P2",)))
        await until(lambda: supervisor.snapshot(own.id).status.is_final, "it ends")
        assert supervisor.snapshot(own.id).status is Status.COMPLETED

    told_again(live(Wanted(bank(), tmp_path, allows_faults=True, has_coordinator=False), act))


@pytest.mark.parametrize("has_coordinator", [True, False])
def test_snapshots_are_taken_over_channels_that_lose_and_delay(has_coordinator: bool, tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await supervisor.inject(Fault("lose", channels=("P1->P2",), share=0.3))
        await supervisor.inject(Fault("delay", channels=("P3->P1",), low=50, high=80))
        for initiator in ("P1", "P2", "P3"):
            wish = Wish() if has_coordinator else Wish(initiator=initiator)
            assert (await taken(supervisor, wish)).status is Status.COMPLETED
        found = supervisor.contents(supervisor.snapshots(Status.COMPLETED, 1, None)[0].id)["channels"]
        assert found["P3->P1"]

    told_again(live(Wanted(bank(), tmp_path, allows_faults=True, has_coordinator=has_coordinator), act))


def test_a_barrier_that_waits_for_another_holds_its_channel_and_nothing_is_lost(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await until(lambda: supervisor.snapshots(Status.COMPLETED, 1, None), "the snapshot of the scenario is complete")

    execution = told_again(live(Wanted(library.find("barriers"), tmp_path, queue=1), act))
    assert {"blocked", "unblocked"} <= {event.kind for event in execution.table}
