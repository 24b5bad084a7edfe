"""The space-time diagram on a plain Streamlit page: `st.plotly_chart`, a button and a slider.

bench/ui.py compares the explorer with it. The figure is drawn once per scenario and cached; a step only hides elements
that come later.
"""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from diagrams.figure.spacetime import figure
from diagrams.scene.composition import compose
from diagrams.shapes.theme import PALETTES
from sim.document import library
from sim.run.execution import run

TOKEN = re.compile(r"@([\w-]+)(?:/([\d.]+))?")


@st.cache_resource
def drawn(name: str) -> tuple[dict[str, Any], int]:
    """The figure of a bundled scenario with its colours, and the number of its last step."""
    scene = compose(run(library.load(name)))
    return coloured(figure(scene, scene.execution.scenario.orientation)), scene.last


def coloured(value: Any) -> Any:
    """Part of a figure, with every colour token replaced by its colour in the light theme."""
    if isinstance(value, dict):
        return {key: coloured(item) for key, item in value.items()}
    if isinstance(value, list):
        return [coloured(item) for item in value]
    found = TOKEN.fullmatch(value) if isinstance(value, str) else None
    if not found or found[1] not in PALETTES["light"]:
        return value
    digits = PALETTES["light"][found[1]].lstrip("#")
    red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
    return f"rgba({red}, {green}, {blue}, {found[2] or 1})"


def at_step(whole: dict[str, Any], step: int) -> dict[str, Any]:
    """The figure at a step. Its title is the step's number, for which the benchmark waits."""
    title = {"text": f"step {step}", "font": {"size": 10}}
    return {"data": [masked(trace, step) for trace in whole["data"]], "layout": {**whole["layout"], "title": title}}


def masked(trace: dict[str, Any], step: int) -> dict[str, Any]:
    """A trace without the elements that are not seen at a step, as assets/explore/run/timeline.js masks them."""
    meta = trace.get("meta", {})
    if "show" not in meta:
        return trace
    hidden = {
        point
        for element, (first, until) in enumerate(meta["show"])
        if step < first or (until is not None and step >= until)
        for point in range(element * meta["stride"], (element + 1) * meta["stride"])
    }
    cut = {axis: [None if at in hidden else value for at, value in enumerate(trace[axis])] for axis in "xy"}
    return {**trace, **cut}


def go_on(last: int) -> None:
    """Goes to the next step, unless this is the last."""
    st.session_state["step"] = min(last, st.session_state["step"] + 1)


def page() -> None:
    """The whole page."""
    whole, last = drawn(st.query_params.get("scenario", "lecture"))
    st.session_state.setdefault("step", 0)
    st.button("Step", on_click=go_on, args=(last,))
    st.slider("Step", 0, last, key="step")
    st.plotly_chart(at_step(whole, st.session_state["step"]), key="diagram")


page()
