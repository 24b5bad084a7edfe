"""The queries of the Ensembles page, on small tables."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime

import pyarrow
import pytest

from pipeline.ensembles import queries, summaries
from pipeline.ensembles.queries import EVERY, FAILED, IMPOSSIBLE, INCOMPLETE, RunQuery
from pipeline.ensembles.run import run_ensemble
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, TABLES, arrow_schema
from sim.core.errors import InputError
from tests.pipeline.some_ensembles import begin
from views.ensembles import results as ensemble_results

DONE = {"status": "complete", "snapshot_id": "S1"}
ROWS = [
    {"run_id": 0, **DONE, "cell": 0, "latency": 5.0, "slowest": "P10", "failed": False},
    {"run_id": 1, **DONE, "cell": 0, "latency": 9.0, "slowest": "P2", "failed": True},
    {"run_id": 2, "snapshot_id": "S1", "cell": 1, "latency": None, "status": "recording", "failed": False},
    {"run_id": 3, "snapshot_id": None, "cell": 1, "latency": None, "failed": True, "error": "no money"},
    {"run_id": 4, **DONE, "cell": 1, "latency": 9.0, "slowest": "P10", "failed": False},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store.create(tmp_path_factory.mktemp("data") / "small", "ensemble", {"name": "small"})
    rows = [{"document": "processes = 2", "parameters": "{}", **row} for row in ROWS]
    store.write_part("runs", "all", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    store.finish()
    return store


def ids(rows):
    return [row["run_id"] for row in rows]


QUERIES = [
    (RunQuery(), [0, 1, 2, 3, 4]),
    (RunQuery(FAILED), [1, 3]),
    (RunQuery(INCOMPLETE), [2]),
    (RunQuery(IMPOSSIBLE), [3]),
    (RunQuery(EVERY, cells=(1,)), [2, 3, 4]),
    (RunQuery(EVERY, cells=()), []),
    (RunQuery(by="latency", descending=True), [1, 4, 0, 2, 3]),
    (RunQuery(by="latency"), [0, 1, 4, 2, 3]),
    (RunQuery(most=2), [0, 1]),
]


@pytest.mark.slow
def test_a_table_is_filtered_sorted_and_cut(store):
    for query, expected in QUERIES:
        assert ids(queries.select_runs(store, query)) == expected, query


def test_no_table_carries_the_documents(store):
    assert "document" not in queries.select_runs(store, RunQuery())[0]
    assert "document" not in queries.nearest_run(store, 0, "latency", 6.0)[0]


def test_a_typical_run_is_the_one_nearest_to_the_median(store):
    assert ids(queries.nearest_run(store, 0, "latency", 6.0)) == [0]
    assert ids(queries.nearest_run(store, 0, "latency", 7.0)) == [0], "of two the first"
    assert ids(queries.nearest_run(store, 0, "latency", 7.5)) == [1]
    assert ids(queries.nearest_run(store, 2, "latency", 7.5)) == []


def test_of_each_process_it_is_counted_how_often_it_was_the_slowest(store):
    assert queries.slowest(store, [0, 1]) == [
        {"process": "P2", "snapshots": 1, "cell": 0, "run_id": 1, "snapshot_id": "S1", "latency": 9.0},
        {"process": "P10", "snapshots": 2, "cell": 1, "run_id": 4, "snapshot_id": "S1", "latency": 9.0},
    ]
    assert [(row["process"], row["snapshots"]) for row in queries.slowest(store, [1])] == [("P10", 1)]
    assert queries.slowest(store, []) == []


def test_a_run_is_found_by_its_number_and_its_snapshot(store):
    assert queries.run_of(store, 4, "S1")["slowest"] == "P10"
    assert queries.run_of(store, 3, None)["error"] == "no money"


@pytest.mark.long("the overview of an ensemble by Spark's SQL")
def test_an_overview_is_the_same_of_the_runs_and_of_the_tables_that_are_kept(spark, store):
    """Older versions called a column of extremes `strangeness`; queries for runs do not read that table."""
    old = arrow_schema(TABLES["extremes"]).empty_table()
    names = ["strangeness" if name == "outlier_score" else name for name in old.column_names]
    store.write_part("extremes", "old", old.rename_columns(names))
    with pytest.raises(InputError, match=r"old\.parquet: has a column 'strangeness' that this version"):
        store.rows("extremes")
    found = queries.load_overview(spark, store)
    assert [(row["cell"], row["runs"]) for row in found.cells] == [(0, 2), (1, 3)]
    assert {row["run_id"] for row in found.points} == {0, 1, 2, 3, 4}
    assert {row["run_id"] for row in found.extremes if row["why"] == "longest"} <= {1, 4}
    summaries.summarize(spark, store)
    kept = queries.kept_overview(store)
    assert kept.cells == found.cells
    assert sorted(row["run_id"] for row in kept.points) == sorted(row["run_id"] for row in found.points)
    first = {row["why"]: row for row in reversed(kept.extremes)}
    assert [first[row["why"]] for row in found.extremes] == found.extremes


@pytest.mark.slow
def test_a_complete_ensemble_has_its_overview_in_tables_and_asks_spark_nothing(workers_here, tmp_path, monkeypatch):
    path = tmp_path / "complete"
    ensemble, grid = begin(path, {"processes": "2,3", "runs": "20", "events": "none"}, {"transfers": "3"})
    assert not queries.has_overview(ensemble)
    run_ensemble(workers_here, ensemble, grid)
    assert queries.has_overview(ensemble)
    monkeypatch.setattr(ensemble_results, "ask", lambda question: pytest.fail("Spark was asked"))
    assert ensemble_results._ask(path) == queries.kept_overview(ensemble)


def test_what_is_not_complete_is_summed_up_by_spark_even_if_it_has_older_tables(tmp_path):
    store = Store.create(tmp_path / "older", "ensemble", {})
    for table in ("summaries", "extremes", "sample"):
        store.write_part(table, "older", arrow_schema(TABLES[table]).empty_table())
    store.finish()
    assert queries.has_overview(store)
    for status in ("stopped", "running"):
        store.update_manifest(status=status)
        assert not queries.has_overview(store)


def test_ensembles_are_listed_by_name_the_newest_first_and_nothing_else(tmp_path, monkeypatch, store):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    assert queries.ensembles() == []
    for name, kind, created in (
        ("old", "ensemble", datetime(2026, 1, 1, tzinfo=UTC)),
        ("new", "ensemble", datetime(2026, 2, 1, tzinfo=UTC)),
        ("log", "trace", datetime(2026, 3, 1, tzinfo=UTC)),
    ):
        other = Store.create(tmp_path / name, kind, {})
        other.update_manifest(created=created)
        other.write_part("runs", "all", pyarrow.Table.from_pylist([], arrow_schema(RUN_TYPES)))
    Store.create(tmp_path / "empty", "ensemble", {})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{")
    assert queries.ensembles() == ["new", "old"]


def test_an_ensemble_without_runs_is_refused(workers_here, tmp_path):
    with pytest.raises(InputError, match="holds no runs"):
        queries.load_overview(workers_here, Store.create(tmp_path / "empty", "ensemble", {}))


def test_warming_up_leaves_nothing_behind(workers_here, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "root"))
    queries.warm_up_queries(workers_here)
    assert list(tmp_path.iterdir()) == []
