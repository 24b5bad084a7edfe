"""The form that starts a live cluster, and what there is to see then."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from views.live.cluster import MOST_S, UNWATCHED_S
from views.live.form_state import FEWEST, LINKS, MOST, SPEEDS, Asked, algorithms, workloads
from views.server import visitors
from views.server.errors import complaining

ABOUT = (
    "Each process is a program of its own on the computer of this server. They send each other messages by the "
    "same rules as the processes in Explore. Everybody who opens this page watches the same cluster."
)
ENDS = f"It ends by itself after {MOST_S / 60:.0f} minutes, or when nobody has watched it for {UNWATCHED_S / 60:.0f}."
IN_A_CLASS = "Who starts it acts on it, and all others watch."
STEPS = {
    "Watch": "Each line is a process, each arrow a message. The diagram grows as things happen; pause it, or go back.",
    "Take a snapshot": "Markers go out, each process records its state, and the cut appears: a dashed line, with all "
    "that was on its way over it.",
    "Kill a process": "With kill -9. A new one takes its place, and all go back to the last complete snapshot.",
    "Freeze a process": "It stands still with all that it holds, and what is sent to it waits. Thaw lets it go on. "
    "After 4 s without a word a new one takes its place, and all go back to the last complete snapshot.",
    "Sever a channel": "What is sent on it waits, and a snapshot cannot end until it is mended.",
    "See that nothing is lost": "Below the diagram is the sum of what the processes hold and what is on the way. A "
    "click on a snapshot shows what it recorded.",
    "Take it with you": "Any seconds of it open in Explore, with states, cuts, lattice and Dijkstra’s page; or "
    "in Traces, as a log.",
}


def live_form(start: Callable[[Asked], None]) -> None:
    """Draw the form; `start` is called when its button is pressed."""
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        _form(start)
    with right.container(key="cut-results"):
        steps = "".join(f"<li><b>{name}.</b> {told}</li>" for name, told in STEPS.items())
        st.html(f'<h2 class="cut-sentence">Start a cluster</h2><p>{ABOUT}</p><ul class="cut-steps">{steps}</ul>')


def _form(start: Callable[[Asked], None]) -> None:
    first = Asked()
    nodes = st.slider("Processes", FEWEST, MOST, first.nodes, key="live-nodes", persist_state="session")
    speed = st.selectbox(
        "Speed", list(SPEEDS), list(SPEEDS).index(first.speed), format_func=lambda name: SPEEDS[name].words,
        key="live-speed", persist_state="session", help="How often something is sent, and how long messages take.",
    )  # fmt: skip
    workload = _menu("What they do", workloads(), first.workload, "live-workload", "What the messages are about.")
    algorithm = _menu(
        "Snapshots follow the rules of", algorithms(), first.algorithm, "live-algorithm",
        "Under Chandy-Lamport’s rules all go back when one is killed. Under some others one that is killed stays away.",
    )  # fmt: skip
    transport = _menu("They talk over", LINKS, first.transport, "live-transport", "What is sent is the same over both.")
    with complaining():
        asked = Asked(nodes, workload, algorithm, speed, transport)
        if st.button("Start the cluster", type="primary", key="live-start", width="stretch"):
            start(asked)
    st.caption(ENDS)
    if visitors.is_class():
        st.caption(IN_A_CLASS)


def _menu(label: str, names: dict[str, str], first: str, key: str, told: str) -> str:
    chosen: str = st.selectbox(
        label, list(names), list(names).index(first), format_func=names.__getitem__, key=key, persist_state="session",
        help=told,
    )  # fmt: skip
    return chosen
