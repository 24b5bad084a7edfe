"""Work that needs Spark: an audit by its workers, and tables read as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pytest

from pipeline.__main__ import main
from pipeline.cuts import cut_lines
from pipeline.cuts.audits import audit
from pipeline.cuts.snapshot_cuts import OfSnapshots
from pipeline.store.folder import Store
from pipeline.store.schema import CUT_TYPES, TABLES, arrow_schema, spark_schema
from tests.pipeline.cuts.here import audited_here, tables_of
from tests.pipeline.cuts.oracles import by_reference, unordered
from tests.pipeline.cuts.random_tables import as_table, random_cuts, random_table, write_table
from tests.pipeline.some_tables import folder_of, numbered
from tests.reference.generator import executions
from tests.reference.test_audits import runs_of
from tests.tools import thinned

# ------------------------------------------------------------------ audits by Spark's workers


@pytest.mark.parametrize("seed", thinned(range(20), 1, "random tables audited by Spark's workers"))
def test_an_audit_by_workers_is_that_of_the_reference(
    spark: Any, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cuts are too many for one slice."""
    rows = random_table(seed)
    lines = random_cuts(rows, seed)
    store = write_table(tmp_path, rows, seed)
    monkeypatch.setattr(cut_lines, "MOST_LINES", -(-len(lines) // 3))
    steps: list[tuple[int, int]] = []
    outcome = audit(spark, store, as_table(lines), lambda *step: steps.append(step))
    assert outcome.cuts == len({line[:2] for line in lines})
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1] >= 3
    assert unordered(tables_of(store)) == by_reference(rows, lines)


def test_the_command_audits_the_snapshots_of_any_systems(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = runs_of(executions(700, 60))
    store = folder_of(tmp_path, numbered(runs))
    told, *expected = audited_here(store, OfSnapshots())
    assert main(["audit", str(store.path), "--snapshots"]) == 0
    assert [*tables_of(store)] == expected
    said = capsys.readouterr()
    assert said.out.startswith(f"{len(expected[0])} cuts, ")
    left_out = sum(row["left_out"] for row in told)
    assert f"{left_out} snapshots were left out: they were aborted, or not every process recorded" in said.err


# ------------------------------------------------------------------ tables as frames


def test_spark_and_arrow_have_the_same_columns(spark: Any) -> None:
    for types in (*TABLES.values(), CUT_TYPES):
        found = spark.createDataFrame([], spark_schema(types)).toArrow().schema
        assert found.names == arrow_schema(types).names
        assert [str(field.type) for field in found] == [
            str(field.type).replace("item: ", "element: ") for field in arrow_schema(types)
        ]


def test_spark_reads_what_a_table_holds_in_several_parts(spark: Any, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for part, runs in (("a", [0, 1]), ("b", [2])):
        rows = [{"run_id": run, "cut_id": "c", "consistent": True} for run in runs]
        store.write_part("audits", part, pyarrow.Table.from_pylist(rows, arrow_schema(TABLES["audits"])))
    assert store.read(spark, "audits").toArrow().sort_by("run_id") == store.rows("audits").to_table()
    assert store.read(spark, "audits").where("run_id > 0").count() == 2
