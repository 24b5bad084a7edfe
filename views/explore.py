"""The Explore page: one scenario, its diagram, and the user's edits."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from sim.edit.link import NUMBERS, Shared, in_round, read_query
from views.component import explorer
from views.explore_session import ExploreSession
from views.gallery import gallery, open_file

FIRST = "lecture"
STATE = "explore_session"
COMPONENT = "explorer"


def page() -> None:
    """Draw the page."""
    _explorer()


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title="Explore", default=True)


def show(shared: Shared) -> None:
    """Go to this page with a run from another page. Raises InputError, and then nothing has changed.

    The run gets a session of its own, so no pending edit reaches it; the browser's Back leads to the run before.
    """
    session = ExploreSession(is_chosen=True)
    with _for_this_tab() as is_open:
        session.open(shared, is_open)
    st.session_state[STATE] = session
    st.switch_page(as_page())


@st.fragment
def _explorer() -> None:
    """The explorer, as a fragment: an edit arrives as its new value, and only the explorer is drawn again."""
    session = _session()
    explorer(session.data(), session.drawn, key=COMPONENT, on_outbox_change=_take_edits)
    wish, session.wish = session.wish, None
    if wish == "scenarios":
        gallery(_open)
    elif wish == "open":
        open_file(_open)


def _session() -> ExploreSession:
    """The session of this browser tab; a new one opens the run in the address, which the browser keeps from then on."""
    if STATE not in st.session_state:
        session = ExploreSession()
        with _for_this_tab() as is_open:
            try:
                session.open(_asked_for(st.query_params.to_dict()), is_open)
            except InputError as problem:
                session.open(Shared(scenario=FIRST))
                session.tell(str(problem))
        st.session_state[STATE] = session
    found: ExploreSession = st.session_state[STATE]
    return found


def _asked_for(params: dict[str, str]) -> Shared:
    """The run in the address; the first example where it names none. In a class's round, each session draws its own."""
    shared = read_query(params if {"scenario", "run"} & set(params) else {"scenario": FIRST, **params})
    return in_round(shared, params["round"], secrets.randbelow(NUMBERS)) if "round" in params else shared


def _take_edits() -> None:
    with _for_this_tab() as is_open:
        _session().absorb(st.session_state[COMPONENT].outbox, is_open)


def _open(shared: Shared) -> None:
    with _for_this_tab() as is_open:
        _session().open(shared, is_open)


@contextmanager
def _for_this_tab() -> Iterator[Callable[[], bool]]:
    """Work for the tab that this script runs for; gives what tells whether it is still connected, and stops if not."""
    context = get_script_run_ctx()
    number = context.session_id if context else ""
    try:
        yield lambda: get_instance().is_active_session(number)
    except OutOfTime:
        st.stop()
