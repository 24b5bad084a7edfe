"""The History page: all data folders, their settings and their outcomes."""

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
from views.history import words
from views.history.fields import KINDS, STATUS, compared, details, outcome_of, settings_of
from views.server import visitors
from views.server.errors import as_sentence, complain, complaining
from views.server.plain_words import as_cells, as_text

TABLE = "history_table"
PROBLEMS = "history_problems"  # of the last attempt to delete
PAGES = {ENSEMBLE: "Ensembles", TRACE: "Traces"}


@complaining()
def page(pages: Mapping[str, Any]) -> None:
    """Draw the page; `pages` are the pages that open an entry, by title."""
    st.html(f'<h2 class="cut-sentence">{words.HEADING}</h2>')
    for problem in st.session_state.pop(PROBLEMS, ()):
        complain(problem)
    entries = catalog.entries()
    if not entries:
        st.info(words.NOTHING_YET)
        return
    chosen = _table(entries)
    for entry in chosen:
        if entry.problem is not None:
            complain(entry.problem)
    if not chosen:
        st.caption(as_text(_hint(sum(entry.problem is not None for entry in entries))))
    elif len(chosen) > 2 or any(entry.problem is not None for entry in chosen):
        _delete_button(chosen)
    elif len(chosen) == 2:
        _two(*chosen)
    else:
        _one(chosen[0], pages)


def _hint(unreadable: int) -> str:
    return f"{words.TICK} {words.tick_unreadable(unreadable)}" if unreadable else words.TICK


def _table(entries: list[Entry]) -> list[Entry]:
    """Draw the table of all entries; returns the chosen ones."""
    rows: dict[str, list[Any]] = {
        words.NAME: [entry.name for entry in entries],
        words.KIND: [KINDS[entry.kind] for entry in entries],
        words.WHEN: [entry.created for entry in entries],
        words.STATUS: [STATUS[entry.status] for entry in entries],
        words.SETTINGS: [in_a_line(entry) for entry in entries],
        words.SIZE: [entry.size for entry in entries],
    }
    shape = {
        words.WHEN: st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        words.SIZE: st.column_config.NumberColumn(format="bytes"),
        words.SETTINGS: st.column_config.TextColumn(width="large"),
    }
    with st.container(key="cut-history"):
        event = st.dataframe(
            as_cells(rows), column_config=shape, hide_index=True, on_select="rerun", selection_mode="multi-row",
            key=_key(entries), placeholder="",
        )  # fmt: skip
    return [entries[number] for number in event.selection.rows if number < len(entries)]


def _key(entries: list[Entry]) -> str:
    """The key of the table of these entries. Another list has another key, and no ticked rows.

    A browser remembers the numbers of the ticked rows. They would mean other folders, which the user has not chosen.
    """
    names = "/".join(entry.name for entry in entries)
    return f"{TABLE}-{sha256(names.encode()).hexdigest()[:16]}"


def in_a_line(entry: Entry) -> str:
    """The settings of an entry on one line; or the reason why it cannot be read."""
    if entry.problem is not None:
        return as_sentence(entry.problem)
    return "; ".join(f"{label}: {text}" for label, text in settings_of(entry).items())


def _one(entry: Entry, pages: Mapping[str, Any]) -> None:
    with st.container(border=True):
        st.subheader(as_text(entry.name), anchor=False)
        with st.container(horizontal=True):
            target = pages.get(PAGES[entry.kind])
            if target is not None and st.button(words.open_in(PAGES[entry.kind]), type="primary", key="history-open"):
                st.switch_page(target, query_params={"data": entry.name})
            _delete_button([entry])
        st.html(as_table([*settings_of(entry).items(), *details(entry).items()]))


def _two(first: Entry, second: Entry) -> None:
    """Draw the fields in which two entries differ, and their outcomes."""
    with st.container(border=True):
        names = (first.name, second.name)
        st.subheader(words.both(as_text(names[0]), as_text(names[1])), anchor=False)
        settings = compared(*({words.KIND: KINDS[one.kind], **settings_of(one)} for one in (first, second)))
        if not settings:
            st.markdown(words.SAME)
        rows = [*settings, *compared({words.VERSION: first.version}, {words.VERSION: second.version})]
        with complaining():
            outcomes = [outcome_of(catalog.outcome(entry)) for entry in (first, second)]
            rows += compared(*outcomes, all_fields=True)
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
        st.caption(words.NOT_YOURS)
    elif st.button(words.DELETE, key="history-delete"):
        _confirm([entry.name for entry in entries])


@st.dialog(words.DELETE_QUESTION)
def _confirm(names: list[str]) -> None:
    st.markdown(words.deletes(as_text(", ".join(names))))
    if st.button(words.DELETE_NOW, type="primary", key="history-delete-for-good"):
        st.session_state[PROBLEMS] = problems = []
        for name in names:
            try:
                _delete(name)
            except InputError as problem:
                problems.append(str(problem))
        st.rerun()


def _delete(name: str) -> None:
    """Delete the folder that has this name now. Raises InputError if another visitor has made it meanwhile."""
    there = [entry for entry in catalog.entries() if entry.name == name]
    if not visitors.may_change(*there):
        raise InputError(words.owned_by_other(name))
    catalog.delete(name)
