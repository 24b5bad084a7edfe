"""Spark follows logs while they grow, of real processes too, through kill -9: its verdicts are those of the audit."""

from __future__ import annotations

import asyncio
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

from cluster.model import Fault, Status
from cluster.starting import Wanted
from cluster.supervisor import Supervisor
from pipeline import jobs
from pipeline.store.folder import Store
from pipeline.streaming.batches import alone
from pipeline.streaming.following import InBackground, follow, opened
from pipeline.streaming.progress import CHECKPOINT, news
from sim.core.errors import InputError
from tests.cluster.live import all_running, bank, live, taken, until
from tests.pipeline.some_recoveries import recovered
from tests.pipeline.spark.processes import command_of, descendants, java_of, wait_until, wait_until_gone
from tests.pipeline.streaming.growing import append, by_process, by_the_batch_audit, written
from tests.pipeline.streaming.test_followed import with_planted
from tests.tools import QUICK_JAVA, ROOT

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
    own.stop(patience_s=30)


def verdicts(following: InBackground) -> list[str]:
    """The snapshots that were judged so far."""
    return [told.verdict.cut for told in following.news.told]


def rows_of(logs: Path) -> int:
    """How many rows the logs of a run have."""
    from pipeline.formats.live import pieces, read

    (piece,) = pieces(sorted(logs.glob("*.log")), {})
    return read(piece).events.num_rows


@pytest.mark.slow
def test_a_cluster_is_followed_through_kill_9_of_its_nodes_and_of_the_follower(
    spark: SparkSession, following: InBackground, tmp_path: Path
) -> None:
    """Two nodes are killed, and the process that carries out a batch, in the middle of it."""
    store = Store(tmp_path / "out")

    async def act(supervisor: Supervisor) -> None:
        for name in ("P2", "P4"):
            before = await taken(supervisor)
            await asyncio.to_thread(wait_until, lambda own=before: own.id in verdicts(following))
            with alone(store):  # a batch has begun, and cannot go on
                await supervisor.inject(Fault("kill", name))
                await until(lambda epoch=before.epoch: supervisor.epochs()[0].number > epoch, "a new epoch")
                await asyncio.sleep(0.6)
                if name == "P4":
                    for pid in workers():
                        os.kill(pid, signal.SIGKILL)
            await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED

    wanted = Wanted(bank(4), tmp_path / "cluster", delay=(0.005, 0.03), allows_faults=True)
    logs = live(wanted, act)
    wait_until(lambda: following.news.rows == rows_of(logs) or following.problem)
    following.stop(patience_s=30)
    assert following.problem is None
    assert store.status == "complete"
    streamed = written(store)
    assert len(streamed[0]) == 3
    assert streamed == by_the_batch_audit(store)
    jobs.ingest(tmp_path / "batch", sorted(logs.glob("*.log")), "live")
    jobs.audit(tmp_path / "batch", cuts=tmp_path / "out" / "cuts")
    assert written(Store(tmp_path / "batch")) == streamed
    assert jobs.audit(tmp_path / "out", cuts=tmp_path / "out" / "cuts").cuts == 3
    assert written(store) == streamed


def test_a_bad_line_ends_it_with_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    append(tmp_path / "logs", "all.jsonl", b'{"process": "P1"\n')
    store = opened(tmp_path / "out", [tmp_path / "logs"], "jsonl")
    with pytest.raises(InputError, match=r"all.jsonl:1: is no JSON .*mend it, and follow into a new folder"):
        follow(store, threading.Event())
    assert store.status == "stopped"


# ---------------------------------------------------------------------- the command


def command(scratch: Path, *words: object) -> subprocess.Popen[str]:
    """`ingest --follow` with these words."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", "ingest", "--follow", "--format", "jsonl", *map(str, words)], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), "JAVA_TOOL_OPTIONS": QUICK_JAVA},
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_is_killed_in_the_middle_of_a_batch_and_goes_on(tmp_path: Path) -> None:
    table = with_planted(recovered(3).table, random.Random(3))
    files = {name: "".join(lines).encode() for name, lines in by_process(table).items()}
    logs, out, scratch = tmp_path / "logs", tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    for name, content in files.items():
        append(logs, name, content[: len(content) // 2])
    with command(scratch, logs, "--out", out) as first:
        wait_until(lambda: news(Store(out)).batch >= 0)
        left = descendants(first.pid)
        assert java_of(first.pid)
        with alone(Store(out)):
            for name, content in files.items():
                append(logs, name, content[len(content) // 2 :])
            wait_until(lambda: (out / "_following" / "checkpoint" / "offsets" / "1").exists())
            first.kill()
            first.communicate()
            wait_until_gone(left)  # though one of them waits for us
    before = news(Store(out))
    with command(scratch, logs, "--out", out) as second:
        wait_until(lambda: news(Store(out)).rows == sum(content.count(b"\n") for content in files.values()))
        left = descendants(second.pid)
        second.terminate()
        told, complaint = second.communicate()
        assert second.returncode == 143
    wait_until_gone(left)
    assert told.startswith(f"goes on after {before.rows:,} rows\n")
    assert "snapshot planted-" in told
    assert "Traceback" not in complaint
    store = Store(out)
    assert store.status == "stopped"
    assert written(store) == by_the_batch_audit(store)
    assert news(store).waiting == ()
