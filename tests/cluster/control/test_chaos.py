"""Real processes under kills, partitions, delays and losses, while snapshots are taken: the audit holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.csv
import pyarrow.parquet
import pytest

from cluster import commands
from cluster.__main__ import main
from cluster.control.chaos import SNAPSHOTS_PER_SECOND, Report, chaos, plan
from cluster.control.startup import Wanted, of_nodes
from cluster.model import FAULT_KINDS
from cluster.node.system import TRANSPORTS
from cluster.replay.audit import Audit, ChannelAudit, SnapshotAudit
from cluster.replay.scenario import replayed, table
from pipeline.__main__ import main as pipeline
from pipeline.spark import session as spark_session
from sim.core.errors import InputError
from sim.core.model import Event
from sim.run.execution import run
from tests.cluster.running import said
from tests.reference.live_audit import live_audit
from tests.tools import QUICK_JAVA
from tests.waiting import apart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS, SEED = 10.0, 16
SHORT = 2.0, 862  # seconds, and a seed with which a fault of each kind comes within them
DELAY = (0.005, 0.03)  # seconds
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


# ---------------------------------------------------------------------- a short run, and ten seconds by each transport


class Ran(NamedTuple):
    report: Report
    folder: Path


LONG = pytest.mark.long("ten seconds of chaos, by each transport")
RUNS = [("tcp", 3, *SHORT), *(pytest.param((name, 4, SECONDS, SEED), marks=LONG) for name in TRANSPORTS)]


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same faults by each transport: the same audit has to hold."""
    transport, nodes, seconds, seed = request.param
    folder = tmp_path_factory.mktemp(f"chaos-{transport}") / "run"
    wanted = Wanted(of_nodes(nodes, "bank", settings=["pace=2"]), delay=DELAY, folder=folder, transport=transport)
    return Ran(apart(lambda: chaos(wanted, seconds, seed)), folder)


@pytest.mark.slow
def test_the_audit_holds_and_no_node_remains(run_of: Ran) -> None:
    report = run_of.report
    assert (report.wrong, report.is_drained, report.still_there) == ([], True, ())
    assert {*report.faults} == {*FAULT_KINDS}
    assert len(report.recoveries) == report.audit.recoveries >= 1
    assert all(took > 0 for took in report.recoveries)
    assert report.audit.statuses["complete"] == report.snapshots["COMPLETED"] >= 1
    assert report.audit.total("sent") == report.audit.total("received") > 0
    own = str(report.logs).encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
            parent = int((path.parent / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
        assert own not in command
        assert not (b"cluster.node.process" in command and parent == os.getpid())


@pytest.mark.slow
def test_an_independent_reader_of_its_logs_finds_nothing_wrong_either(run_of: Ran) -> None:
    found = live_audit(run_of.folder)
    assert found.problems == []
    assert len(found.snapshots) == run_of.report.snapshots["COMPLETED"]
    assert found.receipts == run_of.report.audit.messages


@pytest.mark.slow
def test_the_event_table_and_the_cuts_are_written(run_of: Ran) -> None:
    written = pyarrow.parquet.read_table(run_of.folder / "events")
    assert written.num_rows == len(table(run_of.report.logs))
    cuts = pyarrow.csv.read_csv(run_of.folder / "cuts.csv")
    complete = {own.id for own in run_of.report.audit.snapshots if own.status == "complete"}
    assert complete <= {*cuts.column("cut_id").to_pylist()}


@pytest.mark.slow
def test_a_folder_with_a_run_is_not_used_again(run_of: Ran) -> None:
    with pytest.raises(InputError, match="has the run of a cluster already; name a new folder"):
        chaos(Wanted(of_nodes(2, "bank"), folder=run_of.folder), 1.0, 0)


def rows_of(events: Iterable[Event]) -> list[Event]:
    return [row._replace(time=0.0, row=0, step=0) for row in events]


@LONG
@pytest.mark.parametrize("run_of", RUNS[1:], indirect=True, ids=str)
def test_of_ten_seconds_much_is_audited_and_the_simulation_comes_to_the_same_rows(run_of: Ran) -> None:
    report = run_of.report
    assert report.snapshots.get("COMPLETED", 0) >= 20
    assert report.faults["kill"] >= 1
    assert report.audit.recorded >= 1
    assert report.audit.total("put_back") >= 1
    assert rows_of(run(replayed(report.logs)).table) == rows_of(table(report.logs))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JAVA)
    yield spark_session.session()
    spark_session.stop()


@LONG
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("run_of", RUNS[1:], indirect=True, ids=str)
def test_the_pipeline_finds_every_cut_consistent(run_of: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_of.folder
    assert pipeline(["audit", str(folder), "--cuts", str(folder / "cuts.csv")]) == 0
    assert "none of them inconsistent" in capsys.readouterr().out
    audits = pyarrow.parquet.read_table(folder / "audits", columns=["cut_id", "consistent"]).to_pylist()
    complete = {own.id for own in run_of.report.audit.snapshots if own.status == "complete"}
    assert complete <= {own["cut_id"] for own in audits if own["consistent"]}


# ---------------------------------------------------------------------- the command


CHANNEL = ChannelAudit("P1->P2", 9, 9, put_back=1, left=0, lost=0, duplicated=0, out_of_order=0, unfounded=0)
WRONG = replace(CHANNEL, received=7, left=2, lost=3, duplicated=4, out_of_order=5, unfounded=6)
TAKEN = (SnapshotAudit("S1", "complete", 0, 3, ()), SnapshotAudit("S2", "failed", 0, 8, ()))


def report_with(channel: ChannelAudit, problems: tuple[str, ...] = (), still_there: tuple[int, ...] = ()) -> Report:
    """Of a run that was drained if nothing is left in the channel."""
    own = Audit((channel,), TAKEN, messages=11, recoveries=2, problems=problems)
    faults, snapshots = {"kill": 2, "mend": 1}, {"COMPLETED": 1, "FAILED": 1}
    return Report(faults, (0.75, 1.0), snapshots, not channel.left, still_there, own, Path())


def asked_for(monkeypatch: pytest.MonkeyPatch, report: Report, *words: str) -> tuple[Wanted, tuple[Any, ...], Any]:
    """What the command asks of chaos, which comes to `report`, and what it says."""
    asked: list[tuple[Wanted, tuple[Any, ...]]] = []

    def comes_to(wanted: Wanted, *about: Any, **options: Any) -> Report:
        asked.append((wanted, (*about, options)))
        return report

    monkeypatch.setattr(commands, "chaos", comes_to)
    done = said("chaos", *words)
    return (*asked[0], done)


def test_the_command_prints_what_came_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted, about, done = asked_for(monkeypatch, report_with(CHANNEL), "--out", str(tmp_path))
    assert about == (60.0, 0, {"snapshots_per_second": SNAPSHOTS_PER_SECOND})
    assert (wanted.scenario, wanted.delay, wanted.folder) == (of_nodes(4, "bank"), DELAY, tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "faults: 2 kill, 1 mend",
        "recoveries: 2, which took 0.75 s, 1.00 s",
        "snapshots: 1 COMPLETED, 1 FAILED",
        "messages received: 11, of which 9 remain after the recoveries",
        "messages recorded in channels: 3; put back by recoveries: 1",
        "lost: 0, duplicated: 0, out of order: 0",
        "left in channels: 0; nodes still running: 0",
        "the audit holds, at the end and at each of 1 snapshots",
    ]


def test_the_command_fails_if_the_audit_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_with(WRONG, ("at the end: 305 money there, 300 at first",), (4711,))
    words = ("--nodes", "2", "--seed", "7", "--seconds", "3", "--snapshots-per-second", "0.5")
    wanted, about, done = asked_for(monkeypatch, report, *words)
    assert about == (3.0, 7, {"snapshots_per_second": 0.5})
    assert wanted.scenario == of_nodes(2, "bank", seed=7)
    assert done.returncode == 1
    wrong = [
        "P1->P2: messages lost: 3",
        "P1->P2: messages duplicated: 4",
        "P1->P2: messages out of order: 5",
        "P1->P2: messages unfounded: 6",
        "P1->P2: messages left in the channel at the end: 2",
        "at the end: 305 money there, 300 at first",
        "messages were still on their way 30 s after the end",
        "processes that still run: 4711",
    ]
    assert done.stdout.splitlines()[5:] == [
        "lost: 3, duplicated: 4, out of order: 5",
        "left in channels: 2; nodes still running: 1",
        *(f"wrong: {problem}" for problem in wrong),
    ]
    assert json.loads(asked_for(monkeypatch, report, "--json")[2].stdout) == {
        "faults": {"kill": 2, "mend": 1}, "recoveries": [0.75, 1.0], "snapshots": {"COMPLETED": 1, "FAILED": 1},
        "messages": 11, "recorded": 3, "sent": 9, "received": 7, "put_back": 1, "lost": 3, "duplicated": 4,
        "out_of_order": 5, "unfounded": 6, "left": 2, "still_running": [4711], "wrong": wrong,
    }  # fmt: skip


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
