"""Follows logs that grow into a data folder until it is stopped: the streaming query, and its supervision.

If Spark ends meanwhile, another one goes on from the checkpoint. The folder records the progress (`news`), so a process
can watch the following of another one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import formats
from pipeline.logs.format import NO_OPTIONS, Options
from pipeline.spark import session as spark_session
from pipeline.spark.background import in_background
from pipeline.spark.losses import in_words
from pipeline.spark.progress import Progress
from pipeline.spark.restarting import carried_out
from pipeline.store.folder import Store
from pipeline.store.manifest import COMPLETE, STOPPED, TRACE
from pipeline.streaming.auditing import Judged
from pipeline.streaming.batches import Batches, alone, put_right
from pipeline.streaming.progress_file import CHECKPOINT, STATE, News, news, problem, set_problem
from pipeline.streaming.source import NAME, GrowingLogs, followed_format
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY = "400 milliseconds"  # between the beginnings of two batches, if there are new lines
LOOK_S = 0.2
MOST_FAILURES = 3  # of a query, without a finished batch in between

Hear = Callable[[News], None]


def silent(_: News) -> None:
    """Ignores news."""


def opened(
    out: Path | str, logs: Sequence[Path | str], form: str, options: Options = NO_OPTIONS, owner: str | None = None
) -> Store:
    """The folder that `logs` are followed into: a new one, or one that has followed the same logs before.

    Files and folders need not exist yet. Raises InputError.
    """
    followed_format(form)
    formats.check_options(form, options)
    files = [str(Path(log).resolve()) for log in logs]
    about = {"files": files, "format": form, **formats.all_options(form, options), "followed": True}
    store = Store(out)
    manifest = store.manifest
    if manifest is None or not manifest.about.get("followed"):
        return Store.create(store.path, TRACE, about, owner)
    if dict(manifest.about) != about:
        was = f"{manifest.about['format']} of {', '.join(map(str, manifest.about['files']))}"
        raise InputError(f"{store.address}: has followed {was}; name the same logs and options, or a new folder")
    if not (store.path / CHECKPOINT).is_dir() and (store.path / STATE).exists():
        raise InputError(
            f"{store.address}/{CHECKPOINT}: is missing, so it is unknown which lines were read; name a new folder"
        )
    store.mark_running()
    return store


def follow(store: Store, stop: threading.Event, hear: Hear = silent, *, at_end: str = STOPPED) -> News:
    """Follows the logs of an opened folder until `stop` is set; `hear` is called with all news.

    Frees the folder, with the status `at_end`. Returns the last news. Raises InputError for a line that cannot be read,
    and if there is no Spark.
    """
    try:
        put_right(store)
        _Following(store, stop, hear).until_stopped()
        with alone(store):  # a batch that is under way ends first
            found = news(store)
    finally:
        with suppress(InputError):  # the folder may have been deleted
            store.finish(at_end)
    return found


class _Following:
    def __init__(self, store: Store, stop: threading.Event, hear: Hear) -> None:
        manifest = store.manifest
        assert manifest is not None
        self._store, self._stop, self._hear_news = store, stop, hear
        self._logs, self._form = list(manifest.about["files"]), str(manifest.about["format"])
        given = {option.name: manifest.about.get(option.name) for option in formats.options_of(self._form)}
        self._options = {name: str(value) for name, value in given.items() if value is not None}
        self._known = news(store)
        self._failures = 0

    def until_stopped(self) -> None:
        """Runs queries, one after the other, until it is stopped."""
        while not self._stop.is_set():
            with suppress(_Ended):
                carried_out(self._one_query, stop=self._stop)

    def _one_query(self, spark: SparkSession, progress: Progress) -> None:
        """Runs a query until it is stopped. Raises InputError, SparkLost, and _Ended if it may be started again."""
        if not spark_session.is_own(spark):
            raise InputError(
                "--follow: the logs are files of this machine, which a Spark elsewhere (SPARK_REMOTE) does not see; "
                "unset SPARK_REMOTE to follow them with a local one"
            )
        set_problem(self._store, "")
        query = self._begun(spark)
        try:
            while query.isActive and not self._stop.wait(LOOK_S):
                if self._look():
                    progress(self._known.batch + 1, 0)
            if not self._stop.is_set():
                self._explain(query)
        finally:
            ending = in_background(query.stop)  # it may wait for a Spark that has ended
            with suppress(Exception):
                ending.result(timeout=10)
            self._look()

    def _begun(self, spark: SparkSession) -> Any:
        spark.dataSource.register(GrowingLogs)
        source = spark.readStream.format(NAME).option("logs", json.dumps(self._logs)).option("form", self._form)
        source = source.option("options", json.dumps(self._options))
        path = self._store.path.resolve()
        sink = source.load().writeStream.foreachBatch(Batches(path, self._form))
        return sink.option("checkpointLocation", str(path / CHECKPOINT)).trigger(processingTime=EVERY).start()

    def _look(self) -> bool:
        """Passes on the news since the last look. Returns whether there are some."""
        found = news(self._store)
        if found.batch == self._known.batch:
            return False
        self._known, self._failures = found, 0
        self._hear_news(found)
        return True

    def _explain(self, query: Any) -> None:
        """Raises InputError with the reason why a query has ended by itself, if it is known."""
        why = problem(self._store)
        if why is not None:
            raise InputError(f"{why} (no later line was read; mend the line, and follow into a new folder)")
        error = query.exception()
        self._failures += 1
        if self._failures == MOST_FAILURES:
            raise InputError(f"{self._store.address}: {in_words(str(error))}")
        raise _Ended


class _Ended(Exception):
    """A query has ended by itself, and may be started again."""


class InBackground:
    """The following of logs in a thread of its own, with the Spark of this process, which it starts if need be.

    The constructor returns at once; verdicts come as soon as Spark runs. For pages.
    """

    def __init__(self, out: Path | str, logs: Sequence[Path | str], form: str) -> None:
        """Raises InputError for a folder that cannot be written."""
        self._stop = threading.Event()
        self._store = opened(out, logs, form)
        self._news = News()
        self._verdicts: dict[str, Judged] = {}
        self._done = in_background(self._follow)

    def _follow(self) -> None:
        follow(self._store, self._stop, self._hear, at_end=COMPLETE)

    def _hear(self, found: News) -> None:
        new = {own.verdict.cut: own.verdict for own in found.latest if own.number > self._news.verdicts}
        self._verdicts = {**self._verdicts, **new}
        self._news = found

    def verdict(self, snapshot: str) -> Judged | None:
        """The newest verdict on a snapshot of the only run (None: there is none yet)."""
        return self._verdicts.get(snapshot)

    @property
    def news(self) -> News:
        """The last news."""
        return self._news

    @property
    def problem(self) -> str | None:
        """Why it has ended by itself (None: it has not)."""
        error = self._done.exception() if self._done.done() else None
        return None if error is None else str(error)

    def stop_soon(self, grace_s: float) -> None:
        """Stops it after `grace_s` seconds, for logs that do not grow any more: it reads their last lines meanwhile."""
        timer = threading.Timer(grace_s, self._stop.set)
        timer.daemon = True
        timer.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """Stops it, and waits up to `patience_s` seconds for its end."""
        self._stop.set()
        with suppress(Exception):  # `problem` says why it ended
            self._done.result(timeout=patience_s)
