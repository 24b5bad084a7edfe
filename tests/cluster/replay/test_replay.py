"""Simulation against reality: the merged log of a live run, replayed in the simulator, gives the same, to the byte.

Each algorithm that can run live does so here, also one that is new: on its own bundled scenario, as the scenario says,
and on a bank with random delays, under which its snapshots find messages on their way.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status, Wish
from cluster.node.system import GRPC, TCP
from cluster.node.system import live as as_live
from cluster.replay.audit import audit
from cluster.replay.scenario import NotReplayable, replayed
from cluster.start.wanted import Wanted
from cluster.store.registry import Registry
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.log import to_json
from sim.core.model import CRASH, RECORDED
from sim.core.topology import Topology
from sim.document import library
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.run.snapshots import Snapshot, snapshots_of
from tests.cluster.live import all_running, bank, live, taken, told_again
from tests.waiting import comes

pytestmark = pytest.mark.slow

# By algorithm, a bundled scenario, and how long a time unit takes, in seconds.
BUNDLED = {
    "aligned_barriers": ("barriers", 0.02),
    "chandy_lamport": ("lecture", 0.0015),
    "lai_yang": ("lai_yang", 0.02),
    "mattern": ("mattern", 0.02),
    "stop_the_world": ("stop_the_world", 0.02),
    "unaligned_barriers": ("unaligned", 0.02),
}


def can_run_live(name: str) -> bool:
    try:
        as_live(replace(bank(), algorithm=name), 0.01)
    except InputError:
        return False
    return True


def document(own: Snapshot) -> dict[str, Any]:
    return own.to_json("", [])


def money(own: Snapshot) -> int:
    """All money of a snapshot of a bank, in its processes and in its channels."""
    found = document(own)
    bodies = [body for bodies in found["channels"].values() for body in bodies]
    return sum(part["state"] for part in found["processes"].values()) + sum(bodies)


def check_stored(supervisor: Supervisor, execution: Execution, snapshots: list[str]) -> None:
    """The stored snapshots are those that the simulation has recorded, byte for byte."""
    simulated = {own.id: document(own) for own in snapshots_of(execution)}
    for name in snapshots:
        stored, ours = supervisor.contents(name), simulated[name]
        states = {process: part["state"] for process, part in stored["processes"].items()}
        assert to_json(states) == to_json({process: ours["processes"][process]["state"] for process in states})
        assert to_json(stored["channels"]) == to_json({key: ours["channels"][key] for key in stored["channels"]})


OTHERS = pytest.mark.long("every algorithm live, and replayed")
SOON = ("chandy_lamport", "lai_yang", "unaligned_barriers")


@pytest.mark.parametrize("name", [own if own in SOON else pytest.param(own, marks=OTHERS) for own in BUNDLED])
def test_its_own_scenario(name, tmp_path):
    scenario, unit = BUNDLED[name]
    stored: list[str] = []
    held: list[Supervisor] = []

    async def act(supervisor: Supervisor) -> None:
        held.append(supervisor)
        wanted = {start.snapshot for start in supervisor.system.scenario.snapshots}
        await comes(lambda: wanted <= {own.id for own in supervisor.snapshots(None, 100, None)}, "all have begun")
        await comes(lambda: all(own.status.is_final for own in supervisor.snapshots(None, 100, None)), "all have ended")
        last = max((line.at for line in supervisor.system.scenario.script), default=0.0)
        await comes(lambda: supervisor.services.site.now > last + 5, "the script is over")
        stored.extend(own.id for own in supervisor.snapshots(Status.COMPLETED, 100, None))

    live_scenario = library.load(scenario)
    logs = live(Wanted(live_scenario, tmp_path / "cluster", unit), act)
    execution = told_again(logs)
    assert stored, "at least one is complete"
    with_store(held[0], execution, stored, tmp_path)


def with_store(supervisor: Supervisor, execution: Execution, stored: list[str], tmp_path: Path) -> None:
    supervisor.store.registry = Registry.open_folder(tmp_path / "cluster")
    try:
        check_stored(supervisor, execution, stored)
    finally:
        supervisor.store.registry.close()


def systems(name: str) -> Scenario:
    """A bank under an algorithm, on channels that suit it."""
    return replace(bank(4, seed=7), algorithm=name)


# Without those that cannot take a snapshot of channels in a circle, which is tested below.
ON_A_BANK = [*((name, TCP) for name in ALGORITHMS if can_run_live(name) and name != "aligned_barriers")]
SOON_ON_A_BANK = ("chandy_lamport", TCP), ("mattern", GRPC)
ON_A_BANK += [("chandy_lamport", GRPC), ("unaligned_barriers", GRPC), ("mattern", GRPC)]


@pytest.mark.parametrize(
    ("name", "transport"), [own if own in SOON_ON_A_BANK else pytest.param(*own, marks=OTHERS) for own in ON_A_BANK]
)
def test_a_bank_with_random_delays(name, transport, tmp_path):
    """Ten snapshots, each of which has all the money; some find messages on their way."""
    stored: list[str] = []
    held: list[Supervisor] = []

    async def act(supervisor: Supervisor) -> None:
        held.append(supervisor)
        for _ in range(10):
            own = await taken(supervisor)
            assert own.status is Status.COMPLETED, own.reason
            stored.append(own.id)

    logs = live(Wanted(systems(name), tmp_path / "cluster", delay=(0.005, 0.03), transport=transport), act)
    execution = told_again(logs)
    with_store(held[0], execution, stored, tmp_path)
    assert [money(own) for own in snapshots_of(execution)] == [400] * 10
    if name != "stop_the_world":  # which waits until all channels are empty
        assert any(event.kind == RECORDED for event in execution.table)


@OTHERS
def test_aligned_barriers_on_a_graph_without_circles(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        for _ in range(5):
            assert (await taken(supervisor)).status is Status.COMPLETED

    scenario = replace(bank(4, pace=5.0), algorithm="aligned_barriers", topology=Topology("dag"))
    told_again(live(Wanted(scenario, tmp_path / "cluster", delay=(0.0, 0.03)), act))


@pytest.mark.parametrize("initiator", [pytest.param("P1", marks=OTHERS), "P3"])
def test_any_node_initiates_without_a_coordinator(initiator, tmp_path):
    async def act(supervisor: Supervisor) -> None:
        for _ in range(3):
            own = await taken(supervisor, Wish(initiator))
            assert own.status is Status.COMPLETED, own.reason
            assert set(own.nodes) == {"P1", "P2", "P3"}

    wanted = Wanted(bank(), tmp_path / "cluster", delay=(0.0, 0.02), has_coordinator=False)
    execution = told_again(live(wanted, act))
    assert {own.initiators for own in snapshots_of(execution)} == {(initiator,)}


@pytest.mark.long("ten seconds of the lecture, live, each step at its time")
def test_the_lecture_live_has_the_snapshot_of_the_lecture(tmp_path):
    """With delays as the scenario says, the nodes do what the lecture tells: P1 has recorded E and its channels."""

    async def act(supervisor: Supervisor) -> None:
        await comes(lambda: supervisor.snapshots(Status.COMPLETED, 1, None), "S1 is complete")

    scenario = library.load("lecture")
    execution = told_again(live(Wanted(scenario, tmp_path / "cluster", 0.01), act))
    own, simulated = (next(iter(snapshots_of(found))) for found in (execution, run(scenario)))
    assert document(own)["channels"] == document(simulated)["channels"]
    assert document(own)["processes"] == document(simulated)["processes"]


def all_report(supervisor: Supervisor, before: list[dict[str, Any]]) -> bool:
    """Whether all nodes have received something, as they report since those reports."""
    now = [member.report for member in supervisor.members]
    return all(new is not old and new["received"] > 0 for new, old in zip(now, before, strict=True))


@pytest.mark.parametrize("transport", [TCP, pytest.param(GRPC, marks=OTHERS)])
def test_nodes_that_are_killed_are_restored_and_the_run_can_be_replayed(transport, tmp_path):
    """kill -9 of two nodes, one after the other: all go back to the last snapshot, and no money is lost."""

    async def act(supervisor: Supervisor) -> None:
        for name in ("P2", "P4"):
            before = await taken(supervisor)
            assert before.status is Status.COMPLETED
            await supervisor.inject(Fault("kill", name))
            await comes(lambda epoch=before.epoch: supervisor.epochs()[0].number > epoch, "a new epoch")
            await all_running(supervisor)
            assert supervisor.epochs()[0].snapshot == before.id
            reports = [member.report for member in supervisor.members]
            await comes(lambda reports=reports: all_report(supervisor, reports), "all nodes go on")
        assert (await taken(supervisor)).status is Status.COMPLETED

    wanted = Wanted(bank(4), tmp_path / "cluster", delay=(0.005, 0.03), allows_faults=True, transport=transport)
    execution = told_again(live(wanted, act))
    assert [money(own) for own in snapshots_of(execution) if own.status == "complete"] == [400] * 3
    own = audit(execution.table, execution.scenario)
    assert (own.recoveries, [problem for problem in own.wrong if "left in the channel" not in problem]) == (2, [])


@pytest.mark.parametrize(("victim", "crashes"), [("P2", ["P2"]), pytest.param("P4", ["P2", "P4"], marks=OTHERS)])
def test_a_node_is_killed_while_it_is_being_restored(victim, crashes, tmp_path):
    """P2 has ended. Killed once more before it is restored, it has not crashed again: it was down all along."""
    killed: list[str] = []

    async def act(supervisor: Supervisor) -> None:
        rollback = supervisor.rollback
        restore = rollback._tell_restore

        def kill_first(member: Any, *about: Any) -> None:
            if member.name == victim and not killed:
                killed.append(victim)
                os.kill(member.process.pid, signal.SIGKILL)
            restore(member, *about)

        assert (await taken(supervisor)).status is Status.COMPLETED
        rollback._tell_restore = kill_first  # type: ignore[method-assign]
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.epochs()[0].number > 0, "a recovery is over")
        await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED

    wanted = Wanted(bank(4), tmp_path / "cluster", delay=(0.005, 0.03), allows_faults=True)
    execution = told_again(live(wanted, act))
    assert killed == [victim]
    assert [row.process for row in execution.table if row.kind == CRASH] == crashes
    assert [money(own) for own in snapshots_of(execution) if own.status == "complete"] == [400] * 2


def test_a_run_with_a_cancelled_snapshot_is_not_replayed(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        own = await supervisor.trigger(Wish())
        cancelled = await supervisor.cancel(own.id)
        assert cancelled.status is Status.CANCELLED
        assert (await taken(supervisor)).status is Status.COMPLETED

    logs = live(Wanted(bank(), tmp_path / "cluster", delay=(0.3, 0.3)), act)
    with pytest.raises(NotReplayable, match="in this run a user made a process cancel"):
        replayed(logs)
