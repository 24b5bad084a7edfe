"""Tables written before a measure was added: what they lack is null, for this process and for Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pytest

from pipeline.ensembles import queries
from pipeline.ensembles.queries import RunQuery
from pipeline.ensembles.rerun import scenario_of
from pipeline.store import schema
from pipeline.store.folder import Store
from pipeline.store.schema import TABLES, arrow_schema
from sim.core.errors import InputError

NEWER = "measured_later"
RUN = {"run_id": 0, "snapshot_id": "S1", "cell": 0, "seed": 1, "document": "processes = 2", "version": "0.0.1"}
ROWS = {
    "runs": {**RUN, "status": "complete", "latency": 5.0, "slowest": "P1", "failed": False},
    "summaries": {"cell": 0, "runs": 1},
    "extremes": {**RUN, "why": "longest"},
    "sample": {name: value for name, value in RUN.items() if name != "document"},
}


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An ensemble as an older version wrote it; this version has one measure more, and one that the other had not."""
    store = Store.create(tmp_path / "older", "ensemble", {})
    for table, row in ROWS.items():
        store.write_part(table, "all", pyarrow.Table.from_pylist([row], arrow_schema(TABLES[table])))
    store.finish()
    for table in ROWS:
        monkeypatch.setitem(schema.TABLES, table, {**TABLES[table], NEWER: "float64"})  # type: ignore[attr-defined]
    return store


def test_a_missing_measure_reads_as_null_for_this_process_and_for_workers(workers_here: Any, older: Store) -> None:
    for table, own in ROWS.items():
        for found in (older.rows(table).to_table(), older.read(workers_here, table).toArrow()):
            (row,) = found.to_pylist()
            assert row[NEWER] is None
            assert {name: row[name] for name in own} == own


def test_parts_of_old_and_new_are_one_table(workers_here: Any, older: Store) -> None:
    new = {**ROWS["runs"], "run_id": 1, NEWER: 2.0}
    older.write_part("runs", "new", pyarrow.Table.from_pylist([new], arrow_schema(schema.TABLES["runs"])))
    assert older.rows("runs").to_table([NEWER])[NEWER].to_pylist() == [None, 2.0]
    assert set(older.read(workers_here, "runs").toArrow()[NEWER].to_pylist()) == {None, 2.0}


def test_the_page_asks_an_older_ensemble_and_a_run_of_it_is_refused_by_its_version(older: Store) -> None:
    (row,) = queries.select_runs(older, RunQuery(by="latency"))
    assert row[NEWER] is None and queries.run_of(older, 0, "S1") == row
    assert queries.kept_overview(older).cells[0]["runs"] == 1
    with pytest.raises(InputError, match=r"run 0 was made by version 0.0.1, and this is"):
        scenario_of({**row, "document": RUN["document"]})


def test_a_column_that_this_version_does_not_know_is_refused(older: Store) -> None:
    strange = pyarrow.table({**{name: [value] for name, value in ROWS["runs"].items()}, "from_the_future": [1]})
    older.write_part("runs", "all", strange)
    with pytest.raises(InputError, match=r"has a column 'from_the_future' that this version .* does not know"):
        older.rows("runs")


def test_what_every_version_writes_is_needed(older: Store) -> None:
    older.write_part("runs", "all", pyarrow.table({"latency": [1.0]}))
    with pytest.raises(InputError, match="has no column 'run_id'; a table has run_id, snapshot_id, cell"):
        older.rows("runs")
