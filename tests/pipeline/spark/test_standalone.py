"""All jobs in a classic session of a user, on a standalone cluster whose workers have only what was sent to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.some_jobs import STATES, outcome
from tests.pipeline.spark.notebook import OWN
from tests.pipeline.spark.standalone import Cluster, bare_python, standalone_cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def test_all_jobs_in_a_notebook_come_to_the_same_and_leave_its_session_alone(
    spark: Any, cluster: Cluster, done_here: tuple[Path, Path], tmp_path: Path
) -> None:
    here, log = done_here
    script = Path(__file__).with_name("notebook.py")
    master = json.dumps([cluster.url, dict(cluster.conf)])
    done = subprocess.run(
        [sys.executable, str(script), master, str(tmp_path / "there"), str(log)], capture_output=True, text=True,
        cwd=tmp_path, env=cluster.environment(PYSPARK_PYTHON=str(bare_python(tmp_path / "bare"))),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "SPARK_JOB_CANCELLED" in told.pop("end")
    assert told == {"states": STATES, "settings": OWN}
    assert outcome(tmp_path / "there") == outcome(here)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["ensemble", "log"]
