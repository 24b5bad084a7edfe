"""Ingest reads several files into one table, completely or not at all; refusals and quarantine."""

from __future__ import annotations

import errno
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from pipeline import ingest as ingesting
from pipeline.__main__ import main
from pipeline.formats import find
from pipeline.ingest import Plan, Row, carry_out, plan
from pipeline.logs.format import NEVER, NO_OPTIONS, Options, Piece
from pipeline.spark.losses import SparkLost
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import Store
from pipeline.store.tables import Written
from sim.core.errors import InputError
from tests.pipeline.some_logs import REPEATABLE, Truth, events_of
from tests.pipeline.some_tables import full_disk

DELIMITER = "^=== (?<trace>.*) ===$"
BACKWARDS = 'a {"a":2}\nx\na {"a":1}\nx\nb {"b":1}\n'


def hello(replies: int = 0) -> str:
    """The log of a message from a to b, and of `replies` messages from b to a."""
    truth = Truth()
    truth.step("a", to=["b"])
    truth.step("b", [0], to=["a"] * replies)
    for number in range(replies):
        truth.step("a", [1 + number])
    return truth.log()


def write(path: Path, *executions: str) -> Path:
    if len(executions) == 1:
        path.write_text(executions[0], encoding="utf-8")
    else:
        parts = (f"=== run {number} ===\n{text}" for number, text in enumerate(executions))
        path.write_text("".join(parts), encoding="utf-8")
    return path


def create(path: Path) -> Store:
    return Store.create(path, "trace", {})


def ingest(
    session: Any,
    store: Store,
    files: list[Path],
    form: str,
    options: Options = NO_OPTIONS,
    progress: Progress = silent,
    *,
    stop: threading.Event = NEVER,
    quarantine: bool = False,
) -> list[Row]:
    return carry_out(session, store, plan(files, form, options, quarantine=quarantine), progress, stop)


def test_executions_of_all_files_are_numbered_in_order(workers_here: Any, tmp_path: Path) -> None:
    logs = [write(tmp_path / "one.log", hello(), hello(2)), write(tmp_path / "two.log", hello(1))]
    store = create(tmp_path / "out")
    counts: list[tuple[int, int]] = []
    rows = ingest(workers_here, store, logs, "shiviz", {"delimiter": DELIMITER}, lambda *count: counts.append(count))
    names = [(row["run_id"], row["name"], row["first_line"], row["events"], row["messages"]) for row in rows]
    assert names == [(0, "run 0", 2, 2, 1), (1, "run 1", 7, 4, 2), (2, "two", 1, 3, 2)]
    assert counts == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert store.status == "complete" and store.manifest.rows == {"events": 11, "traces": 3}
    table = store.read(workers_here, "events").toArrow().sort_by([("run_id", "ascending"), ("row", "ascending")])
    alone = [find("shiviz").read(piece) for piece in plan(logs, "shiviz", {"delimiter": DELIMITER}).pieces]
    expected = [event._replace(run_id=run_id) for run_id, reading in enumerate(alone) for event in events_of(reading)]
    assert table.to_pylist() == [event._asdict() for event in expected]
    assert store.read(workers_here, "traces").toArrow().sort_by("run_id").to_pylist() == rows


def test_an_execution_with_contradictions_ends_ingest_and_leaves_nothing(workers_here: Any, tmp_path: Path) -> None:
    log = write(tmp_path / "bad.log", hello(), "x\n" + BACKWARDS, hello())
    store = create(tmp_path / "out")
    with pytest.raises(InputError, match=r"bad\.log:10: the clock of 'a' goes back from 2 to 1 \(line 8\)"):
        ingest(workers_here, store, [log], "shiviz", {"delimiter": DELIMITER})
    assert not store.path.exists()


def test_with_quarantine_it_is_set_aside_and_the_others_go_in(workers_here: Any, tmp_path: Path) -> None:
    log = write(tmp_path / "bad.log", hello(), "x\n" + BACKWARDS, hello(), "lonely\n" + 'a {"a":1}\n')
    store = create(tmp_path / "out")
    rows = ingest(workers_here, store, [log], "shiviz", {"delimiter": DELIMITER}, quarantine=True)
    assert [row["events"] for row in rows] == [2, None, 2, None]
    assert "goes back from 2 to 1" in rows[1]["problem"] and rows[0]["problem"] is None
    assert "bad.log:19: all 1 events are of 'a' alone, so no process sends to another" in rows[3]["problem"]
    assert set(store.read(workers_here, "events").toArrow()["run_id"].to_pylist()) == {0, 2}
    with pytest.raises(InputError, match="goes back from 2 to 1"):
        ingest(workers_here, create(tmp_path / "none"), [write(log, "x\n" + BACKWARDS)], "shiviz", quarantine=True)
    assert not (tmp_path / "none").exists(), "a folder without any execution helps nobody"


def test_the_command_prints_what_it_has_read(workers_here: Any, tmp_path: Path, capsys) -> None:
    """Also from the event table of another data folder."""
    one, two = tmp_path / "one", tmp_path / "two"
    log = write(tmp_path / "some.log", "preamble\n" + hello(1))
    assert main(["ingest", str(log), "--format", "shiviz", "--out", str(one)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "   0 some: 3 events of 2 processes, 2 messages; matched by: clock",
        f"     1 lines that the pattern does not match, the first {log}:1: 'preamble'",
        "     messages that left no trace are not in the table: a channel may hold more messages than a cut shows",
        f"3 events of 1 executions in {one}",
    ]
    assert Store.open(one).manifest.about == {
        "files": [str(log)], "format": "shiviz", "pattern": None, "delimiter": None, "quarantine": False,
    }  # fmt: skip
    parts = [str(part) for part in (one / "events").iterdir()]
    assert main(["ingest", *parts, "--format", "parquet", "--out", str(two)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"3 events of 1 executions in {two}"
    tables = [Store(folder).read(workers_here, "events").toArrow().sort_by("row") for folder in (one, two)]
    assert tables[0] == tables[1]
    assert main(["ingest", str(log), "--format", "shiviz", "--out", str(one)]) == 2
    assert "the folder exists and is not empty" in capsys.readouterr().err


def refused(capsys, *arguments: object) -> str:
    """The one line of error that `ingest` prints for these arguments."""
    assert main(["ingest", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("\n") and err.count("\n") == 1, err
    return str(err)


@pytest.mark.slow
def test_bad_input_is_refused_in_a_line_before_spark_is_asked(tmp_path: Path, capsys, monkeypatch) -> None:
    def nobody() -> None:
        raise AssertionError("Spark was asked")

    monkeypatch.setattr("pipeline.spark.session.session", nobody)
    log, out = write(tmp_path / "some.log", hello()), tmp_path / "out"
    shiviz = (log, "--format", "shiviz", "--out", out)
    assert "has no group 'host'" in refused(capsys, *shiviz, "--pattern", "(?<clock>{.*})(?<event>.*)")
    assert "is no regular expression" in refused(capsys, *shiviz, "--delimiter", "(")
    assert "there is no such file" in refused(capsys, tmp_path / "none.log", "--format", "csv", "--out", out)
    assert "--pattern: means nothing to the format csv" in refused(
        capsys, log, "--format", "csv", "--pattern", "x", "--out", out
    )
    assert "cut off or no Parquet file" in refused(capsys, log, "--format", "parquet", "--out", out)
    assert not out.exists()
    with (tmp_path / "long.log").open("wb") as file:
        file.truncate(100_000_000)  # a sparse file: one line without end
    error = refused(capsys, tmp_path / "long.log", "--format", "shiviz", "--out", out)
    assert "long.log:1: a line of 100,000,000 bytes" in error and not out.exists()


def test_a_worker_that_still_writes_when_spark_has_ended_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    """So that the log can be read anew into the same folder."""
    store, remove = create(tmp_path / "out"), shutil.rmtree
    late = [store.path / "late.parquet"]

    def remove_too_early(folder: Path, **options: bool) -> None:
        remove(folder, **options)
        if folder == store.path and late:
            store.path.mkdir()
            late.pop().touch()
            raise OSError(errno.ENOTEMPTY, "Directory not empty")

    def lost(*given: object) -> None:
        raise SparkLost("Spark has ended")

    monkeypatch.setattr("pipeline.store.local_folder.shutil.rmtree", remove_too_early)
    monkeypatch.setattr("pipeline.spark.session.is_own", lambda spark: True)
    monkeypatch.setattr(ingesting, "_read_on_workers", lost)
    nobody: Any = None
    with pytest.raises(SparkLost):
        carry_out(nobody, store, plan([write(tmp_path / "some.log", hello())], "shiviz"))
    assert not late and not store.path.exists()


def test_ctrl_c_leaves_nothing(workers_here: Any, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    store, log = create(tmp_path / "out"), write(tmp_path / "some.log", hello(), hello())
    with pytest.raises(KeyboardInterrupt):
        ingest(workers_here, store, [log], "shiviz", {"delimiter": DELIMITER}, stop)
    assert not store.path.exists()


def test_a_full_disk_leaves_nothing(workers_here: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet, "write_table", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        ingest(workers_here, create(tmp_path / "out"), [write(tmp_path / "some.log", hello())], "shiviz")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_on_a_worker_is_reported(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet, "write_table", full_disk)
    store = create(tmp_path / "out")
    todo = plan([write(tmp_path / "some.log", hello())], "shiviz")
    with pytest.raises(InputError, match="there is no folder"), store.replacing("events") as new:
        (row,) = ingesting._read_executions(store, new, todo, range(1))
        assert "No space left on device" in row["failure"]
        assert list((store.path / "events").iterdir()) == []
        store.delete()
        (row,) = ingesting._read_executions(store, new, todo, range(1))
        assert "was removed" in row["failure"]
        assert not store.path.exists(), "a straggler does not bring the folder back"
        raise InputError("there is no folder to write into")


def test_a_worker_writes_when_it_holds_much(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ingesting, "MOST_ROWS", 4)
    store = create(tmp_path / "out")
    todo = plan([write(tmp_path / "some.log", *[hello()] * 5)], "shiviz", {"delimiter": DELIMITER})
    with store.replacing("events") as new:
        rows = list(ingesting._read_executions(store, new, todo, range(5)))
        for row in rows:
            if row.get("part"):
                new.keep(Written("events", row["part"], row["rows"]))
    parts = store.parts("events")
    assert [part.name for part in parts] == [
        "runs-00000000-00000001",
        "runs-00000002-00000003",
        "runs-00000004-00000004",
    ]
    found = [parquet.read_table(store.path / part.file)["run_id"].to_pylist() for part in parts]
    assert found == [[0, 0, 1, 1], [2, 2, 3, 3], [4, 4]]


@REPEATABLE
@given(st.lists(st.integers(0, 20_000_000), min_size=1, max_size=600))
def test_every_execution_is_in_one_task(sizes: list[int]) -> None:
    tasks = Plan("shiviz", [Piece("", "", (), 0, size) for size in sizes], False).tasks()
    assert [run_id for task in tasks for run_id in task] == list(range(len(sizes)))
    assert all(len(task) <= ingesting.MOST_PIECES for task in tasks)
    assert all(sum(sizes[n] for n in task[:-1]) < ingesting.MOST_SIZE for task in tasks)


def test_cases_of_cos_418_are_run(workers_here: Any, tmp_path: Path) -> None:
    files = [tmp_path / "c.top", tmp_path / "c.events"]
    files[0].write_text("2\nN1 5\nN2 0\nN1 N2\nN2 N1\n")
    files[1].write_text("send N1 N2 2\nsnapshot N1\ntick 3\n")
    (row,) = ingest(workers_here, create(tmp_path / "out"), files, "cos418")
    assert (row["name"], row["pairing"], row["exact"], row["processes"]) == ("c", "given", True, ["N1", "N2"])
    kinds = Store(tmp_path / "out").read(workers_here, "events").toArrow()["kind"].to_pylist()
    assert {"send", "receive", "record", "marker_send"} <= set(kinds)
