"""Commands that use Spark end in order at SIGINT and SIGTERM: nothing of theirs runs on, and no folder says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.store.folder import Store
from tests.pipeline.some_ensembles import LONG
from tests.pipeline.spark.processes import descendants, java_of, wait_until, wait_until_gone
from tests.tools import QUICK_JAVA, ROOT


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The folder of the scratch folders of Spark's servers."""
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def command(scratch: Path, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "TMPDIR": str(scratch), "JAVA_TOOL_OPTIONS": QUICK_JAVA},
    )  # fmt: skip


@pytest.mark.long("SIGTERM in the middle of an ensemble of a command with a Spark of its own")
def test_sigterm_stops_an_ensemble_and_its_folder_says_so(scratch: Path, tmp_path: Path) -> None:
    (given, parameters), out = LONG, tmp_path / "out"
    options = [f"--{option}={text}" for option, text in {**given, "runs": "100000"}.items()]
    words = ("ensemble", *options, f"--set=transfers={parameters['transfers']}", "--out", out)
    with command(scratch, *words) as ensemble:
        wait_until(lambda: Store(out).has("runs"))
        left = descendants(ensemble.pid)
        ensemble.terminate()
        told, complaint = ensemble.communicate()
        assert ensemble.returncode == 143
    assert f"to complete it: python -m pipeline ensemble --out {out} --resume" in told
    assert "stopped; what was finished is kept" in complaint.splitlines()
    assert "Traceback" not in complaint
    assert Store(out).manifest.status == "stopped"
    assert Store(out).count("runs") >= 8
    wait_until_gone(left)
    assert list(scratch.iterdir()) == []


def test_sigint_while_spark_starts_leaves_nothing(scratch: Path, tmp_path: Path) -> None:
    log = tmp_path / "some.log"
    log.write_text('a: sends\na {"a": 1}\nb: receives\nb {"b": 1, "a": 1}\n')
    with command(scratch, "ingest", log, "--format", "shiviz", "--out", tmp_path / "out") as ingest:
        wait_until(lambda: java_of(ingest.pid))
        left = descendants(ingest.pid)
        ingest.send_signal(signal.SIGINT)
        told, complaint = ingest.communicate()
        assert ingest.returncode == 130
    assert told == ""
    assert "stopped; what was finished is kept" in complaint.splitlines()
    assert "Traceback" not in complaint
    assert not (tmp_path / "out").exists()
    wait_until_gone(left)
    wait_until(lambda: list(scratch.iterdir()) == [])  # what has begun since then tidies up as well
