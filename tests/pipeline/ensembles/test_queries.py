"""The Spark queries of the Ensembles page, on small tables."""

from __future__ import annotations

import tempfile

import pyarrow
import pytest

from pipeline.ensembles import queries
from pipeline.ensembles.queries import EVERY, FAILED, IMPOSSIBLE, INCOMPLETE, RunQuery
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema
from sim.core.errors import InputError

ROWS = [
    {"run_id": 0, "snapshot_id": "S1", "cell": 0, "latency": 5.0, "status": "complete", "failed": False},
    {"run_id": 1, "snapshot_id": "S1", "cell": 0, "latency": 9.0, "status": "complete", "failed": True},
    {"run_id": 2, "snapshot_id": "S1", "cell": 1, "latency": None, "status": "recording", "failed": False},
    {"run_id": 3, "snapshot_id": None, "cell": 1, "latency": None, "failed": True, "error": "no money"},
    {"run_id": 4, "snapshot_id": "S1", "cell": 1, "latency": 9.0, "status": "complete", "failed": False},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store.create(tmp_path_factory.mktemp("data") / "small", "ensemble", {"name": "small"})
    rows = [{"document": "processes = 2", "parameters": "{}", **row} for row in ROWS]
    store.write_part("runs", "all", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    store.finish()
    return store


@pytest.fixture(scope="module")
def runs(spark, store):
    return store.read(spark, "runs")


def ids(frame):
    return [row["run_id"] for row in queries.to_rows(frame)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (RunQuery(), [0, 1, 2, 3, 4]),
        (RunQuery(FAILED), [1, 3]),
        (RunQuery(INCOMPLETE), [2]),
        (RunQuery(IMPOSSIBLE), [3]),
        (RunQuery(EVERY, cells=(1,)), [2, 3, 4]),
        (RunQuery(EVERY, cells=()), []),
        (RunQuery(by="latency", descending=True), [1, 4, 0, 2, 3]),
        (RunQuery(by="latency"), [0, 1, 4, 2, 3]),
        (RunQuery(most=2), [0, 1]),
    ],
)
def test_a_table_is_filtered_sorted_and_cut(runs, query, expected):
    assert ids(queries.select_runs(runs, query)) == expected


def test_no_table_carries_the_documents(runs):
    assert "document" not in queries.select_runs(runs, RunQuery()).columns
    assert "document" not in queries.nearest_run(runs, 0, "latency", 6.0).columns


def test_a_typical_run_is_the_one_nearest_to_the_median(runs):
    assert ids(queries.nearest_run(runs, 0, "latency", 6.0)) == [0]
    assert ids(queries.nearest_run(runs, 0, "latency", 7.0)) == [0], "of two the first"
    assert ids(queries.nearest_run(runs, 0, "latency", 7.5)) == [1]
    assert ids(queries.nearest_run(runs, 2, "latency", 7.5)) == []


def test_the_overview_has_cells_points_and_extremes(spark, store):
    found = queries.load_overview(spark, store)
    assert [(row["cell"], row["runs"]) for row in found.cells] == [(0, 2), (1, 3)]
    assert {row["run_id"] for row in found.points} == {0, 1, 2, 3, 4}
    assert {row["run_id"] for row in found.extremes if row["why"] == "longest"} <= {1, 4}


def test_ensembles_are_listed_by_name_the_newest_first_and_nothing_else(tmp_path, monkeypatch, store):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    assert queries.ensembles() == []
    for name, kind, created in (
        ("old", "ensemble", "2026-01-01"),
        ("new", "ensemble", "2026-02-01"),
        ("log", "trace", ""),
    ):
        other = Store.create(tmp_path / name, kind, {})
        other.update_manifest(created=created)
        other.write_part("runs", "all", pyarrow.Table.from_pylist([], arrow_schema(RUN_TYPES)))
    Store.create(tmp_path / "empty", "ensemble", {})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{")
    assert queries.ensembles() == ["new", "old"]


def test_an_ensemble_without_runs_is_refused(spark, tmp_path):
    with pytest.raises(InputError, match="holds no runs"):
        queries.load_overview(spark, Store.create(tmp_path / "empty", "ensemble", {}))


def test_warming_up_leaves_nothing_behind(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "root"))
    queries.warm_up_queries(spark)
    assert list(tmp_path.iterdir()) == []
