"""Follows logs that grow into a data folder, until it is told to stop: the streaming query, and who watches it.

Where Spark ends meanwhile, another one goes on from the checkpoint. The folder says how far it has come (`news`), so
whoever follows and whoever looks need not be the same process.
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

EVERY = "400 milliseconds"  # between the beginnings of two batches, if there is something to read
LOOK_S = 0.2
MOST_FAILURES = 3  # of a query, without a batch that was done in between

Tell = Callable[[News], None]


def silent(_: News) -> None:
    """Tells nobody."""


def opened(
    out: Path | str, logs: Sequence[Path | str], form: str, options: Options = NO_OPTIONS, owner: str | None = None
) -> Store:
    """The folder that `logs` are followed into, a new one, or one that has followed the same logs before.

    Files and folders need not be there as yet. Raises InputError.
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
            f"{store.address}/{CHECKPOINT}: is not there, so nobody knows what was read; name a new folder"
        )
    store.mark_running()
    return store


def follow(store: Store, stop: threading.Event, tell: Tell = silent, *, at_end: str = STOPPED) -> News:
    """Follows the logs of an opened folder until `stop` is set; `tell` is called whenever something has come.

    Frees the folder, with the status `at_end`. Returns how far it has come. Raises InputError for a line that cannot be
    read, and where there is no Spark.
    """
    try:
        put_right(store)
        _Following(store, stop, tell).until_stopped()
        with alone(store):  # a batch that is under way ends first
            found = news(store)
    finally:
        with suppress(InputError):  # the folder may have been deleted
            store.finish(at_end)
    return found


class _Following:
    def __init__(self, store: Store, stop: threading.Event, tell: Tell) -> None:
        manifest = store.manifest
        assert manifest is not None
        self._store, self._stop, self._tell = store, stop, tell
        self._logs, self._form = list(manifest.about["files"]), str(manifest.about["format"])
        given = {option.name: manifest.about.get(option.name) for option in formats.options_of(self._form)}
        self._options = {name: str(value) for name, value in given.items() if value is not None}
        self._known = news(store)
        self._failures = 0

    def until_stopped(self) -> None:
        """Begins queries, one after the other, until it is stopped."""
        while not self._stop.is_set():
            with suppress(_Ended):
                carried_out(self._one_query, stop=self._stop)

    def _one_query(self, spark: SparkSession, progress: Progress) -> None:
        """A query, until it is stopped. Raises InputError, SparkLost, and _Ended if it may be begun again."""
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
        """Tells what has come since the last look. Returns whether anything has."""
        found = news(self._store)
        if found.batch == self._known.batch:
            return False
        self._known, self._failures = found, 0
        self._tell(found)
        return True

    def _explain(self, query: Any) -> None:
        """Raises the reason why a query has ended by itself."""
        why = problem(self._store)
        if why is not None:
            raise InputError(f"{why} (nothing after it was taken in; mend it, and follow into a new folder)")
        error = query.exception()
        self._failures += 1
        if self._failures == MOST_FAILURES:
            raise InputError(f"{self._store.address}: {in_words(str(error))}")
        raise _Ended


class _Ended(Exception):
    """A query has ended by itself, and may be begun again."""


class InBackground:
    """Follows logs in a thread of its own, with the Spark of this process, which it starts if need be.

    Making one returns at once; verdicts come as soon as Spark runs. For pages.
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
        new = {told.verdict.cut: told.verdict for told in found.told if told.number > self._news.verdicts}
        self._verdicts = {**self._verdicts, **new}
        self._news = found

    def verdict(self, snapshot: str) -> Judged | None:
        """The newest verdict on a snapshot, where one run is followed (None: none as yet)."""
        return self._verdicts.get(snapshot)

    @property
    def news(self) -> News:
        """How far it has come."""
        return self._news

    @property
    def problem(self) -> str | None:
        """Why it has ended by itself (None: it has not)."""
        error = self._done.exception() if self._done.done() else None
        return None if error is None else str(error)

    def stop_soon(self, grace_s: float) -> None:
        """Stops it when so much time has passed: nothing more is written, and it takes in what there is."""
        timer = threading.Timer(grace_s, self._stop.set)
        timer.daemon = True
        timer.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """Tells it to stop, and waits so long for its end."""
        self._stop.set()
        with suppress(Exception):  # `problem` says why it ended
            self._done.result(timeout=patience_s)
