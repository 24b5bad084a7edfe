"""What only Spark answers: cuts of snapshots, cuts in a frame, tables read as frames; and its SQL as another oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pytest

from pipeline.__main__ import main
from pipeline.cuts import cut_lines
from pipeline.cuts.audits import audit
from pipeline.cuts.cut_sources import from_snapshots
from pipeline.store.folder import Store
from pipeline.store.schema import CUT_TYPES, TABLES, arrow_schema, spark_schema
from sim.core.delays import HOLD
from sim.core.model import CONTROL, EVENT_TYPES, RECORD, RESTORE, Event, MessageReference
from sim.document import library
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from tests.bundled import small
from tests.pipeline.cuts.here import tables_of
from tests.pipeline.cuts.random_tables import as_table, random_cuts, random_table, write_table
from tests.pipeline.cuts.sql_oracle import by_sql
from tests.pipeline.cuts.test_recovered_runs import cuts_of, lines_of
from tests.pipeline.some_recoveries import recovered
from tests.pipeline.some_tables import folder_of, numbered
from tests.sim.conftest import Register, register
from tests.sim.rule_books import Commanded, two
from tests.sim.tools import row_of, start, system
from tests.tools import thinned

__all__ = ["register"]  # a fixture

Cuts = dict[tuple[int, str], dict[str, int]]


# ------------------------------------------------------------------ the cuts of snapshots


def recorded_cuts(executions: list[Execution]) -> tuple[Cuts, int]:
    """The cuts of the snapshots that every process has recorded, by run and snapshot; how many others there are."""
    own, others = {}, 0
    for number, execution in enumerate(executions):
        recordings = [row for row in execution.table if row.kind == RECORD]
        index = {(row.snapshot_id, row.process, row.step): row.index for row in recordings}
        recorded = {row.snapshot_id for row in recordings}
        for snapshot in snapshots_of(execution):
            if len(snapshot.local) == len(execution.scenario.processes):
                parts = snapshot.local.items()
                own[number, snapshot.id] = {name: index[snapshot.id, name, part.step] or 0 for name, part in parts}
            elif snapshot.id in recorded:
                others += 1
    return own, others


WHOLE = [row_of(0, "A", 0, "record", snapshot_id="S"), row_of(1, "B", 2, "record", snapshot_id="S")]
NO_CUTS = [
    [*WHOLE, row_of(2, "C", 1, "internal")],  # C has not recorded
    [*WHOLE, row_of(2, "A", None, "marker_send", "A->C", snapshot_id="S")],  # nor has C here, which has no row
    [*WHOLE, row_of(2, "A", 1, "send", "A->C", 0)],
    [*WHOLE, row_of(2, "A", None, "snapshot_aborted", snapshot_id="S")],
]


def counted_for(process: str) -> Scenario:
    """Only a count is on its way to a process: it has not recorded."""
    return system(
        f"P1 P2 {process}", f"P1->P2 P1->{process} P2->P1", algorithm="lai_yang", snapshots=(start("P1", 1),),
        delays={MessageReference(None, f"P1->{process}", CONTROL, "S1"): HOLD},
    )  # fmt: skip


def test_the_cuts_of_snapshots_are_what_they_recorded_and_what_is_no_cut_is_left_out_and_counted(
    spark: Any, register: Register, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executions = [run(library.load(name)) for name in small()]
    expected, left_out = recorded_cuts(executions)
    with_service = two(register(Commanded), snapshots=(start("boss", 2),))
    tables = [WHOLE, *NO_CUTS, run(counted_for("P3")).table, run(with_service).table]
    first = len(executions)
    expected[first, "S"] = {"A": 0, "B": 2}
    rows = [row._replace(run_id=number) for number, own in enumerate(tables, first) for row in own]
    store = folder_of(tmp_path / "data", numbered(executions) + rows)

    found = from_snapshots(store.read(spark, "events"))
    by_name: Cuts = {}
    for row in found.cuts.toArrow().to_pylist():
        by_name.setdefault((row["run_id"], row["cut_id"]), {})[row["process"]] = row["index"]
    inside = by_name.get((first + 6, "S1"), {})
    assert set(inside) == {"P1", "P2"}, "a service is no process"
    expected[first + 6, "S1"] = inside
    assert by_name == expected
    assert found.left_out == left_out + len(NO_CUTS) + 1

    assert main(["audit", str(store.path), "--snapshots"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"{len(expected)} cuts, ")
    assert f"{found.left_out} snapshots were left out: not every process recorded" in told.err


# ------------------------------------------------------------------ Spark's SQL as an oracle


def frame(spark: Any, rows: list[Any], types: dict[str, str]) -> Any:
    return spark.createDataFrame([tuple(row) for row in rows], spark_schema(types))


def check_sql(spark: Any, store: Store, rows: list[Event], lines: list[Any]) -> None:
    """The verdicts that are written are those of the plan in SQL."""
    assert tables_of(store) == by_sql(frame(spark, rows, EVENT_TYPES), frame(spark, lines, CUT_TYPES))


@pytest.mark.parametrize("seed", thinned(range(20), 1, "random tables against the audit as a plan of Spark's SQL"))
def test_an_audit_agrees_with_the_plan_in_sql(
    spark: Any, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cuts are in a frame, and too many for one slice."""
    rows = random_table(seed)
    lines = random_cuts(rows, seed)
    store = write_table(tmp_path, rows, seed)
    monkeypatch.setattr(cut_lines, "MOST_LINES", -(-len(lines) // 3))
    steps: list[tuple[int, int]] = []
    outcome = audit(spark, store, frame(spark, lines, CUT_TYPES), lambda *step: steps.append(step))
    assert outcome.cuts == len({line[:2] for line in lines})
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1] >= 3
    check_sql(spark, store, rows, lines)


def test_so_it_does_where_runs_are_rolled_back(spark: Any, tmp_path: Path) -> None:
    executions = [recovered(seed) for seed in range(4)]
    lines = [
        (number, *line[1:]) for number, own in enumerate(executions) for line in lines_of(own, cuts_of(own, number))
    ]
    rows = [row._replace(run_id=number) for number, own in enumerate(executions) for row in own.table]
    assert len({row.run_id for row in rows if row.kind == RESTORE}) == 4
    store = folder_of(tmp_path, rows)
    audit(spark, store, as_table(lines))
    check_sql(spark, store, rows, lines)


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
