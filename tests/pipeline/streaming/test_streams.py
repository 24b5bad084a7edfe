"""Spark follows logs while they grow, of real processes too, through kill -9: its verdicts are those of the audit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status
from cluster.start.wanted import Wanted
from pipeline import jobs
from pipeline.__main__ import main
from pipeline.spark.background import in_background
from pipeline.store.folder import Store
from pipeline.streaming.batches import alone
from pipeline.streaming.following import InBackground, follow, opened
from pipeline.streaming.progress_file import CHECKPOINT, news
from sim.core.errors import InputError
from tests.cluster.live import all_running, bank, live, taken
from tests.pipeline.some_recoveries import recovered
from tests.pipeline.spark.processes import command_of, descendants, java_of, wait_until, wait_until_gone
from tests.pipeline.streaming.growing import append, by_process, by_the_batch_audit, written
from tests.pipeline.streaming.test_followed import with_planted
from tests.tools import QUICK_JAVA, ROOT
from tests.waiting import budget_s, comes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
WORKER = "foreach_batch_worker"


def workers() -> list[int]:
    """The processes of Spark that carry out batches for this one."""
    return [pid for pid in descendants(os.getpid()) if any(WORKER in word for word in command_of(pid))]


@pytest.fixture
def following(tmp_path: Path) -> Iterator[InBackground]:
    """Follows the folder of a cluster that has not begun as yet."""
    own = InBackground(tmp_path / "out", [tmp_path / "cluster"], "live")
    wait_until(lambda: (tmp_path / "out" / CHECKPOINT).exists())  # a busy machine takes a while to start the query
    yield own
    own.stop(patience_s=budget_s(30.0))


def verdicts(following: InBackground) -> list[str]:
    """The snapshots that were judged so far."""
    return [own.verdict.cut for own in following.news.latest]


def rows_of(logs: Path) -> int:
    """The number of rows in the logs of a run."""
    from pipeline.formats.live import pieces, read

    (piece,) = pieces(sorted(logs.glob("*.log")), {})
    return read(piece).events.num_rows


def planned(store: Store) -> int:
    """The number of the last batch that Spark has planned; -1: none."""
    offsets = store.path / CHECKPOINT / "offsets"
    return max((int(file.name) for file in offsets.glob("[0-9]*")), default=-1)


class Growing:
    """A run that was rolled back, with planted cuts, as one log for each process: they grow in three steps."""

    def __init__(self, folder: Path) -> None:
        table = with_planted(recovered(3).table, random.Random(3))
        self.folder, self.rows = folder, len(table)
        self._files = {name: "".join(lines).encode() for name, lines in by_process(table).items()}

    def bring(self, *thirds: int) -> None:
        for third in thirds:
            for name, content in self._files.items():
                append(self.folder, name, content[third * len(content) // 3 : (third + 1) * len(content) // 3])


def check_followed(store: Store) -> None:
    """The streamed verdicts equal those of the batch audit of the same events, here and on Spark."""
    streamed = written(store)
    assert streamed == by_the_batch_audit(store) and streamed[0]
    assert news(store).waiting == ()
    assert jobs.audit(store.path, snapshots=True).cuts == len(streamed[0])
    assert written(store) == streamed


def test_logs_are_followed_though_who_carries_out_a_batch_is_killed_and_by_a_command_afterwards(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, store = Growing(tmp_path / "logs"), Store(tmp_path / "out")
    logs.bring(0)
    following = InBackground(store.path, [logs.folder], "jsonl")
    wait_until(lambda: following.news.batch >= 0 or following.problem)
    with alone(store):  # a batch has begun, and cannot go on
        before = news(store).batch
        logs.bring(1)
        wait_until(lambda: planned(store) > before and workers())
        for pid in workers():
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: following.news.batch > before or following.problem)
    following.stop(patience_s=budget_s(30.0))
    assert (following.problem, store.status) == (None, "complete")
    assert written(store) == by_the_batch_audit(store)
    known = news(store).rows
    logs.bring(2)

    def interrupt() -> None:
        wait_until(lambda: news(store).rows == logs.rows)
        os.kill(os.getpid(), signal.SIGINT)

    in_background(interrupt)
    assert main(["ingest", str(logs.folder), "--follow", "--format", "jsonl", "--out", str(store.path)]) == 130
    told, complaint = capsys.readouterr()
    assert told.startswith(f"continues after {known:,} rows\n")
    assert "snapshot planted-" in told and "Traceback" not in complaint
    assert store.status == "stopped"
    check_followed(store)


@pytest.mark.long("a bad line in what Spark follows; test_lines.py has all bad lines")
def test_a_bad_line_ends_it_with_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    append(tmp_path / "logs", "all.jsonl", b'{"process": "P1"\n')
    store = opened(tmp_path / "out", [tmp_path / "logs"], "jsonl")
    with pytest.raises(InputError, match=r"all.jsonl:1: is no JSON .*mend it, and follow into a new folder"):
        follow(store, threading.Event())
    assert store.status == "stopped"


@pytest.mark.long("Spark follows a real cluster through kill -9 of its nodes and of itself")
def test_a_cluster_is_followed_through_kill_9_of_its_nodes_and_of_the_follower(
    spark: SparkSession, following: InBackground, tmp_path: Path
) -> None:
    """Two nodes are killed, and the process that carries out a batch, in the middle of it."""
    store = Store(tmp_path / "out")

    async def act(supervisor: Supervisor) -> None:
        for name in ("P2", "P4"):
            before = await taken(supervisor)
            await comes(lambda own=before: own.id in verdicts(following), f"the verdict on {before.id}", 120.0)
            with alone(store):  # a batch has begun, and cannot go on
                await supervisor.inject(Fault("kill", name))
                await comes(lambda epoch=before.epoch: supervisor.epochs()[0].number > epoch, "a new epoch")
                await comes(lambda known=following.news.batch: planned(store) > known, "a batch is planned")
                if name == "P4":
                    for pid in workers():
                        os.kill(pid, signal.SIGKILL)
            await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED

    wanted = Wanted(bank(4), tmp_path / "cluster", delay=(0.005, 0.03), allows_faults=True)
    logs = live(wanted, act)
    wait_until(lambda: following.news.rows == rows_of(logs) or following.problem)
    following.stop(patience_s=budget_s(30.0))
    assert following.problem is None
    assert store.status == "complete"
    streamed = written(store)
    assert len(streamed[0]) == 3
    assert streamed == by_the_batch_audit(store)
    jobs.ingest(tmp_path / "batch", sorted(logs.glob("*.log")), "live")
    jobs.audit(tmp_path / "batch", snapshots=True)
    assert written(Store(tmp_path / "batch")) == streamed
    assert jobs.audit(tmp_path / "out", snapshots=True).cuts == 3
    assert written(store) == streamed


# ---------------------------------------------------------------------- the command


def command(scratch: Path, *words: object) -> subprocess.Popen[str]:
    """`ingest --follow` with these words."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", "ingest", "--follow", "--format", "jsonl", *map(str, words)], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), "JAVA_TOOL_OPTIONS": QUICK_JAVA},
    )  # fmt: skip


@pytest.mark.long("the command that follows logs is killed in the middle of a batch, with a Spark of its own")
def test_the_command_is_killed_in_the_middle_of_a_batch_and_goes_on(tmp_path: Path) -> None:
    logs, out, scratch = Growing(tmp_path / "logs"), tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    logs.bring(0)
    with command(scratch, logs.folder, "--out", out) as first:
        wait_until(lambda: news(Store(out)).batch >= 0)
        left = descendants(first.pid)
        assert java_of(first.pid)
        with alone(Store(out)):
            logs.bring(1, 2)
            wait_until(lambda: planned(Store(out)) == 1)
            first.kill()
            first.communicate()
            wait_until_gone(left)  # though one of them waits for us
    before = news(Store(out))
    with command(scratch, logs.folder, "--out", out) as second:
        wait_until(lambda: news(Store(out)).rows == logs.rows)
        left = descendants(second.pid)
        second.terminate()
        told, complaint = second.communicate()
        assert second.returncode == 143
    wait_until_gone(left)
    assert told.startswith(f"continues after {before.rows:,} rows\n")
    assert "snapshot planted-" in told
    assert "Traceback" not in complaint
    store = Store(out)
    assert store.status == "stopped"
    assert written(store) == by_the_batch_audit(store)
    assert news(store).waiting == ()
