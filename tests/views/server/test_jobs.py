"""The app's queue of jobs, without a browser or Spark: work is a function that waits for what the test says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from sim.core.errors import InputError
from tests.waiting import budget_s, until
from views.server.jobs import (
    DONE,
    FAILED,
    MOST_KEPT,
    MOST_WAITING,
    RUNNING,
    STOPPED,
    WAITING,
    Job,
    Jobs,
    wait_for_promise,
)


class Step:
    """Work that begins, and goes on when the test says so, or when it is asked to stop."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, progress, stop) -> None:
        progress(1, 4)
        self.begun.set()
        while not stop.is_set() and not self.go_on.wait(0.01):
            pass


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.close()


def wait_for(job: Job) -> None:
    """Wait until a job is over."""
    until(lambda: job.is_over, f"{job.name} is over")


def quietly(progress, stop) -> None:
    """Work that is done at once."""


def test_one_at_a_time_in_order(jobs):
    steps = [Step() for _ in range(3)]
    made = [jobs.submit(f"job-{number}", step) for number, step in enumerate(steps)]
    for number, (job, step) in enumerate(zip(made, steps, strict=True)):
        assert step.begun.wait(budget_s())
        assert [each.state for each in made] == [DONE] * number + [RUNNING] + [WAITING] * (2 - number)
        assert jobs.active() == made[number:]
        assert (job.done, job.total) == (1, 4)
        step.go_on.set()
        wait_for(job)
    assert jobs.active() == []


def test_a_cancelled_job_ends_early_and_the_next_one_begins(jobs):
    first, second = Step(), Step()
    job, other = jobs.submit("a", first), jobs.submit("b", second)
    assert first.begun.wait(budget_s())
    jobs.cancel(job)
    wait_for(job)
    assert job.state == STOPPED
    assert second.begun.wait(budget_s())
    assert other.state == RUNNING


def test_one_that_is_cancelled_while_it_waits_never_begins(jobs):
    first, second = Step(), Step()
    job, other = jobs.submit("a", first), jobs.submit("b", second)
    jobs.cancel(other)
    assert other.is_over
    first.go_on.set()
    wait_for(job)
    last = jobs.submit("c", quietly)
    wait_for(last)
    assert not second.begun.is_set()


def test_a_failure_is_told_in_its_sentence_and_ends_nothing_else(jobs):
    def refuse(progress, stop):
        raise InputError("processes: nobody is there")

    def break_down(progress, stop):
        raise ZeroDivisionError("division by zero")

    bad, worse, good = jobs.submit("a", refuse), jobs.submit("b", break_down), jobs.submit("c", quietly)
    for job in (bad, worse, good):
        wait_for(job)
    assert (bad.state, bad.problem) == (FAILED, "processes: nobody is there")
    assert worse.state == FAILED
    assert "ZeroDivisionError" in (worse.problem or "")
    assert (good.state, good.problem) == (DONE, None)


def test_a_name_is_used_by_one_job_at_a_time(jobs):
    step = Step()
    job = jobs.submit("a", step)
    with pytest.raises(InputError, match="already"):
        jobs.submit("a", quietly)
    step.go_on.set()
    wait_for(job)
    again = jobs.submit("a", quietly)
    wait_for(again)
    assert jobs.find("a") is again


def test_each_page_finds_what_it_submitted_last(jobs):
    first, last = jobs.submit("a", quietly, "ensembles"), jobs.submit("b", quietly, "ensembles")
    other = jobs.submit("c", quietly, "traces")
    for job in (first, last, other):
        wait_for(job)
    assert jobs.latest("ensembles") is last
    assert jobs.latest("history") is None


def test_the_queue_is_short(jobs):
    step = Step()
    jobs.submit("first", step)
    assert step.begun.wait(budget_s())
    for number in range(MOST_WAITING):
        jobs.submit(f"waiting-{number}", quietly)
    with pytest.raises(InputError, match="wait already"):
        jobs.submit("one too many", quietly)


@pytest.mark.slow
def test_what_is_long_over_is_forgotten(jobs):
    for number in range(MOST_KEPT + 3):
        wait_for(jobs.submit(f"job-{number}", quietly))
    assert jobs.find("job-0") is None
    assert jobs.find(f"job-{MOST_KEPT + 2}") is not None


def test_at_the_end_all_are_asked_to_stop_and_none_begins(jobs):
    first, second = Step(), Step()
    job, other = jobs.submit("a", first), jobs.submit("b", second)
    assert first.begun.wait(budget_s())
    jobs.close()
    assert (job.state, other.state) == (STOPPED, STOPPED)
    assert not second.begun.is_set()


def test_a_promise_is_waited_for_until_it_is_kept_or_the_job_is_stopped():
    promise, stop = Future(), threading.Event()
    promise.set_result(42)
    wait_for_promise(promise, stop)
    stop.set()
    wait_for_promise(Future(), stop)
