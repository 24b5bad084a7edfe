"""A data folder shows complete parts only, and reports damaged files in one sentence."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from pipeline.store.data_root import data_root, folder_path
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.manifest import FORMAT
from pipeline.store.schema import TABLES, arrow_schema
from pipeline.store.tables import GENERATIONS, Tables, Written
from sim import VERSION
from sim.core.errors import InputError
from sim.core.model import EVENT_TYPES
from tests.pipeline.some_tables import full_disk
from tests.tools import ROOT

EVENTS = arrow_schema(EVENT_TYPES)


def events(*runs: int) -> pyarrow.Table:
    rows = [{"run_id": run, "row": 0, "step": 1, "time": 0.0, "process": "P1", "kind": "internal"} for run in runs]
    return pyarrow.Table.from_pylist(rows, EVENTS)


def audits(run: int) -> pyarrow.Table:
    row = {"run_id": run, "cut_id": "c", "consistent": True}
    return pyarrow.Table.from_pylist([row], arrow_schema(TABLES["audits"]))


def names(store: Store, table: str) -> list[str]:
    """The names of a table's parts."""
    return [part.name for part in store.parts(table)]


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.create(tmp_path / "one", "ensemble", {"runs": 2})


def test_a_part_that_is_not_finished_is_not_seen(store) -> None:
    store.write_part("events", "chunk-0", events(0))
    ((store.path / "events") / "_hidden-chunk-1.parquet").write_bytes(b"PAR1 half")
    assert names(store, "events") == ["chunk-0"]
    assert store.count("events") == 1


def test_a_part_written_again_takes_the_place_of_the_first(store, workers_here) -> None:
    store.write_part("events", "chunk-0", events(0, 1))
    store.write_part("events", "chunk-0", events(0, 1))
    assert store.read(workers_here, "events").toArrow().num_rows == 2
    assert [path.name for path in (store.path / "events").iterdir()] == ["chunk-0.parquet"]


def test_a_write_that_fails_leaves_what_was_there(store, monkeypatch) -> None:
    store.write_part("events", "chunk-0", events(0))
    monkeypatch.setattr(parquet, "write_table", full_disk)
    with pytest.raises(InputError, match=r"cannot be written .No space left on device.; make room"):
        store.write_part("events", "chunk-0", events(0, 1, 2))
    monkeypatch.undo()
    assert store.count("events") == 1
    assert [path.name for path in (store.path / "events").iterdir()] == ["chunk-0.parquet"]


def test_a_table_is_replaced_whole_or_not_at_all(store) -> None:
    store.write_part("audits", "old", audits(1))
    with pytest.raises(KeyboardInterrupt), store.replacing("audits") as new:
        new.keep(new.write_part("audits", "new", audits(2)))
        raise KeyboardInterrupt
    assert names(store, "audits") == ["old"]
    with store.replacing("audits") as new:
        new.keep(new.write_part("audits", "new", audits(2)))
        assert names(store, "audits") == ["old"]
    assert names(store, "audits") == ["new"]
    assert [path.name for path in (store.path / "audits").iterdir()] == [f"new.{new.generation}.parquet"]
    assert sorted(path.name for path in store.path.iterdir()) == ["_lock", "_tables.json", "audits", "manifest.json"]
    store.write_part("audits", "later", audits(3))
    assert names(store, "audits") == ["later", "new"]


def test_several_tables_are_replaced_at_once(store, monkeypatch) -> None:
    """A process that is killed before the deciding step has changed nothing; after it, everything."""
    for table in ("audits", "channels"):
        store.write_part(table, "old", arrow_schema(TABLES[table]).empty_table())
    write = LocalFolder.write

    def killed(self: LocalFolder, name: str, content: Any) -> None:
        if name == GENERATIONS:
            raise SystemExit
        write(self, name, content)

    monkeypatch.setattr(Tables, "give_up", lambda *_: None)  # as of a process that is killed
    monkeypatch.setattr(LocalFolder, "write", killed)
    with pytest.raises(SystemExit), store.replacing("audits", "channels") as new:
        new.keep(new.write_part("audits", "new", audits(2)))
    assert [names(store, table) for table in ("audits", "channels")] == [["old"], ["old"]]
    monkeypatch.setattr(LocalFolder, "write", write)
    monkeypatch.setattr(Tables, "_tidy", lambda *_: None)
    with store.replacing("audits", "channels") as new:
        new.keep(new.write_part("audits", "new", audits(2)))
    assert [names(store, table) for table in ("audits", "channels")] == [["new"], ["empty"]]
    assert store.rows("audits").to_table()["run_id"].to_pylist() == [2]
    monkeypatch.undo()
    with store.replacing("audits", "channels"):
        pass
    assert len(list((store.path / "audits").iterdir())) == 3, "what others may be writing now is left for a day"


def test_what_was_not_kept_is_no_part_and_what_was_kept_has_to_be_there(store) -> None:
    with store.replacing("audits") as new:
        new.write_part("audits", "of a task that was tried again", audits(1))
        new.keep(new.write_part("audits", "new", audits(2)))
    assert names(store, "audits") == ["new"]
    for wrong, sentence in (
        (Written("audits", "elsewhere", 1), "workers have written 1 parts that are not here; name a folder that"),
        (Written("audits", "cut", 7), "audits/cut has 1 rows and should have 7; try again"),
    ):
        with pytest.raises(InputError, match=sentence), store.replacing("audits") as new:
            new.write_part("audits", "cut", audits(3))
            new.keep(wrong)
        assert names(store, "audits") == ["new"]
        assert len(list((store.path / "audits").iterdir())) == 1


def test_a_folder_that_is_there_is_not_written_into(store, tmp_path) -> None:
    with pytest.raises(InputError, match="one: the folder exists and is not empty; name a new one"):
        Store.create(store.path, "trace", {})
    assert store.manifest is not None
    assert store.manifest.kind == "ensemble"
    (tmp_path / "empty").mkdir()
    Store.create(tmp_path / "empty", "trace", {})


def test_a_file_in_the_place_of_a_folder(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be written"):
        Store.create(tmp_path / "file", "trace", {})
    with pytest.raises(InputError, match="there is no such folder"):
        Store.open(tmp_path / "file")


def test_a_part_that_is_cut_off_is_named(store, workers_here) -> None:
    store.write_part("events", "chunk-0", events(0))
    store.write_part("events", "chunk-1", events(1))
    part = (store.path / "events") / "chunk-1.parquet"
    part.write_bytes(part.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"chunk-1\.parquet: is cut off or no Parquet file"):
        store.read(workers_here, "events")


WRONG = [
    (lambda t: t.append_column("colour", pyarrow.array(["red"])), "a column 'colour' that this version"),
    (lambda t: t.drop_columns(["peer_index"]), "has no column 'peer_index'"),
    (lambda t: t.set_column(5, "index", pyarrow.array(["one"])), "column 'index' is string; it has to be int32"),
]


def test_columns_that_are_not_those_of_the_event_table(store, workers_here) -> None:
    with pytest.raises(InputError, match="holds no events; "):
        store.read(workers_here, "events")
    for change, sentence in WRONG:
        store.write_part("events", "chunk-0", change(events(0)))
        with pytest.raises(InputError, match=sentence):
            store.read(workers_here, "events")


def test_the_manifest_of_another_version_is_refused_by_that_name(tmp_path) -> None:
    for form, version, right in (
        (FORMAT + 1, "9.0", "update this one"),
        (1, "0.1.0", "use that one, or make the folder anew"),
    ):
        store = Store.create(tmp_path / version, "ensemble", {})
        store.update_manifest(format=form, version=version)
        with pytest.raises(InputError, match=f"made by version {version}; this is {VERSION}: {right}"):
            Store.open(store.path)


def test_a_damaged_manifest(store) -> None:
    for text in ("{", "[]", '{"format": "one"}'):
        (store.path / "manifest.json").write_text(text)
        with pytest.raises(InputError, match=r"manifest.json: .*delete the folder"):
            Store.open(store.path)


@pytest.mark.slow
def test_whoever_writes_a_folder_is_seen_while_it_does(store) -> None:
    other = Store(store.path)
    assert other.status == "running"
    with pytest.raises(InputError, match="one: is being written by another process; stop that one first"):
        other.mark_running()
    store.finish("stopped")
    assert other.status == "stopped"
    other.mark_running()
    assert store.status == "running"
    other.finish()
    assert store.status == "complete"
    assert [path.name for path in store.path.iterdir()] == ["manifest.json"]


WRITER = """
import sys
from pathlib import Path
from pipeline.store.folder import Store
store = Store.create(Path(sys.argv[1]), "ensemble", {})
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_work_whose_process_is_gone_has_stopped_whatever_has_its_number_now(tmp_path) -> None:
    store = Store(tmp_path / "one")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store.path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert store.status == "running"
        writer.kill()
    store.update_manifest(pid=os.getpid())  # as in a container, in which every app has the same number
    assert store.status == "stopped"
    store.mark_running()
    assert store.status == "running"


def test_a_manifest_of_a_version_that_knew_no_locks_is_read(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({
            "format": FORMAT, "kind": "trace", "about": {}, "created": "2026-01-01T00:00:00+00:00", "rows": {},
            "version": "0.1.0", "status": "running", "finished": None, "host": socket.gethostname(), "pid": 1,
        })
    )  # fmt: skip
    assert Store(tmp_path).status == "stopped"


def test_a_name_cannot_lead_out_of_the_data_root(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    for name in ("", "..", ".", "../elsewhere", "/etc", "a/b", "a b", ".hidden", "_x", "x" * 81, "ä"):
        with pytest.raises(InputError, match="is no name of a data folder"):
            folder_path(name)


def test_nor_can_a_link(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "root"))
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is no name of a data folder"):
        folder_path("link")
    assert folder_path("bank-8.2") == data_root() / "bank-8.2"
