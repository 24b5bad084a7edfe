"""The commands, where all that is shared with the workers is a storage (moto's S3): Spark here, and on a cluster."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pipeline import jobs
from pipeline.__main__ import main
from pipeline.ensembles import summaries
from pipeline.spark import session as spark_session
from pipeline.store import storage_lock
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.schema import TABLES, arrow_schema
from sim.core.errors import InputError
from sim.document.writing import dumps
from sim.explore.report import complete_graph
from tests.pipeline.s3 import BUCKET, losing, s3
from tests.pipeline.some_jobs import LOG, STATES, check_summaries
from tests.pipeline.some_jobs import rows as rows_of
from tests.pipeline.spark.standalone import can_hide, connect_server, standalone_cluster
from tests.pipeline.without_spark import no_spark

CLUSTER = pytest.mark.long("the commands on a cluster that sees no file of this machine, but a storage")
STORAGE = pytest.mark.long("all commands at a storage, also where it is lost in the middle")
SUMMARIES = ("summaries", "extremes", "sample")  # which Spark alone fills

GIVEN = {"workload": "bank", "processes": "3,4", "runs": "10", "events": "all"}
CUTS = "run_id,cut_id,process,index\n0,early,a,1\n0,late,a,1\n0,late,b,2\n0,wrong,b,1\n"

Found = list[dict[str, list[str]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that only this machine has: a log, cuts, a scenario."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "a.log").write_text(LOG)
    (folder / "cuts.csv").write_text(CUTS)
    (folder / "small.toml").write_text(dumps(complete_graph(2, 1)))
    (folder / "here").mkdir()
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> Found:
    """The outcomes of the commands without Spark."""
    with no_spark():
        return outcomes(str(folder / "here"), folder)


@pytest.fixture(scope="module", params=["here", pytest.param("cluster", marks=CLUSTER)])
def where(
    request: pytest.FixtureRequest, spark: Any, door: socket.socket, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The storage. Spark is ours, or at a Connect server of a cluster whose workers do not see this machine's files."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(storage_lock, "SETTLE_S", 0.0)
        service = stack.enter_context(s3(door))
        if request.param == "cluster":
            if not can_hide():
                pytest.skip("no folder can be hidden from a process here")
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
            cluster = stack.enter_context(standalone_cluster(own, tmp_path_factory.getbasetemp(), **service))
            patch.setenv("SPARK_REMOTE", stack.enter_context(connect_server(cluster, own)))
            patch.setattr(spark_session, "_STATE", spark_session._State())
            stack.callback(spark_session.stop)
        yield f"s3://{BUCKET}"


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
    there = [(store, table) for store in stores for table in TABLES if store.has(table) and table not in SUMMARIES]
    return {f"{store.name}/{table}": rows_of(store, table) for store, table in there}


@STORAGE
def test_the_commands_come_to_the_same_as_here(
    here: Found, where: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"{where}/all"
    assert outcomes(out, folder) == here
    check_summaries(Store(f"{out}/ensemble"))
    said = capsys.readouterr().out
    assert f"4 events of 1 executions in {out}/log" in said
    assert f"{STATES} states" in said
    assert len(here[-1]["log/events"]) == 4, "none is lost"
    assert [name for name in Store(f"{out}/log").place.names() if name[0] == "_"] == ["_tables.json"]
    assert Store(out).place.names() == ["ensemble", "log"], "nothing is left of the exploration"


@pytest.fixture
def blind(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers do not see the files of this machine."""
    if "SPARK_REMOTE" not in os.environ:  # else it is so
        write = LocalFolder.write
        monkeypatch.setattr(spark_session, "is_own", lambda spark: False)
        monkeypatch.setattr(LocalFolder, "write", lambda *given: given[1].startswith("_reach") or write(*given))


def test_a_folder_of_this_machine_alone_is_refused_before_any_work(
    here: Found, blind: None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "here", tmp_path / "copy")
    for command in commands(str(tmp_path / "copy"), folder):
        if command[0] in ("ensemble", "ingest"):
            command[-1] = str(tmp_path / "new")
        assert main(command) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        why = "they do not see files that this machine writes"
        assert f"the workers of this Spark do not reach it ({why}); name a" in told
        assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    assert rows_in(str(tmp_path / "copy")) == here[-1]
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["ensemble", "log"]


# ------------------------------------------------------------------ a storage that is lost in the middle


@pytest.fixture
def left(where: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A lock whose holder could not free it is free, without waiting for a minute."""
    monkeypatch.setattr(storage_lock, "STALE_S", 0.0)
    return where


def fails(job: Callable[[Callable[..., None]], object]) -> None:
    """Carries out a job that gets what makes the storage refuse everything: it is told in a sentence."""
    with losing() as lose, pytest.raises(InputError, match="ACCESS_DENIED") as told:
        job(lose)
    assert "\n" not in str(told.value)


@STORAGE
def test_an_ensemble_and_what_is_made_of_it_are_completed_later(
    here: Found, left: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"{left}/lost/ensemble"
    fails(lambda lose: jobs.ensemble(out, {"transfers": "20"}, progress=lambda done, _: done and lose(), **GIVEN))
    assert Store(out).status == "stopped"
    jobs.ensemble(out, resume=True)
    assert Store(out).status == "complete"
    assert rows_in(f"{left}/lost") == {name: here[0][name] for name in here[0] if name.startswith("ensemble")}

    jobs.audit(out, random=2)
    before = rows_in(f"{left}/lost")
    fails(lambda lose: jobs.audit(out, random=3, seed=1, progress=lose))
    assert rows_in(f"{left}/lost") == before
    jobs.audit(out, random=3, seed=1)

    with monkeypatch.context() as patch:
        fails(
            lambda lose: (
                patch.setattr(summaries, "arrow_schema", lambda types: lose() or arrow_schema(types)),
                jobs.summarize(out),
            )
        )
    jobs.summarize(out)
    check_summaries(Store(out))
    found = rows_in(f"{left}/lost")
    assert found == {name: here[-1][name] for name in found}


def test_a_log_is_read_later(here: Found, left: str, folder: Path) -> None:
    out = f"{left}/lost-log/log"
    fails(lambda lose: jobs.ingest(out, [folder / "a.log"], "shiviz", progress=lose))
    store = Store(out)
    assert store.status == "stopped"
    assert not store.has("events")
    store.delete()
    jobs.ingest(out, [folder / "a.log"], "shiviz")
    assert rows_in(f"{left}/lost-log") == {name: here[1][name] for name in ("log/events", "log/traces")}


@STORAGE
def test_states_are_explored_later(left: str) -> None:
    where = f"{left}/lost-states"
    fails(lambda lose: jobs.explore(complete_graph(2, 1), parts=2, scratch=where, progress=lose))
    assert jobs.explore(complete_graph(2, 1), parts=2, scratch=where).found.states == STATES
