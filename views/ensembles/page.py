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
from views.ensembles.form import Wanted, grid_form, in_the_forms_words
from views.ensembles.results import asked, example, get_ready, results
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
RESULTS, SLIDERS = "Results", "Drag and see"


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title="Ensembles", url_path=PAGE)


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
            "Show", [RESULTS, SLIDERS], default=RESULTS, required=True, key="ensemble-shown", persist_state="session",
            label_visibility="collapsed",
        )  # fmt: skip
        if shown == SLIDERS:
            sliders()
        else:
            _right(name)


def _menu(name: str | None) -> None:
    """Draw the menu of ensembles; `name` is the one on show."""
    known: list[str] = []
    with complaining():
        known = queries.ensembles()
    st.session_state[CHOSEN] = name if name in known else None
    st.selectbox("On show", known, None, placeholder="The example", key=CHOSEN, on_change=_choose)


def _choose() -> None:
    show(PAGE, st.session_state[CHOSEN])


def _start(wanted: Wanted) -> None:
    """Submit a new ensemble as a job, and show it. Raises InputError."""
    path = new_folder_path(wanted.name)
    visitors.check_grid(wanted.grid)
    with (
        st.spinner("Trying each combination …"),
        for_this_tab() as is_open,
        answering(is_open, advice="give shorter lists, or use fewer processes or a smaller workload"),
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
    """The work of a job: run what is missing of `grid`."""
    _carry_out(Store.open(path), grid, progress, stop)


def _carry_out(store: Store, grid: Grid, progress: Progress, stop: threading.Event) -> None:
    """Run what is missing of `grid` in a folder, then summarize."""
    complete_ensemble(store, grid, progress, stop)
    if store.has("runs"):
        wait_for_promise(asked(store), stop)  # the page shows what came of it


# ------------------------------------------------------------------ the right side


def _right(name: str | None) -> None:
    """Draw the ensemble on show: its progress, why it failed, or its results."""
    job = JOBS.find(name) if name else None
    now = waiting("You can press Run already." if name else None)
    if job is not None and job.state == FAILED and job.problem != now.problem:
        complain(in_the_forms_words(job.problem or "this failed"))
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
            st.info("Another program is writing this ensemble. What it has finished is shown; reload to see more.")
        elif not store.has("runs"):
            raise InputError(f"{name}: holds no runs; delete it on the page History, and run the ensemble anew")
        if queries.has_overview(store) or (is_warm and store.has("runs")):
            results(store)
    except InputError as problem:
        if job is None or job.state == DONE:  # else it ended before there was a folder, and the page has said why
            complain(str(problem))


def _stopped(store: Store, reason: str | None) -> None:
    """Draw that an ensemble was stopped, for what `reason` if nobody cancelled it, and a button to go on, or why this
    version or visitor cannot.
    """
    with complaining():
        grid = grid_of(store)
        may_go_on = visitors.may_change(store)
        whose = "" if may_go_on else " Only those who began this can go on with it, and the lecturer can."
        container, button = st.columns([5, 1], vertical_alignment="center")
        why = f": {reason}" if reason else ""
        container.warning(f"This was stopped before all of its {grid.run_count:,} runs were done{why}.{whose}")
        if may_go_on and button.button("Go on", key="ensemble-go-on"):
            visitors.submit(store.name, partial(_go_on, store.path, grid), PAGE)
            st.rerun()


def _example() -> None:
    """Draw the example that comes with the app."""
    st.html(
        '<p class="cut-told cut-example"><b>This is an example:</b> 1,000 runs of a bank, on lines of 3 to 9 '
        "processes, with fast and slow markers. Each run takes one snapshot. To make your own, change the form and "
        "press <b>Run</b>.</p>"
    )
    with complaining():
        example(Store.open(examples.ENSEMBLE))


def _under_way() -> None:
    st.html(
        '<p class="cut-told">Every run takes its snapshots. A snapshot may take a short or a long time, and it may '
        "find few or many messages in the channels. When all runs are done, charts show this, and each dot in a chart "
        "is a run that you can open.</p>"
    )
