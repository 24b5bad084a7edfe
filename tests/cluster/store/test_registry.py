"""The registry of a cluster, in SQLite and in PostgreSQL."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError, StatementError

from cluster.model import INCREMENTAL, Answer, Epoch, Kept, Problem, Status
from cluster.store.registry import Cluster, Registry
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.postgres import Server
from tests.cluster.store.conftest import IN_POSTGRESQL_TOO
from tests.cluster.store.stored import START, begin, row

OWN = Cluster("cluster-1", "bank of 3", START)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(url: str, clock: Clock) -> Iterator[Registry]:
    opened = Registry(url, clock)
    begin(opened)
    yield opened
    opened.close()


def ids(registry: Registry, status: Status | None = None, limit: int = 10, before: str | None = None) -> list[str]:
    return [snapshot.id for snapshot in registry.page(status, limit, before)]


# ---------------------------------------------------------------------- snapshots


@IN_POSTGRESQL_TOO
def test_a_snapshot_is_what_was_put_also_when_opened_again(registry: Registry, url: str) -> None:
    full = row(
        "snap-1", Status.COMPLETED, "snap-0", initiator="Zoë", reason="— none", ended_at=START + timedelta(seconds=1.5),
        nodes=("P1", "Ä"), completed=("Ä",), size=2**40, manifest_uri="file:///a", is_kept=True,
    )  # fmt: skip
    registry.put(full)
    registry.put(row("snap-2"))
    assert registry.snapshot("snap-1") == full
    assert full.type == INCREMENTAL
    again = Registry(url)
    assert again.snapshot("snap-1") == full
    assert again.snapshot("snap-2") == row("snap-2")
    assert type(again.page(None, 1)[0].status) is Status
    again.close()


@IN_POSTGRESQL_TOO
def test_an_unknown_id_is_none_whatever_it_is_made_of(registry: Registry) -> None:
    def check(id: str) -> None:
        assert registry.snapshot(id) is None
        with pytest.raises(Problem) as caught:
            registry.page(None, 10, id)
        assert caught.value.status == 404

    check_each(["snap-9", "", "a\0b", "\ud800", "x" * 100_000, "' OR 1=1 --"], check)


def test_a_replaced_snapshot_keeps_its_place(registry: Registry) -> None:
    for number in range(3):
        registry.put(row(f"snap-{number}"))
    registry.put(row("snap-0", Status.FAILED, reason="a node was lost", initiated_at=START + timedelta(days=1)))
    assert ids(registry) == ["snap-2", "snap-1", "snap-0"]
    found = registry.snapshot("snap-0")
    assert found and found.reason == "a node was lost"


@IN_POSTGRESQL_TOO
def test_pages_are_the_newest_first_and_lose_or_repeat_none(registry: Registry) -> None:
    for number in range(7):
        registry.put(row(f"snap-{number}", Status.FAILED if number % 2 else Status.INITIATED))
    assert ids(registry, limit=3) == ["snap-6", "snap-5", "snap-4"]
    registry.put(row("snap-7"))
    assert ids(registry, limit=3, before="snap-4") == ["snap-3", "snap-2", "snap-1"]
    assert ids(registry, limit=3, before="snap-1") == ["snap-0"]
    assert ids(registry, limit=3, before="snap-0") == []
    assert ids(registry, Status.FAILED, limit=2) == ["snap-5", "snap-3"]
    assert ids(registry, Status.FAILED, before="snap-4") == ["snap-3", "snap-1"]
    assert ids(registry, Status.EXPIRED) == []


def test_running_and_kept_are_told_from_the_others(registry: Registry) -> None:
    for status in Status:
        registry.put(row(f"snap-{status.value}", status))
    registry.put(row("snap-1", Status.COMPLETED, is_kept=True))
    assert [each.status for each in registry.running()] == [Status.IN_PROGRESS, Status.INITIATED]
    assert [each.id for each in registry.kept()] == ["snap-1"]


def test_only_what_is_completed_can_be_kept(registry: Registry) -> None:
    for status in set(Status) - {Status.COMPLETED}:
        with pytest.raises(ValueError, match="is kept"):
            registry.put(row("snap-1", status, is_kept=True))
    assert registry.snapshot("snap-1") is None


def test_the_last_completed_is_the_one_committed_last_and_not_the_one_begun_last(registry: Registry) -> None:
    registry.add_epoch(Epoch(1, START, "a crash", "snap-1"))
    assert registry.last_completed() is None
    for id in ("snap-1", "snap-2", "snap-3"):
        registry.put(row(id))
    registry.put(row("snap-2", Status.COMPLETED, is_kept=True))
    registry.put(row("snap-1", Status.COMPLETED, is_kept=True))
    registry.put(row("snap-2", Status.COMPLETED, is_kept=True, size=5))
    registry.put(row("snap-4", Status.COMPLETED, epoch=1, is_kept=True))
    last, of_0, of_1 = registry.last_completed(), registry.last_completed(0), registry.last_completed(1)
    assert last and of_0 and of_1
    assert (last.id, of_0.id, of_1.id) == ("snap-4", "snap-1", "snap-4")
    assert [epoch.last for epoch in registry.epochs()] == ["snap-4", "snap-1"]
    registry.put(replace(last, is_kept=False))
    assert registry.last_completed(1) is None
    assert [epoch.last for epoch in registry.epochs()] == ["snap-4", "snap-1"]


@IN_POSTGRESQL_TOO
def test_a_snapshot_of_an_unknown_epoch_is_refused(registry: Registry) -> None:
    with pytest.raises(IntegrityError):
        registry.put(row("snap-1", epoch=7))
    assert registry.snapshot("snap-1") is None


# ---------------------------------------------------------------------- ids


@IN_POSTGRESQL_TOO
def test_ids_are_numbered_and_never_given_twice(registry: Registry, url: str) -> None:
    assert [*registry.reserve(3)] == [1, 2, 3]
    registry.give_back(range(2, 4))
    assert [*registry.reserve(1)] == [2]
    registry.give_back(range(1, 2))
    assert [*registry.reserve(1)] == [3], "not the last ones"
    registry.put(row("snap-12345-abcde"))  # of a registry that was lost
    registry.put(row("snap-0007-abcde"))
    again = Registry(url)
    assert [*again.reserve(2)] == [12346, 12347]
    again.close()


@pytest.mark.slow
@IN_POSTGRESQL_TOO
def test_threads_do_not_disturb_each_other(registry: Registry) -> None:
    def take(_: int) -> str:
        id = f"snap-{registry.reserve(1)[0]:04}-abcde"
        registry.put(row(id))
        registry.put(row(id, Status.COMPLETED, is_kept=True))
        return id

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, range(40)))
    assert len({id.split("-")[1] for id in taken}) == 40
    assert set(ids(registry, limit=100)) == set(taken)
    assert len(registry.kept()) == 40


@pytest.mark.slow
def test_a_change_waits_for_that_of_another_process(tmp_path: Path) -> None:
    """Two registries of one file share no lock within Python, as those of two processes do not."""
    both = [Registry.open_folder(tmp_path) for _ in range(2)]
    begin(both[0])

    def change(number: int) -> None:
        for _ in range(30):
            both[number].put(row(f"snap-{both[number].reserve(1)[0]:04}-abcde"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(change, range(2)))
    assert len(ids(both[0], limit=100)) == 60
    for each in both:
        each.close()


# ---------------------------------------------------------------------- epochs, the cluster, keys


def test_epochs_are_listed_with_the_newest_first(registry: Registry) -> None:
    registry.add_epoch(Epoch(2, START + timedelta(seconds=2), "P1 was lost", "snap-1"))
    registry.add_epoch(Epoch(1, START + timedelta(seconds=1), "asked for", None))
    assert [epoch.number for epoch in registry.epochs()] == [2, 1, 0]
    assert registry.last_epoch() == Epoch(2, START + timedelta(seconds=2), "P1 was lost", "snap-1")
    with pytest.raises(ValueError, match="an epoch 1 already"):
        registry.add_epoch(Epoch(1, START, "again"))


@IN_POSTGRESQL_TOO
def test_a_registry_belongs_to_one_cluster_for_all_time(registry: Registry, url: str) -> None:
    assert registry.cluster() is None
    registry.establish(OWN)
    with pytest.raises(ValueError, match="already"):
        registry.establish(replace(OWN, id="cluster-2"))
    again = Registry(url)
    assert again.cluster() == OWN
    again.close()


@IN_POSTGRESQL_TOO
def test_a_key_has_its_answer_for_a_day(registry: Registry, clock: Clock) -> None:
    kept = Kept("digest of the request", Answer(202, '{"snapshot_id": "snap-1"}', {"Location": "/v1/snapshots/snap-1"}))

    def check(text: str) -> None:
        assert registry.find(text) is None
        registry.keep(text, kept)
        clock.now += timedelta(hours=23, minutes=59)
        assert registry.find(text) == kept
        assert registry.find(text + "x") is None
        clock.now += timedelta(minutes=1)
        assert registry.find(text) is None
        registry.keep(text, Kept("another", Answer(200, "{}")))
        assert registry.find(text) == Kept("another", Answer(200, "{}"))

    check_each(["a", "", "k" * 10_000, "\0", "\ud800", "ключ"], check)


def test_a_key_has_one_answer(registry: Registry) -> None:
    for _ in range(2):  # the second time nobody knew whether the first was written
        registry.keep("a", Kept("x", Answer(200, "{}")))
    with pytest.raises(ValueError, match="another answer"):
        registry.keep("a", Kept("y", Answer(200, "{}")))
    assert registry.find("a") == Kept("x", Answer(200, "{}"))


# ---------------------------------------------------------------------- times


@IN_POSTGRESQL_TOO
def test_times_come_back_in_utc(registry: Registry) -> None:
    east = datetime(2026, 3, 29, 3, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    registry.put(row("snap-1", initiated_at=east))
    found = registry.snapshot("snap-1")
    assert found and found.initiated_at == east and found.initiated_at.tzinfo is UTC
    with pytest.raises(StatementError, match="no time zone"):
        registry.put(row("snap-2", initiated_at=east.replace(tzinfo=None)))


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9000, 1, 1), timezones=st.timezones()))
def test_any_time_comes_back_as_the_same_moment(time: datetime) -> None:
    from sqlalchemy.dialects import sqlite

    from cluster.store.schema import Time

    kind, dialect = Time(), sqlite.dialect()  # type: ignore[no-untyped-call]
    back = kind.process_result_value(kind.process_bind_param(time, dialect), dialect)
    assert back is not None and back.timestamp() == time.timestamp() and back.tzinfo is UTC


# ---------------------------------------------------------------------- what is no registry


def _schema(path: Path, *lines: str) -> None:
    with sqlite3.connect(path) as connection:
        for line in lines:
            connection.execute(line)
    connection.close()


def _checksum(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def _make(path: Path, what: str) -> None:
    if what == "text":
        path.write_text("notes of mine\n" * 100)
    elif what == "foreign":
        _schema(path, "CREATE TABLE friends (name TEXT)")
    elif what == "like ours":
        _schema(path, "CREATE TABLE registry_schema (version INTEGER)", "INSERT INTO registry_schema VALUES (1)")
    elif what == "other columns":
        _schema(path, "CREATE TABLE registry_schema (name TEXT)")
    else:
        registry = Registry.open_folder(path.parent)
        begin(registry)
        registry.close()
        if what == "newer":
            _schema(path, "UPDATE registry_schema SET version = 3")
        else:
            content = path.read_bytes()
            path.write_bytes(content[:4096] + b"\xff" * 4096 + content[8192:])


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("text", "not a database"),
        ("foreign", "is no registry of a cluster"),
        ("like ours", "is no registry of a cluster"),
        ("other columns", "cannot be opened as a registry"),
        ("newer", "is a registry of version 3, and this program knows 2: update it"),
        ("broken", "damaged|malformed"),
    ],
)
def test_what_is_no_registry_is_refused_and_stays_as_it_is(tmp_path: Path, what: str, words: str) -> None:
    file = tmp_path / "registry.sqlite"
    _make(file, what)
    before = _checksum(tmp_path)
    with pytest.raises(InputError, match=words) as caught:
        Registry.open_folder(tmp_path)
    assert str(file) in str(caught.value)
    assert _checksum(tmp_path)["registry.sqlite"] == before["registry.sqlite"]
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_database_of_others_in_postgresql_is_refused(server: Server) -> None:
    import psycopg

    url = server.new_database("of-others")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE friends (name TEXT)")
    with pytest.raises(InputError, match="is no registry of a cluster"):
        Registry(url)
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("friends",)]


def test_an_empty_file_is_what_a_crash_leaves_of_a_new_registry(tmp_path: Path) -> None:
    (tmp_path / "registry.sqlite").touch()
    registry = Registry.open_folder(tmp_path)
    assert registry.page(None, 10) == []
    registry.close()


NO_URLS = [
    "nonsense", "mysql://host/a", "sqlite://", "sqlite:///:memory:", "sqlite:////no/such/folder/registry.sqlite",
    "postgresql://tester:hidden@127.0.0.1:1/none?password=hidden&connect_timeout=2", "postgresql+none://a/b",
]  # fmt: skip


@pytest.mark.slow
def test_a_database_that_cannot_be_reached_is_one_sentence_without_secrets() -> None:
    def check(url: str) -> None:
        with pytest.raises(InputError) as caught:
            Registry(url)
        assert "hidden" not in str(caught.value)
        assert "\n" not in str(caught.value)

    check_each(NO_URLS, check)


def test_a_commit_is_synced_to_the_disk(tmp_path: Path) -> None:
    registry = Registry.open_folder(tmp_path)
    with registry._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    registry.close()
