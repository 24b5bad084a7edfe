"""A cluster goes on while its storage does not answer, or while a disk is full."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.control import snapshot_store as store
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Problem, Status, Unavailable, Wish
from cluster.start.wanted import Wanted
from sim.core.errors import InputError
from tests.cluster.control.watching import TTL_S, hasty, watched
from tests.cluster.live import all_running, bank, taken
from tests.waiting import budget_s, comes

pytestmark = pytest.mark.slow
DELAY = (0.001, 0.005)


# ---------------------------------------------------------------------- the storage


class Storage:
    """A storage that hangs, or fails, if the name of a file ends in `ending`."""

    def __init__(self, supervisor: Supervisor) -> None:
        (self._place,) = supervisor.store.checkpoints._places.values()
        self._write, self._read = self._place.write, self._place.read
        self.gate, self.ending, self.problem = threading.Event(), "", ""
        self._place.write = self.write  # type: ignore[method-assign]
        self._place.read = self.read  # type: ignore[method-assign]
        self._asked: list[str] = []  # names: several threads append at once, and lose none
        self._late: list[str] = []

    @property
    def asked(self) -> int:
        return len(self._asked)

    @property
    def late(self) -> int:
        return len(self._late)

    def hang(self, ending: str) -> None:
        self.ending = ending

    def go_on(self) -> None:
        self.ending = ""
        self.gate.set()

    def _pass(self, name: str) -> bool:
        """Let a file through, now or later. Returns whether it had to wait."""
        has_to_wait = bool(self.ending) and name.endswith(self.ending)
        if has_to_wait:
            self._asked.append(name)
            if self.problem:
                raise OSError(errno.ENOSPC, self.problem)
            self.gate.wait()
        return has_to_wait

    def write(self, name: str, data: bytes) -> None:
        is_late = self._pass(name)
        try:
            self._write(name, data)  # its folder may be gone by now
        finally:
            if is_late:
                self._late.append(name)

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
