"""Cuts from files; those of snapshots are in tests/pipeline/spark/test_frames.py."""

from __future__ import annotations

import pandas
import pytest
from pyarrow import parquet

from pipeline.cuts import cut_sources
from pipeline.store.schema import CUT_TYPES
from sim.core.errors import InputError


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


NO_CUTS = [
    ("run_id,cut_id,process\n0,c,A\n", "cuts.csv: its first line names no column index"),
    ("run_id,cut_id,process,index,colour\n0,c,A,1,red\n", "'colour' is no column of cuts"),
    ("run_id,cut_id,process,index\n0,c,A,one\n", "the line '0,c,A,one' has no number as index"),
    ("run_id,cut_id,process,index\n0,c,,1\n", "the line '0,c,,1' has no text as process"),
    ("run_id,cut_id,process,index\n0,c,A\n", "the line '0,c,A' has no number as index"),
    ("run_id,cut_id,process,index\n0,c,A,3000000000\n", "the line '0,c,A,3000000000' has no number as index"),
    ("run_id,cut_id,process,index\n0,c,A,1,2\n", "the line '0,c,A,1,2' has more cells"),
    ("run_id,cut_id,process,index,index\n", "its first line names no column index; it names it twice"),
    ("", "its first line names no column run_id"),
]


def test_files_that_hold_no_cuts(tmp_path) -> None:
    for text, sentence in NO_CUTS:
        (tmp_path / "cuts.csv").write_text(text)
        with pytest.raises(InputError, match=sentence):
            cut_sources.from_file(tmp_path / "cuts.csv")


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
