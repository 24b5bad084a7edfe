"""Single runs of an ensemble, which open in Explore: the extremes, the one picked in a chart, and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from diagrams.charts.files import Chart
from diagrams.charts.measures import MEASURES, Measure, Row, Rows, alike, measured, varying, with_parameters
from diagrams.charts.parts import TITLE_HEIGHT, amount, number
from diagrams.shapes import theme
from pipeline.ensembles import queries
from pipeline.ensembles.queries import KINDS, MOST_ROWS, Overview, RunQuery
from pipeline.store.folder import Store
from sim.verify.checks import CHECKS
from views.ensembles import words
from views.explore.opening import open_run
from views.server.errors import complaining
from views.server.plain_words import as_cells, as_text
from views.widgets import menus
from views.widgets.chart_saving import save_menu


def chart(store: Store, found: Overview, drawn: Chart, measure: Measure, what_to_click: str = words.CLICK_DOT) -> None:
    """Draw a chart, with a menu to save it, and buttons that open the picked run and the extremes."""
    palette = theme.PALETTES[st.context.theme.type or "light"]
    layout = dict(drawn.figure["layout"])
    del layout["title"]  # it stands beside the chart, where a long one is broken
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] - TITLE_HEIGHT}
    with st.container(horizontal=True, vertical_alignment="center", key="cut-chart-head"):
        st.html(f'<h3 class="cut-told">{escape(drawn.title)}</h3>')
        save_menu(drawn)
    figure = {"data": drawn.figure["data"], "layout": layout}
    with st.container(key="cut-chart"):
        event = st.plotly_chart(
            theme.resolve(figure, palette), theme=None, key="ensemble-chart", on_select="rerun",
            selection_mode="points", height="stretch", config={"displayModeBar": False},
        )  # fmt: skip
    picks = [point["customdata"] for point in event.selection.points if point.get("customdata")]
    if picks:
        _picked(store, found, picks[0], measure)
    else:
        st.caption(f"{drawn.how_to_read} {what_to_click}")
    _extremes(store, found)


EXTREMES = {"longest": "latency", "most recorded": "recorded_messages"}  # the measure, by the kind of extreme run


def _extremes(store: Store, found: Overview) -> None:
    """A button for each extreme run."""
    by_kind = {row["why"]: row for row in reversed(found.extremes)}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cut-extremes"):
        st.markdown(words.OPEN_THESE, width="content")
        for kind, title in words.EXTREMES.items():
            if row := by_kind.get(kind):
                measure = MEASURES[EXTREMES[kind]] if kind in EXTREMES else None
                value = f" ({amount(row[measure.column], measure)})" if measure else ""
                _open_button(store, row, kind.replace(" ", "-"), f"{title}{value}")


def _picked(store: Store, found: Overview, pick: Sequence[Any], measure: Measure) -> None:
    """Show the picked run, or the picked cell with two of its runs."""
    run_id, snapshot_id, cell = pick
    if run_id is None:
        rows = _of_cell(store, next(row for row in found.cells if row["cell"] == cell), measure)
    else:
        rows = {words.OPEN_IN_EXPLORE: with_parameters([queries.run_of(store, run_id, snapshot_id)])[0]}
    _offer(store, _in_words(next(iter(rows.values())), found.cells, run_id is None), rows)


def _offer(store: Store, text: str, rows: Mapping[str, Row]) -> None:
    """Show a text in Markdown, and a button for each of `rows`, which opens that run."""
    with st.container(border=True, key="cut-picked"):
        container, *containers = st.columns([5, *[2] * len(rows)], vertical_alignment="center", gap="small")
        container.markdown(text)
        for container, (label, row) in zip(containers, rows.items(), strict=True):
            with container:
                _open_button(store, row, f"picked-{label}", label)


def _of_cell(store: Store, cell: Row, measure: Measure) -> dict[str, Row]:
    """A typical run of a cell, and the one furthest from it."""
    column = measure.column
    (most,) = queries.select_runs(store, RunQuery(cells=(cell["cell"],), by=column, descending=True, most=1))
    (typical,) = queries.nearest_run(store, cell["cell"], column, cell[f"{column}_50"])
    return {words.OPEN_TYPICAL: typical, words.OPEN_HIGHEST: most}


def _in_words(row: Row, cells: Rows, is_cell: bool) -> str:
    """A run, or the cell that it represents, in words, as Markdown."""
    settings = as_text(", ".join(f"{d.name} {d.label(row)}" for d in varying(cells)))
    if is_cell:
        return f"**{settings or words.ALL_RUNS}**"
    return words.run_in_words(row["run_id"], settings, as_text(outcome(row)))


def outcome(row: Row) -> str:
    """The outcome of a snapshot in words."""
    if row["error"]:
        return words.could_not_run(row["error"])
    if row["snapshot_id"] is None:
        return words.NO_SNAPSHOT
    latency, recorded = row["latency"], row["recorded_messages"]
    is_complete = latency is not None
    time = words.took(amount(latency, MEASURES["latency"]), row["slowest"]) if is_complete else words.INCOMPLETE
    return words.outcome(row["snapshot_id"], time, number(recorded), row["witness"] if row["failed"] else None)


def story(row: Row, name: str) -> str:
    """The text of the Story tab for a run."""
    system = words.system(row["workload"], row["topology"], row["processes"], row["seed"])
    delays = words.delays(row["delay"], row["marker_delay"])
    return words.story(
        row["run_id"], name, system, delays, is_fifo=row["fifo"] is not False, outcome=outcome(row)
    )  # fmt: skip


@complaining()
def _open_button(store: Store, row: Row, key: str, label: str) -> None:
    if st.button(label, key=f"ensemble-open-{key}", type="primary" if key.startswith("picked") else "secondary"):
        open_run(store, row["run_id"], row["snapshot_id"], story(row, store.name))


# ------------------------------------------------------------------ the table


@complaining()
def table(store: Store, found: Overview) -> None:
    """Draw a table of runs, filtered and sorted, as many as a page can show."""
    rows = with_parameters(queries.select_runs(store, _wanted(found.cells)))
    dimensions = varying(found.cells)
    columns = {
        words.COLUMN_RUN: [row["run_id"] for row in rows],
        words.COLUMN_SNAPSHOT: [row["snapshot_id"] for row in rows],
        **{d.name.capitalize(): [d.label(row) for row in rows] for d in dimensions},
        **{measure.name: [_rounded(row[measure.column]) for row in rows] for measure in measured(found.cells)},
        words.COLUMN_LAST: [row["slowest"] for row in rows],
        words.COLUMN_SEED: [row["seed"] for row in rows],
        words.COLUMN_VERDICT: [_verdict(row) for row in rows],
    }
    event = st.dataframe(
        as_cells(columns),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="ensemble-table",
        height=440,
    )
    chosen = [rows[number] for number in event.selection.rows if number < len(rows)]
    if chosen:
        _offer(store, _in_words(chosen[0], found.cells, False), {words.OPEN_IN_EXPLORE: chosen[0]})
    else:
        more = f"{words.first_rows(MOST_ROWS)} " if len(rows) == MOST_ROWS else ""
        st.caption(f"{more}{words.CHOOSE_ROW}")


def _wanted(cells: Rows) -> RunQuery:
    """The filter and order chosen in the menus above the table."""
    dimensions = varying(cells)
    there = menus.containers(len(dimensions) + 2)
    kind = there.pop(0).selectbox(words.SHOW, list(KINDS), format_func=lambda kind: KINDS[kind], key="ensemble-kind")
    by = menus.choose(there, words.HIGHEST_FIRST, [None, *measured(cells)], "order", nothing=words.IN_ORDER)
    kept = alike(cells, menus.choose_values(there, cells, dimensions, "only", any_too=True))
    only = None if len(kept) == len(cells) else tuple(row["cell"] for row in kept)
    return RunQuery(kind, only, by.column if by else "run_id", by is not None)


def _rounded(value: float | None) -> float | None:
    return round(value, 2) if isinstance(value, float) else value


def _verdict(row: Row) -> str:
    if row["error"]:
        return words.could_not_run(row["error"])
    if row["failed"]:
        return str(row["witness"])
    held = sum(row[check] is True for check in CHECKS)
    return words.checks_hold(held) if held else words.UNDECIDED
