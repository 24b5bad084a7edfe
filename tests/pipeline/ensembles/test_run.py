"""An ensemble holds every run of its grid once, and each row reproduces its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.ensembles import chunks
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.chunks import Plan, measured, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.rerun import scenario_of
from pipeline.ensembles.run import grid_of, run_ensemble
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES
from sim.core.errors import InputError
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.pipeline.some_ensembles import MIXED, RUNS, SEED, begin, rows
from tests.pipeline.without_spark import no_spark
from tests.reference.verdicts import verdicts_from_table


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An ensemble with failing runs, runs that cannot be carried out, and good ones, with two marker delays."""
    folder = tmp_path_factory.mktemp("ensembles")
    (folder / "mixed.toml").write_text(MIXED)
    given = {"scenario": str(folder / "mixed.toml"), "marker_delay": "same,20", "runs": str(RUNS), "seed": str(SEED)}
    store, grid = begin(folder / "mixed", given)
    with no_spark() as session:
        run_ensemble(session, store, grid)
    return store


def test_every_run_is_there_once_with_its_cell_and_its_seed(mixed: Store) -> None:
    found = rows(mixed, "runs")
    assert {(row["run_id"], row["cell"], row["seed"], row["marker_delay"]) for row in found} == {
        (cell * RUNS + ordinal, cell, SEED + ordinal, delay)
        for cell, delay in enumerate(("same", "fixed:20"))
        for ordinal in range(RUNS)
    }
    keys = [(row["run_id"], row["snapshot_id"]) for row in found]
    assert len(keys) == len(set(keys))
    for row in found:
        assert (row["snapshot_id"] is None) == (row["error"] is not None)
    assert list(found[0]) == list(RUN_TYPES)
    assert (mixed.status, mixed.manifest.rows["runs"]) == ("complete", len(found))


def test_the_rows_have_the_verdicts_of_the_runs(mixed: Store) -> None:
    """The oracle runs every scenario again, and reads its event table."""
    seen = {"error": 0, "failed": 0, "holds": 0}
    by_run: dict[int, list[dict[str, Any]]] = {}
    for row in rows(mixed, "runs"):
        by_run.setdefault(row["run_id"], []).append(row)
    for found in by_run.values():
        text = f"seed = {found[0]['seed']}\n{found[0]['document']}"
        scenario = parse_toml(text, "mixed")
        try:
            execution = run(scenario)
        except InputError as problem:
            seen["error"] += 1
            assert [(row["error"], row["failed"]) for row in found] == [(str(problem), True)]
            continue
        verdicts = verdicts_from_table(execution.table, scenario)
        assert {row["snapshot_id"] for row in found} == {"S1", "S2"}
        for row in found:
            wanted = verdicts[row["snapshot_id"]]
            assert {check: row[check] for check in wanted} == wanted
            assert row["failed"] == (not all(wanted.values()))
            assert row["steps"] == execution.steps
            seen["failed" if row["failed"] else "holds"] += 1
    assert min(seen.values()) >= 2, seen


def test_events_are_kept_of_the_first_run_of_each_cell_and_of_those_that_fail(mixed: Store) -> None:
    found = rows(mixed, "runs")
    ran = {row["run_id"] for row in found if row["error"] is None}
    failed = {row["run_id"] for row in found if row["failed"]} & ran
    kept = {row["run_id"] for row in rows(mixed, "events")}
    assert kept == failed | ({0, RUNS} & ran)
    assert kept == {row["run_id"] for row in found if row["has_events"]}


def test_any_run_regenerates_from_its_row_to_the_byte(mixed: Store) -> None:
    by_run: dict[int, list[tuple[Any, ...]]] = {}
    for event in rows(mixed, "events"):
        by_run.setdefault(event["run_id"], []).append(tuple(event.values()))
    found = rows(mixed, "runs")
    for run_id, events in by_run.items():
        row = next(row for row in found if row["run_id"] == run_id)
        assert run(scenario_of(row)).log.events(run_id) == events
    grid = grid_of(mixed)
    plan = plan_of(mixed, grid)
    for run_id in (0, 7, RUNS + 7):
        again, _ = measured(plan, run_id)
        assert [{**row, "has_events": run_id in by_run} for row in map(filled, again)] == [
            row for row in found if row["run_id"] == run_id
        ]


def filled(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in RUN_TYPES}


def test_a_row_names_its_run_and_another_versions_row_is_refused(mixed: Store) -> None:
    row = rows(mixed, "runs")[0]
    assert scenario_of(row).name == "mixed-0"
    for strange, sentence in (
        ({**row, "version": "9.9.9"}, "run 0 was made by version 9.9.9, and this is"),
        ({**row, "document": None}, "a row of runs has a document and a seed; this one lacks them"),
    ):
        with pytest.raises(InputError, match=sentence):
            scenario_of(strange)


@pytest.mark.slow
def test_events_of_all_runs_or_of_none(workers_here: Any, tmp_path: Path) -> None:
    for events, runs in (("all", {0, 1, 2}), ("none", set())):
        store, grid = begin(tmp_path / events, {"processes": "2", "runs": "3", "events": events}, {"transfers": "2"})
        run_ensemble(workers_here, store, grid)
        kept = {row["run_id"] for row in rows(store, "events")} if store.has("events") else set()
        assert kept == runs
        assert {row["has_events"] for row in rows(store, "runs")} == {events == "all"}


def test_chunks_divide_the_runs_and_are_of_a_bearable_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for runs, most_rows in ((1, 10**6), (9, 10**6), (5000, 10**6), (100_000, 10**6), (5000, 2_000)):
        monkeypatch.setattr(chunks, "MOST_ROWS", most_rows)
        grid = Grid.read({"processes": "2,3", "runs": str(runs)}, {"transfers": "20"})
        plan = plan_of(Store(tmp_path), grid)
        runs_of = [plan.run_ids(chunk) for chunk in range(plan.chunk_count)]
        assert [run_id for ids in runs_of for run_id in ids] == list(range(2 * runs))
        assert max(map(len, runs_of)) * max(cell.rows for cell in cells_of(grid)) <= most_rows
        assert len({plan.part(chunk) for chunk in range(plan.chunk_count)}) == plan.chunk_count


def test_a_run_in_which_nothing_happens_has_no_events(workers_here: Any, tmp_path: Path) -> None:
    (tmp_path / "still.toml").write_text("processes = 2")
    store, grid = begin(tmp_path / "e", {"scenario": str(tmp_path / "still.toml"), "runs": "2", "events": "all"})
    run_ensemble(workers_here, store, grid)
    assert rows(store, "events") == []
    assert [(row["run_id"], row["events"], row["has_events"]) for row in rows(store, "runs")] == [
        (0, 0, True),
        (1, 0, True),
    ]
    first, second = run(parse_toml(MIXED, "mixed")).events, run(parse_toml("processes = 2", "still")).events
    assert chunks.event_table([(7, first), (8, second)])["run_id"].to_pylist() == [7] * len(first)


def test_an_algorithm_that_breaks_is_a_row_not_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(str(tmp_path), "mixed", "bank", (MIXED,), 2, SEED, "all", 8)

    def broken(*_: Any) -> None:
        raise KeyError("marker")

    monkeypatch.setattr("sim.algorithms.chandy_lamport.ChandyLamport.on_marker", broken)
    (row,), execution = measured(plan, 1)
    assert (row["failed"], row["error"], row["seed"], execution) == (True, "KeyError: 'marker'", SEED + 1, None)
