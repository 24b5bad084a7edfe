"""The data folder that a page shows: the one in its address, else the one it showed before, else the last job's.

The last job is the app's; in a class it is the visitor's own.
"""

from __future__ import annotations

import streamlit as st

from pipeline.store import catalog
from pipeline.store.folder import Store
from pipeline.store.manifest import ENSEMBLE, TRACE
from sim.core.errors import InputError
from views.server import visitors
from views.server.jobs import JOBS
from views.widgets import words

HOLDS = {ENSEMBLE: words.AN_ENSEMBLE, TRACE: words.A_LOG}


def on_show(page: str) -> str | None:
    """The name of the folder on the page `page`, if any.

    Nothing here changes the address: each change would add an entry to the browser's history. So an address that was
    followed once is not followed again, or the user could not choose another folder.
    """
    state = st.session_state
    name_in_address = st.query_params.get("data")
    if name_in_address and name_in_address not in state.get(f"{page}_followed", ()):
        in_address(page, name_in_address)
        show(page, name_in_address)
    latest = JOBS.latest(page, visitors.visitor())
    if _key(page) not in state and latest is not None:
        show(page, latest.name)
    name: str | None = state.get(_key(page))
    return name


def in_address(page: str, name: str) -> None:
    """Note that the browser has, or will have, the folder `name` in this page's address, so that it is not followed."""
    key = f"{page}_followed"
    st.session_state[key] = {*st.session_state.get(key, ()), name}


def show(page: str, name: str | None) -> None:
    """Show the folder `name` on the page `page` from now on."""
    st.session_state[_key(page)] = name


def store_of(name: str, kind: str) -> Store:
    """The folder `name` of a page that shows folders of one kind. Raises InputError if it cannot show this one."""
    entry = catalog.find(name)
    if entry.kind != kind:
        raise InputError(words.holds(name, HOLDS[entry.kind]))
    return entry.store


def _key(page: str) -> str:
    return f"{page}_on_show"
