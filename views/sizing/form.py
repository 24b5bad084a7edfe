"""The form of the page Sizing. Every change takes effect at once."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from sim.core.algorithm import ALGORITHMS
from sim.theory.sizing_inputs import CHOICES, INPUTS, TOPOLOGIES, System
from views.sizing import words

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


def sizing_form(on_change: Callable[[], None], to_example: Callable[[], None]) -> dict[str, object]:
    """Draw the form, which `fill` has filled; return its values by name. `to_example` restores the example."""
    st.button(words.EXAMPLE, on_click=to_example, width="stretch", key="sizing-example")
    st.selectbox(
        words.ALGORITHM, CHOICES[ALGORITHM], format_func=lambda name: ALGORITHMS[name].title, key=_key(ALGORITHM),
        persist_state="session", on_change=on_change,
    )  # fmt: skip
    st.selectbox(
        words.TOPOLOGY, TOPOLOGIES, format_func=words.TOPOLOGIES.__getitem__, key=_key(TOPOLOGY),
        persist_state="session", on_change=on_change, help=words.TOPOLOGY_HELP,
    )  # fmt: skip
    for name in SHOWN_FIRST:
        _number(name, on_change)
    st.html(f'<h3 class="cut-told">{words.CHECKPOINTS}</h3>')
    for name in STORED:
        _number(name, on_change)
    return {name: st.session_state[_key(name)] for name in (*INPUTS, *CHOICES)}


def _number(name: str, on_change: Callable[[], None]) -> None:
    wanted = INPUTS[name]
    kind = int if wanted.is_whole else float
    most = min(wanted.most, 2**53 - 1) if wanted.is_whole else wanted.most  # a browser's whole numbers end there
    help = f"{wanted.help[:1].upper()}{wanted.help[1:]}."
    st.number_input(
        wanted.label, kind(wanted.least), kind(most), key=_key(name), persist_state="session", on_change=on_change,
        step=_step(name), format="%d" if wanted.is_whole else "%.10g", help=help,
    )  # fmt: skip


def _step(name: str) -> int | float:
    """The change of a value by a press on plus or minus: about a tenth of the first value."""
    steps: dict[str, int | float] = {
        "nodes": 10, "rate": 5000.0, "size": 20.0, "delay": 0.2, "message_delay": 0.01, "capacity": 1000,
        "state": 100.0, "share": 0.05, "bandwidth": 100.0, "detection": 1.0, "interval": 5.0,
    }  # fmt: skip
    return steps[name]


def _key(name: str) -> str:
    return f"sizing-{name}"
