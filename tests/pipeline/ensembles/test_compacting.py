"""The many small parts of a finished ensemble become a few, with the same rows, and it is resumed as before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.ensembles import compacting
from pipeline.ensembles.chunks import plan_of
from pipeline.ensembles.compacting import compact
from pipeline.ensembles.run import _undone, grid_of, is_done, run_ensemble
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.pipeline.some_ensembles import begin, rows
from tests.pipeline.without_spark import no_spark

RUNS = 64  # in chunks of eight


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Store:
    given = {"processes": "2", "runs": str(RUNS), "events": "all"}
    store, grid = begin(tmp_path_factory.mktemp("ensembles") / "scattered", given, {"transfers": "2"})
    with no_spark() as session:
        run_ensemble(session, store, grid)
    return store


@pytest.fixture
def store(scattered: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A copy of it, of which 24 runs fit into a part."""
    monkeypatch.setattr(compacting, "MANY", 4)
    monkeypatch.setattr(compacting, "MOST_ROWS", {"runs": 24, "events": 10_000})
    return Store(Path(shutil.copytree(scattered.path, tmp_path / "copy")))


def names(store: Store, table: str) -> list[str]:
    return [part.name for part in store.parts(table)]


JOINED = ["runs-00000000-00000023", "runs-00000024-00000047", "runs-00000048-00000063"]


@pytest.mark.slow
def test_parts_are_joined_and_every_row_is_there_once(workers_here: Any, store: Store, scattered: Store) -> None:
    assert len(names(scattered, "runs")) == len(names(scattered, "events")) == 8
    compact(workers_here, store)
    assert names(store, "runs") == JOINED
    assert names(store, "events") == ["runs-00000000-00000063"]
    for table in ("runs", "events"):
        assert rows(store, table) == rows(scattered, table)
        assert store.read(workers_here, table).toArrow().num_rows == store.count(table) == scattered.count(table)


@pytest.mark.slow
def test_an_ensemble_joins_its_parts_when_all_runs_are_done(workers_here: Any, store: Store, scattered: Store) -> None:
    store.place.remove(store.parts("runs")[3].file)
    run_ensemble(workers_here, store, grid_of(store))
    assert (store.status, names(store, "runs")) == ("complete", JOINED)
    assert rows(store, "runs") == rows(scattered, "runs")


@pytest.mark.slow
def test_a_joined_ensemble_is_resumed_as_before(workers_here: Any, store: Store, scattered: Store) -> None:
    compact(workers_here, store)
    grid = grid_of(store)
    assert is_done(store, grid)
    store.place.remove(store.parts("runs")[1].file)
    assert _undone(store, plan_of(store, grid)) == [3, 4, 5]
    reported: list[tuple[int, int]] = []
    run_ensemble(workers_here, store, grid, lambda done, total: reported.append((done, total)))
    assert reported[0] == (RUNS - 24, RUNS)
    assert rows(store, "runs") == rows(scattered, "runs")


@pytest.mark.slow
def test_a_compaction_that_fails_leaves_all_as_it_was(
    workers_here: Any, store: Store, scattered: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a full disk, a killed worker or a lost Spark would: one part has been written, and the others have not."""

    def fail(session: Any, store: Store, table: str, new: Any, groups: Any) -> None:
        compacting._join(store, table, new, groups[0])
        assert rows(store, table) == rows(scattered, table), "readers see the old parts meanwhile"
        raise InputError("the disk is full")

    with monkeypatch.context() as patch, pytest.raises(InputError, match="the disk is full"):
        patch.setattr(compacting, "_join_on_workers", fail)
        run_ensemble(workers_here, store, grid_of(store))
    assert store.status == "stopped" and not is_done(store, grid_of(store))
    assert names(store, "runs") == names(scattered, "runs")
    run_ensemble(workers_here, store, grid_of(store))
    assert is_done(store, grid_of(store)) and names(store, "runs") == JOINED


def test_a_part_that_cannot_be_read_is_an_error_in_one_sentence(workers_here: Any, store: Store) -> None:
    damaged = store.path / store.parts("runs")[2].file
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(InputError, match="is cut off or no Parquet file"):
        compact(workers_here, store)


def test_few_parts_and_big_ones_are_left(workers_here: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {table: names(store, table) for table in ("runs", "events")}
    monkeypatch.setattr(compacting, "MOST_ROWS", {"runs": 12, "events": 100})
    compact(workers_here, store)
    monkeypatch.setattr(compacting, "MANY", 8)
    monkeypatch.setattr(compacting, "MOST_ROWS", {"runs": 24, "events": 10_000})
    compact(workers_here, store)
    assert {table: names(store, table) for table in before} == before
