"""A cluster goes on while its registry or its storage does not answer, and has told the truth when they are back."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cluster.client import Client
from cluster.control import snapshot_store as store
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Problem, Snapshot, Status, Unavailable, Wish
from cluster.start.wanted import Wanted
from cluster.store.holder import Holder
from cluster.store.registry import Registry
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from tests.cluster.live import all_running, bank, live, taken
from tests.cluster.postgres import postgres
from tests.cluster.running import nodes_of, none_is_left, refused, up
from tests.waiting import budget_s, comes, until

pytestmark = pytest.mark.slow
DELAY = (0.001, 0.005)
TTL_S, UNIT = 0.5, 0.01  # how long a snapshot may take here
HELD_S = 2.0  # less than any deadline: so long nothing may hold the controller


def hasty(**settings: Any) -> Scenario:
    """A bank whose snapshots have little time."""
    return replace(bank(), coordinator={"timeout": TTL_S / UNIT, "heartbeat": 20.0, "missed": 40, **settings})


class Watch:
    """The longest time that something has held the event loop."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def look(self) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0)
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now
            await asyncio.sleep(0.001)  # time itself is tested


def watched(wanted: Wanted, act: Callable[[Supervisor], Any]) -> Path:
    """Run a cluster, and do something with it. Fails if anything holds its controller."""

    async def looked_at(supervisor: Supervisor) -> None:
        watch = Watch()
        looking = asyncio.ensure_future(watch.look())
        try:
            await act(supervisor)
        finally:
            looking.cancel()
        assert watch.longest < budget_s(HELD_S), f"something has held the controller for {watch.longest:.1f} s"

    return live(wanted, looked_at)


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


# ---------------------------------------------------------------------- the storage


class Storage:
    """A storage that hangs, or fails, if the name of a file ends in `ending`."""

    def __init__(self, supervisor: Supervisor) -> None:
        (self._place,) = supervisor.store.checkpoints._places.values()
        self._write, self._read = self._place.write, self._place.read
        self.gate, self.ending, self.problem = threading.Event(), "", ""
        self._place.write = self.write  # type: ignore[method-assign]
        self._place.read = self.read  # type: ignore[method-assign]
        self.asked, self.late = 0, 0

    def hang(self, ending: str) -> None:
        self.ending = ending

    def go_on(self) -> None:
        self.ending = ""
        self.gate.set()

    def _pass(self, name: str) -> bool:
        """Let a file through, now or later. Returns whether it had to wait."""
        has_to_wait = bool(self.ending) and name.endswith(self.ending)
        if has_to_wait:
            self.asked += 1
            if self.problem:
                raise OSError(errno.ENOSPC, self.problem)
            self.gate.wait()
        return has_to_wait

    def write(self, name: str, data: bytes) -> None:
        is_late = self._pass(name)
        self._write(name, data)
        self.late += is_late

    def read(self, name: str, most: int) -> bytes:
        self._pass(name)
        return self._read(name, most)


@pytest.mark.parametrize("ending", [".part", ".json"])
def test_what_hangs_ends_a_snapshot_when_its_time_is_over(tmp_path: Path, ending: str) -> None:
    async def act(supervisor: Supervisor) -> None:
        storage = Storage(supervisor)
        storage.hang(ending)
        own = await taken(supervisor)
        assert own.status is Status.EXPIRED, own.reason
        assert own.duration is not None and own.duration < 1000 * budget_s(4 * TTL_S)
        assert ending == ".part" or f"its manifest was not written within {TTL_S:g} s of the request" in own.reason
        storage.go_on()
        found = supervisor.store.checkpoints.found
        await comes(lambda: storage.late == storage.asked, "what hung is written, too late")
        await comes(lambda: own.id not in found("snapshots").snapshots, "what came too late is deleted")
        after = await taken(supervisor)
        assert after.status is Status.COMPLETED, after.reason
        assert supervisor.snapshot(own.id).status is Status.EXPIRED

    watched(Wanted(hasty(), tmp_path / "cluster", delay=DELAY), act)


def test_while_a_manifest_hangs_the_other_services_go_on(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        storage = Storage(supervisor)
        storage.hang(".json")
        own = await supervisor.trigger(Wish())
        await comes(lambda: storage.asked, "its manifest is being written")
        with pytest.raises(Problem, match=f"{own.id}: its manifest is being written; it is complete or given up"):
            await asyncio.wait_for(supervisor.cancel(own.id), budget_s(20.0))  # the coordinator answers
        assert supervisor.snapshot(own.id).status is Status.IN_PROGRESS
        storage.go_on()
        await comes(lambda: supervisor.snapshot(own.id).status.is_final, "it ends")
        assert supervisor.snapshot(own.id).status is Status.COMPLETED

    watched(Wanted(replace(bank(), coordinator={"timeout": 1e6}), tmp_path / "cluster", delay=DELAY), act)


@pytest.mark.parametrize("ending", [".part", ".json"])
def test_a_full_disk_makes_a_snapshot_fail_with_the_reason(tmp_path: Path, ending: str) -> None:
    async def act(supervisor: Supervisor) -> None:
        storage = Storage(supervisor)
        storage.problem = "No space left on device"
        storage.hang(ending)
        own = await taken(supervisor)
        assert own.status is Status.FAILED
        assert "cannot be written (No space left on device)" in own.reason
        storage.go_on()
        assert (await taken(supervisor)).status is Status.COMPLETED

    watched(Wanted(bank(), tmp_path / "cluster", delay=DELAY), act)


def test_a_storage_that_does_not_answer_is_no_reason_to_go_back_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(supervisor: Supervisor) -> None:
        own = await taken(supervisor)
        storage = Storage(supervisor)
        storage.hang(".part")
        monkeypatch.setattr(store, "READ_S", 0.1)
        with pytest.raises(Unavailable, match=r"was not read within 0.1 s; see that its storage works"):
            await asyncio.to_thread(supervisor.contents, own.id)
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.figures()["recoveries"] == 1, "the system is rolled back")
        await all_running(supervisor)
        epochs = await asyncio.to_thread(supervisor.epochs)
        assert (epochs[0].snapshot, supervisor.snapshot(own.id).status) == (own.id, Status.COMPLETED)
        storage.go_on()

    watched(Wanted(bank(), tmp_path / "cluster", delay=DELAY, allows_faults=True), act)


# ---------------------------------------------------------------------- the time that a snapshot has


def test_a_snapshot_that_does_not_begin_expires_and_is_not_begun_afterwards(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        assert (await taken(supervisor)).status is Status.COMPLETED
        waits = await taken(supervisor)
        assert (waits.status, waits.reason) == (Status.EXPIRED, f"it was not complete within {TTL_S:g} s")
        assert not waits.nodes, "the coordinator rests"

    watched(Wanted(hasty(minimum_pause=1e6), tmp_path / "cluster", delay=DELAY), act)


def test_time_counts_from_the_request_and_not_from_the_beginning(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        await supervisor.inject(Fault("sever"))
        first, second = await supervisor.trigger(Wish()), await supervisor.trigger(Wish())
        ended = [first.id, second.id]
        await comes(lambda: all(supervisor.snapshot(id).status.is_final for id in ended), "both end")
        late = supervisor.snapshot(second.id)
        assert late.status is Status.EXPIRED
        assert late.reason == f"it was not complete within {TTL_S:g} s", (
            "by the coordinator it would have twice as long"
        )

    watched(Wanted(hasty(), tmp_path / "cluster", delay=DELAY, allows_faults=True), act)


# ---------------------------------------------------------------------- a full disk with the logs on it


@pytest.mark.parametrize("room", [1, 3_000], ids=["none for a word either", "for its last words"])
def test_a_node_that_cannot_write_its_log_ends_and_comes_back(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], room: int
) -> None:
    async def act(supervisor: Supervisor) -> None:
        own = await taken(supervisor)
        pid = supervisor.members.named("P2").pid
        assert pid is not None
        await comes(lambda: (supervisor.logs / "1.log").stat().st_size > room, "its log is longer")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, room))
        await comes(lambda: supervisor.figures()["recoveries"] == 1, "the system is rolled back")
        await all_running(supervisor)
        assert (await asyncio.to_thread(supervisor.epochs))[0].snapshot == own.id
        assert (await taken(supervisor)).status is Status.COMPLETED

    watched(Wanted(bank(), tmp_path / "cluster", delay=DELAY), act)
    said = capfd.readouterr().err
    assert ("the event log cannot be written (File too large); make room" in said) == (room > 1)
    assert "Traceback" not in said


def test_a_controller_that_cannot_write_its_log_ends_in_one_sentence(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        log = supervisor.services.site.log
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, log._file)
        os.close(full)
        await comes(supervisor.ended.is_set, "the cluster ends")

    with pytest.raises(InputError, match=r"the event log cannot be written \(No space left on device\); make room"):
        watched(Wanted(bank(), tmp_path / "cluster", delay=DELAY), act)
