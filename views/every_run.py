"""The page Every run: all orders in which things can happen in a small system, explored while one watches."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from sim.core.errors import InputError
from sim.edit.link import Shared
from views import explore, visitors
from views.addresses import EVERY_RUN
from views.errors import complain, complaining
from views.every_run_asked import BOUNDS, KEYS, SMALL, Asked
from views.every_run_form import TO_FILL, every_run_form
from views.every_run_results import results, under_way
from views.every_run_words import in_the_forms_words
from views.exploring import Exploring
from views.tabs import is_open_of_this_tab

PAGE = EVERY_RUN
UNDER_WAY = "every_run_exploring"
FOLLOWED = "every_run_address"
FIRST = Shared(scenario="two_banks")
POLL_S = 0.4


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title="Every run", url_path=PAGE)


def page() -> None:
    """Draw the page."""
    problem = _follow()
    exploring: Exploring = st.session_state[UNDER_WAY]
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        st.fragment(every_run_form)(exploring.asked, on_show_in_explore(), _press)
    with right.container(key="cut-results"):
        if problem:
            complain(in_the_forms_words(problem))
        _right(exploring)


def on_show_in_explore() -> Shared | None:
    """The run that the page Explore shows in this tab, if any."""
    session = st.session_state.get(explore.STATE)
    if session is None:
        return None
    shared: Shared = session.shared.edited(session.version.edits)
    return replace(shared, step=0, shown={})


# ------------------------------------------------------------------ what is explored


def _follow() -> str | None:
    """Explore what a new address asks for, and at first the run in Explore; returns what is wrong with the address.

    Nobody has pressed a button, so at most SMALL states are explored.
    """
    params = {key: value for key, value in st.query_params.to_dict().items() if key in KEYS}
    problem = None
    if params and params != st.session_state.get(FOLLOWED):
        try:
            _begin(Asked.read(params))
        except InputError as wrong:
            problem = str(wrong)
        st.session_state[FOLLOWED] = params
    if UNDER_WAY not in st.session_state:
        _begin(Asked(on_show_in_explore() or FIRST))
    return problem


def _press(asked: Asked) -> None:
    """The button of the form: explore what it asks for, and say so in the address."""
    with complaining():
        query = asked.query()
        _begin(asked, asked.most_states)
        st.session_state[FOLLOWED] = query
        st.query_params.from_dict(query)
        st.rerun()


def _begin(asked: Asked, most_states: int = SMALL) -> None:
    """Stop what is explored, and explore something else."""
    before: Exploring | None = st.session_state.get(UNDER_WAY)
    if before is not None:
        before.stop.set()
    st.session_state[TO_FILL] = asked
    most = min(most_states, largest_bound())
    st.session_state[UNDER_WAY] = Exploring(replace(asked, most_states=most), is_open_of_this_tab()).start()


def largest_bound() -> int:
    """How many states a visitor may have explored at most."""
    return BOUNDS[1] if visitors.is_class() else BOUNDS[-1]


# ------------------------------------------------------------------ the right side


def _right(exploring: Exploring) -> None:
    if not exploring.is_over:
        exploring.wait(POLL_S)  # most are over by then: nothing flickers
    if not exploring.is_over:
        st.fragment(_watch, run_every=POLL_S)(exploring)
    elif exploring.problem:
        complain(in_the_forms_words(exploring.problem))
    else:
        results(exploring, _further)


def _watch(exploring: Exploring) -> None:
    """Show how far it is, and draw the page anew when it is over. Nothing blocks."""
    if exploring.is_over:
        st.rerun()
    under_way(exploring)


def _further(exploring: Exploring) -> None:
    """The button that explores the same with more states."""
    more = next((bound for bound in BOUNDS if exploring.asked.most_states < bound <= largest_bound()), None)
    if more is not None and st.button(f"Explore up to {more:,} states", type="primary", key="every-further"):
        _press(replace(exploring.asked, most_states=more))
