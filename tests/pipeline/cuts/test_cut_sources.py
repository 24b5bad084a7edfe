"""Cuts from files, from snapshots, and drawn at random."""

from __future__ import annotations

from typing import Any

import pandas
import pytest
from pyarrow import parquet

from pipeline.cuts import cut_sources
from pipeline.store.schema import CUT_TYPES
from sim.core.errors import InputError
from sim.core.model import RECORD
from sim.document import library
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.bundled import small
from tests.pipeline.some_tables import folder_of, numbered
from tests.sim.tools import row_of


@pytest.fixture(scope="module")
def executions() -> list[Any]:
    return [run(library.load(name)) for name in small()]


@pytest.fixture(scope="module")
def store(executions, tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("data"), numbered(executions))


def test_the_cuts_of_snapshots_find_what_the_snapshots_recorded(spark, executions, store) -> None:
    found = cut_sources.from_snapshots(store.read(spark, "events"))
    by_name: dict[tuple[int, str], dict[str, int]] = {}
    for row in found.cuts.collect():
        by_name.setdefault((row.run_id, row.cut_id), {})[row.process] = row["index"]
    own, others = {}, 0
    for number, execution in enumerate(executions):
        recordings = [row for row in execution.table if row.kind == RECORD]
        index = {(row.snapshot_id, row.process, row.step): row.index for row in recordings}
        recorded = {row.snapshot_id for row in recordings}
        for snapshot in snapshots_of(execution):
            if len(snapshot.local) == len(execution.scenario.processes):
                parts = snapshot.local.items()
                own[number, snapshot.id] = {name: index[snapshot.id, name, part.step] for name, part in parts}
            elif snapshot.id in recorded:
                others += 1
    assert by_name == own
    assert found.left_out == others


def rows_of(cuts) -> list[tuple]:
    return [tuple(row.values()) for row in cuts.to_pylist()]


def test_cuts_from_files(tmp_path) -> None:
    table = pandas.DataFrame({"run_id": [0, 0], "cut_id": ["c", "c"], "process": ["A", "B"], "index": [1, 0]})
    table.to_csv(tmp_path / "cuts.csv", index=False)
    table[["index", "process", "cut_id", "run_id"]].to_parquet(tmp_path / "cuts.parquet")
    wanted = [(0, "c", "A", 1), (0, "c", "B", 0)]
    for name in ("cuts.csv", "cuts.parquet"):
        read = cut_sources.from_file(tmp_path / name)
        assert sorted(rows_of(read)) == wanted
        assert read.column_names == list(CUT_TYPES)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("run_id,cut_id,process\n0,c,A\n", "cuts.csv: its first line names no column index"),
        ("run_id,cut_id,process,index,colour\n0,c,A,1,red\n", "'colour' is no column of cuts"),
        ("run_id,cut_id,process,index\n0,c,A,one\n", "the line '0,c,A,one' has no number as index"),
        ("run_id,cut_id,process,index\n0,c,,1\n", "the line '0,c,,1' has no text as process"),
        ("run_id,cut_id,process,index\n0,c,A\n", "the line '0,c,A' has no number as index"),
        ("run_id,cut_id,process,index\n0,c,A,3000000000\n", "the line '0,c,A,3000000000' has no number as index"),
        ("run_id,cut_id,process,index\n0,c,A,1,2\n", "the line '0,c,A,1,2' has more cells"),
        ("run_id,cut_id,process,index,index\n", "its first line names no column index; it names it twice"),
        ("", "its first line names no column run_id"),
    ],
)
def test_files_that_hold_no_cuts(tmp_path, text, sentence) -> None:
    (tmp_path / "cuts.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        cut_sources.from_file(tmp_path / "cuts.csv")


WHOLE = [row_of(0, "A", 0, "record", snapshot_id="S"), row_of(1, "B", 2, "record", snapshot_id="S")]


@pytest.mark.parametrize(
    "also",
    [
        [row_of(2, "C", 1, "internal")],  # C has not recorded
        [row_of(2, "A", None, "marker_send", "A->C", snapshot_id="S")],  # nor has C here, which has no row
        [row_of(2, "A", 1, "send", "A->C", 0)],
        [row_of(2, "A", None, "snapshot_aborted", snapshot_id="S")],
    ],
)
def test_snapshots_that_are_no_cuts_are_left_out_and_counted(spark, tmp_path, also) -> None:
    assert found_in(spark, tmp_path, WHOLE) == ([(0, "S", "A", 0), (0, "S", "B", 2)], 0)
    assert found_in(spark, tmp_path / "2", WHOLE + also) == ([], 1)


def found_in(spark, path, events) -> tuple[list[Any], int]:
    found = cut_sources.from_snapshots(folder_of(path, events).read(spark, "events"))
    return sorted(map(tuple, found.cuts.collect())), found.left_out


def test_a_file_as_spreadsheets_write_it(tmp_path) -> None:
    """With a byte order mark, quotes, blanks, Windows line ends, and columns in another order."""
    text = 'index,process,cut_id,run_id\r\n 1 ,"A","one, two",7\r\n'
    (tmp_path / "cuts.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert rows_of(cut_sources.from_file(tmp_path / "cuts.csv")) == [(7, "one, two", "A", 1)]


def test_a_parquet_file_that_is_cut_off(tmp_path) -> None:
    (tmp_path / "cuts.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"cuts\.parquet: is cut off or no Parquet file"):
        cut_sources.from_file(tmp_path / "cuts.parquet")


def test_a_parquet_file_without_a_column(tmp_path) -> None:
    pandas.DataFrame({"run_id": [0], "cut_id": ["c"], "process": ["A"]}).to_parquet(tmp_path / "cuts.parquet")
    with pytest.raises(InputError, match=r"cuts\.parquet: has no column 'index'"):
        cut_sources.from_file(tmp_path / "cuts.parquet")


def test_a_parquet_file_with_the_index_of_pandas(tmp_path) -> None:
    table = pandas.DataFrame({"run_id": [0], "cut_id": ["NA"], "process": ["A"], "index": [1.0]}, index=[7])
    table.to_parquet(tmp_path / "cuts.parquet", index=True)
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "cuts.parquet").names
    table.to_csv(tmp_path / "cuts.csv", index=False, float_format="%.0f")
    for name in ("cuts.parquet", "cuts.csv"):
        assert rows_of(cut_sources.from_file(tmp_path / name)) == [(0, "NA", "A", 1)]


def test_a_parquet_file_with_other_columns_or_types(tmp_path) -> None:
    file, good = tmp_path / "cuts.parquet", {"run_id": [0], "cut_id": ["c"], "process": ["A"], "index": [1]}
    for change, sentence in (
        ({"colour": ["red"]}, "has a column 'colour'"),
        ({"index": ["one"]}, "column 'index' is (large_)?string; it has to be int32"),
        ({"index": [1.5]}, "holds a number that is none of cuts"),
    ):
        pandas.DataFrame({**good, **change}).to_parquet(file)
        with pytest.raises(InputError, match=sentence):
            cut_sources.from_file(file)
