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
from views.traces.followed_log import follow_switch, is_followed
from views.traces.form import Brought, bring_log, in_the_forms_words
from views.traces.window import trace_window
from views.widgets.on_show import in_address, on_show, show, store_of
from views.widgets.waits import waiting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = TRACES
MOST_LISTED = 1_000  # executions of one log
MOST_NOTES = 20
KNOWN = ("name", "source", "first_line", "processes", "events", "pairing")  # of every execution that was read

EXAMPLE = (
    "<b>This is an example:</b> the log of an order in a shop. To examine a log of your own program, press <b>Bring "
    "your own log</b>."
)

Rows = list[dict[str, Any]]

PAIRINGS = {
    "given": "by the names of messages in the log",
    "clock": "by vector clocks",
    "fifo": "in FIFO order: the text says who sends to whom",
    "unknown": "not at all",
}


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title="Traces", url_path=PAGE)


def page() -> None:
    """Draw the page."""
    name = on_show(PAGE)
    job = JOBS.find(name) if name else None
    bar = st.container(key="cut-bar", horizontal=True, vertical_alignment="center")
    about, controls = bar.container(key="cut-about"), bar.container(horizontal=True, width="content")
    label = "Bring another log" if name else "Bring your own log"
    key = f"bring-for-{name}"  # another one, which is closed, once a log is on show
    with bar.popover(label, type="secondary" if name else "primary", key=key):
        _choose(name)
    with st.container(key="cut-trace"):
        waiting(None)
        if name is None:
            with complaining():
                _trace(Store.open(examples.LOG), about, controls, is_example=True)
        elif job is not None and job.state == FAILED:
            complain(in_the_forms_words(job.problem or "this failed"))
            st.html(
                '<p class="cut-told">Nothing else has changed. Your files are still in the form: open <b>Bring another '
                "log</b> to read them in another way, or to go back to an earlier log.</p>"
            )
        elif job is not None and job.state == STOPPED and not folder_path(job.name).exists():
            _stopped(job)
        elif job is None or job.is_over:
            with complaining():
                _trace(store_of(name, TRACE), about, controls)


def _stopped(job: Job) -> None:
    """Say that a log was not read to its end, and why if nobody cancelled that."""
    why = f": {job.reason}" if job.reason else ""
    complain(f"the reading of {job.name} was stopped{why}; nothing of it is kept, so bring the log again")


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
        chosen = st.selectbox("Or open an earlier one", earlier, index=None, placeholder="Choose", key="trace-earlier")
        if chosen:
            _show(chosen)
    if name and st.button("Show the example", key="trace-example", width="stretch"):
        _show(None)


def _start(brought: Brought) -> None:
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
        raise InputError(
            f"{tempfile.gettempdir()}: your files cannot be saved there ({problem.strerror}); make room on its disk"
        ) from None
    return scratch, folder


def _trace(store: Store, about: DeltaGenerator, controls: DeltaGenerator, *, is_example: bool = False) -> None:
    """Draw a window of one of the executions of a log; `about` gets a sentence on the log. Raises InputError."""
    moves = is_followed(store) and follow_switch(store, controls)
    if moves and not store.has("traces"):
        return
    if not store.has("traces"):
        why = (
            "is being read" if store.status == "running" else "was stopped while it was read, and nothing of it is kept"
        )
        raise InputError(f"{store.address}: {why}; bring the log again, or open another one")
    rows = one_execution.executions(store)
    told = {row["run_id"]: row for row in rows if row["problem"] is None}
    if not told or any(row[column] is None for row in told.values() for column in KNOWN):
        words = "holds no whole execution; delete it on the page History, bring the log again"
        raise InputError(f"{store.address}: {words}")
    about.html(f'<p class="cut-told">{EXAMPLE if is_example else _in_a_sentence(list(told.values()), len(rows))}</p>')
    address: dict[str, str] = {}
    if not is_example:
        address["data"] = store.name
        in_address(PAGE, store.name)
    run_id = next(iter(told))
    if len(told) > 1:
        run_id = _chosen_execution(store, told, controls)
        address["execution"] = str(run_id)
    trace_window(store, told[run_id], controls, address, moves=moves)
    with st.expander("What the app understood of this log"):
        _understood(rows)


def _chosen_execution(store: Store, told: Mapping[int, Mapping[str, Any]], controls: DeltaGenerator) -> int:
    """The run_id that a menu chooses; at first that of the page's address."""
    key, asked = f"execution-{store.name}", st.query_params.get("execution", "")
    if key not in st.session_state and asked in map(str, told):
        st.session_state[key] = int(asked)
    chosen: int = controls.selectbox(
        "Execution", list(told), format_func=lambda run_id: str(told[run_id]["name"]), key=key, width=180,
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    return chosen


def _in_a_sentence(told: Rows, count: int) -> str:
    """A summary of `count` executions as HTML; `told` are the rows of those that could be read."""
    sizes = {len(row["processes"]) for row in told}
    how = " or ".join(PAIRINGS.get(pairing, pairing) for pairing in dict.fromkeys(row["pairing"] for row in told))
    text = f"{sum(row['events'] for row in told):,} events of {_range(sizes)} processes"
    if len(told) > 1:
        text += f" in {len(told):,} executions"
    text += f". Each send was matched with its receive {how}."
    if len(told) < count:
        text += f' <span class="cut-bad">{count - len(told):,} executions were skipped.</span>'
    return text


def _range(values: set[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def _understood(rows: Rows) -> None:
    """Draw a row for each execution, and the notes on the log."""
    told = [_in_columns(row) for row in rows[:MOST_LISTED]]
    st.dataframe(as_cells({name: [row[name] for row in told] for name in told[0]}), hide_index=True)
    notes = [f"{row['name']}: {note}" for row in rows for note in row["notes"] or ()]
    for note in notes[:MOST_NOTES]:
        st.caption(as_text(note))
    if any(row["exact"] is False for row in rows):
        st.caption(
            "Vector clocks do not show every message: one that was never received, or that told its receiver nothing "
            "new, is missing. So a channel may hold more messages than the page says. Verdicts on cuts are exact."
        )


def _in_columns(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "Execution": row["name"],
        "From": f"{Path(row['source']).name}:{row['first_line']}",
        "Processes": ", ".join(row["processes"] or ()),
        "Events": row["events"],
        "Messages": row["messages"],
        "Never received": row["unreceived"],
        "Matched": PAIRINGS.get(row["pairing"], ""),
        "Gaps": row["gaps"],
        "Skipped because": row["problem"],
    }
