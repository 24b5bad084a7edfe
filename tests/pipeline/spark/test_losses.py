"""Spark is killed: this is found out, it is started again, and what was under way is completed by itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from pipeline.ensembles.run import complete_ensemble
from pipeline.spark import interrupting, restarting
from pipeline.spark import session as spark_session
from pipeline.spark.background import in_background
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.losses import SparkLost, in_one_sentence
from pipeline.spark.restarting import MOST_RESTARTS, ask, carried_out
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.pipeline.some_ensembles import LONG, begin, content
from tests.pipeline.spark.processes import descendants, java_of, wait_until, wait_until_gone
from tests.tools import QUICK_JAVA
from tests.waiting import budget_s, until

pytestmark = pytest.mark.skipif("SPARK_REMOTE" in os.environ, reason="what is killed here has to be our own")


@pytest.fixture(scope="module")
def own_spark() -> Iterator[None]:
    """A Spark for the tests of this file, which kill it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", QUICK_JAVA)
        patch.setattr(spark_session, "_STATE", spark_session._State())
        yield
        spark_session.stop()


def server_process() -> int:
    server = spark_session._STATE.server
    return 0 if server is None else server._process.pid


def kill(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.long("Spark killed again and again")
def test_an_ensemble_is_completed_though_spark_is_killed_and_a_loss_between_questions_is_found_out(
    own_spark: None, undisturbed: Store, tmp_path: Path
) -> None:
    store, grid = begin(tmp_path / "killed", *LONG)
    done: list[int] = []
    work = in_background(lambda: complete_ensemble(store, grid, lambda count, _: done.append(count)))
    wait_until(lambda: store.has("runs"))
    first = server_process()
    left = [first, *descendants(first)]
    kill(java_of(first))
    work.result(budget_s(120.0))
    assert server_process() not in (0, first)
    assert store.status == "complete"
    assert content(store) == content(undisturbed)
    assert done.count(0) == 1, "it went on, and did not begin anew"
    check_that_a_loss_is_found_out(left)


def check_that_a_loss_is_found_out(left: list[int]) -> None:
    """Spark is idle when it is killed. No process remains, also none of those in `left`, and no file."""
    left = [*left, server_process(), *descendants(server_process())]
    scratch = spark_session._STATE.server.scratch
    assert spark_session.is_warm() and spark_session.loss() is None
    kill(java_of(server_process()))
    wait_until(lambda: not spark_session.is_warm())
    assert spark_session.loss() == "Spark has ended: it was killed, as happens when memory runs out"
    assert not scratch.exists()
    wait_until_gone(left)


@pytest.mark.long("Spark killed as it runs and again as it starts, and in the middle of a question")
def test_so_it_is_though_spark_is_killed_again_as_it_starts(
    own_spark: None, undisturbed: Store, tmp_path: Path
) -> None:
    store, grid = begin(tmp_path / "killed", *LONG)
    work = in_background(lambda: complete_ensemble(store, grid))
    wait_until(lambda: store.has("runs"))
    first = server_process()
    left = [first, *descendants(first)]
    kill(java_of(first))
    wait_until(lambda: server_process() not in (0, first) and java_of(server_process()))
    second = server_process()
    left += [second, *descendants(second)]
    kill([second])
    work.result(budget_s(120.0))
    assert store.status == "complete"
    assert content(store) == content(undisturbed)
    wait_until_gone(left)


def waits_for(folder: Path) -> Any:
    """A function of workers that says that it has begun, and waits until it may go on."""

    def wait(batches: Any) -> Any:
        (folder / "begun").touch()
        until((folder / "go on").exists, "it may go on", 120.0)
        yield from batches

    return wait


@pytest.mark.long("Spark killed as it runs and again as it starts, and in the middle of a question")
def test_a_question_is_asked_again(own_spark: None, tmp_path: Path) -> None:
    answer = in_background(lambda: ask(lambda spark: spark.range(5).mapInArrow(waits_for(tmp_path), "id long").count()))
    wait_until((tmp_path / "begun").exists)
    asked = server_process()
    kill([asked])
    wait_until(lambda: server_process() != asked)
    (tmp_path / "go on").touch()
    assert answer.result(budget_s(120.0)) == 5


# ------------------------------------------------------------------ without a server


class Session:
    """A session of nothing."""

    class client:
        is_closed = False

        @staticmethod
        def close() -> None: ...

    def addTag(self, tag: str) -> None: ...

    def removeTag(self, tag: str) -> None: ...

    def interruptTag(self, tag: str) -> list[str]:
        """As a Spark that hangs: it does not answer before it is ended."""
        threading.Event().wait(budget_s())
        return []


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """The sessions that were asked for."""
    made: list[Session] = []

    def session(stop: object = None) -> Session:
        made.append(Session())
        return made[-1]

    monkeypatch.setattr(restarting.spark_session, "session", session)
    return made


def lost(session: Any, report: Any) -> None:
    raise SparkLost("Spark has ended")


def test_after_three_restarts_without_progress_it_is_given_up(sessions: list[Session]) -> None:
    with pytest.raises(InputError, match=f"Spark has ended; it was started again {MOST_RESTARTS} times, and ended"):
        carried_out(lost)
    assert len(sessions) == 1 + MOST_RESTARTS


def test_with_progress_it_is_not_given_up(sessions: list[Session]) -> None:
    def a_step(session: Any, report: Any) -> str:
        report(len(sessions), 9)
        if len(sessions) < 9:
            raise SparkLost("Spark has ended")
        return "done"

    assert carried_out(a_step) == "done"
    assert len(sessions) == 9


class Doomed(Session):
    """A session that is lost at the first result of an ensemble in `folder`; `seen` gets the folder's status then."""

    def __init__(self, folder: Path, seen: list[str]) -> None:
        self.folder, self.seen = folder, seen

    def range(self, *numbers: int) -> Doomed:
        return self

    def mapInArrow(self, work: object, schema: object) -> Doomed:
        return self

    def interruptTag(self, tag: str) -> list[str]:
        return []

    def toLocalIterator(self) -> Any:
        self.seen.append(Store(self.folder).status)
        raise SparkLost("Spark has ended")


def test_an_ensemble_keeps_its_folder_to_itself_until_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, grid = begin(tmp_path / "a", {"processes": "2", "runs": "2"})
    seen: list[str] = []

    def session(stop: object = None) -> Doomed:
        seen.append(Store(store.path).status)
        return Doomed(store.path, seen)

    monkeypatch.setattr(restarting.spark_session, "session", session)
    monkeypatch.setattr(restarting.spark_session, "is_own", lambda spark: True)
    with pytest.raises(InputError, match="Spark has ended"):
        complete_ensemble(store, grid)
    assert seen == ["running"] * 2 * (1 + MOST_RESTARTS)
    assert Store(store.path).status == "stopped"
    Store(store.path).mark_running()  # nobody holds it


def test_what_is_stopped_is_not_begun_anew(sessions: list[Session]) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(SparkLost):
        carried_out(lost, stop=stop)
    assert len(sessions) == 1


def test_a_spark_that_does_not_stop_when_told_to_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Any] = []
    over, stop = threading.Event(), threading.Event()

    def lose(session: Any, why: str) -> None:
        ended.append((session, why))
        over.set()

    monkeypatch.setattr(interrupting.spark_session, "lose", lose)
    monkeypatch.setattr(interrupting, "PATIENCE_S", 0.2)
    hung: Any = Session()
    stop.set()
    with interrupted_by(stop, hung):
        assert over.wait(budget_s())
    assert ended == [(hung, "it did not stop when it was told to")]


def test_a_full_disk_of_sparks_is_said_in_one_sentence() -> None:
    spark: Any = Session()
    with (
        pytest.raises(InputError, match="big: Spark gave up: the disk with its temporary files is full; make room"),
        in_one_sentence(spark, "big: "),
    ):
        raise PySparkException("Job aborted: java.io.IOException: No space left on device\n at java.base/...")


# ------------------------------------------------------------------ in words

WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 4207, in invoke_udf
    func, profiler, deserializer, serializer = read_udfs(
                                               ^^^^^^^^^^
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1920, in read_udfs
    import pyarrow as pa
"""
MISMATCH = """
pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version: \
3.9 than that in driver: 3.11, PySpark cannot run with different minor versions.
Please check environment variables PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON are correctly set.
"""
CAUSES = {
    "ModuleNotFoundError: No module named 'pyarrow'\n": r"lack pyarrow: install it there \(docs/cluster",
    MISMATCH: r"workers have Python 3\.9, and this is Python 3\.11: both need the same, to the second",
    "ValueError: the cause\n\nJVM stacktrace: ...": r"^big: Spark gave up \(ValueError: the cause\)$",
}


def test_the_cause_on_a_worker_is_not_cut_off() -> None:
    spark: Any = Session()
    for text, words in CAUSES.items():
        with pytest.raises(InputError, match=words), in_one_sentence(spark, "big: "):
            raise PySparkException(WORKER + text)


# ------------------------------------------------------------------ Ctrl-C is Ctrl-C, a failure is not


def test_a_failure_that_ctrl_c_brings_about_is_ctrl_c(sessions: list[Session]) -> None:
    """PySpark tells Spark of the Ctrl-C. Where that fails, it raises that failure instead."""

    def work(session: Any, report: Any) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise PySparkException("cannot be reached") from None

    with pytest.raises(KeyboardInterrupt):
        carried_out(work)
    assert len(sessions) == 1


def test_a_failure_without_ctrl_c_is_none(sessions: list[Session]) -> None:
    def work(session: Any, report: Any) -> None:
        raise PySparkException("KeyboardInterrupt in a worker")

    with pytest.raises(InputError, match="Spark gave up"):
        carried_out(work)
