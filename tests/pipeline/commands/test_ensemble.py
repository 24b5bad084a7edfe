"""The command `ensemble`: its output and exit status."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pipeline.__main__ import main
from pipeline.store.folder import Store
from sim.document.files import parse_toml
from tests.pipeline.some_ensembles import MIXED, rows
from tests.pipeline.without_spark import no_spark


@pytest.mark.slow
def test_the_command_runs_a_grid_and_says_what_came_of_it(
    workers_here: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    out = tmp_path / "mixed-12"
    words = ["ensemble", "--scenario", str(tmp_path / "mixed.toml"), "--runs", "12", "--seed", "100", "--out", str(out)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    found = rows(Store(out), "runs")
    failures = [row for row in found if row["failed"]]
    first = min(failures, key=lambda row: row["run_id"])
    assert printed.splitlines() == [
        "mixed: 12 of 12 runs; cells: 1; "
        f"snapshots: {sum(row['snapshot_id'] is not None for row in found)}; failures: {len(failures)}",
        f"the first failure: run {first['run_id']}, {first['error'] or first['snapshot_id'] + ': ' + first['witness']}",
        f"in {out}; to open a run: python -m pipeline catalog open mixed-12 --root {tmp_path} --run {first['run_id']}",
    ]
    assert main(printed.splitlines()[-1].partition("-m pipeline ")[2].split()) == 0
    opened = parse_toml(capsys.readouterr().out, "opened")
    assert (opened.seed, opened.script) == (first["seed"], parse_toml(MIXED, "mixed").script)
    parts = Store(out).parts("runs")
    (out / parts[-1].file).unlink()  # as users do with a damaged part
    for _ in range(2):
        assert main([*words, "--resume"]) == 0
        assert capsys.readouterr().out == printed
    assert Store(out).parts("runs") == parts
    for more, sentence in (
        ([], f"{out}: the folder exists and is not empty"),
        (["--resume", "--runs", "13"], "--runs: the folder was begun with 12, not 13"),
    ):
        assert main([*words, *more]) == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(sentence)
        assert complaint.count("\n") == 1


@pytest.mark.slow
def test_the_command_tells_of_an_unfinished_ensemble_how_to_go_on(
    workers_here: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGINT ends it in its first half, SIGTERM the one that goes on in the second; then it is completed."""
    out = tmp_path / "a folder"
    words = ["--workload=bank", "--processes=2", "--runs=32", "--events=all", "--set=transfers=2", "--out", str(out)]
    for number, after, more in ((signal.SIGINT, 1, []), (signal.SIGTERM, 17, ["--resume"])):

        def stopped(done: int, total: int, number: int = number, after: int = after) -> None:
            if done >= after:
                os.kill(os.getpid(), number)

        monkeypatch.setattr("pipeline.commands.ensemble.bar", lambda *_, stopped=stopped: nullcontext(stopped))
        assert main(["ensemble", *words, *more]) == 128 + number
        printed = capsys.readouterr()
        assert printed.out.splitlines()[1:] == [
            f"in {out}", f"to complete it: python -m pipeline ensemble --out '{out}' --resume",
        ]  # fmt: skip
        assert printed.err == "stopped; what was finished is kept\n"
        assert Store(out).status == "stopped"
    monkeypatch.undo()
    with no_spark():
        assert main(["ensemble", *words, "--resume"]) == 0
    assert sorted(row["run_id"] for row in rows(Store(out), "runs")) == list(range(32))


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
