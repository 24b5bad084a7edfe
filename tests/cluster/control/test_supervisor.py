"""The controller if nodes come and go, if the storage fails, and if a user asks for too much."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Problem, Status, Wish
from cluster.node.system import MOST_WAITING, Patience
from cluster.start.full_graph import of_nodes
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from cluster.store.checkpoints import Unavailable
from sim.core.errors import InputError
from sim.core.model import FROZEN, THAWED
from sim.document import library
from sim.document.scenario import Scenario
from tests.cluster.live import all_running, bank, live, shared, taken, told_again
from tests.waiting import carried_out, comes

pytestmark = pytest.mark.slow
DELAY = (0.005, 0.02)


def money(contents: Any) -> int:
    bodies = [body for bodies in contents["channels"].values() for body in bodies]
    return sum(part["state"] for part in contents["processes"].values()) + sum(bodies)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A function that acts on a cluster which some tests share. After each of them it goes on as before."""
    with shared(Wanted(bank(), tmp_path_factory.mktemp("shared"), delay=DELAY)) as act:
        yield act


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


def failing(method: Callable[..., Any], times: int) -> Callable[..., Any]:
    """A method of a checkpoint store whose disk is full `times` times."""
    left = [times]

    def call(*arguments: Any) -> Any:
        if left[0] > 0:
            left[0] -= 1
            raise Unavailable("the disk is full")
        return method(*arguments)

    return call


def test_a_part_that_cannot_be_written_is_uploaded_again(cluster, monkeypatch):
    async def act(supervisor: Supervisor) -> None:
        checkpoints = supervisor.store.checkpoints
        monkeypatch.setattr(checkpoints, "write_part", failing(checkpoints.write_part, 2))
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        assert money(supervisor.contents(own.id)) == 300

    cluster(act)


def test_a_manifest_that_cannot_be_written_makes_its_snapshot_fail_and_no_other(cluster, monkeypatch):
    async def act(supervisor: Supervisor) -> None:
        checkpoints = supervisor.store.checkpoints
        monkeypatch.setattr(checkpoints, "write_manifest", failing(checkpoints.write_manifest, 1))
        first, second = await taken(supervisor), await taken(supervisor)
        assert first.status is Status.FAILED
        assert not first.is_kept
        assert "manifest" in first.reason
        assert second.status is Status.COMPLETED

    cluster(act)


@pytest.mark.parametrize(("damaged", "says"), [("{}/P1.part", "its checksum differs"), ("{}.json", "is no JSON")])
def test_where_the_last_snapshot_is_damaged_the_one_before_is_restored(cluster, damaged, says):
    async def act(supervisor: Supervisor) -> None:
        good, bad = await taken(supervisor), await taken(supervisor)
        file = next((supervisor.logs.parents[1] / "snapshots").glob(f"*/{damaged.format(bad.id)}"))
        file.write_bytes(file.read_bytes()[:-1] + b"x")
        with pytest.raises(Problem, match=rf"{bad.id}.*{says}"):
            await supervisor.restore(bad.id, None)
        with pytest.raises(Problem, match=bad.id):
            supervisor.contents(bad.id)
        await all_running(supervisor)
        done = await supervisor.restore(None, None)
        assert done.snapshot == good.id
        found = supervisor.snapshot(bad.id)
        assert (found.status, found.is_kept) == (Status.FAILED, False)
        assert says in found.reason
        assert money(supervisor.contents((await taken(supervisor)).id)) == 300

    cluster(act)


def test_back_to_any_snapshot_by_its_id_or_its_epoch(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        first, second = await taken(supervisor), await taken(supervisor)
        back = await supervisor.restore(first.id, None)
        assert (back.epoch, back.snapshot) == (1, first.id)
        assert not supervisor.snapshot(second.id).is_kept, "it belongs to a future that is over"
        third = await taken(supervisor)
        assert third.epoch == 1
        assert (await supervisor.restore(None, 0)).snapshot == first.id
        assert [epoch.number for epoch in supervisor.epochs()] == [2, 1, 0]
        with pytest.raises(Problem, match="epoch 7"):
            await supervisor.restore(None, 7)

    logs = live(Wanted(bank(), tmp_path / "cluster", delay=DELAY), act)
    told_again(logs)


def test_after_a_restart_the_stored_snapshots_are_there_and_the_system_begins_from_one(tmp_path):
    ids: list[str] = []

    async def take(supervisor: Supervisor) -> None:
        ids.append((await taken(supervisor)).id)

    async def look(supervisor: Supervisor) -> None:
        assert supervisor.epochs()[0].snapshot == ids[0]
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        assert own.epoch == 2
        assert money(supervisor.contents(own.id)) == 300
        for name in ids:
            assert money(supervisor.contents(name)) == 300

    live(Wanted(bank(), tmp_path / "cluster", delay=DELAY), take)
    live(Wanted(bank(), tmp_path / "cluster", delay=DELAY, restores=True, restore=ids[0]), look)


def test_incremental_snapshots_name_their_base_and_are_restored(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        first, second = await taken(supervisor), await taken(supervisor)
        assert (first.type, first.base) == ("full", None)
        assert (second.type, second.base) == ("incremental", first.id)
        assert 0 < second.size < first.size
        before = supervisor.contents(second.id)
        assert (await supervisor.restore(second.id, None)).snapshot == second.id
        assert supervisor.contents(second.id) == before

    live(Wanted(large(is_incremental=True), tmp_path / "cluster"), act)


def large(**options: Any) -> Scenario:
    """Three nodes whose states are much larger than what changes in them."""
    return of_nodes(3, "key_store", settings=["writes=1000000", "keys=300"], **options)


@pytest.mark.parametrize(
    ("is_incremental", "has_coordinator"),
    [
        (False, True), (True, False),
        pytest.param(True, True, marks=pytest.mark.long("other clusters with snapshots of both types")),
        pytest.param(False, False, marks=pytest.mark.long("other clusters with snapshots of both types")),
    ],
)  # fmt: skip
def test_a_snapshot_has_the_type_that_was_asked_for(is_incremental, has_coordinator, tmp_path):
    """Each is there after it was rolled back to, and after kill -9 of a node. Only what the last needs is stored."""
    asked = (None, "incremental", "full", "incremental", "incremental")
    usual = "incremental" if is_incremental else "full"

    async def act(supervisor: Supervisor) -> None:
        found = [await taken(supervisor, Wish(type=kind)) for kind in asked]
        assert [own.type for own in found] == ["full", "incremental", "full", "incremental", "incremental"]
        assert [own.base for own in found] == [None, found[0].id, None, found[2].id, found[3].id]
        assert found[4].size < found[2].size / 2
        then = supervisor.contents(found[4].id)
        await supervisor.restore(found[4].id, None)
        os.kill(supervisor.nodes()[1].pid or 0, signal.SIGKILL)
        await comes(lambda: supervisor.epochs()[0].number == 2, "all have gone back")
        await all_running(supervisor)
        assert supervisor.epochs()[0].snapshot == found[4].id
        assert supervisor.contents(found[4].id) == then
        assert (await taken(supervisor)).type in ("full", usual)

    scenario = large(is_incremental=is_incremental, retained=1)
    told_again(live(Wanted(scenario, tmp_path / "cluster", has_coordinator=has_coordinator), act))


def test_what_a_snapshot_is_built_on_is_there_after_a_restart(tmp_path):
    """Once a snapshot was cancelled, the registry keeps the last alone, and the storage what that needs as well."""
    wanted = Wanted(large(is_incremental=True, retained=1), tmp_path / "cluster", allows_faults=True)
    then: list[Any] = []

    async def take(supervisor: Supervisor) -> None:
        last = [await taken(supervisor) for _ in range(3)][-1]
        await supervisor.inject(Fault("delay", low=60_000, high=60_000))
        await supervisor.cancel((await supervisor.trigger(Wish())).id)
        assert [own.id for own in supervisor.store.registry.kept()] == [last.id]
        then.extend((last.id, supervisor.contents(last.id)))

    async def look(supervisor: Supervisor) -> None:
        assert [supervisor.epochs()[0].snapshot, supervisor.contents(then[0])] == then
        built = await taken(supervisor, Wish(type="incremental"))
        assert (built.type, built.base) == ("incremental", then[0])
        assert (await taken(supervisor, Wish(type="full"))).base is None
        manifests = tmp_path / "cluster" / "snapshots"
        await comes(lambda: len([*manifests.glob("*/*.json")]) == 1, "nothing is left that nothing needs")

    live(wanted, take)
    live(replace(wanted, restores=True), look)


def test_only_the_newest_are_kept(tmp_path):
    async def act(supervisor: Supervisor) -> None:
        ids = [(await taken(supervisor)).id for _ in range(4)]
        await comes(lambda: not supervisor.snapshot(ids[1]).is_kept, "the second is deleted")
        assert [supervisor.snapshot(name).is_kept for name in ids] == [False, False, True, True]
        folder = tmp_path / "cluster" / "snapshots"
        await comes(lambda: len(list(folder.glob("*/*.json"))) == 2, "two manifests are left")
        with pytest.raises(Problem, match="not stored"):
            await supervisor.restore(ids[0], None)

    live(Wanted(bank(retained=2), tmp_path / "cluster", delay=DELAY), act)


def test_a_snapshot_without_a_coordinator_expires(tmp_path):
    """Its markers take a minute: by the rules alone it would not end before."""
    slow = Wanted(replace(bank(2), storage={"kept": 20.0}), tmp_path / "cluster", delay=(60, 60), has_coordinator=False)

    async def act(supervisor: Supervisor) -> None:
        own = await taken(supervisor, Wish("P1"))
        assert (own.status, own.reason) == (Status.EXPIRED, "it was not complete within 0.2 s")
        cancelled = await supervisor.trigger(Wish("P2"))
        assert (await supervisor.cancel(cancelled.id)).status is Status.CANCELLED

    live(slow, act)


@pytest.mark.parametrize("has_coordinator", [True, False])
def test_so_many_snapshots_wait_and_no_more(has_coordinator, tmp_path):
    """A thousand that are asked for at once, on channels on which markers take a minute."""
    slow = Wanted(bank(2), tmp_path / "cluster", delay=(60, 60), has_coordinator=has_coordinator)
    answers: list[int] = []

    async def act(supervisor: Supervisor) -> None:
        async def ask() -> None:
            try:
                await supervisor.trigger(Wish())
                answers.append(202)
            except Problem as problem:
                assert str(problem).startswith(f"{MOST_WAITING} snapshots are under way or wait, and {MOST_WAITING} ")
                answers.append(problem.status)

        await asyncio.gather(*(ask() for _ in range(1000)))
        assert [answers.count(status) for status in (202, 429)] == [MOST_WAITING, 1000 - MOST_WAITING]
        await supervisor.cancel(supervisor.snapshots(None, 1, None)[0].id)
        await ask()
        assert answers[-1] == 202

    live(slow, act)


def test_the_first_estimate_is_made_of_the_delays():
    def estimate(*faults: tuple[float, float, tuple[str, ...]]) -> float:
        with prepared(Wanted(bank(3), allows_faults=True), print) as supervisor:
            for low, high, channels in faults:
                carried_out(supervisor.inject(Fault("delay", channels=channels, low=low, high=high)))
            return supervisor.first_estimate()

    assert estimate() == 100
    assert estimate((50, 200, ())) == 500  # two channels, one after the other
    assert estimate((50, 200, ()), (0, 700, ("P1->P2",))) == pytest.approx(1500)
    assert estimate((60_000, 60_000, ())) == 5000  # then it has expired


REFUSED = [  # what is asked for, the status, and of what the sentence tells
    (Wish("P9"), 404, "there is no node 'P9'"),
    (Wish("P1"), 409, "P1 is ABSENT; ask one that is RUNNING"),
    (Wish(type="half"), 422, "'half' is none of full, incremental"),
    (Wish(root_uri="s3://elsewhere/x"), 422, "none of the storage roots of this cluster"),
    (Fault("drown"), 422, "'drown' is none of kill, freeze, thaw, sever"),
    (Fault("kill", "P9"), 404, "there is no node 'P9'"),
    (Fault("kill", "P1"), 409, "it has no process to kill"),
    (Fault("sever", channels=("P1->P9",)), 404, "there is no channel 'P1->P9'"),
    (Fault("delay", low=5, high=1), 422, "low_ms and high_ms"),
    (Fault("delay", low=-1, high=1), 422, "low_ms and high_ms"),
    (Fault("delay", low=1, high=float("inf")), 422, "low_ms and high_ms"),
    (Fault("lose", share=1.0), 422, "share: a number from 0, below 1"),
    (Fault("lose", share=-0.1), 422, "share: a number from 0, below 1"),
]


def test_what_cannot_be_granted_is_refused(tmp_path):
    """Of a cluster that has not been started: no node is asked."""
    with prepared(Wanted(bank(2), tmp_path / "cluster", allows_faults=True), print) as supervisor:
        for asked, status, says in REFUSED:
            asks = supervisor.trigger if isinstance(asked, Wish) else supervisor.inject
            with pytest.raises(Problem, match=says) as problem:
                carried_out(asks(asked))
            assert problem.value.status == status, asked
        assert not supervisor.snapshots(None, 10, None)


def test_faults_have_to_be_allowed(tmp_path):
    with prepared(Wanted(bank(2), tmp_path / "cluster"), print) as supervisor:
        with pytest.raises(Problem, match="--allow-faults") as problem:
            carried_out(supervisor.inject(Fault("kill", "P1")))
        assert problem.value.status == 403


def test_where_no_node_reaches_all_others_as_many_start_a_snapshot_as_it_takes(tmp_path):
    """Two sources that only send, under rules that any process may begin."""

    async def act(supervisor: Supervisor) -> None:
        planned = supervisor.store.registry  # of two at a time, the one that is behind the other is given up
        await comes(lambda: (found := planned.snapshot("S1")) is not None and found.status.is_final, "S1 has ended")
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        with pytest.raises(Problem, match="fast starts does not reach all processes; name no node, then fast and slow"):
            await supervisor.trigger(Wish("fast"))

    told_again(live(Wanted(library.load("alignment_timeout"), tmp_path / "cluster", 0.002), act))
