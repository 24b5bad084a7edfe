"""Rows, folders and tables of an earlier version open as long as its runs are the same (SAME_RUNS)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.rerun import scenario_of
from pipeline.ensembles.run import grid_of
from pipeline.store.folder import Store
from pipeline.tradeoffs.table import table_from_json
from sim import SAME_RUNS
from sim.document import library
from sim.document.writing import dumps
from sim.run.execution import run
from tests.tools import ROOT

EARLIER = "0.2.0"


def test_0_2_0_is_a_version_of_the_same_runs() -> None:
    assert EARLIER in SAME_RUNS


def test_a_row_opens_as_its_run() -> None:
    lecture = library.load("lecture")
    row = {"run_id": 7, "seed": lecture.seed, "document": dumps(lecture), "version": EARLIER}
    assert run(scenario_of(row)).table == run(lecture).table


def test_an_ensemble_can_be_resumed(tmp_path: Path) -> None:
    grid = Grid.read({"workload": "bank", "processes": "3", "runs": "2"}, {"transfers": "2"})
    store = Store.create(tmp_path / "bank", "ensemble", grid.to_json())
    store.update_manifest(version=EARLIER)
    assert grid_of(Store.open(store.path)) == grid


def test_a_table_of_trade_offs_opens() -> None:
    table = table_from_json((ROOT / "examples/tradeoffs.json").read_text("utf-8"))
    assert table_from_json(replace(table, version=EARLIER).to_json()).version == EARLIER
