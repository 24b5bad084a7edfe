"""The same jobs on a cluster of two workers, which have only the code that was sent to them."""

from __future__ import annotations

import pytest

from pipeline.cuts import audits, cut_sources
from pipeline.ensembles import summaries
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.ingest import carry_out, plan
from pipeline.spark import spark_session
from pipeline.store.folder import Store

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
def cluster():
    """A session of a cluster with two executors, each a Java process with a core and a gigabyte."""
    server = spark_session.Server("local-cluster[2,1,1024]", sees_project=False)
    try:
        spark = spark_session.connect(server.url)
        spark_session.send_project(spark)
        yield spark
        spark.client.close()
    finally:
        server.stop()


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
