"""The table of trade-offs: what runs, what is summed up, and that it can be kept, remade and opened."""

from __future__ import annotations

import threading
from dataclasses import replace
from statistics import median_low
from typing import Any, ClassVar

import pytest

from pipeline import jobs
from pipeline.ensembles.costs import with_costs
from pipeline.ensembles.measure import measure
from pipeline.ensembles.tradeoff_cells import as_text_table, asked_in_words, lines_of
from pipeline.ensembles.tradeoff_grids import (
    BEHIND_A_SOURCE,
    MOST_RUNS,
    ONE_NODE,
    RECOVERY,
    SHAPES,
    Asked,
    parts_of,
    run_count,
    typical_scenario,
)
from pipeline.ensembles.tradeoffs import Table, measured_at_once, rows_at_once, table_from_json
from pipeline.store.examples import TRADEOFFS
from sim import VERSION
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.run.execution import run

SMALL = Asked(topologies=("ring", "dag"), processes=(4,), marker_delays=("same", "uniform:1:30"), runs=3)
SHIPPED = table_from_json(TRADEOFFS.read_text("utf-8"))  # with the app: what is newer is in no row of it


@pytest.fixture(scope="module")
def table() -> Table:
    found = measured_at_once(SMALL)
    assert found is not None
    return found


def test_the_table_that_comes_with_the_app_is_of_this_version_and_grid() -> None:
    assert SHIPPED.version == VERSION, "make tradeoffs"
    assert SHIPPED.asked == Asked()
    assert set(SHIPPED.rows) <= set(ALGORITHMS), "make tradeoffs, since an algorithm is gone"


@pytest.mark.slow
def test_the_table_that_comes_with_the_app_is_what_this_version_makes() -> None:
    """One run of each algorithm, made again: it has the median that the table says."""
    for name, own in SHIPPED.rows.items():
        figure = own.figures["state_bytes"]
        execution = run(typical_scenario(SHIPPED.asked, name, figure.typical))
        (row,) = with_costs(execution, measure(execution))
        assert row["state_bytes"] == figure.median, name


def test_every_algorithm_runs_where_it_is_accepted(table: Table) -> None:
    assert set(table.rows) == set(ALGORITHMS)
    assert table.compared_on == "dag", "the one of both that barriers accept, too"
    for name, own in table.rows.items():
        assert [*own.tried] == ["ring", "dag", BEHIND_A_SOURCE]
        assert all(tried.runs == tried.right for tried in own.tried.values() if not tried.refused), name
        assert own.on == ("one process" if ALGORITHMS[name].one_node else "dag")
        assert bool(own.no_recovery) is not ALGORITHMS[name].allows_recovery
        assert ("recovery_time" in own.figures) is ALGORITHMS[name].allows_recovery
    refused = {(name, shape) for name, own in table.rows.items() for shape, tried in own.tried.items() if tried.refused}
    assert {(name, shape) for name, shape in refused if name in SHIPPED.rows} == {("aligned_barriers", "ring")}


def test_a_figure_is_the_median_of_its_runs_and_its_typical_run_has_it(table: Table) -> None:
    (part,) = [p for p in parts_of(SMALL, ["chandy_lamport"]) if (p.kind, p.topology) == (SHAPES, "dag")]
    assert part.grid is not None
    found = [row for rows in rows_at_once(part.grid, threading.Event()) for row in rows]
    own = table.rows["chandy_lamport"]
    for column in ("recorded_messages", "delayed", "end_to_end"):
        values = [row[column] for row in found]
        figure = own.figures[column]
        assert (figure.median, figure.least, figure.most) == pytest.approx(
            (median_low(values), min(values), max(values))
        )
        execution = run(typical_scenario(SMALL, "chandy_lamport", figure.typical))
        (row,) = with_costs(execution, measure(execution))
        assert row[column] == pytest.approx(figure.median)
    slow = [row["delayed"] for row in found if row["marker_delay"] == "uniform:1:30"]
    assert {group.marker_delay: group.medians["delayed"] for group in own.groups}["uniform:1:30"] == pytest.approx(
        median_low(slow)
    )


@pytest.mark.slow
def test_every_cell_opens_a_run_of_its_algorithm(table: Table) -> None:
    for line in lines_of(table):
        for cell in line.cells:
            assert cell.typical is not None, (line.title, cell.column)
            assert typical_scenario(SMALL, line.algorithm, cell.typical).algorithm == line.algorithm
    with pytest.raises(InputError, match="no such run"):
        typical_scenario(SMALL, "lai_yang", replace_cell(lines_of(table)[1].cells[0].typical))


def replace_cell(where: Any) -> Any:
    return where._replace(cell=1_000)


def test_the_topology_opens_a_run_that_is_no_full_mesh() -> None:
    (line,) = [line for line in lines_of(SHIPPED) if line.algorithm == "chandy_lamport"]
    (cell,) = [cell for cell in line.cells if cell.column == "topology"]
    assert cell.typical is not None and cell.typical.topology == "ring"


def test_a_table_is_read_back_as_it_was_written(table: Table) -> None:
    assert table_from_json(table.to_json()) == table
    with pytest.raises(InputError, match=r"was made by version 0\.0\.1"):
        table_from_json(replace(table, version="0.0.1").to_json())
    for wrong in ("", "[]", "{}", '{"asked": 3}', table.to_json().replace("compared_on", "other")):
        with pytest.raises(InputError, match="no table of trade-offs"):
            table_from_json(wrong)


@pytest.mark.slow
def test_it_ends_early_and_progress_counts_runs() -> None:
    stop = threading.Event()
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 5:
            stop.set()

    assert measured_at_once(SMALL, progress, stop) is None
    assert seen[-1] == (5, run_count(parts_of(SMALL)))


@pytest.mark.slow
def test_workers_make_the_same_table(workers_here: Any, table: Table) -> None:
    asked = {"topology": "ring,dag", "processes": "4", "marker_delay": "same,uniform:1:30", "runs": "3"}
    assert jobs.tradeoffs(on_spark=True, **asked).to_json() == table.to_json()


@pytest.mark.slow
def test_another_algorithm_is_a_row_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(ChandyLamport):
        name: ClassVar[str] = "other"  # type: ignore[misc]
        title = "Another one"

    monkeypatch.setitem(ALGORITHMS._found, "other", Other)
    asked = replace(SMALL, topologies=("dag",), marker_delays=("same",), runs=1)
    found = measured_at_once(asked)
    assert found is not None
    (line,) = [line for line in lines_of(found) if line.algorithm == "other"]
    assert line.title == "Another one" and line.method == ""
    assert all(cell.judged is None and not cell.claim and cell.measured for cell in line.cells)
    (line,) = [line for line in lines_of(SHIPPED) if line.algorithm == "other"]
    assert all("run the grid again" in cell.measured[0] for cell in line.cells)


def test_what_may_be_asked() -> None:
    assert Asked.read({}) == Asked()
    asked = Asked.read({"processes": "3,5", "topology": "ring", "delay": "2", "marker_delay": "1,same", "runs": "7"})
    assert asked == Asked(("ring",), (3, 5), "fixed:2", ("fixed:1", "same"), 7, 0)
    for given, sentence in (
        ({"processes": "2"}, "--processes: the table is measured on systems of 3 to 12"),
        ({"processes": "13"}, "--processes: the table is measured on systems of 3 to 12"),
        ({"runs": str(MOST_RUNS)}, "--runs: this comes to"),
        ({"delay": "1,2"}, "--delay: expected one value, not 2"),
        ({"topology": "moebius"}, "--topology: 'moebius' is unknown"),
        ({"algorithm": "mattern"}, "algorithm: is no option of the table"),
    ):
        with pytest.raises(InputError, match=sentence):
            Asked.read(given)


def of_all(asked: Asked) -> int:
    return asked.runs_of_each * len(list(ALGORITHMS))


@pytest.mark.slow
def test_the_number_of_runs_is_not_more_than_announced() -> None:
    for asked in (SMALL, Asked()):
        assert run_count(parts_of(asked)) <= of_all(asked) <= 2 * run_count(parts_of(asked))


def test_the_grid_in_words_and_the_table_in_rows(table: Table) -> None:
    assert asked_in_words(SMALL).startswith(
        "Banks of 4 processes on each of these topologies: ring, dag, and a ring behind a source. Messages take 1 to 9 "
        "time units, markers as long as messages or 1 to 30. Each combination has 3 runs, with seeds from 0."
    )
    text = as_text_table(table)
    assert len(text.rows) == 5 * len(list(ALGORITHMS))
    assert all(len(row) == len(text.header) for row in text.rows)


@pytest.mark.slow
def test_parts_of_special_kinds() -> None:
    kinds = {(part.algorithm, part.kind) for part in parts_of(SMALL)}
    assert {name for name, kind in kinds if kind == ONE_NODE and name in SHIPPED.rows} == {"copy_on_write"}
    assert {name for name, kind in kinds if kind == RECOVERY} == set(ALGORITHMS)
