"""The menu beside a chart that saves it: as a picture, or the rows that it is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from diagrams.charts.files import FILES, OPTIONS, Chart, chart_file, check_size, file_name, view_of
from diagrams.scene.export_options import FONT_SIZE, LEGEND, THEME, WIDTH, Option
from sim.core.errors import InputError
from views.server.errors import complain

ON_SCREEN = "as on a screen"


def save_menu(chart: Chart) -> None:
    """Draw the menu. A file is made when its button is pressed, and never before."""
    with st.popover("Save chart", type="tertiary", key="ensemble-save"):
        form = st.segmented_control(
            "Format", list(FILES), default=next(iter(FILES)), required=True, key="save-format", format_func=str.upper,
            persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        st.caption(FILES[form].what_for)
        given = _asked(chart) if FILES[form].is_picture else {}
        try:
            view = view_of(given)
            check_size(chart, form, view)
        except InputError as problem:
            complain(_in_words(str(problem)))
            return
        st.download_button(
            f"Save {form.upper()}", partial(chart_file, chart, form, view), file_name(chart, form, view),
            FILES[form].media_type, key="save-file", on_click="ignore", type="primary",
        )  # fmt: skip


def _asked(chart: Chart) -> dict[str, str]:
    """The texts of the options of a picture, by name."""
    widths = {"": ON_SCREEN, **{value: f"{said}, {value}" for value, said in WIDTH.choices}}
    asked = {WIDTH.name: _choose(WIDTH, widths, "")}
    if asked[WIDTH.name]:
        asked[FONT_SIZE.name] = _choose(FONT_SIZE, {value: value for value, _ in FONT_SIZE.choices}, FONT_SIZE.example)
    asked[THEME.name] = _choose(THEME, dict(THEME.choices), st.context.theme.type or "light")
    if chart.figure["layout"]["showlegend"]:
        asked[LEGEND.name] = "yes" if st.checkbox(LEGEND.label, True, key="save-legend") else "no"
    return asked


def _choose(option: Option, labels: Mapping[str, str], first: str) -> str:
    """A menu of values; for a length another one may be typed."""
    return st.selectbox(
        option.label, list(labels), list(labels).index(first), key=f"save-{option.name}", persist_state="session",
        format_func=lambda value: labels.get(value, value), accept_new_options=option.kind == "length",
    ) or ""  # fmt: skip


def _in_words(problem: str) -> str:
    """A problem with the options of the command line, in the words of the menu."""
    for option in OPTIONS:
        problem = problem.replace(f"--{option.name}", option.label)
    return problem
