"""The form that starts a live cluster, and a list of things to try."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from views.live import words
from views.live.cluster import MOST_BYTES, MOST_S, UNWATCHED_S
from views.live.form_state import FEWEST, LINKS, MOST, SPEEDS, FormState, algorithms, workloads
from views.server import visitors
from views.server.errors import complaining


def live_form(start: Callable[[FormState], None]) -> None:
    """Draw the form; `start` is called when its button is pressed."""
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        _form(start)
    with right.container(key="cut-results"):
        steps = "".join(f"<li><b>{name}.</b> {text}</li>" for name, text in words.STEPS.items())
        title = f'<h2 class="cut-sentence">{words.START_A_CLUSTER}</h2>'
        st.html(f'{title}<p>{words.ABOUT}</p><ul class="cut-steps">{steps}</ul>')


def _form(start: Callable[[FormState], None]) -> None:
    first = FormState()
    nodes = st.slider(words.PROCESSES, FEWEST, MOST, first.nodes, key="live-nodes", persist_state="session")
    speed = st.selectbox(
        words.SPEED, list(SPEEDS), list(SPEEDS).index(first.speed), format_func=lambda name: SPEEDS[name].words,
        key="live-speed", persist_state="session", help=words.SPEED_HELP,
    )  # fmt: skip
    workload = _menu(words.WORKLOAD, workloads(), first.workload, "live-workload", words.WORKLOAD_HELP)
    algorithm = _menu(words.ALGORITHM, algorithms(), first.algorithm, "live-algorithm", words.ALGORITHM_HELP)
    transport = _menu(words.TRANSPORT, LINKS, first.transport, "live-transport", words.TRANSPORT_HELP)
    with complaining():
        state = FormState(nodes, workload, algorithm, speed, transport)
        if st.button(words.START, type="primary", key="live-start", width="stretch"):
            start(state)
    st.caption(words.ends(MOST_S / 60, UNWATCHED_S / 60, MOST_BYTES / 1e9))
    if visitors.is_class():
        st.caption(words.OWNER_CONTROLS)


def _menu(label: str, names: dict[str, str], first: str, key: str, help: str) -> str:
    chosen: str = st.selectbox(
        label, list(names), list(names).index(first), format_func=names.__getitem__, key=key, persist_state="session",
        help=help,
    )  # fmt: skip
    return chosen
