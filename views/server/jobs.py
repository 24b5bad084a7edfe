"""Background jobs of the app, run one at a time.

A job belongs to the app, not to a browser session: it survives reruns and reloads, and every session sees it. Nothing
here imports Streamlit or Spark.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.spark.progress import Progress
from sim.core.errors import InputError
from views.server import words

log = logging.getLogger("views")

Result = TypeVar("Result")

MOST_WAITING = 5
MOST_WAITING_IN_A_CLASS = 40  # where each visitor has one
MOST_KEPT = 100  # finished jobs that are remembered
GOODBYE_S = 6.0  # that the app waits at its end for a job to stop
POLL_S = 0.1

WAITING, RUNNING, DONE, STOPPED, FAILED = "waiting", "running", "done", "stopped", "failed"

# The work of a job: it reports progress, and ends early once the event is set.
Work = Callable[[Progress, threading.Event], None]


def nothing(*given: object) -> None:
    """Do nothing: the work of a job that is over, and the `after` of most jobs."""


@dataclass(eq=False)
class Job:
    """One job, named after the data folder that it writes.

    `page` shows its results. `after` is called at its end, perhaps twice. `owner` is the visitor who submitted it (None
    without visitors). It may run for `most_minutes` (None: no limit). `done` of `total` is its progress (total 0:
    not known yet). `problem` is the reason of a failure, `reason` that of a stop by the app (None: a visitor cancelled
    it). `began` and `ended` are seconds of a monotonic clock.
    """

    name: str
    work: Work
    page: str = ""
    owner: str | None = None
    state: str = WAITING
    done: int = 0
    total: int = 0
    problem: str | None = None
    reason: str | None = None
    most_minutes: float | None = None
    began: float | None = None
    ended: float | None = None
    after: Callable[[], None] = nothing
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether it has ended: done, stopped or failed."""
        return self.state in (DONE, STOPPED, FAILED)

    @property
    def seconds(self) -> float:
        """Seconds that it has run."""
        if self.began is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.began

    def tell(self, done: int, total: int) -> None:
        """Report progress."""
        self.done, self.total = done, total

    def run(self) -> None:
        """Do the work; any exception ends this job only."""
        self.began, self.state = time.monotonic(), RUNNING
        try:
            with self._timed():
                self.work(self.tell, self.stop)
        except Exception as problem:
            if self.stop.is_set():  # the exception comes from stopping
                self.end(STOPPED)
            elif isinstance(problem, InputError):
                self.end(FAILED, str(problem))
            else:
                log.exception("job %s", self.name)
                self.end(FAILED, words.unexpected(self.name, type(problem).__name__, problem))
        else:
            self.end(STOPPED if self.stop.is_set() else DONE)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Stops the block after `most_minutes`, if there is such a limit."""
        if self.most_minutes is None:
            yield
            return
        timer = threading.Timer(self.most_minutes * 60, self._stop_in_time)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _stop_in_time(self) -> None:
        if not self.stop.is_set():
            assert self.most_minutes is not None
            self.reason = words.turn_of_others(self.most_minutes)
            self.stop.set()

    def end(self, state: str, problem: str | None = None) -> None:
        """Note that it is over, whether it has run or not."""
        self.ended, self.problem = time.monotonic(), problem
        self.work = nothing  # it may hold much
        self.after()
        self.state = state  # last: readers who see the end see the rest, too


class Jobs:
    """A queue of jobs, and the thread that runs them while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}  # in the order in which they were submitted
        self._worker: threading.Thread | None = None

    def submit(
        self,
        name: str,
        work: Work,
        page: str = "",
        owner: str | None = None,
        most_minutes: float | None = None,
        after: Callable[[], None] = nothing,
    ) -> Job:
        """Queue a job; `after` is called once it is over: done, stopped or failed.

        Raises InputError if a job of that name or owner is active, or too many are waiting.
        """
        with self._lock:
            other = self._jobs.get(name)
            if other is not None and not other.is_over:
                raise InputError(words.is_written(name))
            if owner is not None and any(job.owner == owner for job in self._in(RUNNING) + self._in(WAITING)):
                raise InputError(words.ONE_OF_YOURS)
            most = MOST_WAITING if owner is None else MOST_WAITING_IN_A_CLASS
            if len(self._in(WAITING)) >= most:
                raise InputError(words.too_many_wait(most))
            self._jobs.pop(name, None)
            self._jobs[name] = job = Job(name, work, page, owner, most_minutes=most_minutes, after=after)
            for old in [job for job in self._jobs.values() if job.is_over][:-MOST_KEPT]:
                del self._jobs[old.name]
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="jobs", daemon=True)
                self._worker.start()
            return job

    def cancel(self, job: Job) -> None:
        """Stop a job, or take it out of the queue; finished parts are kept."""
        with self._lock:
            job.stop.set()
            if job.state == WAITING:
                job.end(STOPPED)

    def find(self, name: str) -> Job | None:
        """The last job with that name, if any."""
        with self._lock:
            return self._jobs.get(name)

    def latest(self, page: str, owner: str | None = None) -> Job | None:
        """The job that was submitted last for a page by a visitor (None without visitors), if any."""
        with self._lock:
            return next((job for job in reversed(self._jobs.values()) if (job.page, job.owner) == (page, owner)), None)

    def active(self) -> list[Job]:
        """The running job, then the waiting ones in order."""
        with self._lock:
            return self._in(RUNNING) + self._in(WAITING)

    def _in(self, state: str) -> list[Job]:
        return [job for job in self._jobs.values() if job.state == state]

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.run()

    def _next(self) -> Job | None:
        """The next job; None, and the end of the thread under the same lock, if none is waiting."""
        with self._lock:
            waiting = self._in(WAITING)
            if not waiting:
                self._worker = None
                return None
            waiting[0].state = RUNNING
            return waiting[0]

    def close(self) -> None:
        """Stop all jobs, and wait up to GOODBYE_S for the running one to save its work."""
        with self._lock:
            worker = self._worker
            for job in self._in(WAITING):
                job.end(STOPPED)
            running = self._in(RUNNING)
            for job in running:
                job.stop.set()
        if worker is not None:
            worker.join(GOODBYE_S)
        for job in running:
            job.after()


def wait_for_promise(promise: Future[Result], stop: threading.Event) -> None:
    """Wait until `promise` is kept or broken, or `stop` is set."""
    while not wait([promise], POLL_S).done and not stop.is_set():
        pass


JOBS = Jobs()  # the app's own
