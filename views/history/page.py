"""The History page: all data folders, what they were asked for and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any

import streamlit as st

from pipeline.store import catalog
from pipeline.store.catalog import Entry
from pipeline.store.manifest import ENSEMBLE, TRACE
from sim.core.errors import InputError
from views.history.fields import STATUS, WHAT, asked_for, came_of, compared, details
from views.server import visitors
from views.server.errors import as_sentence, complain, complaining
from views.server.plain_words import as_cells, as_text

TABLE = "history_table"
PROBLEMS = "history_problems"  # of the last attempt to delete
PAGES = {ENSEMBLE: "Ensembles", TRACE: "Traces"}


@complaining()
def page(pages: Mapping[str, Any]) -> None:
    """Draw the page; `pages` are the pages that open an entry, by title."""
    st.html('<h2 class="cut-sentence">What has been run, and which logs have been read</h2>')
    for problem in st.session_state.pop(PROBLEMS, ()):
        complain(problem)
    entries = catalog.entries()
    if not entries:
        st.info("Nothing yet. Run an ensemble on the page Ensembles, or bring a log on the page Traces.")
        return
    chosen = _table(entries)
    for entry in chosen:
        if entry.problem is not None:
            complain(entry.problem)
    if not chosen:
        st.caption(as_text(_what_to_do(sum(entry.problem is not None for entry in entries))))
    elif len(chosen) > 2 or any(entry.problem is not None for entry in chosen):
        _delete_button(chosen)
    elif len(chosen) == 2:
        _two(*chosen)
    else:
        _one(chosen[0], pages)


def _what_to_do(unreadable: int) -> str:
    told = "Tick one row to open or delete it, two rows to compare them."
    if not unreadable:
        return told
    folders = "1 folder" if unreadable == 1 else f"{unreadable} folders"
    return f"{told} {folders} cannot be read. Tick one to see why, or to delete it."


def _table(entries: list[Entry]) -> list[Entry]:
    """Draw the table of all entries; returns the chosen ones."""
    rows: dict[str, list[Any]] = {
        "Name": [entry.name for entry in entries],
        "What": [WHAT[entry.kind] for entry in entries],
        "When": [entry.created for entry in entries],
        "Status": [STATUS[entry.status] for entry in entries],
        "Asked for": [in_a_line(entry) for entry in entries],
        "Size": [entry.size for entry in entries],
    }
    shape = {
        "When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        "Size": st.column_config.NumberColumn(format="bytes"),
        "Asked for": st.column_config.TextColumn(width="large"),
    }
    with st.container(key="cut-history"):
        event = st.dataframe(
            as_cells(rows), column_config=shape, hide_index=True, on_select="rerun", selection_mode="multi-row",
            key=_key(entries), placeholder="",
        )  # fmt: skip
    return [entries[number] for number in event.selection.rows if number < len(entries)]


def _key(entries: list[Entry]) -> str:
    """The key of the table of these entries: another list has another one, and nothing in it is ticked.

    A browser remembers the numbers of the rows that are ticked. They would mean other folders, which nobody has chosen.
    """
    names = "/".join(entry.name for entry in entries)
    return f"{TABLE}-{sha256(names.encode()).hexdigest()[:16]}"


def in_a_line(entry: Entry) -> str:
    """What an entry was asked for, on one line; or why it cannot be read."""
    if entry.problem is not None:
        return as_sentence(entry.problem)
    return "; ".join(f"{label}: {text}" for label, text in asked_for(entry).items())


def _one(entry: Entry, pages: Mapping[str, Any]) -> None:
    with st.container(border=True):
        st.subheader(as_text(entry.name), anchor=False)
        with st.container(horizontal=True):
            target = pages.get(PAGES[entry.kind])
            if target is not None and st.button(f"Open in {PAGES[entry.kind]}", type="primary", key="history-open"):
                st.switch_page(target, query_params={"data": entry.name})
            _delete_button([entry])
        st.html(as_table([*asked_for(entry).items(), *details(entry).items()]))


def _two(first: Entry, second: Entry) -> None:
    """Draw in which fields two entries differ, and what came of them."""
    with st.container(border=True):
        names = (first.name, second.name)
        st.subheader(f"{as_text(names[0])} and {as_text(names[1])}", anchor=False)
        asked = compared(*({"What": WHAT[one.kind], **asked_for(one)} for one in (first, second)))
        if not asked:
            st.markdown("Both were asked for the same.")
        rows = [*asked, *compared({"Version": first.version}, {"Version": second.version})]
        with complaining():
            came = [came_of(catalog.outcome(entry)) for entry in (first, second)]
            rows += compared(*came, all_fields=True)
        st.html(as_table(rows, ("", *names)))
        _delete_button([first, second])


def as_table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Rows of texts as an HTML table; the first text of a row names it."""
    titles = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(text)}</td>" for text in row[1:])}</tr>'
        for row in rows
    )
    above = f"<thead><tr>{titles}</tr></thead>" if head else ""
    return f'<table class="cut-fields">{above}<tbody>{body}</tbody></table>'


def _delete_button(entries: list[Entry]) -> None:
    if not visitors.may_change(*entries):
        st.caption("Only those who made this can delete it, and the lecturer can.")
    elif st.button("Delete …", key="history-delete"):
        _confirm([entry.name for entry in entries])


@st.dialog("Delete for good?")
def _confirm(names: list[str]) -> None:
    st.markdown(f"This deletes all that is kept of: {as_text(', '.join(names))}")
    if st.button("Delete", type="primary", key="history-delete-for-good"):
        st.session_state[PROBLEMS] = problems = []
        for name in names:
            try:
                _delete(name)
            except InputError as problem:
                problems.append(str(problem))
        st.rerun()


def _delete(name: str) -> None:
    """Delete what bears this name now, which may be another's than the one that was chosen. Raises InputError."""
    there = [entry for entry in catalog.entries() if entry.name == name]
    if not visitors.may_change(*there):
        raise InputError(f"{name}: somebody else has made it meanwhile; only they can delete it, and the lecturer can")
    catalog.delete(name)
