"""All jobs in a Connect session of a user, on a cluster of two workers, which have only what was sent to them."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.spark import interrupting
from pipeline.spark.background import in_background
from pipeline.spark.connecting import connect
from pipeline.spark.local_server import START_S, Server
from pipeline.spark.preparing import prepare
from pipeline.store.folder import Store
from tests.pipeline.some_jobs import STATES, all_jobs, outcome
from tests.pipeline.spark.notebook import OWN
from tests.pipeline.spark.processes import PATIENCE_S, command_of, descendants, is_let_in, java_of, ports_of, wait_until


@pytest.fixture(scope="module")
def server():
    """A cluster with two executors, each a Java process with a core and a gigabyte."""
    server = Server("local-cluster[2,1,1024]", sees_project=False)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def cluster(server):
    """A user's session of the cluster, with settings of its own."""
    spark = connect(server.url, retries=0, patience_s=START_S)
    for name, value in OWN.items():
        spark.conf.set(name, value)
    yield spark
    server.kill()  # else closing would wait for a server that a test has made hang
    spark.client.close()


def test_all_jobs_in_a_users_connect_session_come_to_the_same_and_leave_it_alone(
    spark, cluster, done_here, tmp_path
) -> None:
    here, log = done_here
    assert all_jobs(tmp_path / "there", log, cluster) == STATES
    assert outcome(tmp_path / "there") == outcome(here)
    assert {name: cluster.conf.get(name) for name in OWN} == OWN


def test_its_driver_lets_in_who_has_the_secret_and_nobody_else(server, probe) -> None:
    conf = (server.scratch / "conf.properties").read_text().splitlines()
    secret = next(line.split()[1] for line in conf if line.startswith("spark.authenticate.secret"))
    ports = ports_of(java_of(server._process.pid))
    assert [port for port in ports if is_let_in(probe, port)] == []
    known = {"authenticate": "true", "network_crypto_enabled": "true", "authenticate_secret": secret}
    assert sum(is_let_in(probe, port, **known) for port in ports) == 1
    assert not any(secret in word for pid in descendants(server._process.pid) for word in command_of(pid))


def test_a_session_that_hangs_is_given_up_when_it_is_told_to_stop(server, cluster, tmp_path, monkeypatch) -> None:
    """As of a cluster elsewhere: this process does not end it, but does not wait for it."""
    monkeypatch.setattr(interrupting, "PATIENCE_S", 0.5)
    grid = Grid.read({"workload": "bank", "processes": "4", "runs": "10000"}, {"transfers": "400"})
    store, stop = Store.create(tmp_path / "hung", "ensemble", grid.to_json()), threading.Event()
    prepare(cluster)
    work = in_background(lambda: run_ensemble(cluster, store, grid, stop=stop))
    wait_until(lambda: store.has("runs"))
    for pid in java_of(server._process.pid):
        os.kill(pid, signal.SIGSTOP)
    stop.set()
    work.result(PATIENCE_S)
    assert store.status == "stopped"
