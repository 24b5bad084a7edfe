"""The form of the page Every run: what is explored, by which rule, on which channels, with which faults."""

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
from views.every_run.form_state import (
    BOUNDS,
    LARGEST,
    MOST_CRASHES,
    MOST_FREEZES,
    MOST_LOSSES,
    MOST_PROCESSES,
    MOST_SENDS,
    Asked,
)
from views.server import visitors

COMPLETE, CARRIED, IN_EXPLORE = "every run of a complete graph", "carried", "in explore"
AS_IT_IS = "as in the run"
OF_A_GRAPH = Scenario.algorithm  # unless another rule is chosen
TO_FILL = "every_run_to_fill"  # what the form is to show next
KEPT = ("subject", "processes", "sends", "rule", "overtake", "own", "crashes", "restarts", "losses", "freezes", "most")


class Subject(NamedTuple):
    """What may be explored: its name in the menu, and the run (None: a complete graph)."""

    title: str
    shared: Shared | None


def every_run_form(asked: Asked, in_explore: Shared | None, press: Callable[[Asked], None]) -> None:
    """Draw the form; its button calls `press`. `asked` is on show, `in_explore` is the run on the page Explore."""
    known = subjects(asked, in_explore)
    to_fill = st.session_state.pop(TO_FILL, None)
    if to_fill is not None or st.session_state.get("every-subject") not in known:
        _fill(to_fill or asked)
    chosen = st.selectbox(
        "What is explored", list(known), format_func=lambda key: known[key].title, key="every-subject",
        persist_state="session",
        help="A run: what happens in it, in every order that is possible. A complete graph: each process may send to "
        "any other one, so many in all, at any time, and P1 may start a snapshot at any time.",
    )  # fmt: skip
    shared, graph = known[chosen].shared, {"processes": asked.processes, "sends": asked.sends}
    if shared is None:
        for container, (key, label, least, most) in zip(
            st.columns(2, gap="small"),
            (("processes", "Processes", 2, MOST_PROCESSES), ("sends", "Messages each", 0, MOST_SENDS)),
            strict=True,
        ):
            graph[key] = container.number_input(label, least, most, key=f"every-{key}", persist_state="session")
    rules = {rule: rule_title(rule, is_run=shared is not None) for rule in ("", *ALGORITHMS, *_broken_rules())}
    if shared is None:
        rules.pop(OF_A_GRAPH)  # it has the first place
        if st.session_state["every-rule"] == OF_A_GRAPH:
            st.session_state["every-rule"] = ""
    rule = st.selectbox(
        "Rule", list(rules), format_func=rules.__getitem__, key="every-rule", persist_state="session",
        help="The snapshot algorithm, or one of its rules broken on purpose",
    )  # fmt: skip
    overtake = st.checkbox(
        "Messages may overtake each other", key="every-overtake", persist_state="session",
        help="On: no channel is FIFO. Off: the channels are as in the run; those of a complete graph are FIFO.",
    )  # fmt: skip
    own = shared is not None and st.checkbox(
        "Processes do not wait for each other", key="every-own", persist_state="session",
        help="Off: the lines of the script happen in the order in which they are written. "
        "On: only the lines of the same process do.",
    )  # fmt: skip
    crashes = st.number_input(
        "Crashes", 0, MOST_CRASHES, key="every-crashes", persist_state="session",
        help="So many in a run at most, of any process at any moment. Who crashes loses its state and what it has "
        "recorded, unless its part of the snapshot is complete; what comes to it is lost.",
    )  # fmt: skip
    restarts = crashes > 0 and st.checkbox(
        "Who has crashed may start again", key="every-restarts", persist_state="session",
        help="On: at any moment, in its initial state. Off: it stays down.",
    )  # fmt: skip
    losses = st.number_input(
        "Losses", 0, MOST_LOSSES, key="every-losses", persist_state="session",
        help="So many messages and markers at most are lost in a run, on their way, at any moment; nobody sends them "
        "again. The others of a channel keep their order. Control messages are never lost.",
    )  # fmt: skip
    freezes = st.number_input(
        "Freezes", 0, MOST_FREEZES, key="every-freezes", persist_state="session",
        help="So many times in a run at most a process is frozen: it does nothing and takes nothing in, and loses "
        "nothing. It may be thawed at any later moment.",
    )  # fmt: skip
    most = st.selectbox(
        "At most", BOUNDS[:2] if visitors.is_class() else BOUNDS, key="every-most", persist_state="session",
        format_func=lambda bound: f"{bound:,} states",
    )  # fmt: skip
    if st.button("Try every run", type="primary", width="stretch", key="every-press"):
        press(Asked(
            shared, **graph, rule=rule, fifo=not overtake, own_order=own, crashes=crashes, restarts=restarts,
            losses=losses, freezes=freezes, most_states=most,
        ))  # fmt: skip
    st.caption("All orders in which things can happen are tried: time plays no part.")


def _fill(asked: Asked) -> None:
    """Show `asked` in the form."""
    subject = COMPLETE if asked.shared is None else str(asked.shared.scenario) if asked.is_bundled else CARRIED
    most = next((bound for bound in BOUNDS if bound >= asked.most_states), BOUNDS[-1])
    values = (
        subject, asked.processes, asked.sends, asked.rule, not asked.fifo, asked.own_order, asked.crashes,
        asked.restarts, asked.losses, asked.freezes, most,
    )  # fmt: skip
    for key, value in zip(KEPT, values, strict=True):
        st.session_state[f"every-{key}"] = value


def subjects(asked: Asked, in_explore: Shared | None) -> dict[str, Subject]:
    """What may be explored, by key: the run on show, that of Explore, a complete graph, bundled scenarios."""
    found = {}
    if asked.shared is not None and not asked.is_bundled:
        found[CARRIED] = Subject(f"{_title(asked.shared)} (as opened)", asked.shared)
    if in_explore is not None and in_explore != asked.shared and (in_explore.edits or in_explore.toml is not None):
        found[IN_EXPLORE] = Subject(f"{_title(in_explore)} (now in Explore)", in_explore)
    found[COMPLETE] = Subject("A complete graph", None)
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
        return f"Broken: {BROKEN_RULES[rule].switch}"
    if not rule and is_run:
        return AS_IT_IS
    return ALGORITHMS[rule or OF_A_GRAPH].title


def _broken_rules() -> list[str]:
    return sorted(BROKEN_RULES, key=lambda name: BROKEN_RULES[name].order)
