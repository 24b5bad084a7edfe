"""The Spark session of this process: a Spark Connect client of `SPARK_REMOTE`, or of a local server of our own.

The first call starts the local server, which then runs as long as this process. `session()` waits until it serves. If
there is no Spark, an InputError says why. A Spark that ends or stops answering is lost: calls that wait for it fail at
once, and the next call of `session` starts another one, or connects again (pipeline/spark/restarting.py).
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from pipeline.spark.background import in_background
from pipeline.spark.connecting import connect
from pipeline.spark.kinds import kind_of
from pipeline.spark.local_server import START_S, Server
from pipeline.spark.losses import SparkLost
from pipeline.spark.making_archive import make_later
from pipeline.spark.preparing import prepare
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("pipeline")

PULSE_S, SILENCE_S = 5.0, 30.0  # the time between two checks that Spark answers, and the time for an answer
POLL_S = 0.1
UNDER_WAY_S = 3.0  # the time that a cancelled start has to end
LOCAL_RETRIES, REMOTE_RETRIES = 2, 4  # of a call: for 0.3 s and 3 s
MOST_LOSSES = 4  # in a row, each after less than SOUND_S seconds: then no page starts Spark again by itself
SOUND_S = 60.0


class _State:
    """The Spark of this process: its session or the start of it, and its local server if it has one.

    `problem` says why the last start failed, or that Spark ended again and again (None: neither). `loss` says why the
    last Spark ended by itself (None: it did not). `began` is the time since which the present one serves, in seconds of
    a monotonic clock.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.start: Future[SparkSession] | None = None
        self.server: Server | None = None
        self.problem: str | None = None
        self.loss: str | None = None
        self.losses = 0
        self.began: float | None = None

    def has(self, spark: SparkSession) -> bool:
        """Whether `spark` is the present session."""
        return self.start is not None and _is_done(self.start) and self.start.result() is spark

    def drop(self, loss: str) -> None:
        """Forgets a Spark that has ended by itself, and notes why. To be called with the lock."""
        is_sound = self.began is not None and time.monotonic() - self.began > SOUND_S
        self.losses = 1 if is_sound else min(self.losses + 1, MOST_LOSSES)
        self.loss = loss
        if self.losses == MOST_LOSSES:
            self.problem = f"{loss}; it ended {MOST_LOSSES} times in a row"
        log.warning("%s", loss)
        self.start, self.server = None, None  # last: a thread that sees the loss can read the reason


_STATE = _State()


def _is_done(start: Future[SparkSession]) -> bool:
    return start.done() and start.exception() is None


def session(stop: threading.Event | None = None) -> SparkSession:
    """The session of this process; the first call starts it and waits.

    Raises InputError if there is no Spark or `stop` is set, and SparkLost if Spark is killed while it starts.
    """
    start = _begin()
    while not wait([start], POLL_S).done:
        if stop is not None and stop.is_set():
            raise InputError("this was stopped before Spark had started")
    return start.result()


def _begin() -> Future[SparkSession]:
    """The present start, done or under way, or a new one."""
    with _STATE.lock:
        if _STATE.start is None:
            _STATE.start, _STATE.problem, _STATE.began = Future(), None, None
            threading.Thread(target=_carry_out, args=(_STATE, _STATE.start), name="spark-start", daemon=True).start()
        return _STATE.start


def _carry_out(state: _State, start: Future[SparkSession]) -> None:
    """Carries out a start, which ends with a session or the reason why there is none."""
    try:
        spark = _start(state, start)
    except Exception as problem:
        with state.lock:
            if state.start is start:
                if isinstance(problem, SparkLost):
                    state.drop(str(problem))
                else:
                    state.problem = str(problem)
                    state.start, state.server = None, None
        start.set_exception(problem)
        return
    with state.lock:
        state.problem = state.loss = None
        state.began = time.monotonic()
    start.set_result(spark)
    threading.Thread(target=_feel_the_pulse, args=(state, spark), name="spark-pulse", daemon=True).start()


def _start(state: _State, start: Future[SparkSession]) -> SparkSession:
    remote = os.environ.get("SPARK_REMOTE")
    if remote:
        log.info("Spark runs at %s", remote.partition(";")[0])
        spark = connect(remote, REMOTE_RETRIES)
        prepare(spark)
        return spark
    server = Server()
    with state.lock:
        is_wanted = state.start is start
        if is_wanted:
            state.server = server
    if not is_wanted:
        server.kill()
        raise InputError("Spark did not start: it was stopped")
    server.wait()
    try:
        spark = connect(server.url, LOCAL_RETRIES, START_S)
    except InputError as problem:  # it served, and has ended since
        server.stop()
        raise SparkLost(str(problem)) from None
    server.at_its_end(lambda: lose(spark))
    make_later(server.java)
    return spark


def _feel_the_pulse(state: _State, spark: SparkSession) -> None:
    """Calls `spark` now and then, which also keeps the session open; gives it up if it does not answer."""
    while state.has(spark):
        answer = in_background(lambda: spark.conf.get("spark.sql.session.timeZone"))
        if not wait([answer], SILENCE_S).done:
            lose(spark, f"it did not answer for {SILENCE_S:.0f} s")
        elif answer.exception() is not None:
            lose(spark)
        time.sleep(PULSE_S)


def lose(spark: SparkSession, why: str | None = None) -> None:
    """Ends `spark`, and its server if that is ours, at once: calls that wait for it fail. `why` is for the user."""
    with _STATE.lock:
        if _STATE.has(spark):
            reason = "it cannot be reached"
            if _STATE.server is not None:
                _STATE.server.kill()
                reason = _STATE.server.reason
            _STATE.drop(f"Spark has ended: {why or reason}")
    in_background(kind_of(spark).give_up)  # may wait for Spark


def stop() -> None:
    """Ends the session and the local server. The next call of `session` starts both again."""
    with _STATE.lock:
        start, _STATE.start = _STATE.start, None
        server, _STATE.server = _STATE.server, None
    if start is None:
        return
    if not start.done():
        if server is not None:
            server.kill()
        wait([start], UNDER_WAY_S)
        return
    if server is not None:
        server.stop()
    if start.exception() is None:
        start.result().client.close()


atexit.register(stop)


def is_own(spark: SparkSession) -> bool:
    """Whether `spark` is a session of this process's own server, whose workers see the files of this machine."""
    with _STATE.lock:
        return _STATE.server is not None and _STATE.has(spark)


def is_warm() -> bool:
    """Whether the session exists, so that `session` returns at once."""
    start = _STATE.start
    return start is not None and _is_done(start)


def has_begun() -> bool:
    """Whether the session exists or is starting."""
    return _STATE.start is not None


def problem() -> str | None:
    """Why there is no Spark, and only a user's click may start it (None: it exists, or may be started)."""
    return _STATE.problem


def loss() -> str | None:
    """Why the last Spark ended by itself (None: it did not, or there is another one)."""
    return _STATE.loss
