"""Where cuts come from: files, what snapshots recorded, and chance."""

from __future__ import annotations

from typing import Any

import pandas
import pytest

from pipeline import cuts
from pipeline.schema import CUT_TYPES
from pipeline.store import DataError
from sim import library
from sim.execution import run
from sim.snapshots import snapshots_of
from tests.pipeline.tables import folder_of, numbered


@pytest.fixture(scope="module")
def executions() -> list[Any]:
    return [run(library.load(name)) for name in library.names() if name != "hundred"]


@pytest.fixture(scope="module")
def store(executions, tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("data"), numbered(executions))


def test_the_cuts_of_snapshots_find_what_the_snapshots_recorded(spark, executions, store) -> None:
    found = cuts.from_snapshots(store.read(spark, "events"))
    by_name: dict[tuple[int, str], dict[str, int]] = {}
    for row in found.cuts.collect():
        by_name.setdefault((row.run_id, row.cut_id), {})[row.process] = row["index"]
    own, others = {}, 0
    for number, execution in enumerate(executions):
        for snapshot in snapshots_of(execution):
            if len(snapshot.local) == len(execution.scenario.processes):
                own[number, snapshot.id] = snapshot.frontier
            elif snapshot.local:
                others += 1
    assert by_name == own
    assert found.left_out == others


def test_random_cuts_are_the_same_each_time_and_within_the_run(spark, executions, store) -> None:
    events = store.read(spark, "events")
    first, again, other = (
        {(row.run_id, row.cut_id, row.process): row["index"] for row in cuts.at_random(events, 30, seed).collect()}
        for seed in (1, 1, 2)
    )
    assert first == again != other
    for number, execution in enumerate(executions):
        for name, own in execution.history.of.items():
            drawn = [first[number, f"random-{place}", name] for place in range(1, 31)]
            assert all(0 <= count <= len(own) for count in drawn)
            assert len(set(drawn)) > 1 or not own


def test_cuts_from_files(spark, tmp_path) -> None:
    table = pandas.DataFrame({"run_id": [0, 0], "cut_id": ["c", "c"], "process": ["A", "B"], "index": [1, 0]})
    table.to_csv(tmp_path / "cuts.csv", index=False)
    table[["index", "process", "cut_id", "run_id"]].to_parquet(tmp_path / "cuts.parquet")
    wanted = [(0, "c", "A", 1), (0, "c", "B", 0)]
    for name in ("cuts.csv", "cuts.parquet"):
        read = cuts.from_file(spark, tmp_path / name)
        assert sorted(map(tuple, read.collect())) == wanted
        assert read.columns == list(CUT_TYPES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("run_id,cut_id,process\n0,c,A\n", "cuts.csv: its first line names no column index"),
        ("run_id,cut_id,process,index,colour\n0,c,A,1,red\n", "'colour' is no column of cuts"),
        ("run_id,cut_id,process,index\n0,c,A,one\n", "the line '0,c,A,one' has no number as index"),
        ("run_id,cut_id,process,index\n0,c,,1\n", "the line '0,c,,1' has no text as process"),
    ],
)
def test_files_that_hold_no_cuts(spark, tmp_path, text, told) -> None:
    (tmp_path / "cuts.csv").write_text(text)
    with pytest.raises(DataError, match=told):
        cuts.from_file(spark, tmp_path / "cuts.csv")
