"""The form of the page Sizing. What is changed in it counts at once."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from sim.core.algorithm import ALGORITHMS
from sim.theory.sizing_inputs import CHOICES, INPUTS, TOPOLOGIES, System

TITLES = {"complete": "each with each", "ring": "a ring", "line": "a line", "star": "a star", "dag": "a dag"}
ALGORITHM, TOPOLOGY = "algorithm", "topology"
SHOWN_FIRST = ("nodes", "rate", "size", "delay", "message_delay", "capacity")
STORED = tuple(name for name in INPUTS if name not in SHOWN_FIRST)


def fill(system: System) -> None:
    """Show `system` in the form."""
    for name, wanted in INPUTS.items():
        value = getattr(system, name)
        st.session_state[_key(name)] = int(value) if wanted.is_whole else float(value)
    for name in CHOICES:
        st.session_state[_key(name)] = getattr(system, name)


def sizing_form(on_change: Callable[[], None], to_documents: Callable[[], None]) -> dict[str, object]:
    """Draw the form, which `fill` has filled; what it asks for. `to_documents` goes back to their example."""
    st.button("The documents’ example", on_click=to_documents, width="stretch", key="sizing-documents")
    st.selectbox(
        "Algorithm", CHOICES[ALGORITHM], format_func=lambda name: ALGORITHMS[name].title, key=_key(ALGORITHM),
        persist_state="session", on_change=on_change,
    )  # fmt: skip
    st.selectbox(
        "Topology", TOPOLOGIES, format_func=TITLES.__getitem__, key=_key(TOPOLOGY), persist_state="session",
        on_change=on_change, help="The first node (P1) starts the snapshot: the end of a line, the hub of a star, the "
        "source of a dag, in which each node feeds all later ones.",
    )  # fmt: skip
    for name in SHOWN_FIRST:
        _number(name, on_change)
    st.html('<h3 class="cut-told">Checkpoints and recovery</h3>')
    for name in STORED:
        _number(name, on_change)
    return {name: st.session_state[_key(name)] for name in (*INPUTS, *CHOICES)}


def _number(name: str, on_change: Callable[[], None]) -> None:
    wanted = INPUTS[name]
    kind = int if wanted.is_whole else float
    most = min(wanted.most, 2**53 - 1) if wanted.is_whole else wanted.most  # a browser's whole numbers end there
    told = f"{wanted.help[:1].upper()}{wanted.help[1:]}."
    st.number_input(
        wanted.label, kind(wanted.least), kind(most), key=_key(name), persist_state="session", on_change=on_change,
        step=_step(name), format="%d" if wanted.is_whole else "%.10g", help=told,
    )  # fmt: skip


def _step(name: str) -> int | float:
    """How much a press on plus or minus changes: about a tenth of the first value."""
    steps: dict[str, int | float] = {
        "nodes": 10, "rate": 5000.0, "size": 20.0, "delay": 0.2, "message_delay": 0.01, "capacity": 1000,
        "state": 100.0, "share": 0.05, "bandwidth": 100.0, "detection": 1.0, "interval": 5.0,
    }  # fmt: skip
    return steps[name]


def _key(name: str) -> str:
    return f"sizing-{name}"
