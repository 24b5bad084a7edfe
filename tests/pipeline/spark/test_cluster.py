"""The same jobs on a cluster of two workers, which have only the code that was sent to them."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from pipeline.cuts import audits, cut_sources
from pipeline.ensembles import summaries
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.ingest import carry_out, plan
from pipeline.spark import interrupting
from pipeline.spark.background import in_background
from pipeline.spark.connecting import connect, send_project
from pipeline.spark.local_server import Server
from pipeline.store.folder import Store
from tests.pipeline.spark.processes import PATIENCE_S, command_of, descendants, is_let_in, java_of, ports_of, wait_until

LOG = """\
a: sends
a {"a": 1}
b: receives
b {"b": 1, "a": 1}
b: answers
b {"b": 2, "a": 1}
a: receives
a {"a": 2, "b": 2}
"""


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
    """A session of the cluster."""
    spark = connect(server.url, retries=0)
    send_project(spark)
    yield spark
    server.kill()  # else closing would wait for a server that a test has made hang
    spark.client.close()


def rows_of(spark, store: Store, table: str) -> list[tuple]:
    return sorted(map(tuple, store.read(spark, table).collect()), key=repr)


def test_an_ensemble_a_log_and_their_audits_come_to_the_same_there(cluster, spark, tmp_path) -> None:
    (tmp_path / "a.log").write_text(LOG)
    found = {}
    for name, one in (("cluster", cluster), ("local", spark)):
        grid = Grid.read({"workload": "bank", "processes": "3,4", "runs": "10", "events": "all"})
        ensemble = Store.create(tmp_path / name / "ensemble", "ensemble", grid.to_json())
        run_ensemble(one, ensemble, grid)
        log = Store.create(tmp_path / name / "log", "trace", {})
        carry_out(one, log, plan([tmp_path / "a.log"], "shiviz"))
        for store in (ensemble, log):
            audits.audit(one, store, cut_sources.at_random(store.read(one, "events"), 3, seed=1))
        summaries.summarize(one, ensemble)
        found[name] = [
            rows_of(one, store, table)
            for store, tables in (
                (ensemble, ("runs", "events", "audits", "channels", "summaries")),
                (log, ("events", "traces", "audits", "channels")),
            )
            for table in tables
        ]
    assert found["cluster"] == found["local"]
    assert len(found["local"][0]) == 20
    assert len(found["local"][5]) == 4


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
    work = in_background(lambda: run_ensemble(cluster, store, grid, stop=stop))
    wait_until(lambda: store.has("runs"))
    for pid in java_of(server._process.pid):
        os.kill(pid, signal.SIGSTOP)
    stop.set()
    work.result(PATIENCE_S)
    assert store.status == "stopped"
