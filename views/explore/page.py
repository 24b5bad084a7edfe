"""The Explore page: one scenario, its diagram, and the user's edits."""

from __future__ import annotations

import secrets

import streamlit as st

from sim.core.errors import InputError
from sim.edit.link import NUMBERS, Shared, in_round, read_query
from views.explore import words
from views.explore.session import ExploreSession
from views.server.budget import Busy, is_big_run_made
from views.server.plain_words import sentence
from views.server.tabs import for_this_tab
from views.server.words import YOURS_FOLLOWS
from views.widgets.explorer import explorer
from views.widgets.gallery import gallery, open_file

FIRST = "lecture"
STATE = "explore_session"
COMPONENT = "explorer"
POLL_S = 1.0  # between two looks for the end of another visitor's big run


def page() -> None:
    """Draw the page; a big run in the address waits for the end of another visitor's big run."""
    try:
        _session()
    except Busy:
        st.fragment(_wait, run_every=POLL_S)()
    else:
        _explorer()


def _wait() -> None:
    """Say that another visitor's big run is being made, and draw the page again when it is done. Nothing blocks."""
    if not is_big_run_made():
        st.rerun()
    st.info(sentence(YOURS_FOLLOWS))


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, default=True)


def show(shared: Shared) -> None:
    """Go to this page with a run from another page. Raises InputError, and then nothing has changed.

    The run gets a session of its own, so no pending edit reaches it; the browser's Back leads to the run before.
    """
    session = ExploreSession(is_chosen=True)
    with for_this_tab() as is_open:
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
    """The session of this browser tab; a new one opens the run in the address, which the browser keeps from then on.

    Raises Busy, and then there is no session yet, and the address stays.
    """
    if STATE not in st.session_state:
        session = ExploreSession()
        with for_this_tab() as is_open:
            try:
                session.open(_asked_for(st.query_params.to_dict()), is_open)
            except Busy:
                raise
            except InputError as problem:
                session.open(Shared(scenario=FIRST))
                session.tell(str(problem))
        st.session_state[STATE] = session
    found: ExploreSession = st.session_state[STATE]
    return found


def _asked_for(params: dict[str, str]) -> Shared:
    """The run in the address; the first example if it names none. In a class's round, each session draws its own."""
    shared = read_query(params if {"scenario", "run"} & set(params) else {"scenario": FIRST, **params})
    return in_round(shared, params["round"], secrets.randbelow(NUMBERS)) if "round" in params else shared


def _take_edits() -> None:
    with for_this_tab() as is_open:
        _session().absorb(st.session_state[COMPONENT].outbox, is_open)


def _open(shared: Shared) -> None:
    with for_this_tab() as is_open:
        _session().open(shared, is_open)
