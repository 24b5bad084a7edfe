"""The form of the page Every run: the system, the rule, the channels and the faults to explore."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.link import Shared
from views.every_run import words
from views.every_run.form_state import (
    BOUNDS,
    LARGEST,
    MOST_CRASHES,
    MOST_FREEZES,
    MOST_LOSSES,
    MOST_PROCESSES,
    MOST_SENDS,
    FormState,
)
from views.server import visitors

COMPLETE, CARRIED, IN_EXPLORE = "every run of a complete graph", "carried", "in explore"
OF_A_GRAPH = Scenario.algorithm  # unless another rule is chosen
TO_FILL = "every_run_to_fill"  # the next state of the form
KEPT = ("subject", "processes", "sends", "rule", "overtake", "own", "crashes", "restarts", "losses", "freezes", "most")


class Subject(NamedTuple):
    """A choice of the menu: its title, and the run (None: a complete graph)."""

    title: str
    shared: Shared | None


def every_run_form(state: FormState, in_explore: Shared | None, press: Callable[[FormState], None]) -> None:
    """Draw the form; its button calls `press`. `state` is on show, `in_explore` is the run on the page Explore."""
    known = subjects(state, in_explore)
    to_fill = st.session_state.pop(TO_FILL, None)
    if to_fill is not None or st.session_state.get("every-subject") not in known:
        _fill(to_fill or state)
    chosen = st.selectbox(
        words.SUBJECT, list(known), format_func=lambda key: known[key].title, key="every-subject",
        persist_state="session", help=words.SUBJECT_HELP,
    )  # fmt: skip
    shared = known[chosen].shared
    graph = _graph() if shared is None else {"processes": state.processes, "sends": state.sends}
    rule = _rule(is_run=shared is not None)
    overtake = _checkbox(words.OVERTAKE, "overtake", words.OVERTAKE_HELP)
    own = shared is not None and _checkbox(words.OWN_ORDER, "own", words.OWN_ORDER_HELP)
    crashes = _count(words.CRASHES, MOST_CRASHES, "crashes", words.CRASHES_HELP)
    restarts = crashes > 0 and _checkbox(words.RESTARTS, "restarts", words.RESTARTS_HELP)
    losses = _count(words.LOSSES, MOST_LOSSES, "losses", words.LOSSES_HELP)
    freezes = _count(words.FREEZES, MOST_FREEZES, "freezes", words.FREEZES_HELP)
    most = st.selectbox(
        words.MOST, BOUNDS[:2] if visitors.is_class() else BOUNDS, key="every-most", persist_state="session",
        format_func=words.states,
    )  # fmt: skip
    if st.button(words.TRY, type="primary", width="stretch", key="every-press"):
        press(FormState(
            shared, **graph, rule=rule, fifo=not overtake, own_order=own, crashes=crashes, restarts=restarts,
            losses=losses, freezes=freezes, most_states=most,
        ))  # fmt: skip
    st.caption(words.NO_TIME)


def _graph() -> dict[str, int]:
    """Draw the fields of a complete graph. Returns their numbers."""
    fields = ("processes", words.PROCESSES, 2, MOST_PROCESSES), ("sends", words.SENDS, 0, MOST_SENDS)
    return {
        key: container.number_input(label, least, most, key=f"every-{key}", persist_state="session")
        for container, (key, label, least, most) in zip(st.columns(2, gap="small"), fields, strict=True)
    }


def _rule(*, is_run: bool) -> str:
    """Draw the menu of rules. Returns the chosen one; empty: that of the run or of a complete graph."""
    rules = {rule: rule_title(rule, is_run=is_run) for rule in ("", *ALGORITHMS, *_broken_rules())}
    if not is_run:
        rules.pop(OF_A_GRAPH)  # it has the first place
        if st.session_state["every-rule"] == OF_A_GRAPH:
            st.session_state["every-rule"] = ""
    chosen: str = st.selectbox(
        words.RULE, list(rules), format_func=rules.__getitem__, key="every-rule", persist_state="session",
        help=words.RULE_HELP,
    )  # fmt: skip
    return chosen


def _checkbox(label: str, key: str, help: str) -> bool:
    return st.checkbox(label, key=f"every-{key}", persist_state="session", help=help)


def _count(label: str, most: int, key: str, help: str) -> int:
    return st.number_input(label, 0, most, key=f"every-{key}", persist_state="session", help=help)


def _fill(state: FormState) -> None:
    """Show `state` in the form."""
    subject = COMPLETE if state.shared is None else str(state.shared.scenario) if state.is_bundled else CARRIED
    most = next((bound for bound in BOUNDS if bound >= state.most_states), BOUNDS[-1])
    values = (
        subject, state.processes, state.sends, state.rule, not state.fifo, state.own_order, state.crashes,
        state.restarts, state.losses, state.freezes, most,
    )  # fmt: skip
    for key, value in zip(KEPT, values, strict=True):
        st.session_state[f"every-{key}"] = value


def subjects(state: FormState, in_explore: Shared | None) -> dict[str, Subject]:
    """The choices of the menu, by key: the run on show, the run of Explore, a complete graph, bundled scenarios."""
    found = {}
    if state.shared is not None and not state.is_bundled:
        found[CARRIED] = Subject(words.as_opened(_title(state.shared)), state.shared)
    if in_explore is not None and in_explore != state.shared and (in_explore.edits or in_explore.toml is not None):
        found[IN_EXPLORE] = Subject(words.in_explore(_title(in_explore)), in_explore)
    found[COMPLETE] = Subject(words.COMPLETE_GRAPH, None)
    for name in library.names():
        scenario = library.load(name)
        if len(scenario.processes) <= LARGEST:
            found[name] = Subject(scenario.title or name, Shared(scenario=name))
    return found


def _title(shared: Shared) -> str:
    try:
        scenario = shared.base()
    except InputError:
        return shared.name or str(shared.scenario)
    return scenario.title or scenario.name


def rule_title(rule: str, *, is_run: bool) -> str:
    """A rule as the menu names it: for a run, or for a complete graph."""
    if rule in BROKEN_RULES:
        return words.broken(BROKEN_RULES[rule].switch)
    if not rule and is_run:
        return words.AS_IN_RUN
    return ALGORITHMS[rule or OF_A_GRAPH].title


def _broken_rules() -> list[str]:
    return sorted(BROKEN_RULES, key=lambda name: BROKEN_RULES[name].order)
