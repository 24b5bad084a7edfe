"""A cluster goes on while its registry does not answer, and has told the truth when that is back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cluster.client import Client
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Snapshot, Status, Unavailable, Wish
from cluster.start.wanted import Wanted
from cluster.store.holder import Holder
from cluster.store.registry import Registry
from tests.cluster.control.watching import watched
from tests.cluster.live import all_running, bank, taken
from tests.cluster.postgres import postgres
from tests.cluster.running import nodes_of, none_is_left, refused, up
from tests.waiting import budget_s, comes, until

pytestmark = pytest.mark.slow
DELAY = (0.001, 0.005)


# ---------------------------------------------------------------------- the registry


class Outage(NamedTuple):
    """A registry, how it goes away, and how it comes back. `is_read`: who reads is answered meanwhile."""

    url: str
    begin: Callable[[], object]
    end: Callable[[], object]
    is_read: bool = False


@contextmanager
def outage(kind: str, folder: Path) -> Iterator[Outage]:
    if kind == "locked":
        path = folder / "registry.sqlite"
        backup = Backup(path)
        yield Outage(f"sqlite:///{path}", backup.begin, backup.end, is_read=True)
    else:
        with postgres() as server:
            ways = {"frozen": (server.freeze, server.thaw), "killed": (server.kill, server.start)}
            yield Outage(server.new_database("live"), *ways[kind])


class Backup:
    """Another program that locks a registry."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def begin(self) -> None:
        self._connection = sqlite3.connect(
            self._path, timeout=budget_s(), isolation_level=None, check_same_thread=False
        )
        self._connection.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()


OTHERS = pytest.mark.long("a PostgreSQL that is killed or stopped while a cluster runs")
KINDS = ("locked", *(pytest.param(kind, marks=OTHERS) for kind in ("frozen", "killed")))


@pytest.mark.parametrize("kind", KINDS)
def test_snapshots_and_recoveries_go_on_and_the_registry_has_them_afterwards(tmp_path: Path, kind: str) -> None:
    taken_then: list[Snapshot] = []

    async def act(supervisor: Supervisor) -> None:
        taken_then.append(await taken(supervisor))
        under_way = await supervisor.trigger(Wish())
        gone.begin()
        await comes(lambda: supervisor.snapshot(under_way.id).status.is_final, "the snapshot under way ends")
        taken_then.append(supervisor.snapshot(under_way.id))
        await comes(lambda: not supervisor.figures()["registry_up"], "the outage is noticed")
        taken_then.append(await taken(supervisor))
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.figures()["recoveries"] == 1, "the system is rolled back")
        await all_running(supervisor)
        taken_then.append(await taken(supervisor))
        if gone.is_read:
            assert [own.number for own in await asyncio.to_thread(supervisor.epochs)] == [1, 0]
        else:
            with pytest.raises(Unavailable):
                await asyncio.to_thread(supervisor.epochs)
        assert supervisor.figures()["registry_changes_waiting"] > 0
        gone.end()
        await comes(lambda: not supervisor.figures()["registry_changes_waiting"], "all is written")
        assert [own.number for own in await asyncio.to_thread(supervisor.epochs)] == [1, 0]
        assert (await taken(supervisor)).status is Status.COMPLETED

    with outage(kind, tmp_path) as gone:
        watched(Wanted(bank(), tmp_path / "live", registry=gone.url, delay=DELAY, allows_faults=True), act)
        registry = Registry(gone.url)
        assert [own.status for own in taken_then] == [Status.COMPLETED] * 4
        for own in taken_then:
            found = registry.snapshot(own.id)
            assert found and (found.status, found.nodes) == (Status.COMPLETED, own.nodes)
        assert [(own.number, own.snapshot) for own in registry.epochs()] == [(1, taken_then[2].id), (0, None)]
        registry.close()


@pytest.mark.long("epochs of a controller that is killed before it has written them")
def test_no_epoch_is_used_twice_though_none_of_the_last_was_written(tmp_path: Path) -> None:
    options = ("--nodes", "2", "--set", "pace=2", "--out", str(tmp_path), "--allow-faults")
    backup = Backup(tmp_path / "registry.sqlite")
    with up(*options) as cluster:
        backup.begin()
        for epoch in (1, 2):
            cluster.ask("fault", "kill", "P2")
            until(lambda epoch=epoch: _all_run(cluster.nodes, epoch), f"epoch {epoch} begins")  # type: ignore[misc]
        cluster.kill()
        backup.end()
    with up(*options) as again:
        until(lambda: _all_run(again.nodes, 3), "the next epoch has begun")
        assert [own["epoch"] for own in Client(again.url).epochs()] == [3, 0]


def _all_run(nodes: list[dict[str, Any]], epoch: int) -> bool:
    return all((own["status"], own["epoch"]) == (NodeStatus.RUNNING, epoch) for own in nodes)


@pytest.mark.long("two controllers and one registry, as commands")
def test_a_second_controller_is_refused_and_told_who_has_the_registry(tmp_path: Path) -> None:
    registry = ("--registry", f"sqlite:///{tmp_path / 'shared.sqlite'}", "--root", f"all={tmp_path}")
    options = ("--nodes", "2", "--set", "pace=2", *registry)
    with up(*options, "--out", str(tmp_path / "a")) as first:
        says = refused("up", *options, "--out", str(tmp_path / "b"), "--port", "0")
        assert f"is running with this registry (process {first.process.pid} on " in says
        assert says.endswith(f", in {tmp_path / 'a'}); end it, or give each cluster a registry of its own")
        assert first.ask("snapshot")["status"] == "COMPLETED"
        first.kill()
    with up(*options, "--out", str(tmp_path / "b")) as second:
        assert any("has ended without a word" in line for line in second.said)
        assert second.ask("snapshot")["epoch"] == 101, "the epochs in reserve of the first"


@pytest.mark.long("a controller that has lost its registry, as a command")
def test_a_controller_that_has_lost_its_registry_ends_with_its_nodes_in_one_sentence(tmp_path: Path) -> None:
    with up("--nodes", "2", "--set", "pace=2", "--out", str(tmp_path)) as cluster:
        nodes = nodes_of(cluster.process)
        registry = Registry.open_folder(tmp_path)
        elsewhere = replace(Holder.here(tmp_path), host="elsewhere", pid=4711)
        until(lambda: registry.take_lease(elsewhere, registry.lease()), "another controller takes the registry")
        assert cluster.process.wait(budget_s()) == 2
        none_is_left(nodes)
        assert cluster.process.stderr is not None
        (says,) = cluster.process.stderr.read().splitlines()
        assert "another controller has the registry (process 4711 on elsewhere, since " in says
        lease = registry.lease()
        assert lease is not None and lease.holder == elsewhere and lease.is_held
        registry.close()
