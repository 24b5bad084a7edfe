"""Snapshots whose storage fails, damaged snapshots, restarts, and incremental snapshots."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Problem, Status, Wish
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import Wanted
from cluster.store.checkpoints import Unavailable
from sim.document.scenario import Scenario
from tests.cluster.live import all_running, bank, live, money, shared, taken, told_again
from tests.waiting import comes

pytestmark = pytest.mark.slow
DELAY = (0.005, 0.02)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A function that acts on a cluster which some tests share. After each of them it goes on as before."""
    with shared(Wanted(bank(), tmp_path_factory.mktemp("shared"), delay=DELAY)) as act:
        yield act


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
