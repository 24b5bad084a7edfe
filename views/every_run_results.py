"""What an exploration found: the graph of its states or counts per depth, the snapshots, the checks and wrong runs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from diagrams import chart_rows, charts, theme
from diagrams.chart_files import SVG, Chart, chart_file, view_of
from diagrams.chart_parts import Figure
from diagrams.export_options import THEME
from diagrams.state_graph import way_to
from sim.document.scenario import Scenario
from sim.explore.replay import by_hand
from views.chart_saving import save_menu
from views.errors import complaining
from views.every_run_words import (
    CHECKS,
    channels_in_words,
    checks_of,
    headline,
    how_far,
    states_in_words,
    titles,
    together,
    total_of,
    ways,
    whole,
)
from views.exploring import Exploring, Result, key_of
from views.state_graph import state_graph
from views.opening import open_scenario
from views.page_words import sentence

MOST_LISTED = 100  # snapshots
HOW_TO_READ_DEPTHS = "A bar: the states that so many steps lead to. A diamond: such a step completes a snapshot."


def under_way(exploring: Exploring) -> None:
    """Draw how far an exploration is, with a button that stops it."""
    place, button = st.columns([5, 1], vertical_alignment="center")
    place.html(f'<p class="cut-told" role="status"><b>Exploring</b>: {escape(how_far(exploring))}</p>')
    if button.button("Stop", key="every-stop", disabled=exploring.stop.is_set()):
        exploring.stop.set()
    if exploring.waits:
        st.info("Somebody else's big exploration is under way at this moment; yours goes on after it.")
    if exploring.depths:
        st.html(_still(_depths_chart(exploring)))


def _still(chart: Chart) -> str:
    """A chart as an <img>, which is replaced without flickering."""
    svg = chart_file(chart, SVG, view_of({THEME.name: st.context.theme.type or "light"}))
    return f'<img class="cut-live" alt="{escape(chart.told)}" src="data:image/svg+xml;base64,{b64encode(svg).decode()}">'


def _depths_chart(exploring: Exploring) -> Chart:
    counts = [(own.states, own.completes) for own in exploring.depths]
    return Chart(
        charts.depths(counts), HOW_TO_READ_DEPTHS, "states-by-depth", partial(chart_rows.depths, counts)
    )


def results(exploring: Exploring, further: Callable[[Exploring], None]) -> None:
    """Draw what was found; `further` draws a button that explores more, if there is more."""
    found = exploring.result
    assert found is not None
    st.html(f'<h2 class="cut-sentence">{headline(found)}</h2>')
    if found.problem:
        _not_all(exploring, found, further)
    _wrong_runs(found)
    _views(exploring, found)


def _not_all(exploring: Exploring, found: Result, further: Callable[[Exploring], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="every-more"):
        further(exploring)
        file = "" if exploring.asked.shared is None or exploring.asked.is_bundled else " (export the run as a file, toml)"
        st.markdown(f"The command line goes further{file}:", width="content")
        st.code(exploring.asked.command(found.scenario), language=None, width="content")


def _wrong_runs(found: Result) -> None:
    """A button for each shortest wrong run."""
    if not found.runs:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cut-extremes"):
        st.markdown("Open in Explore the shortest run in which it fails:", width="content")
        for checks in together(found):
            wrong, steps = found.runs[checks[0]], len(found.runs[checks[0]].scheduler.order)
            title = f"{found.scenario.title or found.scenario.name}: {titles(checks)}"
            label = f"{titles(checks)} ({steps} steps)"
            _open_button(wrong, title, _story(checks, steps), label, f"every-wrong-{checks[0]}")


def _story(checks: Sequence[str], steps: int) -> str:
    broken = " ".join(f"“{CHECKS[check][1]}”" for check in checks)
    return (
        f"This run was found by trying every run. It breaks this: {broken} No run of fewer than {steps} steps does.\n\n"
        "It is chosen by hand, step by step; time plays no part."
    )


@complaining()
def _open_button(run: Scenario, title: str, story: str, label: str, key: str) -> None:
    if st.button(label, key=key):
        _open(run, title, story)


def _open(run: Scenario, title: str, story: str) -> None:
    open_scenario(replace(run, title=title, story=story), len(run.scheduler.order))


@st.fragment
def _views(exploring: Exploring, found: Result) -> None:
    names = {"States": _states, f"Snapshots ({len(found.recorded)})": _snapshots, "Checks": _checks}
    view = st.segmented_control(
        "View", list(names), default=next(iter(names)), required=True, key="every-view", label_visibility="collapsed"
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
        st.caption(f"{chart.how_to_read} Up to 150 states are drawn one by one.")


def _plot(figure: Figure, key: str) -> None:
    palette = theme.PALETTES[st.context.theme.type or "light"]
    layout = {name: own for name, own in figure["layout"].items() if name != "title"}
    layout["margin"] = layout["margin"] | {"t": 8}
    st.plotly_chart(
        theme.resolve({"data": figure["data"], "layout": layout}, palette), theme=None, key=key,
        height="stretch", config={"displayModeBar": False},
    )  # fmt: skip


def _graph(found: Result) -> None:
    """The graph; the browser says of which state the way is to be opened."""
    opened = state_graph(found)
    if opened is not None and 0 <= opened < len(found.nodes):
        with complaining():
            _open(
                by_hand(found.scenario, tuple(own.action for own in way_to(found.edges, opened))),
                f"{found.scenario.title or found.scenario.name}: the way to state {opened}",
                "This run was found by trying every run. It is chosen by hand, step by step; time plays no part.",
            )


# ------------------------------------------------------------------ the snapshots


def _snapshots(exploring: Exploring, found: Result) -> None:
    """A table of the different snapshots."""
    if not found.recorded:
        st.html('<p class="cut-told">No run that was explored completes a snapshot.</p>')
        return
    workload, first = found.scenario.engine().workload, whole(found.scenario.engine().workload, found.scenario)
    totals: dict[str, int | None] = {}
    for own in found.recorded:
        before = totals.setdefault(own.id, 0)
        totals[own.id] = None if own.ways is None or before is None else before + own.ways
    listed = found.recorded[:MOST_LISTED]
    with_states = any(any(states_in_words(own, workload).values()) for own in listed)
    heads = ["Ways", "Snapshot", *(found.scenario.processes if with_states else ()), "Channels", *(["Sum"] if first else ())]
    rows = []
    for own in listed:
        is_taken = key_of(own.id, own.processes, own.channels) in found.taken
        cells = [escape(ways(own, totals[own.id])), f"{escape(own.id)}{' <b>(of this run)</b>' if is_taken else ''}"]
        if with_states:
            cells += [escape(told) for told in states_in_words(own, workload).values()]
        cells.append(escape(channels_in_words(own, workload)))
        if first:
            told, is_right = total_of(own, workload, first)
            cells.append(f'<span class="{"cut-good" if is_right else "cut-bad"}">{"✓" if is_right else "✗"} {escape(told)}</span>')
        rows.append(f"<tr{' class=cut-taken' if is_taken else ''}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    st.html(f'<div class="cut-wide" tabindex="0"><table class="cut-fields"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')
    more = len(found.recorded) - len(listed)
    so_far = " so far" if found.problem else ""
    told = f"The different snapshots{so_far}, the most frequent first. Ways: how many runs lead to each of them."
    if not any(own.ways for own in listed):
        told = f"The different snapshots{so_far}. Runs of different lengths lead to the same state, so ways are not counted."
    if found.taken:
        told += " “Of this run”: the one that the run takes when time decides."
    st.caption(told + (f" {more:,} more are not listed." if more else ""))


# ------------------------------------------------------------------ the checks


def _checks(exploring: Exploring, found: Result) -> None:
    """A table of the checks that were made, and the shortest wrong runs in words."""
    rows = []
    where = "in every run" if not found.problem else "so far"
    for check in checks_of(found.scenario):
        title, says = CHECKS[check]
        wrong = found.runs.get(check)
        verdict = (
            f'<b class="cut-bad">✗ fails: the shortest such run has {len(wrong.scheduler.order)} steps</b>'
            if wrong else f'<b class="cut-good">✓ holds {where}</b>'
        )  # fmt: skip
        rows.append(f"<tr><th scope=row>{title}</th><td>{says}</td><td>{verdict}</td></tr>")
    st.html(f'<table class="cut-fields"><tbody>{"".join(rows)}</tbody></table>')
    for checks in together(found):
        *steps, _ = found.told[checks[0]]
        items = "".join(f"<li>{escape(sentence(own))}</li>" for own in steps)
        why = "".join(f'<p class="cut-told cut-bad">{escape(sentence(found.told[check][-1]))}</p>' for check in checks)
        st.html(f'<h3 class="cut-told">The shortest run: {titles(checks)}</h3><ol class="cut-steps">{items}</ol>{why}')
