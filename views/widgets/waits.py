"""Background work on a page: whether Spark is starting or has failed, and the progress of each job."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import streamlit as st

from pipeline.spark import session as spark_session
from pipeline.spark.restarting import warm_up
from sim.core.errors import InputError
from views.server import visitors
from views.server.errors import complain
from views.server.jobs import JOBS, RUNNING, Job
from views.server.plain_words import as_text, sentence

POLL_S = 0.4
UNITS = {"ensembles": "runs", "traces": "executions", "compare": "runs"}  # of the progress of a page's jobs
STARTING = "Spark is starting (about 10 s, once)."
AGAIN = "It is starting again (about 10 s). What was under way then goes on, or begins anew."


class Situation(NamedTuple):
    """What a page polls: the active jobs with their states, and the state of Spark.

    `problem` is why Spark is not started by itself, `loss` why it has ended and is started again; None: that is not so.
    """

    active: tuple[tuple[str, str], ...]
    is_warm: bool
    problem: str | None
    loss: str | None

    @property
    def is_starting(self) -> bool:
        """Whether Spark is starting."""
        return not self.is_warm and self.problem is None


def waiting(meanwhile: str | None) -> Situation:
    """Show the background work; `meanwhile` says what the user can do while Spark starts.

    When something begins or ends, the whole page is drawn again. With None the page needs no Spark now, and says
    nothing of it unless there is work.
    """
    if spark_session.problem() is None:
        warm_up()
    now = _situation()
    if meanwhile is None and not now.active:
        return now
    if now.active or not now.is_warm:
        st.fragment(_watch, run_every=POLL_S)(now, meanwhile)
    if now.problem:
        _no_spark(now.problem)
    return now


def _situation() -> Situation:
    active = tuple((job.name, job.state) for job in JOBS.active())
    if spark_session.is_warm():
        return Situation(active, is_warm=True, problem=None, loss=None)
    return Situation(active, False, spark_session.problem(), spark_session.loss())


def _watch(before: Situation, meanwhile: str | None) -> None:
    if _situation() != before:
        st.rerun()
    if before.is_starting:
        st.info(as_text(start_in_words(before, meanwhile)))
    for job in JOBS.active():
        if job.state == RUNNING or visitors.may_change(job):
            progress_of(job)


def start_in_words(now: Situation, meanwhile: str | None) -> str:
    """That Spark is starting, why it has to start again, and what the user can do meanwhile."""
    if now.loss:
        return f"{sentence(now.loss)} {AGAIN}"
    return f"{STARTING} {meanwhile}" if meanwhile and not now.active else STARTING


def progress_of(job: Job) -> None:
    """Draw how far a job is, and a button that cancels it, where this visitor may."""
    place, button = st.columns([6, 1], vertical_alignment="bottom")
    if job.state == RUNNING:
        place.progress(job.done / job.total if job.total else 0.0, f"**{as_text(job.name)}**: {_how_far(job)}")
    else:
        place.caption(f"**{as_text(job.name)}** waits for its turn")
    if not visitors.may_change(job):
        return
    if button.button("Cancel", key=f"cancel-{job.name}", disabled=job.stop.is_set()):
        JOBS.cancel(job)


def _how_far(job: Job) -> str:
    if job.stop.is_set():
        return "stopping …"
    if not job.total:
        return "getting ready …"
    text = f"{job.done:,} of {job.total:,} {UNITS[job.page]}"
    if job.done and job.seconds > 3:
        text += f", about {job.seconds * (job.total - job.done) / job.done:.0f} s left"
    return text


def _no_spark(problem: str) -> None:
    complain(problem)
    if st.button("Try again", key="spark-again"):
        with st.spinner(STARTING), suppress(InputError):  # the page shows the reason next
            spark_session.session()
        st.rerun()
