"""Real processes under kills, partitions, delays and losses, while snapshots are taken: the books are exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv
import pyarrow.parquet
import pytest

from cluster.__main__ import main
from cluster.chaos import Report, chaos, plan
from cluster.model import FAULT_KINDS
from cluster.retold import retold, table
from cluster.starting import Wanted, of_nodes
from cluster.system import TRANSPORTS
from pipeline.__main__ import main as pipeline
from pipeline.spark import spark_session
from sim.core.errors import InputError
from sim.core.model import Event
from sim.run.execution import run
from tests.cluster.waiting import apart
from tests.tools import QUICK_JAVA, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS, SEED = 10.0, 5
NODES = ["P1", "P2", "P3", "P4"]
CHANNELS = [f"{one}->{other}" for one in NODES for other in NODES if one != other]

# ---------------------------------------------------------------------- what is going to happen


def test_the_same_seed_gives_the_same_faults_and_another_one_others() -> None:
    assert plan(1, 30, NODES, CHANNELS) == plan(1, 30, NODES, CHANNELS) != plan(2, 30, NODES, CHANNELS)


def test_all_kinds_of_faults_come_and_whatever_is_severed_is_mended_later() -> None:
    planned = plan(1, 60, NODES, CHANNELS)
    assert {own.fault.kind for own in planned} == {*FAULT_KINDS}
    assert [own.at for own in planned] == sorted(own.at for own in planned)
    for own in planned:
        if own.fault.kind == "sever":
            mends = (other for other in planned if other.fault.kind == "mend" and other.at > own.at)
            assert any(other.fault.channels == own.fault.channels for other in mends)


# ---------------------------------------------------------------------- one run of ten seconds


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JAVA)
    yield spark_session.session()
    spark_session.stop()


@pytest.fixture(scope="module", params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, transport: str) -> Path:
    return tmp_path_factory.mktemp(f"chaos-{transport}") / "run"


@pytest.fixture(scope="module")
def report(folder: Path, transport: str) -> Iterator[Report]:
    """The same faults over each transport: the same books have to be exact."""
    scenario = of_nodes(4, "bank", settings=["pace=2"])
    wanted = Wanted(scenario, delay=(0.005, 0.03), folder=folder, transport=transport)
    yield apart(lambda: chaos(wanted, SECONDS, SEED))


@pytest.mark.slow
def test_the_books_of_ten_seconds_of_chaos_are_exact(report: Report) -> None:
    assert report.wrong == []
    assert report.snapshots.get("COMPLETED", 0) >= 20
    assert report.books.statuses["complete"] == report.snapshots["COMPLETED"]
    assert report.faults["kill"] >= 1
    assert len(report.recoveries) >= 1
    assert report.books.recorded >= 1
    assert report.books.total("put_back") >= 1


@pytest.mark.slow
def test_no_process_of_a_node_remains(report: Report) -> None:
    assert report.still_there == ()
    own = str(report.logs).encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
            parent = int((path.parent / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
        assert own not in command
        assert not (b"cluster.node" in command and parent == os.getpid())


@pytest.mark.slow
def test_the_simulation_comes_to_the_same_rows(report: Report) -> None:
    def bare(rows: list[Event]) -> list[Event]:
        return [row._replace(time=0.0, row=0, step=0) for row in rows]

    assert bare(list(run(retold(report.logs)).table)) == bare(table(report.logs))


@pytest.mark.slow
def test_the_event_table_and_the_cuts_are_written(report: Report, folder: Path) -> None:
    written = pyarrow.parquet.read_table(folder / "events")
    assert written.num_rows == len(table(report.logs))
    cuts = pyarrow.csv.read_csv(folder / "cuts.csv")
    complete = {own.id for own in report.books.snapshots if own.status == "complete"}
    assert complete <= {*cuts.column("cut_id").to_pylist()}


@pytest.mark.slow
def test_the_pipeline_finds_every_cut_consistent(
    spark: SparkSession, report: Report, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pipeline(["audit", str(folder), "--cuts", str(folder / "cuts.csv")]) == 0
    assert "none of them inconsistent" in capsys.readouterr().out
    audits = pyarrow.parquet.read_table(folder / "audits", columns=["cut_id", "consistent"]).to_pylist()
    complete = {own.id for own in report.books.snapshots if own.status == "complete"}
    assert complete <= {own["cut_id"] for own in audits if own["consistent"]}


@pytest.mark.slow
def test_a_folder_with_a_run_is_not_used_again(report: Report, folder: Path) -> None:
    with pytest.raises(InputError, match="has the run of a cluster already; name a new folder"):
        chaos(Wanted(of_nodes(2, "bank"), folder=folder), 1.0, 0)


# ---------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_prints_what_came_of_it(tmp_path: Path) -> None:
    options = ["chaos", "--seconds", "2", "--nodes", "2", "--seed", "3", "--json", "--out", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-m", "cluster", *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [document[name] for name in ("lost", "duplicated", "out_of_order", "left", "wrong")] == [0, 0, 0, 0, []]
    assert document["messages"] > 0
    assert (tmp_path / "run" / "events").is_dir()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--seconds", "0"], "--seconds: a number above 0, not 0"),
        (["--snapshots-per-second", "-1"], "--snapshots-per-second: a number above 0, not -1"),
        (["--nodes", "3", "--algorithm", "lai_yang"], "allow for no recovery; use chandy_lamport"),
    ],
)
def test_bad_input_is_told_in_a_sentence(options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chaos", *options]) == 2
    assert sentence in capsys.readouterr().err
