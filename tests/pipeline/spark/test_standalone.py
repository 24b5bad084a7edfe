"""Jobs in a classic session of a user, here, and on a standalone cluster whose workers have only what was sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.some_jobs import Outcome, all_jobs, jobs_without_an_ensemble, outcome
from tests.pipeline.spark.notebook import OWN
from tests.pipeline.spark.standalone import bare_python, environment_of_users, settings_of_users, standalone_cluster

# The URL of a master, settings of a session, the environment of a notebook, and its jobs.
Master = tuple[str, Mapping[str, str], Mapping[str, str], str]
NOTEBOOK = pytest.mark.long("jobs in a notebook with a classic session of its own")
CLUSTER = pytest.mark.long("notebooks on a standalone cluster")


@pytest.fixture(scope="module", params=[pytest.param("here", marks=NOTEBOOK), pytest.param("cluster", marks=CLUSTER)])
def master(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Master]:
    if request.param == "here":
        yield "local[2,4]", settings_of_users(), environment_of_users(), jobs_without_an_ensemble.__name__
        return
    folder = tmp_path_factory.mktemp("cluster")
    bare = str(bare_python(tmp_path_factory.mktemp("bare")))
    with standalone_cluster(folder) as cluster:
        yield cluster.url, cluster.conf, cluster.environment(PYSPARK_PYTHON=bare), all_jobs.__name__


def test_jobs_in_a_notebook_come_to_the_same_and_leave_its_session_alone(
    master: Master, expected: Outcome, log: Path, tmp_path: Path
) -> None:
    url, conf, environment, jobs = master
    script = Path(__file__).with_name("notebook.py")
    words: list[Any] = [json.dumps([url, dict(conf)]), tmp_path / "there", log, jobs]
    done = subprocess.run(
        [sys.executable, str(script), *map(str, words)], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "SPARK_JOB_CANCELLED" in told["end"]
    assert told["settings"] == OWN
    there = sorted(os.listdir(tmp_path / "there"))
    assert there == (["ensemble", "log"] if jobs == all_jobs.__name__ else ["log"])
    rows = {name: own for name, own in expected.rows.items() if name.partition("/")[0] in there}
    assert outcome(tmp_path / "there", told["states"]) == (rows, expected.states)
