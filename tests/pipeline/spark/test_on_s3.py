"""The commands on a cluster whose workers see no file of this machine: all that they share is a storage (moto's S3)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import jobs
from pipeline.__main__ import main
from pipeline.ensembles import summaries
from pipeline.spark import spark_session
from pipeline.store import storage_lock
from pipeline.store.folder import Store
from pipeline.store.schema import TABLES, arrow_schema
from sim.core.errors import InputError
from sim.document.writing import dumps
from sim.explore.report import complete_graph
from tests.pipeline.s3 import BUCKET, losing, s3
from tests.pipeline.some_jobs import LOG, STATES
from tests.pipeline.spark.standalone import can_hide, connect_server, standalone_cluster

pytestmark = pytest.mark.skipif(not can_hide(), reason="no folder can be hidden from a process here")

GIVEN = {"workload": "bank", "processes": "3,4", "runs": "10", "events": "all"}
CUTS = "run_id,cut_id,process,index\n0,early,a,1\n0,late,a,1\n0,late,b,2\n0,wrong,b,1\n"

Found = list[dict[str, list[str]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this machine alone has: a log, cuts, a scenario."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "a.log").write_text(LOG)
    (folder / "cuts.csv").write_text(CUTS)
    (folder / "small.toml").write_text(dumps(complete_graph(2, 1)))
    (folder / "here").mkdir()
    return folder


@pytest.fixture(scope="module")
def here(spark: Any, folder: Path) -> Found:
    """The outcomes of the commands on the local Spark."""
    return outcomes(str(folder / "here"), folder)


@pytest.fixture(scope="module")
def there(here: Found, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spark is at a Connect server of the cluster, whose workers do not see the folders of these tests."""
    with (
        s3() as service,
        tempfile.TemporaryDirectory(prefix="cluster-") as folder,
        standalone_cluster(Path(folder), tmp_path_factory.getbasetemp(), **service) as cluster,
        connect_server(cluster, Path(folder)) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(spark_session, "_STATE", spark_session._State())
        patch.setattr(storage_lock, "SETTLE_S", 0.0)
        patch.setenv("SPARK_REMOTE", url)
        yield
        spark_session.stop()


def commands(where: str, folder: Path) -> list[list[str]]:
    """All commands, with their data folders in `where`."""
    given = [word for name, value in GIVEN.items() for word in (f"--{name}", value)]
    return [
        ["ensemble", *given, "--set", "transfers=20", "--out", f"{where}/ensemble"],
        ["ingest", str(folder / "a.log"), "--format", "shiviz", "--out", f"{where}/log"],
        ["audit", f"{where}/ensemble", "--snapshots"],
        ["audit", f"{where}/ensemble", "--random", "3", "--seed", "1"],
        ["audit", f"{where}/log", "--cuts", str(folder / "cuts.csv")],
        ["summarize", f"{where}/ensemble"],
        ["explore", str(folder / "small.toml"), "--parts", "2", "--scratch", where],
    ]


def outcomes(where: str, folder: Path) -> Found:
    """The rows of all tables after each command."""
    found = []
    for command in commands(where, folder):
        assert main(command) == 0
        found.append(rows_in(where))
    return found


def rows_in(where: str) -> dict[str, list[str]]:
    """The rows of all tables of the data folders, sorted."""
    stores = [Store(f"{where}/{name}") for name in ("ensemble", "log")]
    return {
        f"{store.name}/{table}": sorted(map(str, store.rows(table).to_table().to_pylist()))
        for store in stores
        for table in TABLES
        if store.has(table)
    }


def test_the_commands_come_to_the_same_as_here(
    here: Found, there: None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"s3://{BUCKET}/all"
    assert outcomes(where, folder) == here
    said = capsys.readouterr().out
    assert f"4 events of 1 executions in {where}/log" in said
    assert f"{STATES} states" in said
    assert len(here[-1]["log/events"]) == 4, "none is lost"
    assert [name for name in Store(f"{where}/log").place.names() if name[0] == "_"] == ["_tables.json"]
    assert Store(where).place.names() == ["ensemble", "log"], "nothing is left of the exploration"


def test_a_folder_of_this_machine_alone_is_refused_before_any_work(
    here: Found, there: None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "here", tmp_path / "copy")
    for command in commands(str(tmp_path / "copy"), folder):
        if command[0] in ("ensemble", "ingest"):
            command[-1] = str(tmp_path / "new")
        assert main(command) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "the workers of this Spark do not reach it (they see no file that is written here); name a" in told
        assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    assert rows_in(str(tmp_path / "copy")) == here[-1]
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["ensemble", "log"]


# ------------------------------------------------------------------ a storage that is lost in the middle


@pytest.fixture
def left(there: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock whose holder could not free it is nobody's, without waiting for a minute."""
    monkeypatch.setattr(storage_lock, "STALE_S", 0.0)


def fails(job: Callable[[Callable[..., None]], object]) -> None:
    """Carries out a job that gets what makes the storage refuse everything: it is told in a sentence."""
    with losing() as lose, pytest.raises(InputError, match="ACCESS_DENIED") as told:
        job(lose)
    assert "\n" not in str(told.value)


def test_an_ensemble_and_what_is_made_of_it_are_completed_later(
    here: Found, left: None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"s3://{BUCKET}/lost/ensemble"
    fails(lambda lose: jobs.ensemble(out, {"transfers": "20"}, progress=lambda done, _: done and lose(), **GIVEN))
    assert Store(out).status == "stopped"
    jobs.ensemble(out, resume=True)
    assert Store(out).status == "complete"
    assert rows_in(f"s3://{BUCKET}/lost") == {name: here[0][name] for name in here[0] if name.startswith("ensemble")}

    jobs.audit(out, random=2)
    before = rows_in(f"s3://{BUCKET}/lost")
    fails(lambda lose: jobs.audit(out, random=3, seed=1, progress=lose))
    assert rows_in(f"s3://{BUCKET}/lost") == before
    jobs.audit(out, random=3, seed=1)

    with monkeypatch.context() as patch:
        fails(
            lambda lose: (
                patch.setattr(summaries, "arrow_schema", lambda types: lose() or arrow_schema(types)),
                jobs.summarize(out),
            )
        )
    jobs.summarize(out)
    found = rows_in(f"s3://{BUCKET}/lost")
    assert found == {name: here[-1][name] for name in found}


def test_a_log_is_read_later(here: Found, left: None, folder: Path) -> None:
    out = f"s3://{BUCKET}/lost-log/log"
    fails(lambda lose: jobs.ingest(out, [folder / "a.log"], "shiviz", progress=lose))
    store = Store(out)
    assert store.status == "stopped"
    assert not store.has("events")
    store.delete()
    jobs.ingest(out, [folder / "a.log"], "shiviz")
    assert rows_in(f"s3://{BUCKET}/lost-log") == {name: here[1][name] for name in ("log/events", "log/traces")}


def test_states_are_explored_later(left: None) -> None:
    where = f"s3://{BUCKET}/lost-states"
    fails(lambda lose: jobs.explore(complete_graph(2, 1), parts=2, scratch=where, progress=lose))
    assert jobs.explore(complete_graph(2, 1), parts=2, scratch=where).found.states == STATES
