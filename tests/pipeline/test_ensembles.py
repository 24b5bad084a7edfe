"""An ensemble holds every run of its grid once, whatever happens on the way, and each leads back to its run."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from pyarrow import dataset
from pyspark.errors import PySparkException

from pipeline import chunks, session
from pipeline.__main__ import main
from pipeline.chunks import Plan, measured, plan_of
from pipeline.ensembles import grid_of, run_ensemble
from pipeline.grid import Grid
from pipeline.rerun import scenario_of
from pipeline.schema import RUN_TYPES
from pipeline.store import DataError, Store
from sim.execution import finish_rows, run
from sim.files import parse_toml
from sim.scenario import ScenarioError
from tests.sim.tools import table_verdicts

# P1 cannot pay 6 at time 9 in some of the runs. S2 begins after P1's fifth event, which there is not in all of them.
MIXED = """
processes = 3
workload = { kind = "bank", balance = 20, transfers = 2, pace = 5 }
delay = { kind = "uniform", low = 1, high = 7 }
script = [{ process = "P1", at = 9, to = "P2", body = 6 }]
snapshots = [{ id = "S1", process = "P1", at = 3 }, { id = "S2", process = "P2", at = 1, after = "P1.5" }]
"""
RUNS, SEED = 30, 100


def begin(path: Path, given: dict[str, str], parameters: dict[str, str] | None = None) -> tuple[Store, Grid]:
    grid = Grid.read(given, parameters)
    return Store.create(path, "ensemble", grid.to_json()), grid


def rows(store: Store, table: str) -> list[dict[str, Any]]:
    """A table as it lies on the disk, read without Spark."""
    found: list[dict[str, Any]] = dataset.dataset([str(part) for part in store.parts(table)]).to_table().to_pylist()
    return found


def content(store: Store) -> dict[str, bytes]:
    """Every part, by its table and name."""
    return {f"{table}/{part.name}": part.read_bytes() for table in ("runs", "events") for part in store.parts(table)}


@pytest.fixture(scope="module")
def mixed(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Runs that fail, runs that cannot be carried out, and others, with two marker delays."""
    folder = tmp_path_factory.mktemp("ensembles")
    (folder / "mixed.toml").write_text(MIXED)
    given = {"scenario": str(folder / "mixed.toml"), "marker_delay": "same,20", "runs": str(RUNS), "seed": str(SEED)}
    store, grid = begin(folder / "mixed", given)
    run_ensemble(spark, store, grid)
    return store


def test_every_run_is_there_once_with_its_cell_and_its_seed(mixed: Store) -> None:
    found = rows(mixed, "runs")
    told = {(row["run_id"], row["cell"], row["seed"], row["marker_delay"]) for row in found}
    assert told == {
        (cell * RUNS + ordinal, cell, SEED + ordinal, delay)
        for cell, delay in enumerate(("same", "fixed:20"))
        for ordinal in range(RUNS)
    }
    keys = [(row["run_id"], row["snapshot_id"]) for row in found]
    assert len(keys) == len(set(keys))
    for row in found:
        assert (row["snapshot_id"] is None) == (row["error"] is not None)
    assert list(found[0]) == list(RUN_TYPES)
    assert (mixed.status, mixed.manifest["rows"]["runs"]) == ("complete", len(found))


def test_the_rows_tell_what_the_runs_come_to(mixed: Store) -> None:
    """The oracle runs every scenario here, and reads its event table."""
    seen = {"error": 0, "failed": 0, "holds": 0}
    by_run: dict[int, list[dict[str, Any]]] = {}
    for row in rows(mixed, "runs"):
        by_run.setdefault(row["run_id"], []).append(row)
    for found in by_run.values():
        text = f"seed = {found[0]['seed']}\n{found[0]['document']}"
        scenario = parse_toml(text, "mixed")
        try:
            execution = run(scenario)
        except ScenarioError as problem:
            seen["error"] += 1
            assert [(row["error"], row["failed"]) for row in found] == [(str(problem), True)]
            continue
        verdicts = table_verdicts(execution.events, scenario, execution.engine.workload)
        assert {row["snapshot_id"] for row in found} == {"S1", "S2"}
        for row in found:
            wanted = {verdict.check: verdict.holds for verdict in verdicts[row["snapshot_id"]]}
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
        assert finish_rows(run(scenario_of(row)).log, run_id) == events
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
        with pytest.raises(DataError, match=sentence):
            scenario_of(strange)


def test_spark_reads_what_its_workers_wrote(spark: Any, mixed: Store) -> None:
    assert mixed.read(spark, "runs").count() == len(rows(mixed, "runs"))
    assert mixed.read(spark, "events").count() == len(rows(mixed, "events"))


@pytest.mark.parametrize("events", ["all", "none"])
def test_events_of_all_runs_or_of_none(spark: Any, tmp_path: Path, events: str) -> None:
    store, grid = begin(tmp_path / "e", {"processes": "2", "runs": "3", "events": events}, {"transfers": "2"})
    run_ensemble(spark, store, grid)
    kept = {row["run_id"] for row in rows(store, "events")} if store.has("events") else set()
    assert kept == ({0, 1, 2} if events == "all" else set())
    assert {row["has_events"] for row in rows(store, "runs")} == {events == "all"}


@pytest.mark.parametrize(
    ("runs", "most_rows"), [("1", 10**6), ("9", 10**6), ("5000", 10**6), ("100000", 10**6), ("5000", 2_000)]
)
def test_chunks_divide_the_runs_and_are_of_a_bearable_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: str, most_rows: int
) -> None:
    monkeypatch.setattr(chunks, "MOST_ROWS", most_rows)
    grid = Grid.read({"processes": "2,3", "runs": runs}, {"transfers": "20"})
    plan = plan_of(Store(tmp_path), grid)
    runs_of = [plan.run_ids(chunk) for chunk in range(plan.chunk_count)]
    assert [run_id for ids in runs_of for run_id in ids] == list(range(2 * int(runs)))
    assert max(map(len, runs_of)) * max(cell.rows for cell in grid.cells()) <= most_rows
    assert len({plan.part(chunk) for chunk in range(plan.chunk_count)}) == plan.chunk_count


def test_a_run_in_which_nothing_happens_has_no_events(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "still.toml").write_text("processes = 2")
    store, grid = begin(tmp_path / "e", {"scenario": str(tmp_path / "still.toml"), "runs": "2", "events": "all"})
    run_ensemble(spark, store, grid)
    assert rows(store, "events") == []
    assert [(row["run_id"], row["events"], row["has_events"]) for row in rows(store, "runs")] == [
        (0, 0, True),
        (1, 0, True),
    ]
    first, second = run(parse_toml(MIXED, "mixed")).events, run(parse_toml("processes = 2", "still")).events
    assert chunks.event_table([(7, first), (8, second)])["run_id"].to_pylist() == [7] * len(first)


class Broken:
    """A session whose server has gone away."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self

    def toLocalIterator(self) -> Any:
        raise PySparkException("Connection\nrefused")


def test_where_spark_gives_up_that_is_told_in_a_sentence(tmp_path: Path) -> None:
    store, grid = begin(tmp_path / "gone", {"processes": "2", "runs": "2"})
    spark: Any = Broken()
    with pytest.raises(DataError, match=r"gone: Spark gave up \(Connection refused\); what was finished is kept, and"):
        run_ensemble(spark, store, grid)
    assert store.status == "stopped"


# ------------------------------------------------------------------ what may happen on the way

MANY = 32 * session.cores()  # runs in chunks of eight or more: several rounds of them, however many work at once
LONG = {"processes": "4", "runs": str(MANY), "seed": "3"}, {"transfers": "400"}


@pytest.fixture(scope="module")
def undisturbed(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store, grid = begin(tmp_path_factory.mktemp("undisturbed"), *LONG)
    run_ensemble(spark, store, grid)
    return store


def test_what_was_stopped_is_kept_and_resumed_without_doing_it_twice(
    spark: Any, tmp_path: Path, undisturbed: Store
) -> None:
    store, grid = begin(tmp_path / "stopped", *LONG)
    stop = threading.Event()
    told = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if done:
            stop.set()

    run_ensemble(spark, store, grid, progress, stop)
    assert store.status == "stopped"
    assert told[0] == (0, MANY)
    before = {part: part.stat().st_mtime_ns for part in store.parts("runs")}
    assert 0 < len(before) < plan_of(store, grid).chunk_count
    assert store.read(spark, "runs").count() >= 8 * len(before)  # a worker ends the chunk that it is at
    told.clear()
    run_ensemble(spark, store, grid_of(store), lambda done, total: told.append((done, total)))
    assert store.status == "complete"
    assert 8 * len(before) <= told[0][0] < told[-1][0] == MANY
    assert {part: part.stat().st_mtime_ns for part in before} == before
    assert content(store) == content(undisturbed)


def test_a_chunk_that_was_not_finished_is_done_anew(spark: Any, tmp_path: Path, undisturbed: Store) -> None:
    """As a command that was killed the hard way leaves it: events without runs, a hidden file, a status of old."""
    store = Store(Path(shutil.copytree(undisturbed.path, tmp_path / "killed")))
    lost = store.parts("runs")[3]
    lost.rename(lost.with_name(f"_0123456789ab-{lost.name}"))
    store.note(status="running", pid=2**22 + 1)
    assert store.status == "stopped"
    run_ensemble(spark, store, grid_of(store))
    assert content(store) == content(undisturbed)


def test_a_worker_that_is_killed_costs_a_retry(spark: Any, tmp_path: Path, undisturbed: Store) -> None:
    store, grid = begin(tmp_path / "worker", *LONG)
    working = threading.Thread(target=run_ensemble, args=(spark, store, grid))
    working.start()
    while not store.has("runs"):
        time.sleep(0.01)
    killed = kill_workers()
    working.join()
    assert killed
    assert store.status == "complete"
    assert content(store) == content(undisturbed)


def kill_workers() -> list[int]:
    """Kill Spark's Python workers: the children of the daemon that is a descendant of the own server."""
    server = session._KEPT.server
    if server is None or not Path("/proc/self/stat").exists():
        pytest.skip("the workers are not of this machine, or there is no /proc to find them in")
    parent_of = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent_of[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
    ours = [pid for pid in parent_of if server._process.pid in ancestors(pid, parent_of)]
    daemons = [pid for pid in ours if "pyspark.daemon" in command_of(pid)]
    workers = [pid for pid in daemons if parent_of[pid] in daemons]
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    return workers


def ancestors(pid: int, parent_of: dict[int, int]) -> list[int]:
    found = []
    while pid in parent_of:
        pid = parent_of[pid]
        found.append(pid)
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_place_that_cannot_be_written_is_told_in_a_sentence(spark: Any, tmp_path: Path) -> None:
    store, grid = begin(tmp_path / "full", {"processes": "2", "runs": "20"}, {"transfers": "1"})
    store.folder("runs").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"full/runs: cannot be written \(File exists\); make room, or name another"):
        run_ensemble(spark, store, grid)
    assert (store.status, store.parts("runs")) == ("stopped", [])
    store.folder("runs").unlink()
    run_ensemble(spark, store, grid)
    assert (store.status, len(rows(store, "runs"))) == ("complete", 20)


def test_a_folder_that_another_process_writes_is_left_alone(spark: Any, tmp_path: Path) -> None:
    store, grid = begin(tmp_path / "busy", {"processes": "2", "runs": "2"})
    store.note(pid=os.getppid())
    with pytest.raises(DataError, match="is being written by another process; stop that one first"):
        run_ensemble(spark, store, grid)


def test_an_algorithm_that_breaks_is_a_row_not_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(str(tmp_path), "mixed", "bank", (MIXED,), 2, SEED, "all", 8)

    def broken(*_: Any) -> None:
        raise KeyError("marker")

    monkeypatch.setattr("sim.algorithms.chandy_lamport.ChandyLamport.on_marker", broken)
    (row,), execution = measured(plan, 1)
    assert (row["failed"], row["error"], row["seed"], execution) == (True, "KeyError: 'marker'", SEED + 1, None)


# ------------------------------------------------------------------ the command


def test_the_command_runs_a_grid_and_says_what_came_of_it(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    out = tmp_path / "mixed-12"
    words = ["ensemble", "--scenario", str(tmp_path / "mixed.toml"), "--runs", "12", "--seed", "100", "--out", str(out)]
    assert main(words) == 0
    told = capsys.readouterr().out
    found = rows(Store(out), "runs")
    failures = [row for row in found if row["failed"]]
    first = min(failures, key=lambda row: row["run_id"])
    assert told.splitlines() == [
        "mixed: 12 of 12 runs; cells: 1; "
        f"snapshots: {sum(row['snapshot_id'] is not None for row in found)}; failures: {len(failures)}",
        f"the first failure: run {first['run_id']}, {first['error'] or first['snapshot_id'] + ': ' + first['witness']}",
        f"in {out}; to open a run: python -m pipeline catalog open mixed-12 --root {tmp_path} --run {first['run_id']}",
    ]
    assert main(told.splitlines()[-1].partition("-m pipeline ")[2].split()) == 0
    opened = parse_toml(capsys.readouterr().out, "opened")
    assert (opened.seed, opened.script) == (first["seed"], parse_toml(MIXED, "mixed").script)
    parts = Store(out).parts("runs")
    parts[-1].unlink()  # as one does with a damaged one
    for _ in range(2):
        assert main([*words, "--resume"]) == 0
        assert capsys.readouterr().out == told
    assert Store(out).parts("runs") == parts
    for more, sentence in (
        ([], f"{out}: the folder exists and is not empty"),
        (["--resume", "--runs", "13"], "--runs: the folder was begun with 12, not 13"),
    ):
        assert main([*words, *more]) == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(sentence)
        assert complaint.count("\n") == 1


def test_the_command_tells_of_an_unfinished_ensemble_how_to_go_on(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    def interrupted(done: int, total: int) -> None:
        if done and not sent:
            sent.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("pipeline.commands.ensemble.bar", lambda *_: nullcontext(interrupted))
    (given, parameters), out = LONG, tmp_path / "a folder"
    words = [f"--{option}={text}" for option, text in given.items()]
    assert main(["ensemble", *words, f"--set=transfers={parameters['transfers']}", "--out", str(out)]) == 130
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == [
        f"in {out}", f"to complete it: python -m pipeline ensemble --out '{out}' --resume",
    ]  # fmt: skip
    assert told.err == "stopped; what was finished is kept\n"
    assert Store(out).status == "stopped"


def test_a_bad_grid_leaves_no_folder_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, sentence in (
        (["--workload", "bnak"], "--workload: 'bnak' is unknown"),
        (["--set", "transfers"], "--set transfers: write NAME=VALUES"),
        (["--set", "pace=1", "--set", "pace=2"], "--set pace=2: write NAME=VALUES"),
        (["--initiators", "9"], "--initiators: 9 of 8 processes"),
        (["--resume"], f"{tmp_path / 'none'}: there is no such folder"),
    ):
        assert main(["ensemble", "--out", str(tmp_path / "none"), *words]) == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(sentence)
        assert complaint.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_only_what_ensemble_has_begun_is_resumed(tmp_path: Path) -> None:
    trace = Store.create(tmp_path / "trace", "trace", {})
    with pytest.raises(DataError, match="holds no ensemble; name a folder that ensemble has begun"):
        grid_of(trace)
    store, _ = begin(tmp_path / "old", {"processes": "2"})
    store.note(version="0.0.1")
    with pytest.raises(DataError, match=r"was begun by version 0.0.1, whose runs may differ from those of this one"):
        grid_of(store)
