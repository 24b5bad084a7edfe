"""The page Every run: all orders of the steps of a small system, explored while the user watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from sim.core.errors import InputError
from sim.edit.link import Shared
from views.every_run import words
from views.every_run.exploration import Exploring
from views.every_run.findings import in_the_forms_words
from views.every_run.form import TO_FILL, every_run_form
from views.every_run.form_state import BOUNDS, KEYS, SMALL, FormState
from views.every_run.results import results, under_way
from views.explore import page as explore
from views.server import visitors
from views.server.addresses import EVERY_RUN, PAGE_BEFORE
from views.server.errors import complain
from views.server.tabs import is_open_of_this_tab

PAGE = EVERY_RUN
UNDER_WAY = "every_run_exploring"
FOLLOWED = "every_run_address"
FIRST = Shared(scenario="two_banks")
POLL_S = 0.4


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=PAGE)


def page() -> None:
    """Draw the page."""
    _follow()
    exploring: Exploring = st.session_state[UNDER_WAY]
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        st.fragment(every_run_form)(exploring.form_state, on_show_in_explore(), _press)
    with right.container(key="cut-results"):
        _right(exploring)
        if not exploring.form_state.query():
            st.caption(words.ADDRESS_TOO_LONG)


def on_show_in_explore() -> Shared | None:
    """The run that the page Explore shows in this tab, if any."""
    session = st.session_state.get(explore.STATE)
    if session is None:
        return None
    shared: Shared = session.shared.edited(session.version.edits)
    return replace(shared, step=0, shown={})


# ------------------------------------------------------------------ the exploration


def _follow() -> None:
    """Explore the system of a new address; a user who comes from another page finds the last address again."""
    params = {key: value for key, value in st.query_params.to_dict().items() if key in KEYS}
    followed = st.session_state.get(FOLLOWED)
    if not params and followed and st.session_state.get(PAGE_BEFORE) != PAGE:
        st.query_params.from_dict(followed)
    elif params != followed:
        st.session_state[FOLLOWED] = params
        _begin_as(params)


def _begin_as(params: Mapping[str, str]) -> None:
    """Explore the system of an address; without one, the run in Explore.

    The user has not pressed the button, so at most SMALL states are explored.
    """
    try:
        state = FormState.read(params) if params else FormState(on_show_in_explore() or FIRST)
    except InputError as problem:
        _show(Exploring(FormState(FIRST)).refuse(str(problem)))
    else:
        _begin(replace(state, most_states=min(state.most_states, SMALL)))


def _press(state: FormState) -> None:
    """The button of the form: explore its system, and put its state into the address."""
    query = state.query()
    _begin(replace(state, most_states=min(state.most_states, largest_bound())))
    st.session_state[FOLLOWED] = query
    st.query_params.from_dict(query)
    st.rerun()


def _begin(state: FormState) -> None:
    """Explore this system from now on."""
    _show(Exploring(state, is_open_of_this_tab()).start())


def _show(exploring: Exploring) -> None:
    """Stop the exploration on show, and show this one instead."""
    before: Exploring | None = st.session_state.get(UNDER_WAY)
    if before is not None:
        before.stop.set()
    st.session_state[TO_FILL] = exploring.form_state
    st.session_state[UNDER_WAY] = exploring


def largest_bound() -> int:
    """The most states that a visitor may explore."""
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
    """Show the progress, and draw the page again when it is over. Nothing blocks."""
    if exploring.is_over:
        st.rerun()
    under_way(exploring)


def _further(exploring: Exploring) -> None:
    """Draw the button that explores more states, if their number ended the exploration."""
    result, most = exploring.result, exploring.form_state.most_states
    more = next((bound for bound in BOUNDS if most < bound <= largest_bound()), None)
    if (
        more
        and result
        and result.pairs > most
        and st.button(words.explore_more(more), type="primary", key="every-further")
    ):
        _press(replace(exploring.form_state, most_states=more))
