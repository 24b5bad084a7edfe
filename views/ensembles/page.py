"""The Ensembles page: set up a grid of parameters, run it on Spark, look at the results; or drag sliders."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import streamlit as st

from pipeline.ensembles import queries
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import complete_ensemble, grid_of
from pipeline.spark.progress import Progress
from pipeline.spark.restarting import carried_out
from pipeline.store import examples
from pipeline.store.data_root import new_folder_path
from pipeline.store.folder import Store
from pipeline.store.manifest import ENSEMBLE, RUNNING, STOPPED
from sim.core.errors import InputError
from views.ensembles import words
from views.ensembles.form import FormState, grid_form, in_the_forms_words
from views.ensembles.results import example, get_ready, overview_of, results
from views.ensembles.sliders import sliders
from views.server import visitors
from views.server.addresses import ENSEMBLES
from views.server.budget import answering, take_turn
from views.server.errors import complain, complaining
from views.server.jobs import DONE, FAILED, JOBS, Job, wait_for_promise
from views.server.tabs import for_this_tab
from views.widgets.on_show import on_show, show, store_of
from views.widgets.waits import waiting

PAGE = ENSEMBLES
CHOSEN = "ensemble_chosen"


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=PAGE)


def page() -> None:
    """Draw the page."""
    get_ready()
    name = on_show(PAGE)
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        st.fragment(grid_form)(_start)
        _menu(name)
    with right.container(key="cut-results"):
        shown = st.segmented_control(
            words.SHOW, [words.RESULTS, words.SLIDERS], default=words.RESULTS, required=True,
            key="ensemble-shown", persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        if shown == words.SLIDERS:
            sliders()
        else:
            _right(name)


def _menu(name: str | None) -> None:
    """Draw the menu of ensembles; `name` is the one on show."""
    known: list[str] = []
    with complaining():
        known = queries.ensembles()
    st.session_state[CHOSEN] = name if name in known else None
    st.selectbox(words.ON_SHOW, known, None, placeholder=words.THE_EXAMPLE, key=CHOSEN, on_change=_choose)


def _choose() -> None:
    show(PAGE, st.session_state[CHOSEN])


def _start(wanted: FormState) -> None:
    """Submit a new ensemble as a job, and show it. Raises InputError."""
    path = new_folder_path(wanted.name)
    visitors.check_grid(wanted.grid)
    with (
        st.spinner(words.TRYING),
        for_this_tab() as is_open,
        answering(is_open, advice=words.SMALLER),
    ):
        take_turn()
        cells_of(wanted.grid)  # raises for an impossible combination before there is a folder

    visitors.submit(wanted.name, partial(_begin, path, wanted.grid, visitors.visitor()), PAGE)
    show(PAGE, wanted.name)
    st.rerun()


def _begin(path: Path, grid: Grid, owner: str | None, progress: Progress, stop: threading.Event) -> None:
    """The work of a job: run `grid` into a new folder, which is signed by `owner`. Without Spark there is no folder."""
    store = carried_out(lambda *_: Store.create(path, ENSEMBLE, grid.to_json(), owner), stop=stop)
    _carry_out(store, grid, progress, stop)


def _go_on(path: Path, grid: Grid, progress: Progress, stop: threading.Event) -> None:
    """The work of a job: make the missing runs of `grid`."""
    _carry_out(Store.open(path), grid, progress, stop)


def _carry_out(store: Store, grid: Grid, progress: Progress, stop: threading.Event) -> None:
    """Make the missing runs of `grid` in a folder, then summarize."""
    complete_ensemble(store, grid, progress, stop)
    if store.has("runs"):
        wait_for_promise(overview_of(store), stop)  # the page shows the results


# ------------------------------------------------------------------ the right side


def _right(name: str | None) -> None:
    """Draw the ensemble on show: its progress, the reason of its failure, or its results."""
    job = JOBS.find(name) if name else None
    now = waiting(words.MEANWHILE if name else None)
    if job is not None and job.state == FAILED and job.problem != now.problem:
        complain(in_the_forms_words(job.problem or words.FAILED))
    if name is None:
        _example()
    elif job is not None and not job.is_over:
        _under_way()
    else:
        _outcome(name, job, now.is_warm)


def _outcome(name: str, job: Job | None, is_warm: bool) -> None:
    """Draw the results of ensemble `name`, as far as it went."""
    try:
        store = store_of(name, ENSEMBLE)
        status = store.status
        if status == STOPPED:
            _stopped(store, job.reason if job else None)
        elif status == RUNNING:
            st.info(words.OTHER_WRITES)
        elif not store.has("runs"):
            raise InputError(words.no_runs(name))
        if queries.has_overview(store) or (is_warm and store.has("runs")):
            results(store)
    except InputError as problem:
        if job is None or job.state == DONE:  # else it ended before there was a folder, and the page has said why
            complain(str(problem))


def _stopped(store: Store, reason: str | None) -> None:
    """Say that an ensemble was stopped, for `reason` if no visitor cancelled it, and draw a button to go on."""
    with complaining():
        grid = grid_of(store)
        may_go_on = visitors.may_change(store)
        container, button = st.columns([5, 1], vertical_alignment="center")
        text = words.stopped(grid.run_count, reason)
        container.warning(text if may_go_on else f"{text} {words.NOT_YOURS}")
        if may_go_on and button.button(words.GO_ON, key="ensemble-go-on"):
            visitors.submit(store.name, partial(_go_on, store.path, grid), PAGE)
            st.rerun()


def _example() -> None:
    """Draw the example that comes with the app."""
    st.html(f'<p class="cut-told cut-example"><b>{words.THIS_IS_AN_EXAMPLE}</b> {words.EXAMPLE}</p>')
    with complaining():
        example(Store.open(examples.ENSEMBLE))


def _under_way() -> None:
    st.html(f'<p class="cut-told">{words.UNDER_WAY}</p>')
