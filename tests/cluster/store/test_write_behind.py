"""The registry of a running controller: what it says while the database answers late, or not at all."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.model import Answer, Epoch, Kept, Problem, Snapshot, Status, Superseded, Unavailable
from cluster.store import write_behind, writer
from cluster.store.holder import Holder
from cluster.store.lease import take
from cluster.store.registry import Registry
from cluster.store.snapshot_ids import BLOCK
from cluster.store.write_behind import WriteBehind
from tests.cluster.store.conftest import IN_POSTGRESQL_TOO
from tests.cluster.store.slow_registry import SlowRegistry
from tests.cluster.store.stored import START, row
from tests.tools import examples
from tests.waiting import budget_s, carried_out, until

FIRST = Epoch(0, START, "the cluster started")
SHORT_S = 0.05  # a deadline of which the end is awaited


@pytest.fixture
def registry(url: str, tmp_path: Path) -> Iterator[SlowRegistry]:
    opened = SlowRegistry(url)
    take(opened, Holder.here(tmp_path))
    yield opened
    opened.go_on()
    opened.close()


@pytest.fixture
def behind(registry: SlowRegistry) -> Iterator[WriteBehind]:
    behind = WriteBehind(registry)
    behind.begin(FIRST)
    yield behind
    registry.go_on()
    behind.close()


def written(behind: WriteBehind) -> None:
    """Wait until nothing waits."""
    until(lambda: not behind.waiting, "all is written")


def ids(behind: WriteBehind | Registry, status: Status | None = None, before: str | None = None) -> list[str]:
    return [own.id for own in behind.page(status, 10, before)]


# ---------------------------------------------------------------------- while the database hangs


def test_what_is_said_is_known_at_once_and_written_when_the_database_answers(
    behind: WriteBehind, registry: SlowRegistry
) -> None:
    behind.put(row("snap-0", Status.COMPLETED, is_kept=True))
    written(behind)
    registry.writes.clear()
    behind.put(row("snap-1"))
    behind.put(row("snap-2"))
    behind.put(row("snap-1", Status.COMPLETED, is_kept=True))
    behind.put(row("snap-0", Status.FAILED, reason="damaged"))
    behind.add_epoch(Epoch(1, START, "P1 had ended", "snap-1"))
    assert ids(behind) == ["snap-2", "snap-1", "snap-0"]
    assert ids(behind, Status.COMPLETED) == ["snap-1"]
    assert ids(behind, Status.FAILED) == ["snap-0"]
    assert ids(behind, before="snap-2") == ["snap-1", "snap-0"]
    assert [(own.number, own.last) for own in behind.epochs()] == [(1, None), (0, "snap-1")]
    assert [own.id for own in behind.kept()] == ["snap-1"]
    assert [own.id for own in behind.running()] == ["snap-2"]
    last = behind.last_completed(0)
    assert last and last.id == "snap-1" and behind.last_completed(1) is None
    assert ids(registry) == ["snap-0"], "none of it is in the database"
    registry.go_on()
    written(behind)
    assert ids(registry) == ["snap-2", "snap-1", "snap-0"]
    assert [own.id for own in registry.kept()] == ["snap-1"]
    assert [(own.number, own.last) for own in registry.epochs()] == [(1, None), (0, "snap-1")]


NUMBERS = st.integers(0, 5)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NUMBERS, st.sampled_from([Status.IN_PROGRESS, Status.COMPLETED])),
        st.tuples(st.just("note"), NUMBERS, st.just(Status.IN_PROGRESS)),
        st.tuples(st.sampled_from(["hang", "write"]), st.just(0), st.just(Status.FAILED)),
    ),
    max_size=12,
)
BEFORE = [*(("put", number, Status.INITIATED) for number in range(4)), ("write", 0, Status.FAILED)]


@pytest.mark.slow
@examples(10)
@given(CHANGES)
def test_any_page_is_as_if_all_were_written(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, Status]]
) -> None:
    folder = tmp_path_factory.mktemp("registry")
    registry = SlowRegistry(f"sqlite:///{folder / 'registry.sqlite'}")
    take(registry, Holder.here(folder))
    behind = WriteBehind(registry)
    behind.begin(FIRST)
    known: dict[str, Snapshot] = {}  # the oldest first
    try:
        for what, number, status in (*BEFORE, ("hang", 0, Status.FAILED), *changes):
            own = row(f"snap-{number}", status)
            if what == "hang":
                registry.writes.clear()
            elif what == "write":
                registry.go_on()
                written(behind)
            elif what == "put":
                known[own.id] = own
                behind.put(own)
            elif own.id in known:
                known[own.id] = replace(own, completed=("P1",))
                behind.note(known[own.id])
        newest = [*reversed(known.values())]
        for wanted in (None, Status.COMPLETED, Status.IN_PROGRESS):
            fitting = [own for own in newest if wanted in (None, own.status)]
            for limit in (1, 3, 10):
                assert behind.page(wanted, limit) == fitting[:limit]
            for own in newest:
                older = [other for other in newest[newest.index(own) + 1 :] if wanted in (None, other.status)]
                assert behind.page(wanted, 3, own.id) == older[:3]
    finally:
        registry.go_on()
        behind.close()
        registry.close()


def test_a_read_that_hangs_ends_at_its_deadline_and_the_next_is_refused_at_once(
    behind: WriteBehind, registry: SlowRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.put(row("snap-1"))
    written(behind)
    monkeypatch.setattr(write_behind, "READ_S", SHORT_S)
    registry.hang()
    assert behind.snapshot("snap-1") == row("snap-1"), "the controller remembers it"
    with pytest.raises(Unavailable, match=r"does not answer \(no answer for 0.05 s\); ask again") as caught:
        behind.snapshot("snap-2")
    assert caught.value.status == 503 and int(caught.value.headers["Retry-After"]) >= 1
    monkeypatch.setattr(write_behind, "READ_S", budget_s())
    asked = registry.asked
    with pytest.raises(Unavailable):
        behind.epochs()
    assert registry.asked == asked, "nobody asks so soon after"
    registry.go_on()
    until(lambda: _answers(behind), "it is asked again")
    assert not behind.problem


def _answers(behind: WriteBehind) -> bool:
    try:
        return len(behind.epochs()) == 1
    except Unavailable:
        return False


def test_an_unknown_snapshot_is_none_and_no_failure_of_the_registry(behind: WriteBehind) -> None:
    assert behind.snapshot("snap-9") is None
    with pytest.raises(Problem) as caught:
        behind.page(None, 10, "snap-9")
    assert caught.value.status == 404
    assert _answers(behind)


def test_what_fails_is_tried_again_in_order_until_it_is_written(
    behind: WriteBehind, registry: SlowRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    registry.fails = True
    for number in range(3):
        behind.put(row(f"snap-{number}"))
    until(lambda: behind.problem, "the failure is noticed")
    assert behind.waiting == 3
    registry.go_on()
    written(behind)
    until(lambda: not behind.problem, "it works again")
    assert ids(registry) == ["snap-2", "snap-1", "snap-0"]
    assert capfd.readouterr().err == "the test lets it fail. Snapshots go on, and are written later.\n"


def test_the_end_does_not_wait_for_ever(
    registry: SlowRegistry, url: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    behind = WriteBehind(registry)
    behind.begin(FIRST)
    registry.hang()
    behind.put(row("snap-1"))
    behind.close(SHORT_S)
    assert "its last changes are not written (2); the next start mends that" in capfd.readouterr().err
    registry.go_on()


def test_at_the_end_all_is_written_and_the_lease_given_back(registry: SlowRegistry) -> None:
    behind = WriteBehind(registry)
    behind.begin(FIRST)
    first = behind.next_snapshot_id()
    behind.put(row(first))
    behind.close()
    lease = registry.lease()
    assert lease is not None and not lease.is_held
    assert ids(registry) == [first]
    assert registry.reserve(1)[0] == 2, "numbers that were not used are given back"


# ---------------------------------------------------------------------- what must not be late


def test_ids_are_in_reserve_and_none_is_given_twice(behind: WriteBehind, registry: SlowRegistry, url: str) -> None:
    registry.writes.clear()
    given = [behind.next_snapshot_id() for _ in range(BLOCK)]
    assert re.fullmatch(r"snap-0001-[a-z]{5}", given[0])
    with pytest.raises(Unavailable, match="no numbers of snapshots are left"):
        behind.next_snapshot_id()
    after_a_crash = Registry(url)
    assert after_a_crash.reserve(1)[0] > BLOCK, "they are taken, also if none of them was written"
    after_a_crash.close()
    registry.go_on()
    written(behind)
    given += [behind.next_snapshot_id() for _ in range(BLOCK)]
    numbers = [int(id.split("-")[1]) for id in given]
    assert len(set(numbers)) == len(numbers)


def test_an_answer_with_a_key_is_given_when_it_is_kept(
    behind: WriteBehind, registry: SlowRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept("x", Answer(202, "{}", {"Location": "/v1"}))
    monkeypatch.setattr(write_behind, "READ_S", SHORT_S)
    registry.writes.clear()
    with pytest.raises(Unavailable, match="the request was carried out, and its answer cannot be kept now"):
        behind.keep("a", kept)
    with pytest.raises(Unavailable, match="was carried out"):
        behind.find("a")
    monkeypatch.setattr(write_behind, "READ_S", budget_s())
    registry.go_on()
    assert behind.find("a") == kept == registry.find("a")


def test_a_request_with_a_key_is_refused_before_it_is_carried_out(behind: WriteBehind, registry: SlowRegistry) -> None:
    registry.fails = True
    behind.put(row("snap-1"))
    until(lambda: behind.problem, "the failure is noticed")
    asked = registry.asked
    with pytest.raises(Unavailable, match="so no answer can be kept"):
        behind.find("a")
    assert registry.asked == asked


def test_epochs_in_reserve_end(behind: WriteBehind, registry: SlowRegistry) -> None:
    lease = registry.lease()
    assert lease is not None and lease.epochs >= 100
    registry.writes.clear()
    behind.check_epoch(lease.epochs)
    with pytest.raises(Unavailable, match="no epochs are left in reserve"):
        behind.check_epoch(lease.epochs + 1)


# ---------------------------------------------------------------------- another controller


@IN_POSTGRESQL_TOO
def test_who_has_lost_the_lease_writes_nothing_more(
    behind: WriteBehind, registry: SlowRegistry, url: str, tmp_path: Path
) -> None:
    behind.put(row("snap-1"))
    written(behind)
    registry.writes.clear()
    behind.put(row("snap-1", Status.COMPLETED, is_kept=True))
    other = Registry(url)
    until(lambda: other.take_lease(replace(Holder.here(tmp_path), pid=4711, host="elsewhere"), other.lease()))
    other.put(row("snap-1", Status.FAILED, reason="the cluster ended while it was under way"))
    heard: list[Superseded] = []
    behind.watch(heard.append)
    registry.go_on()
    until(lambda: heard, "it finds out")
    assert "another controller has the registry (process 4711 on elsewhere, since 20" in str(heard[0])
    found = other.snapshot("snap-1")
    assert found and found.status is Status.FAILED
    with pytest.raises(Superseded):
        registry.put(row("snap-2"))
    other.close()


def test_who_has_stood_still_asks_for_its_lease_before_it_writes_a_manifest(
    behind: WriteBehind, registry: SlowRegistry, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried_out(behind.check_lease())
    other = Registry(url)
    monkeypatch.setattr(writer, "RENEW_S", 1e9)
    until(lambda: other.take_lease(replace(Holder.here(tmp_path), host="elsewhere"), other.lease()))
    carried_out(behind.check_lease())
    now = writer.ticks()
    monkeypatch.setattr(writer, "ticks", lambda: now + writer.LEASE_S + 1)
    registry.hang()
    monkeypatch.setattr(write_behind, "READ_S", SHORT_S)
    carried_out(behind.check_lease())  # nobody knows
    registry.go_on()
    monkeypatch.setattr(write_behind, "READ_S", budget_s())
    monkeypatch.setattr(writer, "ticks", lambda: now + 3 * writer.LEASE_S)
    with pytest.raises(Superseded):
        carried_out(behind.check_lease())
    other.close()


# ---------------------------------------------------------------------- databases that are real


@pytest.mark.slow
def test_another_process_that_has_locked_the_file_does_not_stop_anybody(tmp_path: Path) -> None:
    import sqlite3

    registry = Registry.open_folder(tmp_path)
    take(registry, Holder.here(tmp_path))
    behind = WriteBehind(registry)
    behind.begin(FIRST)
    backup = sqlite3.connect(tmp_path / "registry.sqlite", isolation_level=None)
    backup.execute("BEGIN IMMEDIATE")
    behind.put(row("snap-1", ended_at=START + timedelta(seconds=1)))
    until(lambda: "database is locked" in behind.problem, "it is noticed")
    assert ids(behind) == ["snap-1"], "who reads is not locked out"
    backup.execute("ROLLBACK")
    backup.close()
    written(behind)
    assert ids(registry) == ["snap-1"]
    behind.close()
    registry.close()


@pytest.mark.long("a registry in PostgreSQL that stands still, or is killed: its behind alone")
def test_a_server_that_stands_still_is_killed_or_starts_again_stops_no_cluster(tmp_path: Path) -> None:
    from tests.cluster.postgres import postgres

    with postgres() as server:
        registry = Registry(server.new_database("live"))
        take(registry, Holder.here(tmp_path))
        behind = WriteBehind(registry)
        behind.begin(FIRST)
        for number, (stop, again) in enumerate(((server.freeze, server.thaw), (server.kill, server.start))):
            stop()
            behind.put(row(f"snap-{number}", Status.COMPLETED, is_kept=True))
            began = time.monotonic()
            with pytest.raises(Unavailable):
                behind.snapshot("snap-9")
            assert time.monotonic() - began < budget_s(2 * write_behind.READ_S)
            until(lambda: behind.problem, "it is noticed")
            again()
            written(behind)
            until(lambda: _answers(behind), "it answers")
        assert ids(registry) == ["snap-1", "snap-0"]
        behind.close()
        registry.close()
