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
from views.widgets import words

POLL_S = 0.4


class Situation(NamedTuple):
    """The situation that a page polls: the active jobs with their states, and the state of Spark.

    `problem`: the reason why Spark does not start by itself, if any. `loss`: the reason for a second start, if any.
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
    """Show the background work; `meanwhile` tells the user what to do while Spark starts.

    At every beginning and end of work, the complete page is drawn again. With None the page needs no Spark now, and
    mentions it only if there is work.
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
    """The sentence that Spark is starting, the reason for a second start, and what the user can do meanwhile."""
    if now.loss:
        return f"{sentence(now.loss)} {words.AGAIN}"
    return f"{words.STARTING} {meanwhile}" if meanwhile and not now.active else words.STARTING


def progress_of(job: Job) -> None:
    """Draw the progress of a job, and a button that cancels it, if this visitor may."""
    place, button = st.columns([6, 1], vertical_alignment="bottom")
    if job.state == RUNNING:
        place.progress(job.done / job.total if job.total else 0.0, f"**{as_text(job.name)}**: {_how_far(job)}")
    else:
        place.caption(words.waits_for_its_turn(as_text(job.name)))
    if not visitors.may_change(job):
        return
    if button.button(words.CANCEL, key=f"cancel-{job.name}", disabled=job.stop.is_set()):
        JOBS.cancel(job)


def _how_far(job: Job) -> str:
    if job.stop.is_set():
        return words.STOPPING
    if not job.total:
        return words.GETTING_READY
    is_known = job.done and job.seconds > 3
    left = job.seconds * (job.total - job.done) / job.done if is_known else None
    return words.progress(job.done, job.total, words.UNITS[job.page], left)


def _no_spark(problem: str) -> None:
    complain(problem)
    if st.button(words.TRY_AGAIN, key="spark-again"):
        with st.spinner(words.STARTING), suppress(InputError):  # the page shows the reason next
            spark_session.session()
        st.rerun()
