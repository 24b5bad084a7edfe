"""The menu beside a chart that saves it: as a picture, or as the rows behind it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from diagrams.charts.files import FILES, OPTIONS, Chart, chart_file, check_size, file_name, view_of
from diagrams.scene.export_options import FONT_SIZE, LEGEND, THEME, WIDTH, Option
from sim.core.errors import InputError
from views.server.errors import complain
from views.widgets import words


def save_menu(chart: Chart) -> None:
    """Draw the menu. A file is made when its button is pressed, and never before."""
    with st.popover(words.SAVE_CHART, type="tertiary", key="ensemble-save"):
        form = st.segmented_control(
            words.FORMAT, list(FILES), default=next(iter(FILES)), required=True, key="save-format",
            format_func=str.upper, persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        st.caption(FILES[form].what_for)
        given = _chosen(chart) if FILES[form].is_picture else {}
        try:
            view = view_of(given)
            check_size(chart, form, view)
        except InputError as problem:
            complain(_in_words(str(problem)))
            return
        st.download_button(
            words.save_as(form.upper()), partial(chart_file, chart, form, view), file_name(chart, form, view),
            FILES[form].media_type, key="save-file", on_click="ignore", type="primary",
        )  # fmt: skip


def _chosen(chart: Chart) -> dict[str, str]:
    """The texts of the options of a picture, by name."""
    widths = {"": words.ON_SCREEN, **{value: f"{name}, {value}" for value, name in WIDTH.choices}}
    chosen = {WIDTH.name: _choose(WIDTH, widths, "")}
    if chosen[WIDTH.name]:
        chosen[FONT_SIZE.name] = _choose(FONT_SIZE, {value: value for value, _ in FONT_SIZE.choices}, FONT_SIZE.example)
    chosen[THEME.name] = _choose(THEME, dict(THEME.choices), st.context.theme.type or "light")
    if chart.figure["layout"]["showlegend"]:
        chosen[LEGEND.name] = "yes" if st.checkbox(LEGEND.label, True, key="save-legend") else "no"
    return chosen


def _choose(option: Option, labels: Mapping[str, str], first: str) -> str:
    """A menu of values; a user may also type another length."""
    return st.selectbox(
        option.label, list(labels), list(labels).index(first), key=f"save-{option.name}", persist_state="session",
        format_func=lambda value: labels.get(value, value), accept_new_options=option.kind == "length",
    ) or ""  # fmt: skip


def _in_words(problem: str) -> str:
    """A problem with the options of the command line, in the words of the menu."""
    for option in OPTIONS:
        problem = problem.replace(f"--{option.name}", option.label)
    return problem
