"""The findings of an exploration: the graph of its states or counts per depth, snapshots, checks and wrong runs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.files import SVG, Chart, chart_file, view_of
from diagrams.charts.parts import Figure
from diagrams.charts.state_graph import way_to
from diagrams.scene.export_options import THEME
from diagrams.shapes import theme
from sim.document.scenario import Scenario
from sim.explore.replay import by_hand
from sim.explore.world import NO_FAULTS
from views.every_run import words
from views.every_run.component import state_graph
from views.every_run.exploration import MOST_DRAWN, Exploring, Result
from views.every_run.findings import headline, how_far, system, takes_away, titles, together
from views.every_run.tables import about_snapshots, checks_table, snapshots_table, wrong_runs
from views.explore.opening import open_scenario
from views.server.errors import complaining
from views.widgets.chart_saving import save_menu


def under_way(exploring: Exploring) -> None:
    """Draw the progress of an exploration, with a button that stops it."""
    place, button = st.columns([5, 1], vertical_alignment="center")
    place.html(f'<p class="cut-told" role="status"><b>{words.EXPLORING}</b>: {escape(how_far(exploring))}</p>')
    if button.button(words.STOP, key="every-stop", disabled=exploring.stop.is_set()):
        exploring.stop.set()
    if exploring.waits:
        st.info(words.YOURS_FOLLOWS)
    if exploring.depths:
        st.html(_still(_depths_chart(exploring)))


def _still(chart: Chart) -> str:
    """A chart as an <img>, which is replaced without flickering."""
    svg = chart_file(chart, SVG, view_of({THEME.name: st.context.theme.type or "light"}))
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode('ascii')}"
    return f'<img class="cut-live" alt="{escape(chart.description)}" src="{source}">'


def _depths_chart(exploring: Exploring) -> Chart:
    counts = [(own.states, own.completes) for own in exploring.depths]
    return Chart(charts.depths(counts), words.READ_DEPTHS, "states-by-depth", partial(chart_rows.depths, counts))


def results(exploring: Exploring, further: Callable[[Exploring], None]) -> None:
    """Draw the findings; `further` draws a button that explores more, if there is more."""
    found = exploring.result
    assert found is not None
    st.html(
        f'<p class="cut-told">{escape(system(found.scenario, found.may))}</p>'
        f'<h2 class="cut-sentence">{headline(found)}</h2>'
    )
    if found.problem:
        _not_all(exploring, found, further)
    _wrong_runs(found)
    _views(exploring, found)


def _not_all(exploring: Exploring, found: Result, further: Callable[[Exploring], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="every-more"):
        further(exploring)
        is_file = exploring.form_state.shared is not None and not exploring.form_state.is_bundled
        st.markdown(words.command_line(is_file), width="content")
        st.code(exploring.form_state.command(found.scenario), language=None, width="content")


def _wrong_runs(found: Result) -> None:
    """A button for each shortest wrong run."""
    if not found.runs:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cut-extremes"):
        st.markdown(words.OPEN_SHORTEST, width="content")
        for checks in together(found):
            wrong, steps = found.runs[checks[0]], len(found.runs[checks[0]].scheduler.order)
            title = f"{found.scenario.title or found.scenario.name}: {titles(checks)}"
            label = words.wrong_run(titles(checks), steps)
            _open_button(wrong, title, _story(checks, steps), label, f"every-wrong-{checks[0]}")


def _story(checks: Sequence[str], steps: int) -> str:
    return words.story(" ".join(f"“{words.CHECKS[check][1]}”" for check in checks), steps)


@complaining()
def _open_button(run: Scenario, title: str, story: str, label: str, key: str) -> None:
    if st.button(label, key=key):
        _open(run, title, story)


def _open(run: Scenario, title: str, story: str) -> None:
    open_scenario(replace(run, title=title, story=story), len(run.scheduler.order))


@st.fragment
def _views(exploring: Exploring, found: Result) -> None:
    names = {
        words.VIEW_STATES: _states,
        words.view_snapshots(len(found.recorded)): _snapshots,
        words.VIEW_CHECKS: _checks,
    }
    view = st.segmented_control(
        words.VIEW,
        list(names),
        default=next(iter(names)),
        required=True,
        key="every-view",
        label_visibility="collapsed",
    )
    names[view](exploring, found)


# ------------------------------------------------------------------ the states


def _states(exploring: Exploring, found: Result) -> None:
    if found.nodes:
        _graph(found)
    else:
        chart = _depths_chart(exploring)
        with st.container(horizontal=True, vertical_alignment="center", key="cut-chart-head"):
            st.html(f'<h3 class="cut-told">{escape(chart.title)}</h3>')
            save_menu(chart)
        with st.container(key="cut-chart"):
            _plot(chart.figure, "every-depths")
        st.caption(f"{chart.how_to_read} {words.drawn_up_to(MOST_DRAWN)}")


def _plot(figure: Figure, key: str) -> None:
    palette = theme.PALETTES[st.context.theme.type or "light"]
    layout = {name: own for name, own in figure["layout"].items() if name != "title"}
    layout["margin"] = layout["margin"] | {"t": 8}
    st.plotly_chart(
        theme.resolve({"data": figure["data"], "layout": layout}, palette), theme=None, key=key,
        height="stretch", config={"displayModeBar": False},
    )  # fmt: skip


def _graph(found: Result) -> None:
    """Draw the graph, and open the way to the state that the browser names."""
    opened = state_graph(found)
    if found.may != NO_FAULTS or found.pairs > found.states:
        st.caption(words.SEEM_ALIKE)
    if opened is not None and 0 <= opened < len(found.nodes):
        with complaining():
            _open(
                by_hand(found.scenario, tuple(own.action for own in way_to(found.edges, opened))),
                words.way_to(found.scenario.title or found.scenario.name, opened),
                words.TRIED,
            )


# ------------------------------------------------------------------ the snapshots, the checks


def _snapshots(exploring: Exploring, found: Result) -> None:
    if not found.recorded:
        st.html(f'<p class="cut-told">{words.NO_SNAPSHOTS}</p>')
        return
    st.html(f'<div class="cut-wide" tabindex="0">{snapshots_table(found)}</div>')
    st.caption(about_snapshots(found))


def _checks(exploring: Exploring, found: Result) -> None:
    st.html(checks_table(found))
    if takes_away(found):
        st.caption(words.what_is_checked(takes_away(found), has_losses=found.may.losses > 0))
    for wrong_run in wrong_runs(found):
        st.html(wrong_run)
