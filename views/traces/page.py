"""The Traces page: a foreign log, its executions, and cuts of them."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pipeline import formats
from pipeline.cuts import one_execution
from pipeline.ingest import carry_out, plan
from pipeline.spark.progress import Progress
from pipeline.spark.restarting import carried_out
from pipeline.spark.scratch import Scratch
from pipeline.store import catalog, examples
from pipeline.store.data_root import folder_path, new_folder_path
from pipeline.store.folder import Store
from pipeline.store.free_space import check_free_space
from pipeline.store.manifest import TRACE
from sim.core.errors import InputError
from views.server import visitors
from views.server.addresses import TRACES
from views.server.errors import complain, complaining
from views.server.jobs import FAILED, JOBS, STOPPED, Job
from views.server.plain_words import as_cells, as_text
from views.traces import words
from views.traces.followed_log import follow_switch, is_followed
from views.traces.form import FormState, bring_log, in_the_forms_words
from views.traces.window import trace_window
from views.widgets.on_show import in_address, on_show, show, store_of
from views.widgets.waits import waiting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = TRACES
MOST_LISTED = 1_000  # executions of one log
MOST_NOTES = 20
KNOWN = ("name", "source", "first_line", "processes", "events", "pairing")  # of every execution that was read

Rows = list[dict[str, Any]]


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=PAGE)


def page() -> None:
    """Draw the page."""
    name = on_show(PAGE)
    job = JOBS.find(name) if name else None
    bar = st.container(key="cut-bar", horizontal=True, vertical_alignment="center")
    about, controls = bar.container(key="cut-about"), bar.container(horizontal=True, width="content")
    label = words.BRING_ANOTHER if name else words.BRING_YOURS
    key = f"bring-for-{name}"  # another one, which is closed, once a log is on show
    with bar.popover(label, type="secondary" if name else "primary", key=key):
        _choose(name)
    with st.container(key="cut-trace"):
        waiting(None)
        if name is None:
            with complaining():
                _trace(Store.open(examples.LOG), about, controls, is_example=True)
        elif job is not None and job.state == FAILED:
            complain(in_the_forms_words(job.problem or words.FAILED))
            st.html(f'<p class="cut-told">{words.FORM_IS_KEPT}</p>')
        elif job is not None and job.state == STOPPED and not folder_path(job.name).exists():
            _stopped(job)
        elif job is None or job.is_over:
            with complaining():
                _trace(store_of(name, TRACE), about, controls)


def _stopped(job: Job) -> None:
    """Say that the reading of a log was stopped, and why if no visitor cancelled it."""
    complain(words.stopped(job.name, job.reason))


def _show(name: str | None) -> None:
    show(PAGE, name)
    st.rerun()


@st.fragment
def _choose(name: str | None) -> None:
    """The form for a log, and the way to earlier ones; `name` is the one on show."""
    bring_log(_start)
    earlier: list[str] = []
    with complaining():
        earlier = [entry.name for entry in catalog.entries() if entry.kind == TRACE and entry.name != name]
    if earlier:
        chosen = st.selectbox(words.EARLIER, earlier, index=None, placeholder=words.CHOOSE, key="trace-earlier")
        if chosen:
            _show(chosen)
    if name and st.button(words.SHOW_EXAMPLE, key="trace-example", width="stretch"):
        _show(None)


def _start(brought: FormState) -> None:
    """Submit the reading of a log as a job, and show it. Raises InputError."""
    path, owner = new_folder_path(brought.name), visitors.visitor()
    form, options, quarantine, names = brought.form, brought.options, brought.quarantine, list(brought.files)
    about = {"files": names, "format": form, **formats.all_options(form, options), "quarantine": quarantine}
    scratch, folder = _saved(brought.files)

    def work(progress: Progress, stop: threading.Event) -> None:  # knows the names of the files only
        try:
            todo = plan([folder / name for name in names], form, options, quarantine=quarantine, stop=stop)

            def read(spark: SparkSession, _: Progress) -> None:
                carry_out(spark, Store.create(path, TRACE, about, owner), todo, progress, stop)

            carried_out(read, stop=stop)
        except InputError as problem:  # names the file by the user's name, not by our copy's
            raise InputError(str(problem).replace(f"{folder}{os.sep}", "")) from None

    try:
        visitors.submit(brought.name, work, PAGE, scratch.remove)
    except BaseException:
        scratch.remove()
        raise
    _show(brought.name)


def _saved(files: Mapping[str, bytes]) -> tuple[Scratch, Path]:
    """A scratch folder, and the folder in it that holds `files`: memory may not. Raises InputError without room."""
    check_free_space(Path(tempfile.gettempdir()))
    scratch = None
    try:
        scratch = Scratch()
        folder = scratch.path / "log"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as problem:
        if scratch is not None:
            scratch.remove()
        raise InputError(words.no_place(tempfile.gettempdir(), problem.strerror)) from None
    return scratch, folder


def _trace(store: Store, about: DeltaGenerator, controls: DeltaGenerator, *, is_example: bool = False) -> None:
    """Draw a window of one of the executions of a log; `about` gets a sentence on the log. Raises InputError."""
    moves = is_followed(store) and follow_switch(store, controls)
    if moves and not store.has("traces"):
        return
    if not store.has("traces"):
        raise InputError(words.not_read(store.address, is_running=store.status == "running"))
    rows = one_execution.executions(store)
    readable = {row["run_id"]: row for row in rows if row["problem"] is None}
    if not readable or any(row[column] is None for row in readable.values() for column in KNOWN):
        raise InputError(words.nothing_complete(store.address))
    about.html(f'<p class="cut-told">{_about(list(readable.values()), len(rows), is_example=is_example)}</p>')
    address: dict[str, str] = {}
    if not is_example:
        address["data"] = store.name
        in_address(PAGE, store.name)
    run_id = next(iter(readable))
    if len(readable) > 1:
        run_id = _chosen_execution(store, readable, controls)
        address["execution"] = str(run_id)
    trace_window(store, readable[run_id], controls, address, moves=moves)
    with st.expander(words.UNDERSTOOD):
        _understood(rows)


def _chosen_execution(store: Store, readable: Mapping[int, Mapping[str, Any]], controls: DeltaGenerator) -> int:
    """The run_id that a menu chooses; at first that of the page's address."""
    key, number = f"execution-{store.name}", st.query_params.get("execution", "")
    if key not in st.session_state and number in map(str, readable):
        st.session_state[key] = int(number)
    chosen: int = controls.selectbox(
        words.EXECUTION, list(readable), format_func=lambda run_id: str(readable[run_id]["name"]), key=key, width=180,
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    return chosen


def _about(readable: Rows, count: int, *, is_example: bool) -> str:
    """The line on a log of `count` executions, as HTML; `readable` are the rows of those that could be read."""
    if is_example:
        return f"<b>{words.THIS_IS_AN_EXAMPLE}</b> {words.EXAMPLE}"
    sizes = {len(row["processes"]) for row in readable}
    pairings = dict.fromkeys(row["pairing"] for row in readable)
    how = words.OR.join(words.MATCHED.get(pairing, pairing) for pairing in pairings)
    events = sum(row["events"] for row in readable)
    text = words.summary(events, words.span(min(sizes), max(sizes)), len(readable))
    text += f" {words.matched(how)}"
    if len(readable) < count:
        text += f' <span class="cut-bad">{words.skipped(count - len(readable))}</span>'
    return text


def _understood(rows: Rows) -> None:
    """Draw a row for each execution, and the notes on the log."""
    cells = [_in_columns(row) for row in rows[:MOST_LISTED]]
    st.dataframe(as_cells({name: [row[name] for row in cells] for name in cells[0]}), hide_index=True)
    notes = [f"{row['name']}: {note}" for row in rows for note in row["notes"] or ()]
    for note in notes[:MOST_NOTES]:
        st.caption(as_text(note))
    if any(row["exact"] is False for row in rows):
        st.caption(words.CLOCKS_MISS)


def _in_columns(row: dict[str, Any]) -> dict[str, Any]:
    return {
        words.COLUMN_EXECUTION: row["name"],
        words.COLUMN_FROM: f"{Path(row['source']).name}:{row['first_line']}",
        words.COLUMN_PROCESSES: ", ".join(row["processes"] or ()),
        words.COLUMN_EVENTS: row["events"],
        words.COLUMN_MESSAGES: row["messages"],
        words.COLUMN_UNRECEIVED: row["unreceived"],
        words.COLUMN_MATCHED: words.MATCHED.get(row["pairing"], ""),
        words.COLUMN_GAPS: row["gaps"],
        words.COLUMN_SKIPPED: row["problem"],
    }
