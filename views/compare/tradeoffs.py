"""The table of trade-offs: the claims on each algorithm, the measurements, and their disagreements.

A section of a page. Each algorithm is a row of cells, which stack on a narrow page. A cell opens
a run that is typical for it. The grid can be changed and measured again, in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import NamedTuple

import streamlit as st

from pipeline.store.data_root import free_name
from pipeline.tradeoffs.agreement import DEPENDS, HOLDS, REFUTED, Judged
from pipeline.tradeoffs.cases import OPTIONS, Asked, typical_scenario
from pipeline.tradeoffs.cells import HOW_TO_READ, Cell, Line, as_text_table, asked_in_words, lines_of
from pipeline.tradeoffs.claims import COLUMNS
from pipeline.tradeoffs.table import Table
from sim.core.errors import InputError
from sim.exchange.text_tables import TextTable, as_csv, as_latex, as_markdown
from sim.explain.words import listing
from views.compare import words
from views.compare.measuring import forget, made_by, measure, table_of_the_app
from views.explore.opening import open_scenario, step_of
from views.server import visitors
from views.server.budget import answering
from views.server.errors import complain, complaining
from views.server.jobs import FAILED, JOBS, Job
from views.server.plain_words import without_flags
from views.server.tabs import for_this_tab
from views.widgets.waits import POLL_S, progress_of

PAGE = "compare"  # the page with this section
JOB = "trade-offs"
BEGUN = "tradeoffs_begun"  # the key of a number in the session: measurements begun
MOST_RUNS, MOST_RUNS_IN_A_CLASS = 2_500, 600  # of each algorithm

SIGNS = {HOLDS: words.HOLDS, DEPENDS: words.DEPENDS, REFUTED: words.REFUTED}
CLASSES = {HOLDS: "good", DEPENDS: "depends", REFUTED: "bad"}

FIRST = {
    "topology": "complete, ring, line, star, dag", "processes": "4, 6", "delay": "uniform:1:9",
    "marker_delay": "same, uniform:1:40", "pace": "2, 20", "runs": "5", "seed": "0",
}  # fmt: skip


class Form(NamedTuple):
    """A form of the table as a file: the end of its name, its type, its purpose, and the function that writes it."""

    suffix: str
    media_type: str
    what_for: str
    write: Callable[[TextTable], str]


FORMS: Mapping[str, Form] = {
    "Markdown": Form(".md", "text/markdown", words.FOR_MARKDOWN, as_markdown),
    "LaTeX": Form(".tex", "application/x-tex", words.FOR_LATEX, as_latex),
    "CSV": Form(".csv", "text/csv", words.FOR_CSV, as_csv),
}


@st.fragment
def tradeoffs() -> None:
    """Draw the section, with its heading."""
    st.html(f'<h2 class="cut-sentence">{words.HEADING}</h2>')
    with complaining():
        owner = visitors.visitor()
        own = made_by(owner)
        table = own or table_of_the_app()
        _head(table, is_own=own is not None)
        _background(JOBS.latest(PAGE, owner))
        with st.container(key="cut-tradeoffs"):
            for line in lines_of(table):
                _row(table, line)


def _head(table: Table, is_own: bool) -> None:
    """Draw the explanation of the table, the grid in words, the form that changes it, and the menu that saves it."""
    origin = words.YOURS if is_own else words.COMES_WITH_THE_APP
    cases = escape(asked_in_words(table.asked))
    st.html(
        f'<p class="cut-told">{words.CLAIMS} {HOW_TO_READ}</p>'
        f'<p class="cut-told"><b>{words.CASES}</b> {cases} {words.all_runs(table.runs)} {origin}</p>'
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cut-tradeoff-tools"):
        begun = st.session_state.get(BEGUN, 0)
        with st.popover(words.CHANGE_CASES, type="tertiary", key=f"tradeoff-grid-{begun}"):  # a new one is closed
            _form()
        with st.popover(words.SAVE_TABLE, type="tertiary", key="tradeoff-save"):
            _save_menu(table)
        if is_own:
            st.button(
                words.SHOW_ORIGINAL, type="tertiary", key="tradeoff-forget",
                on_click=forget, args=(visitors.visitor(),),
            )  # fmt: skip


# ------------------------------------------------------------------ the grid


def _form() -> None:
    """Draw the form of the grid; its button begins a job."""
    given = {
        option: st.text_input(
            words.LABELS[option], FIRST[option], key=f"tradeoff-{option}", persist_state="session",
            help=help[0].upper() + help[1:],
        )
        for option, help in OPTIONS.items()
    }  # fmt: skip
    try:
        asked = wanted({option: text.strip() for option, text in given.items() if text.strip()})
    except InputError as problem:
        complain(in_the_forms_words(str(problem)))
        return
    st.caption(words.size(asked.runs_of_each))
    if st.button(words.MEASURE, type="primary", width="stretch", key="tradeoff-measure"):
        with complaining():
            _begin(asked)


def wanted(given: Mapping[str, str]) -> Asked:
    """The grid in the form. Raises InputError if it is wrong, or too much for a page."""
    asked = Asked.read(given)
    asked.allow(MOST_RUNS_IN_A_CLASS if visitors.is_class() else MOST_RUNS)
    return asked


def in_the_forms_words(problem: str) -> str:
    """A problem with the labels of the form instead of options."""
    for option, label in words.LABELS.items():
        problem = problem.replace(f"--{option.replace('_', '-')}:", f"{label}:")
    return without_flags(problem)


def _begin(asked: Asked) -> None:
    owner = visitors.visitor()
    name = free_name(JOB, [job.name for job in JOBS.active()])
    visitors.submit(name, partial(measure, asked, owner), PAGE)
    st.session_state[BEGUN] = st.session_state.get(BEGUN, 0) + 1
    st.rerun()


def _background(job: Job | None) -> None:
    """Show the progress of the visitor's own job, or the reason why it gave no table."""
    if job is not None and not job.is_over:
        st.fragment(_watch, run_every=POLL_S)(job)
    elif job is not None and job.state == FAILED:
        complain(in_the_forms_words(job.problem or words.FAILED))
    elif job is not None and job.reason is not None:
        complain(words.stopped(job.reason))


def _watch(job: Job) -> None:
    if job.is_over:
        st.rerun()
    progress_of(job)


# ------------------------------------------------------------------ the cells


def _row(table: Table, line: Line) -> None:
    """Draw an algorithm: its name, and its cells beside each other, or below."""
    with st.container(border=True, key=f"cut-tradeoff-{line.algorithm}"):
        method = f'<span class="cut-method">“{escape(line.method)}”</span>' if line.method else ""
        st.html(f'<h3 class="cut-told">{escape(line.title)} {method}</h3>')
        with st.container(horizontal=True, gap="medium", key=f"cut-cells-{line.algorithm}"):
            for cell in line.cells:
                with st.container(key=f"cut-cell-{line.algorithm}-{cell.column}"):
                    st.html(cell_html(cell))
                    key = f"tradeoff-open-{line.algorithm}-{cell.column}"  # no tooltip: it would double the button
                    if cell.typical is not None and st.button(words.OPEN_TYPICAL, type="tertiary", key=key):
                        _open(table, line, cell)


def cell_html(cell: Cell) -> str:
    """A cell as HTML: its column, the claim, the measurement and the verdict, a paragraph each."""
    parts = [f'<h4 class="cut-column">{escape(COLUMNS[cell.column])}</h4>']
    if cell.claim:
        parts.append(f'<p class="cut-claim"><span>{words.CLAIM}</span> “{escape(cell.claim)}”</p>')
    parts.append(f'<p class="cut-measured"><span>{words.MEASURED}</span> {escape(" ".join(cell.measured))}</p>')
    if cell.judged is not None:
        parts.append(_judged_html(cell.judged))
    return "".join(parts)


def _judged_html(judged: Judged) -> str:
    """A verdict with its remark; the counts of cases are long, so they are folded."""
    on = f" {escape(listing(judged.inputs))}." if judged.inputs else ""
    told = f"<b>{SIGNS[judged.verdict]}{on}</b> {escape(judged.remark)}"
    shares = "".join(f"<br>{escape(own)}" for own in judged.shares[1:])
    folded = f"<details><summary>{escape(judged.shares[0])}</summary>{shares[4:]}</details>" if judged.shares else ""
    return f'<div class="cut-remark cut-{CLASSES[judged.verdict]}">{told}{folded}</div>'


@complaining()
def _open(table: Table, line: Line, cell: Cell) -> None:
    """Go to Explore with the run that is typical for a cell. Raises InputError."""
    assert cell.typical is not None
    with for_this_tab() as is_open, answering(is_open):
        scenario = typical_scenario(table.asked, line.algorithm, cell.typical)
        title = f"{line.title}: {COLUMNS[cell.column].lower()}"
        story = words.typical_story(title, " ".join(cell.measured))
        titled = replace(scenario, name=f"{JOB}-{line.algorithm}".replace("_", "-"), title=title, story=story)
        names = list(dict.fromkeys(start.snapshot for start in titled.snapshots))
        open_scenario(titled, step_of(titled, names[0] if names else None))


# ------------------------------------------------------------------ saving


def _save_menu(table: Table) -> None:
    """Draw the menu. A file is made when its button is pressed."""
    form = st.segmented_control(
        words.FORMAT, list(FORMS), default=next(iter(FORMS)), required=True, key="tradeoff-form",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    st.caption(FORMS[form].what_for)
    st.download_button(
        words.save_as(form), partial(file_of, table, form), f"{JOB}{FORMS[form].suffix}", FORMS[form].media_type,
        key="tradeoff-file", on_click="ignore", type="primary",
    )  # fmt: skip


def file_of(table: Table, form: str) -> bytes:
    """The table as a file of one of FORMS, in UTF-8."""
    return FORMS[form].write(as_text_table(table)).encode("utf-8")
