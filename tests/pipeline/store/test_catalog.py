"""The catalog lists, compares and deletes data folders, and leaves other folders alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow
import pytest

from pipeline.__main__ import main
from pipeline.store import catalog
from pipeline.store.catalog import Difference
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema
from sim.core.errors import InputError


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    return tmp_path


def written(root, name: str, day: int = 1, **about) -> Store:
    store = Store.create(root / name, "ensemble", about)
    rows = [{"run_id": run, "snapshot_id": "S1", "failed": run == 1, "latency": run * 10.0} for run in range(3)]
    store.write_part("runs", "chunk-0", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    store.finish()
    store.update_manifest(created=datetime(2026, 1, day, tzinfo=UTC))
    return store


def test_the_newest_comes_first_and_what_cannot_be_read_last(root) -> None:
    written(root, "old", 1)
    written(root, "new", 2)
    (root / "strange").mkdir()
    (root / "strange" / "notes.txt").write_text("")
    (root / "a-file").write_text("")
    found = catalog.entries()
    assert [entry.name for entry in found] == ["new", "old", "strange"]
    assert found[0].rows == {"runs": 3}
    assert found[0].size > 0
    assert "no data folder of ours" in str(found[2].problem)


def test_an_empty_root_has_no_entries(root) -> None:
    assert catalog.entries(root / "nothing") == []


def test_what_two_were_asked_for_differently(root) -> None:
    written(root, "a", processes=[4, 8], runs=10, parameters={"pace": [1.0]})
    written(root, "b", processes=[4, 8], runs=20, parameters={"pace": [2.0]}, extra=True)
    assert catalog.differences(catalog.find("a"), catalog.find("b")) == [
        Difference("runs", 10, 20),
        Difference("parameters.pace", [1.0], [2.0]),
        Difference("extra", None, True),
    ]


def test_the_outcome_of_an_ensemble(root) -> None:
    written(root, "a")
    outcome = catalog.outcome(catalog.find("a"))
    assert outcome["runs"] == 3
    assert outcome["failed"] == 1
    assert outcome["median latency"] == 10.0
    assert outcome["longest latency"] == 20.0


def test_only_a_data_folder_that_nobody_writes_is_deleted(root) -> None:
    written(root, "a")
    (root / "strange").mkdir()
    (root / "strange" / "notes.txt").write_text("")
    busy = Store.create(root / "busy", "ensemble", {})
    catalog.delete("a")
    assert not (root / "a").exists()
    for name, sentence in (("strange", "no data folder of ours"), ("busy", "is being written"), ("..", "is no name")):
        with pytest.raises(InputError, match=sentence):
            catalog.delete(name)
    assert busy.path.exists()
    with pytest.raises(InputError, match="there is no data folder 'buzy'; did you mean 'busy'"):
        catalog.delete("buzy")


def test_the_command(root, capsys) -> None:
    written(root, "a", runs=10)
    assert main(["catalog"]) == 0
    assert "a  " in (listed := capsys.readouterr().out)
    assert "3 runs" in listed
    assert main(["catalog", "show", "a"]) == 0
    assert '"runs": 10' in capsys.readouterr().out
    assert main(["catalog", "delete", "a", "--root", str(root)]) == 0
    assert main(["catalog", "show", "a"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
