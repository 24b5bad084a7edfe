"""The Compare page: one scenario under several algorithms, and what each costs."""

from __future__ import annotations

import streamlit as st

from sim.core.errors import InputError
from sim.document.writing import dumps
from sim.edit.link import Shared, read_query
from views.compare import words
from views.compare.component import comparison
from views.compare.session import ALGORITHMS_KEY, CompareSession
from views.compare.tradeoffs import tradeoffs
from views.explore import page as explore
from views.server.addresses import COMPARE
from views.server.tabs import for_this_tab
from views.widgets.gallery import gallery, open_file

FIRST = "lecture"
STATE = "compare_session"
COMPONENT = "comparison"


def page() -> None:
    """Draw the page: the runs side by side, and the table of trade-offs."""
    _compared()
    st.html('<div class="cut-under-links"></div>')
    tradeoffs()


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=COMPARE)


@st.fragment
def _compared() -> None:
    """The diagrams, as a fragment: an edit arrives as its new value, and only they are drawn again."""
    session = _session()
    comparison(session.document(), key=COMPONENT, on_outbox_change=_take_edits)
    wish, session.wish = session.wish, None
    if wish is None:
        return
    what, algorithm = wish
    if what == "scenarios":
        gallery(_open)
    elif what == "open":
        open_file(_open)
    else:
        scenario = session.version.under(algorithm)
        explore.show(Shared(toml=dumps(scenario), name=scenario.name))


def _session() -> CompareSession:
    """The session of this browser tab; a new one opens the run in the address."""
    if STATE not in st.session_state:
        session = CompareSession()
        params = st.query_params.to_dict()
        names = [name for name in params.get(ALGORITHMS_KEY, "").split(",") if name]
        with for_this_tab() as is_open:
            try:
                session.open(
                    read_query(params if {"scenario", "run"} & set(params) else {"scenario": FIRST}), names, is_open
                )
            except InputError as problem:
                session.open(Shared(scenario=FIRST))
                session.problem = str(problem)
        st.session_state[STATE] = session
    found: CompareSession = st.session_state[STATE]
    return found


def _take_edits() -> None:
    with for_this_tab() as is_open:
        _session().absorb(st.session_state[COMPONENT].outboxes, is_open)


def _open(shared: Shared) -> None:
    with for_this_tab() as is_open:
        _session().open(shared, (), is_open)
