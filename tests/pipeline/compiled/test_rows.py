"""The rows of compiled runs are those of Python, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.commands import ensemble
from pipeline.compiled import runs
from pipeline.ensembles import both_ways, chunks
from pipeline.ensembles.at_once import rows_at_once
from pipeline.ensembles.chunks import Plan, carry_out, measured, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.store.folder import Store
from pipeline.store.schema import DISPUTED, NUMBA, PYTHON
from tests.pipeline.some_ensembles import begin, rows
from tests.tools import examples

pytest.importorskip("numba", reason="Numba is not installed (requirements-fast.txt)")

DELAYS = ("fixed:0", "fixed:1", "uniform:1:9", "uniform:0.1:0.7", "whole:0:4", "whole:1:2", "exponential:5")
PARAMETERS = {
    "bank": {"balance": ("0", "3", "100", "{P1 = 40}"), "transfers": ("1", "9", "25"), "pace": ("0.5", "7"),
             "largest": ("1", "20", "400")},
    "token_ring": {"tokens": ("{P1 = 1}", "{P1 = 2, P2 = 3}"), "hold": ("0", "1", "2.5"), "rounds": ("1", "9", "30")},
    "units": {"sends": ("1", "8", "20"), "pace": ("0.5", "7")},
    "diffusing": {"acts": ("1", "8", "20"), "ease": ("0", "50", "100"), "pace": ("0.5", "7")},
}  # fmt: skip


@st.composite
def grids(draw: Any) -> Grid:
    """A cell of a listed workload, with ties in time, short of money, with and without snapshots."""
    pick = st.sampled_from
    workload, processes = draw(pick(sorted(PARAMETERS))), draw(st.integers(2, 7))
    given = {
        "workload": workload, "processes": str(processes), "topology": draw(pick(("complete", "ring", "line", "star"))),
        "delay": draw(pick(DELAYS)), "marker_delay": draw(pick(("same", *DELAYS))),
        "initiators": str(draw(st.integers(1, processes))), "snapshots": str(draw(st.integers(0, 4))),
        "runs": "12", "seed": str(draw(st.integers(0, 10**12))), "events": "none",
    }  # fmt: skip
    if draw(st.booleans()):
        given["at"] = draw(pick(("0", "3", "12.5", "1000")))
    return Grid.read(given, {name: draw(pick(values)) for name, values in PARAMETERS[workload].items()})


def plan_for(grid: Grid) -> Plan:
    return plan_of(Store(Path("nowhere")), grid)


@pytest.mark.slow
@examples(40)
@given(grids())
def test_every_run_of_a_listed_grid_gives_the_same_rows(grid: Grid) -> None:
    plan = plan_for(grid)
    found, disputed = chunks._by_numba(plan, range(plan.run_count))
    assert (disputed, sorted(found)) == (set(), list(range(plan.run_count)))
    for run_id, compiled in found.items():
        assert compiled == measured(plan, run_id, NUMBA)[0]


STOCK = {"processes": "3", "runs": "8", "events": "sample"}, {"transfers": "6"}


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """No document is kept for the kernel, and none is distrusted, before and after a test."""
    both_ways.compiled_of.cache_clear()
    both_ways._distrusted.clear()
    yield
    both_ways.compiled_of.cache_clear()
    both_ways._distrusted.clear()


def engines(store: Store, grid: Grid) -> list[str]:
    """Carries out an ensemble without Spark. Returns the engine of each run."""
    plan = plan_of(store, grid)
    for chunk in range(plan.chunk_count):
        carry_out(plan, chunk)
    return [row["engine"] for row in rows(store, "runs")]


@pytest.mark.slow
def test_runs_whose_events_are_wanted_are_done_in_python(tmp_path: Path) -> None:
    store, grid = begin(tmp_path / "e", *STOCK)
    assert engines(store, grid) == [PYTHON] + [NUMBA] * 7
    assert {row["run_id"] for row in rows(store, "events")} == {0}
    assert {row["has_events"] for row in rows(store, "runs")[1:]} == {False}


def test_without_numba_all_is_done_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "is_installed", lambda: False)
    store, grid = begin(tmp_path / "e", *STOCK)
    assert set(engines(store, grid)) == {PYTHON}


def test_a_run_that_is_not_answered_is_done_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plainly = runs.Compiled.found

    def without_the_third(self: runs.Compiled, seeds: Any) -> runs.Found:
        found = plainly(self, seeds)
        found.answered[2] = False
        return found

    monkeypatch.setattr(runs.Compiled, "found", without_the_third)
    store, grid = begin(tmp_path / "e", STOCK[0] | {"events": "none"}, STOCK[1])
    assert engines(store, grid) == [NUMBA, NUMBA, PYTHON, *[NUMBA] * 5]


def differing(monkeypatch: pytest.MonkeyPatch, least_processes: int = 0) -> list[int]:
    """From now on latencies of the kernel are wrong, among so many processes. Returns the calls: seeds of each."""
    plainly, calls = runs.Compiled.found, []

    def wrong(self: runs.Compiled, seeds: Any) -> runs.Found:
        calls.append(len(seeds))
        found = plainly(self, seeds)
        found.answered[0] = False  # so the second run is the first that is answered
        if self.system.initial.size >= least_processes:
            found.latencies[:] += 1e-9
        return found

    monkeypatch.setattr(runs.Compiled, "found", wrong)
    return calls


def test_where_the_kernel_differs_all_is_done_in_python_and_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    differing(monkeypatch)
    store, grid = begin(tmp_path / "e", *STOCK)
    assert engines(store, grid) == [PYTHON] + [DISPUTED] * 7
    ensemble._print_result(store)
    said = (
        "In a test Numba gave another result than Python, so Python did 7 runs again; 0 others are as Numba made them. "
        "Please report this."
    )
    assert said in capsys.readouterr().out


def test_every_document_of_a_chunk_is_compared_and_only_that_which_differs_is_distrusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    differing(monkeypatch, least_processes=4)
    store, grid = begin(tmp_path / "e", {"processes": "3,4", "runs": "4", "events": "none"}, STOCK[1])
    assert plan_of(store, grid).chunk_count == 1
    assert engines(store, grid) == [PYTHON] + [NUMBA] * 3 + [DISPUTED] * 4
    ensemble._print_result(store)
    assert "Python did 4 runs again; 3 others are as Numba made them" in capsys.readouterr().out


@pytest.mark.slow
def test_a_document_is_distrusted_for_as_long_as_the_worker_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = differing(monkeypatch)
    store, grid = begin(tmp_path / "e", STOCK[0] | {"runs": "24", "events": "none"}, STOCK[1])
    assert plan_of(store, grid).chunk_count == 3
    assert set(engines(store, grid)) == {DISPUTED}
    assert calls == [8]


def test_at_once_the_first_that_is_answered_is_compared_and_a_difference_leaves_fewer_runs_for_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = plan_for(Grid.read(*STOCK)).documents[0]
    right = rows_at_once(document, "bank", 9, 5)
    assert (len(right), right[:5]) == (9, rows_at_once(document, "bank", 0, 5))
    differing(monkeypatch)
    assert rows_at_once(document, "bank", 9, 5) == right[:5]
