"""Summaries of an ensemble, compared with the same computed in Python."""

from __future__ import annotations

import random
from statistics import median_low
from typing import Any

import pyarrow
import pytest

from pipeline.__main__ import main
from pipeline.ensembles import summaries
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, SUMMARY_TYPES, arrow_schema


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """Two cells of thirty runs with two snapshots each; one run could not be carried out, two snapshots fail."""
    draw = random.Random(3)
    rows = []
    for run_id in range(60):
        cell = run_id // 30
        run = {"run_id": run_id, "cell": cell, "processes": 4 + cell, "workload": "bank", "failed": False, "events": 9}
        if run_id == 40:
            rows.append({**run, "failed": True, "error": "no money"})
            continue
        for snapshot in ("S1", "S2"):
            measured = {"latency": draw.uniform(1, 9) * (cell + 1), "recorded_messages": draw.randint(0, 9)}
            rows.append({**run, "snapshot_id": snapshot, "status": "complete", **measured})
    rows[7] |= {"failed": True, "witness": "consistency: message A on C12"}
    rows[70] |= {"failed": True, "witness": "completion: P2 has not recorded"}
    rows[30]["latency"] = 500.0  # run 15, S1
    rows[31]["recorded_messages"] = 77
    return rows


@pytest.fixture(scope="module")
def store(rows, tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("data"))
    store.write_part("runs", "a", pyarrow.Table.from_pylist(rows[:50], arrow_schema(RUN_TYPES)))
    store.write_part("runs", "b", pyarrow.Table.from_pylist(rows[50:], arrow_schema(RUN_TYPES)))
    return store


@pytest.fixture(scope="module")
def runs(spark, store):
    return store.read(spark, "runs")


def test_a_cell_counts_and_quantiles(rows, runs) -> None:
    found = [row.asDict() for row in summaries.cells(runs).collect()]
    assert [list(row) for row in found] == [list(SUMMARY_TYPES)] * 2
    for cell, row in enumerate(found):
        own = [other for other in rows if other["cell"] == cell]
        taken = [other for other in own if other.get("snapshot_id")]
        assert row["processes"] == 4 + cell
        assert row["runs"] == 30
        assert row["snapshots"] == len(taken)
        assert row["failures"] == sum(other["failed"] for other in own) == 1 + cell
        assert row["errors"] == cell
        for measure in ("latency", "recorded_messages"):
            values = [other[measure] for other in taken]
            assert row[f"{measure}_0"] == min(values)
            assert row[f"{measure}_50"] == median_low(values)
            assert row[f"{measure}_100"] == max(values)
            assert row[f"{measure}_10"] == sorted(values)[-(-len(values) // 10) - 1]
        assert row["markers_50"] is None


def test_the_extremes_are_those(rows, runs) -> None:
    found = summaries.extremes(runs, 2).collect()
    by_kind: dict[str, list[Any]] = {}
    for row in found:
        by_kind.setdefault(row.why, []).append((row.run_id, row.snapshot_id))
    assert by_kind["longest"][0] == (15, "S1")
    assert by_kind["most recorded"][0] == (15, "S2")
    assert by_kind["strangest"][0] == (15, "S1")  # 500 where all others are below 9
    failing = {(row["run_id"], row.get("snapshot_id")) for row in rows if row["failed"]}
    assert len(by_kind["failing"]) == 2
    assert set(by_kind["failing"]) < failing
    assert [len(kind) for kind in by_kind.values()] == [2, 2, 2, 2]
    every = {(row.run_id, row.snapshot_id) for row in summaries.extremes(runs, 50).where("why = 'failing'").collect()}
    assert every == failing


def test_a_cell_without_variation_has_nothing_strange(spark, tmp_path) -> None:
    rows = [{"run_id": run, "cell": 0, "snapshot_id": "S1", "latency": 1.0, "failed": False} for run in range(9)]
    store = Store(tmp_path)
    store.write_part("runs", "a", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    found = summaries.extremes(store.read(spark, "runs"), 3).collect()
    assert {row.why for row in found} == {"longest"}


def test_a_sample_is_always_the_same_and_no_row_twice(runs) -> None:
    first, again = ([tuple(row) for row in summaries.sample(runs, 40).collect()] for _ in range(2))
    assert first == again
    assert len(set(first)) == 40
    cells = [row[list(RUN_TYPES).index("cell")] for row in first]
    assert 8 < cells.count(0) < 32


def test_the_command_writes_both_tables(spark, store, capsys, monkeypatch) -> None:
    monkeypatch.chdir(store.path.parent)
    assert main(["summarize", store.path.name]) == 0
    assert "cell    1: 30 runs, 2 failures; medians: latency" in capsys.readouterr().out
    assert store.read(spark, "summaries").count() == 2
    assert store.read(spark, "extremes").where("why = 'failing'").count() == 3
    assert main(["summarize", str(store.path / "nowhere")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
