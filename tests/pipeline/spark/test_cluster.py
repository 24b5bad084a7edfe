"""All jobs in a Connect session of a user: beside our own, and on two workers that have only what was sent to them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.connect import udf

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.spark import interrupting, preparing
from pipeline.spark import session as spark_session
from pipeline.spark.background import in_background
from pipeline.spark.connecting import connect
from pipeline.spark.local_server import START_S, Server
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.pipeline.some_jobs import Outcome, all_jobs, outcome
from tests.pipeline.spark.notebook import OWN
from tests.pipeline.spark.processes import command_of, descendants, is_let_in, java_of, ports_of
from tests.waiting import budget_s, until

CLUSTER = pytest.mark.long("a user's Connect session on a cluster of two executors, and its secrets")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A cluster with two executors, each a Java process with a core and a gigabyte."""
    server = Server("local-cluster[2,1,1024]", sees_project=False)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def users(server: Server) -> Any:
    """A user's session of a server, with settings of its own."""
    session = connect(server.url, retries=0, patience_s=START_S)
    for name, value in OWN.items():
        session.conf.set(name, value)
    return session


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[Any]:
    session = users(server)
    yield session
    server.kill()  # else closing would wait for a server that a test has made hang
    session.client.close()


def check_all_jobs(session: Any, expected: Outcome, folder: Path, log: Path) -> None:
    """They come to the same, and leave the session as it was."""
    assert outcome(folder, all_jobs(folder, log, session)) == expected
    assert {name: session.conf.get(name) for name in OWN} == OWN


@pytest.mark.long("all jobs in a Connect session of a user")
def test_all_jobs_in_a_users_connect_session_come_to_the_same_and_leave_it_alone(
    spark: Any, expected: Outcome, log: Path, tmp_path: Path
) -> None:
    if spark_session._STATE.server is None:
        pytest.skip("SPARK_REMOTE names a server that is not our own")
    session = users(spark_session._STATE.server)
    assert not spark_session.is_own(session)
    check_all_jobs(session, expected, tmp_path / "there", log)
    session.client.close()


def test_what_workers_lack_is_said_before_any_job(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "NEEDED", (*preparing.NEEDED, "no_such_package"))
    with pytest.raises(InputError, match=r"Spark's workers lack no_such_package: install it there"):
        preparing.prepare(spark)


def test_a_worker_of_another_python_is_told_of(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udf, "sys", SimpleNamespace(version_info=(3, 99)))
    with pytest.raises(InputError, match=rf"workers have Python 3\.{sys.version_info[1]}, and this is Python 3\.99"):
        preparing.prepare(spark)


@CLUSTER
def test_so_they_do_on_a_cluster(cluster: Any, expected: Outcome, log: Path, tmp_path: Path) -> None:
    check_all_jobs(cluster, expected, tmp_path / "there", log)


@CLUSTER
def test_its_driver_lets_in_who_has_the_secret_and_nobody_else(server: Server, probe: Any) -> None:
    conf = (server.scratch / "conf.properties").read_text().splitlines()
    secret = next(line.split()[1] for line in conf if line.startswith("spark.authenticate.secret"))
    ports = ports_of(java_of(server._process.pid))
    assert [port for port in ports if is_let_in(probe, port)] == []
    known = {"authenticate": "true", "network_crypto_enabled": "true", "authenticate_secret": secret}
    assert sum(is_let_in(probe, port, **known) for port in ports) == 1
    assert not any(secret in word for pid in descendants(server._process.pid) for word in command_of(pid))


@CLUSTER
def test_a_session_that_hangs_is_given_up_when_it_is_told_to_stop(
    server: Server, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a cluster elsewhere: this process does not end it, but does not wait for it."""
    monkeypatch.setattr(interrupting, "PATIENCE_S", 0.5)
    grid = Grid.read({"workload": "bank", "processes": "4", "runs": "10000"}, {"transfers": "400"})
    store, stop = Store.create(tmp_path / "hung", "ensemble", grid.to_json()), threading.Event()
    preparing.prepare(cluster)
    work = in_background(lambda: run_ensemble(cluster, store, grid, stop=stop))
    until(lambda: store.has("runs"), "the first runs are there", 120.0)
    for pid in java_of(server._process.pid):
        os.kill(pid, signal.SIGSTOP)
    stop.set()
    work.result(budget_s())
    assert store.status == "stopped"
