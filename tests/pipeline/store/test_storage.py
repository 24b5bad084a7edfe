"""A data folder at a storage address is as one on this machine: whole parts, tables replaced at once, one writer."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow
import pytest

from pipeline.__main__ import main
from pipeline.store import storage_lock
from pipeline.store.addresses import place_of
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.place import LOCK
from pipeline.store.schema import TABLES, arrow_schema
from pipeline.store.storage import Storage
from pipeline.store.tables import Written
from sim.core.errors import InputError
from tests.pipeline.s3 import BUCKET, losing, s3
from tests.waiting import until


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, str]]:
    with s3() as own:
        yield own


@pytest.fixture
def address(service: dict[str, str], request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name}"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_lock, "SETTLE_S", 0.0)


def audits(run: int) -> pyarrow.Table:
    row = {"run_id": run, "cut_id": "c", "consistent": True}
    return pyarrow.Table.from_pylist([row], arrow_schema(TABLES["audits"]))


def runs_in(store: Store) -> list[int]:
    return sorted(store.rows("audits").to_table()["run_id"].to_pylist())


@pytest.mark.slow
def test_tables_are_written_replaced_and_deleted(address: str) -> None:
    store = Store.create(address, "ensemble", {"runs": 2})
    assert store.name == address.rpartition("/")[2]
    assert (store.status, store.has("audits")) == ("running", False)
    store.write_part("audits", "one", audits(1))
    store.write_part("audits", "two", audits(2))
    assert runs_in(Store.open(address)) == [1, 2]
    with store.replacing("audits", "channels") as new:
        new.keep(new.write_part("audits", "new", audits(3)))
        assert runs_in(store) == [1, 2]
    assert runs_in(store) == [3]
    assert [part.name for part in store.parts("channels")] == ["empty"]
    assert store.place.names("audits") == [f"new.{new.generation}.parquet"], "what is hidden has become seen"
    refused = pytest.raises(InputError, match="workers have written 1 parts that are not here")
    with refused, store.replacing("audits") as new:
        new.keep(Written("audits", "elsewhere", 1))
    assert runs_in(store) == [3]
    store.finish()
    found = Store.open(address).manifest
    assert found is not None and (found.status, found.rows) == ("complete", {"audits": 1, "channels": 0})
    store.delete()
    with pytest.raises(InputError, match="there is no such folder"):
        Store.open(address)


@pytest.mark.slow
def test_it_is_made_once_and_written_by_one(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.create(address, "ensemble", {})
    other = Store(address)
    assert other.status == "running"
    with pytest.raises(InputError, match="exists and is not empty"):
        Store.create(address, "ensemble", {})
    with pytest.raises(InputError, match="is being written by another process"):
        other.mark_running()
    store.finish("stopped")
    assert (other.status, LOCK in store.place.names()) == ("stopped", False)
    other.mark_running()
    assert store.status == "running"
    monkeypatch.setattr(storage_lock, "STALE_S", 0.0)  # as of a holder that has written nothing for a minute
    assert store.status == "stopped"
    store.mark_running()
    with pytest.raises(InputError, match="was deleted while it was written"):
        other.finish()
    monkeypatch.undo()
    assert store.status == "running", "the lock is that of the one who took it last"
    store.finish()


@pytest.mark.slow
def test_a_lock_is_written_anew_while_its_holder_lives(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_lock, "PULSE_S", 0.01)
    store = Store.create(address, "ensemble", {})
    assert isinstance(store.place, Storage)

    def written() -> int:
        return store.place.filesystem.get_file_info(store.place.inside(LOCK)).mtime_ns

    first = written()
    until(lambda: written() != first, "the lock is written anew")
    store.finish()
    assert LOCK not in store.place.names()


def test_a_file_whose_writing_fails_is_not_there(address: str) -> None:
    place = place_of(address)

    def fails(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.write("manifest.json", fails)
    assert place.names() == []


@pytest.mark.slow
def test_a_worker_reaches_the_same_files(address: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (address, tmp_path / "local"):
        store = Store.create(where, "ensemble", {})
        pickle.loads(pickle.dumps(store)).write_part("audits", "one", audits(1))
        assert runs_in(store) == [1]
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(Store("local"))
    monkeypatch.chdir("/")
    assert runs_in(pickle.loads(sent)) == [1], "a worker has another working directory"


def test_what_is_an_address_and_what_is_a_path(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    assert isinstance(place_of("data/bank"), LocalFolder)
    assert isinstance(place_of("C:/data/bank"), LocalFolder)
    for wrong in ("s4://bucket/x", "http://bucket/x", "s3:/bucket/x", "S3://bucket/x", "file:///tmp/x"):
        with pytest.raises(
            InputError, match=r"no storage is known by this address; name a folder, or begin with s3://"
        ):
            place_of(wrong)
    with pytest.raises(InputError, match="names a bucket; name a folder in it"):
        place_of("s3://bucket")
    monkeypatch.chdir(tmp_path)
    for command in (["ensemble", "--out", "s4://b/x"], ["audit", "s4://b/x", "--snapshots"], ["summarize", "s4://b/x"]):
        assert main(command) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [], "no folder is called s4:"


@pytest.mark.slow
def test_a_storage_that_is_gone_is_told_in_a_sentence() -> None:
    with s3():
        store = Store.create(f"s3://{BUCKET}/gone", "ensemble", {})
    with pytest.raises(
        InputError, match=rf"^{store.address}: cannot be read \(NETWORK_CONNECTION.*\); look whether it is"
    ):
        store.write_part("audits", "two", audits(2))  # a few seconds: it is asked again and again


@pytest.mark.slow
def test_so_is_one_that_refuses_everything_and_all_is_there_when_it_does_no_more(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a wrong key."""
    monkeypatch.setattr(storage_lock, "STALE_S", 0.0)
    store = Store.create(address, "ensemble", {})
    store.write_part("audits", "one", audits(1))
    rows, late = store.rows("audits"), store.adding()

    def replace() -> None:
        with store.replacing("audits") as new:
            new.keep(new.write_part("audits", "new", audits(3)))

    asked = {
        "read": [
            rows.to_table, lambda: store.parts("audits"), lambda: Store(address).status, lambda: Store.open(address)
        ],
        "written": [
            lambda: late.write_part("audits", "two", audits(2)), replace, store.finish, Store(address).mark_running,
            lambda: Store.create(f"{address}-2", "ensemble", {}),
        ],
        "deleted": [store.delete],
    }  # fmt: skip
    with losing() as lose:
        lose()
        for what, questions in asked.items():
            for ask in questions:
                with pytest.raises(
                    InputError, match=rf"^{address}.*: cannot be \w+ \(ACCESS_DENIED.*\); look .*"
                ) as told:
                    ask()
                assert "\n" not in str(told.value), what
    assert (runs_in(store), store.status) == ([1], "stopped")
    store.mark_running()
    store.finish()
    assert Store(address).status == "complete"
