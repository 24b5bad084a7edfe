"""The Explore page: one scenario, its diagram, and whatever the user changes in it."""

from __future__ import annotations

from html import escape

import streamlit as st

from sim import library
from sim.scenario import Scenario, ScenarioError
from views.component import ASSETS, explorer
from views.gallery import gallery, open_file
from views.session import ExploreSession

FIRST_SCENARIO = "lecture"
STATE = "explore_session"
COMPONENT = "explorer"


def page() -> None:
    """Draw the page. An edit arrives as a new value of the component and is taken before anything is drawn."""
    session = _session()
    _follow_link(session)
    st.html(ASSETS / "page.css")
    _header(session.scenario)
    explorer(session.data(), key=COMPONENT, on_outbox_change=_take_edits)


def _session() -> ExploreSession:
    if STATE not in st.session_state:
        st.session_state[STATE] = ExploreSession()
    session: ExploreSession = st.session_state[STATE]
    return session


def _take_edits() -> None:
    _session().absorb(st.session_state[COMPONENT].outbox)


def _follow_link(session: ExploreSession) -> None:
    """Open what the address asks for (`?scenario=NAME`) when it asks for something new."""
    asked = st.query_params.get("scenario")
    if session.history and asked == session.link:
        return
    session.link = asked
    try:
        session.open(library.load(asked or FIRST_SCENARIO))
    except ScenarioError as problem:
        if not session.history:
            session.open(library.load(FIRST_SCENARIO))
        session.tell(str(problem))


def _header(scenario: Scenario) -> None:
    """One slim line. The title may come from anyone's file, so it is shown as plain text."""
    title = escape(scenario.title or scenario.name)
    with st.container(horizontal=True, vertical_alignment="center", key="cut-header"):
        st.html(f'<h1 class="cut-title"><span>Consistent Cut</span> {title}</h1>')
        if st.button("Scenarios", icon=":material/grid_view:"):
            gallery(_open_bundled)
        if st.button("Open file", icon=":material/upload_file:"):
            open_file(_open_own)


def _open_bundled(scenario: Scenario) -> None:
    session = _session()
    session.open(scenario)
    session.link = st.query_params["scenario"] = scenario.name


def _open_own(scenario: Scenario) -> None:
    session = _session()
    session.open(scenario)
    session.link = None
    st.query_params.pop("scenario", None)
