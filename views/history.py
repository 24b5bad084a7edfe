"""The History page: all data folders, with their parameters, versions and dates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from pipeline.store import catalog
from pipeline.store.catalog import Entry
from pipeline.store.data_root import data_root
from views.errors import complain, complaining

TABLE = "history_table"
PAGES = {"ensemble": "Ensembles", "trace": "Traces"}
IN_WORDS = {"running": "running", "stopped": "stopped early", "complete": "complete"}


def page(pages: Mapping[str, Any]) -> None:
    """Draw the page; `pages` are the pages that open an entry, by title."""
    st.html('<h2 class="cut-sentence">What has been run, and what has been read.</h2>')
    entries = catalog.entries()
    readable = [entry for entry in entries if entry.problem is None]
    if not entries:
        st.info(f"Nothing has been run yet. What the pages Ensembles and Traces make is kept in {data_root()}.")
        return
    chosen = _table(readable)
    for entry in entries:
        if entry.problem is not None:
            complain(entry.problem)
    if len(chosen) == 1:
        _one(chosen[0], pages)
    elif len(chosen) == 2:
        _two(*chosen)
    elif chosen:
        _delete_button(chosen)
    else:
        st.caption("Choose one row to open or delete it, two to compare them.")


def _table(entries: list[Entry]) -> list[Entry]:
    """Draw the table of all entries; returns the chosen ones."""
    rows = {
        "Name": [entry.name for entry in entries],
        "What": [entry.kind for entry in entries],
        "When": [datetime.fromisoformat(entry.created) for entry in entries],
        "Status": [IN_WORDS.get(entry.status, entry.status) for entry in entries],
        "Rows": [", ".join(f"{count:,} {table}" for table, count in entry.rows.items()) for entry in entries],
        "Asked for": [in_words(entry.about) for entry in entries],
        "Size": [entry.size / 1e6 for entry in entries],
        "Version": [entry.version for entry in entries],
    }
    shape = {
        "When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        "Size": st.column_config.NumberColumn(format="%.1f MB"),
        "Asked for": st.column_config.TextColumn(width="large"),
    }
    event = st.dataframe(
        rows, column_config=shape, hide_index=True, on_select="rerun", selection_mode="multi-row", key=TABLE
    )
    return [entries[number] for number in event.selection.rows if number < len(entries)]


def in_words(about: Mapping[str, Any]) -> str:
    """The parameters of an entry on one line, without empty ones, long texts cut."""
    said = {key: value for key, value in about.items() if value not in (None, "", [], {})}
    return "; ".join(f"{key.replace('_', ' ')}: {_brief(value)}" for key, value in said.items())


def _brief(value: Any) -> str:
    if isinstance(value, list):
        text = ", ".join(map(_brief, value))
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key} {_brief(item)}" for key, item in value.items())
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _one(entry: Entry, pages: Mapping[str, Any]) -> None:
    with st.container(border=True):
        st.subheader(entry.name, anchor=False)
        st.caption(f"{entry.path} · version {entry.version} · {entry.finished or 'not finished'}")
        with st.container(horizontal=True):
            target = pages.get(PAGES[entry.kind])
            if target is not None and st.button(f"Open in {PAGES[entry.kind]}", type="primary", key="history-open"):
                st.switch_page(target, query_params={"data": entry.name})
            _delete_button([entry])
        st.json(dict(entry.about), expanded=True)


def _two(first: Entry, second: Entry) -> None:
    """Draw two entries side by side: the parameters that differ, and on demand their outcomes."""
    names = [first.name, second.name]
    st.subheader(f"{names[0]} and {names[1]}", anchor=False)
    differing = catalog.differences(first, second)
    if differing:
        st.table([{"asked for": d.what, names[0]: _cell(d.first), names[1]: _cell(d.second)} for d in differing])
    else:
        st.write("Both were asked for the same, by the same version.")
    with st.container(horizontal=True):
        if st.button("Compare what came of them", key="history-compare"):
            _outcomes(first, second)
        _delete_button([first, second])


@complaining()
def _outcomes(first: Entry, second: Entry) -> None:
    from pipeline.spark import spark_session

    with st.spinner("Asking Spark (its first start takes about 10 s)"):
        spark = spark_session.session()
        a, b = (catalog.outcome(spark, entry) for entry in (first, second))
    keys = {**a, **b}
    st.table([{"came of it": key, first.name: _cell(a.get(key)), second.name: _cell(b.get(key))} for key in keys])


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else _brief(value)


def _delete_button(entries: list[Entry]) -> None:
    if st.button("Delete …", key="history-delete"):
        _confirm([entry.name for entry in entries])


@st.dialog("Delete for good?")
def _confirm(names: list[str]) -> None:
    st.write("This removes the folder and everything in it: " + ", ".join(names))
    if st.button("Delete", type="primary", key="history-delete-for-good"):
        with complaining():
            for name in names:
                catalog.delete(name)
            st.session_state.pop(TABLE, None)
            st.rerun()
