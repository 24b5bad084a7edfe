"""Small files that stand for much: Parquet tables of millions of rows or gigabytes of text, and their brothers."""

from __future__ import annotations

import threading
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from pipeline import formats
from pipeline.formats import parquet as parquet_format
from pipeline.ingest import plan
from pipeline.logs import format as log_format
from pipeline.logs import lines
from pipeline.logs.format import NO_OPTIONS
from sim.core.errors import InputError

ROWS = 5_000
TABLE: dict[str, Any] = {"process": ["P1"] * ROWS, "kind": ["internal"] * ROWS, "message_id": [1] * ROWS}


def repeated(text: str) -> pyarrow.Array:
    """A text that is stored once and stands in all rows."""
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * ROWS, pyarrow.int32()), pyarrow.array([text]))


def write(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    path = folder / "some.parquet"
    parquet.write_table(pyarrow.table(columns), path, store_schema=False, **options)
    return path


def refusal(path: Path) -> str:
    """Why the file is refused, and that little of it was in Python's or Arrow's memory."""
    tracemalloc.start()
    before = pyarrow.total_allocated_bytes()
    try:
        with pytest.raises(InputError) as refused:
            for piece in plan([path], "parquet").pieces:
                parquet_format.read(piece)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert pyarrow.total_allocated_bytes() - before < 1_000_000
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400
    return str(refused.value)


@pytest.mark.parametrize("column", ["process", "kind", "channel", "label", "body"])
def test_a_long_text_in_many_rows_is_refused_before_it_is_copied(tmp_path, monkeypatch, column: str) -> None:
    monkeypatch.setattr(parquet_format, "MOST_BYTES", 2_000_000)
    path = write(tmp_path, {**TABLE, column: repeated("a" * 100_000)})
    assert path.stat().st_size < 200_000
    assert "row 1: an execution of more than 2,000,000 bytes; use shorter texts" in refusal(path)


def test_a_long_run_id_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {**TABLE, "run_id": repeated("1" * 100_000)})
    assert "row 1: run_id is '1111" in refusal(path)


def test_more_than_a_row_group_may_unpack_to_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet_format, "MOST_BYTES", 1_000_000)
    path = write(tmp_path, {**TABLE, "body": ["a" * 1_000] * ROWS}, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 100_000
    assert "column 'body' has 5,0" in refusal(path)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("body", pyarrow.array([[["a"]]] * ROWS)),
        ("body", pyarrow.array([{"a": 1}] * ROWS)),
        ("run_id", pyarrow.array([1] * ROWS).cast(pyarrow.decimal128(38, 2))),
        ("process", pyarrow.array([b"a"] * ROWS)),
        ("time", pyarrow.array([0] * ROWS, pyarrow.timestamp("ns"))),
        ("label", pyarrow.array([[("a", 1)]] * ROWS, pyarrow.map_(pyarrow.string(), pyarrow.int64()))),
    ],
)
def test_other_types_are_refused_from_the_schema(tmp_path: Path, monkeypatch, name: str, cells: pyarrow.Array) -> None:
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)  # nothing is read
    assert f"column {name!r} is " in refusal(write(tmp_path, {**TABLE, name: cells}))


def test_a_stored_schema_that_lies_changes_nothing(tmp_path: Path, monkeypatch) -> None:
    """A file may say that its texts are dictionaries, or of a larger type."""
    monkeypatch.setattr(parquet_format, "MOST_BYTES", 2_000_000)
    for kind in (pyarrow.large_string(), pyarrow.dictionary(pyarrow.int8(), pyarrow.large_string())):
        path = tmp_path / "lies.parquet"
        parquet.write_table(pyarrow.table({**TABLE, "label": pyarrow.array(["a" * 1_000] * ROWS).cast(kind)}), path)
        assert "an execution of more than 2,000,000 bytes" in refusal(path)


def test_a_long_footer_is_refused_before_it_is_parsed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet_format, "MOST_FOOTER", 50_000)
    few = {name: cells[:300] for name, cells in TABLE.items()}
    bombs = {
        "pairs": lambda file: parquet.write_table(
            pyarrow.table(few).replace_schema_metadata({"a": "b" * 99_999}), file
        ),
        "columns": lambda file: parquet.write_table(pyarrow.table([[1]] * 2_000, names=["process"] * 2_000), file),
        "groups": lambda file: parquet.write_table(pyarrow.table(few), file, row_group_size=1),
    }
    monkeypatch.setattr(parquet, "ParquetFile", None)
    for name, bomb in bombs.items():
        path = tmp_path / f"{name}.parquet"
        bomb(path)
        assert "its description of columns and row groups takes" in refusal(path)


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.parquet"
    parquet.write_table(pyarrow.table([["P1"], ["P1"], ["internal"], [1]], names=["process", *TABLE]), path)
    assert "names a column twice" in refusal(path)


@pytest.mark.slow
def test_many_rows_are_planned_by_stretches(tmp_path: Path, monkeypatch) -> None:
    """Not one after the other: fifty million rows took twenty seconds."""
    rows = 2_000_000
    columns = {"process": "P1", "kind": "internal"}
    table: dict[str, Any] = {
        name: pyarrow.nulls(rows, pyarrow.string()).fill_null(cell) for name, cell in columns.items()
    }
    ids = pyarrow.concat_arrays([pyarrow.nulls(rows // 2, pyarrow.int64()).fill_null(number) for number in (1, 2)])
    path = write(tmp_path, {**table, "message_id": ids, "run_id": ids})
    records = list(parquet_format._records(path, log_format.NEVER))
    assert len(records) < 100
    first, second = plan([path], "parquet").pieces
    assert (first.begin, first.end, second.begin, second.end) == (0, rows // 2, rows // 2, rows)
    monkeypatch.setattr(log_format, "MOST_ROWS", 1_000)
    assert "row 1: an execution of 1,000,000 rows or more; use at most 1,000" in refusal(path)
    monkeypatch.setattr(parquet_format, "MOST_ROWS_OF_A_FILE", 1_000)
    assert "has 2,000,000 rows; use at most 1,000, in several files" in refusal(path)


@pytest.mark.parametrize("runs", [[3, 3, None, None, 5], ["a", "a", "b", None], [1.0, 1.0, 2.0], [None, None]])
def test_stretches_are_those_of_the_rows(tmp_path: Path, runs: list[Any]) -> None:
    columns = {name: cells[: len(runs)] for name, cells in TABLE.items()}
    found = parquet_format._records(write(tmp_path, {**columns, "run_id": runs}), log_format.NEVER)
    assert [record.run for record in found for _ in range(record.begin, record.end)] == runs


EVENTS = {
    "csv": b"process,kind,message_id,run_id\n" + b"".join(b"P1,internal,1,%d\n" % run for run in range(30)),
    "jsonl": b"".join(
        b'{"process": "P1", "kind": "internal", "message_id": 1, "run_id": %d}\n' % run for run in range(30)
    ),
    "shiviz": b"x\na {}\n---\n" * 30,
    "parquet": b"",
}


@pytest.fixture(params=sorted(EVENTS))
def thirty_runs(request, tmp_path: Path) -> Path:
    path = tmp_path / f"some.{request.param}"
    path.write_bytes(EVENTS[request.param])
    if request.param == "parquet":
        columns = {name: cells[:30] for name, cells in TABLE.items()}
        file = BytesIO()
        parquet.write_table(pyarrow.table({**columns, "run_id": range(30)}), file)
        path.write_bytes(file.getvalue())
    return path


def options_of(path: Path) -> dict[str, str]:
    return {"delimiter": "^---$"} if path.suffix == ".shiviz" else dict(NO_OPTIONS)


def test_executions_are_bounded_while_they_are_found(thirty_runs: Path, monkeypatch) -> None:
    form = thirty_runs.suffix[1:]
    assert len(plan([thirty_runs], form, options_of(thirty_runs)).pieces) == 30
    monkeypatch.setattr(log_format, "MOST_EXECUTIONS", 40)
    with pytest.raises(InputError, match="holds more than 40 executions; read them in several parts"):
        plan([thirty_runs, thirty_runs], form, options_of(thirty_runs))
    monkeypatch.setattr(log_format, "MOST_EXECUTIONS", 20)
    with pytest.raises(InputError, match="holds more than 20 executions"):
        formats.find(form).pieces([thirty_runs], options_of(thirty_runs))


def test_planning_can_be_stopped(thirty_runs: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(InputError, match="reading was stopped, and nothing is kept; bring the log again"):
        plan([thirty_runs], thirty_runs.suffix[1:], options_of(thirty_runs), stop=stop)


def test_lines_are_bounded_in_every_format_of_text(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", 1_000)
    for form, line in {
        "csv": b"process,kind,message_id\n" + b"a" * 5_000,
        "jsonl": b"[" * 5_000,
        "shiviz": b"a" * 5_000,
    }.items():
        path = tmp_path / f"long.{form}"
        path.write_bytes(line)
        with pytest.raises(InputError, match=r"a line of 5,000 bytes"):
            plan([path], form)


@pytest.mark.parametrize("depth", [100, 400, 900, 950, 980, 990, 1_000, 100_000])
def test_deeply_nested_json_is_read_or_refused(tmp_path: Path, depth: int) -> None:
    body = "[" * depth + "]" * depth
    path = tmp_path / "deep.jsonl"
    path.write_text(f'{{"process": "P1", "kind": "internal", "message_id": 1, "body": {body}}}\n' * 2)
    try:
        for piece in plan([path], "jsonl").pieces:
            formats.find("jsonl").read(piece)
    except InputError as refused:
        assert "\n" not in str(refused)


def test_processes_are_bounded_and_their_unknown_channels_listed_once(tmp_path: Path, monkeypatch) -> None:
    """A log with sends to unknown processes has an unknown channel for each pair."""
    path = tmp_path / "some.csv"
    rows = [f"P{number % 10},send,{number}" for number in range(3_000)]
    path.write_text("\n".join(["process,kind,message_id", *rows]), encoding="utf-8")
    (piece,) = plan([path], "csv").pieces
    reading = formats.find("csv").read(piece)
    assert len(reading.unknown_channels) == 90 and len(reading.notes) == 1
    log = tmp_path / "some.log"
    log.write_text("".join(f'x\nh{number} {{"h{number}": 1}}\n' for number in range(10)), encoding="utf-8")
    (of_log,) = plan([log], "shiviz").pieces
    assert len(formats.find("shiviz").read(of_log).processes) == 10
    monkeypatch.setattr(log_format, "MOST_PROCESSES", 9)
    for form, bad in {"csv": piece, "shiviz": of_log}.items():
        with pytest.raises(InputError, match="an execution of 10 processes; use at most 9"):
            formats.find(form).read(bad)


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text('{"process": "P1", "kind": "internal", "message_id": 1, "label": "\\ud83d"}\n')
    (piece,) = plan([path], "jsonl").pieces
    with pytest.raises(InputError, match=r"half\.jsonl:1: holds half a character"):
        formats.find("jsonl").read(piece)
