"""The Explore page: one scenario, its diagram, and whatever the user changes in it."""

from __future__ import annotations

import streamlit as st

from sim.core.errors import InputError
from sim.edit.link import Shared, read_query
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
    """This page, as the way between pages knows it."""
    return st.Page(page, title="Explore", default=True)


def show(shared: Shared) -> None:
    """Go to this page with a run that another page has found. Raises InputError, and then nothing has changed.

    It is a session of its own, so no edit under way can get into it; the browser's Back leads to what was there.
    """
    session = ExploreSession(is_chosen=True)
    session.open(shared)
    st.session_state[STATE] = session
    st.switch_page(as_page())


@st.fragment
def _explorer() -> None:
    """The explorer. An edit arrives as a new value of it, and is taken before it is shown again, and it alone."""
    session = _session()
    explorer(session.data(), session.drawn, key=COMPONENT, on_outbox_change=_take_edits)
    wish, session.wish = session.wish, None
    if wish == "scenarios":
        gallery(_open)
    elif wish == "open":
        open_file(_open)


def _session() -> ExploreSession:
    """This browser session's; a new one opens what the address asks for. From then on the browser keeps the address."""
    if STATE not in st.session_state:
        session = ExploreSession()
        try:
            session.open(_asked_for(st.query_params.to_dict()))
        except InputError as problem:
            session.open(Shared(scenario=FIRST))
            session.tell(str(problem))
        st.session_state[STATE] = session
    found: ExploreSession = st.session_state[STATE]
    return found


def _asked_for(params: dict[str, str]) -> Shared:
    """What the address asks for; the first example where it names no run."""
    return read_query(params if {"scenario", "run"} & set(params) else {"scenario": FIRST, **params})


def _take_edits() -> None:
    _session().absorb(st.session_state[COMPONENT].outbox)


def _open(shared: Shared) -> None:
    _session().open(shared)
