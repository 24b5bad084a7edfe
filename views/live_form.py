"""The form that starts a live cluster."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from views.errors import complaining
from views.live_asked import FEWEST, MOST, SPEEDS, Asked, algorithms, workloads

ABOUT = (
    "Each process is a program of its own on this computer. They send each other messages, "
    "take snapshots, and come back when one is killed. Everybody who opens this page watches the same cluster."
)


def live_form(start: Callable[[Asked], None]) -> None:
    """Draw the form; `start` is called when its button is pressed."""
    first = Asked()
    with st.container(key="cut-live-form"):
        st.html(f'<h2 class="cut-sentence">Start a cluster</h2><p>{ABOUT}</p>')
        nodes = st.slider("Processes", FEWEST, MOST, first.nodes, key="live-nodes", persist_state="session")
        speed = st.selectbox(
            "Speed", list(SPEEDS), list(SPEEDS).index(first.speed), format_func=lambda name: SPEEDS[name].words,
            key="live-speed", persist_state="session",
        )  # fmt: skip
        workload = _menu("What they do", workloads(), first.workload, "live-workload")
        algorithm = _menu("Snapshots follow the rules of", algorithms(), first.algorithm, "live-algorithm")
        with complaining():
            asked = Asked(nodes, workload, algorithm, speed)
            if st.button("Start the cluster", type="primary", key="live-start"):
                start(asked)


def _menu(label: str, names: dict[str, str], first: str, key: str) -> str:
    chosen: str = st.selectbox(
        label, list(names), list(names).index(first), format_func=names.__getitem__, key=key, persist_state="session"
    )
    return chosen
