"""The results of an ensemble: a sentence, charts, and single runs, which open in Explore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import cache, lru_cache, partial
from html import escape
from pathlib import Path

import streamlit as st

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.files import Chart
from diagrams.charts.measures import DIMENSIONS, MEASURES, Measure, Rows, alike, measured, varying, with_parameters
from diagrams.charts.parts import amount, number
from pipeline.ensembles import queries
from pipeline.ensembles.queries import Overview
from pipeline.spark.background import in_background
from pipeline.spark.restarting import ask
from pipeline.store.folder import Store
from sim.core.errors import InputError
from views.ensembles import words
from views.ensembles.prediction import predicting
from views.ensembles.single_runs import chart, table
from views.server.errors import complain
from views.widgets import menus

POLL_S = 0.3
FIRST_ACROSS = ("marker_delay", "delay", "processes")  # the x axis at first: the first of these that varies


def results(store: Store) -> None:
    """Draw the results of the ensemble in `store`, once Spark has computed them."""
    answer = overview_of(store)
    if not answer.done():
        st.fragment(_wait, run_every=POLL_S)(answer)
        return
    try:
        _draw(store, answer.result())
    except InputError as problem:
        _overview.cache_clear()
        complain(str(problem))


def _wait(answer: Future[Overview]) -> None:
    """Say that Spark is at work, and draw the page again when it has answered. Nothing blocks."""
    if answer.done():
        st.rerun()
    st.caption(words.SUMMING_UP)


def overview_of(store: Store) -> Future[Overview]:
    """Spark's summary of the present content of `store`: made once for all sessions, in the background."""
    manifest = store.manifest
    return _overview(store.path, f"{manifest and manifest.finished} {manifest and manifest.rows}")


@lru_cache(maxsize=20)
def _overview(path: Path, stamp: str) -> Future[Overview]:
    """The answer on the folder at `path`; `stamp` changes when it does."""
    return in_background(lambda: _ask(path))


@cache
def get_ready() -> Future[None]:
    """Start Spark and have it rehearse, once, so that the first ensemble takes no longer than the next."""
    return in_background(lambda: ask(queries.warm_up_queries))


def _ask(path: Path) -> Overview:
    store = Store.open(path)
    if queries.has_overview(store):
        return _for_charts(queries.kept_overview(store))
    return _for_charts(ask(lambda spark: queries.load_overview(spark, store)))


def example(store: Store) -> None:
    """Draw the results of an ensemble that was summarized when it was made: at once, without Spark."""
    _draw(store, _kept(store.path))


@cache
def _kept(path: Path) -> Overview:
    return _for_charts(queries.kept_overview(Store.open(path)))


def _for_charts(found: Overview) -> Overview:
    return Overview(with_parameters(found.cells), with_parameters(found.points), with_parameters(found.extremes))


@st.fragment
def _draw(store: Store, found: Overview) -> None:
    st.html(f'<h2 class="cut-sentence">{in_a_sentence(found.cells)}</h2>')
    view = st.segmented_control(
        words.VIEW, list(VIEWS), default=next(iter(VIEWS)), required=True, key="ensemble-view", persist_state="session",
        label_visibility="collapsed",
    )  # fmt: skip
    VIEWS[view](store, found)


def in_a_sentence(cells: Rows) -> str:
    """The results of all runs in a sentence, as HTML."""
    snapshots, failures, errors = (sum(row[column] for row in cells) for column in ("snapshots", "failures", "errors"))
    head = words.no_check_fails(snapshots)
    if failures > errors:
        head = f'<span class="cut-bad">{words.checks_fail(failures - errors, snapshots)}</span>'
    if errors:
        head += f' <span class="cut-bad">{words.not_carried_out(errors)}</span>'
    time, recorded = (_range(cells, MEASURES[column]) for column in ("latency", "recorded_messages"))
    if time and recorded:
        head += f" {words.took_and_found(time, recorded)}"
    if snapshots > 1 and time and " to " not in time + recorded:
        head += f" {words.ALL_ALIKE}"
    return head


def _range(cells: Rows, measure: Measure) -> str:
    """The range of a measure with its unit; empty if nothing was measured."""
    least = [row[f"{measure.column}_0"] for row in cells if row[f"{measure.column}_0"] is not None]
    most = [row[f"{measure.column}_100"] for row in cells if row[f"{measure.column}_100"] is not None]
    if not least:
        return ""
    low, high = min(least), max(most)
    return amount(high, measure) if low == high else f"{number(low)} to {amount(high, measure)}"


# ------------------------------------------------------------------ charts


def _curves(store: Store, found: Overview, measure: Measure) -> None:
    dimensions = varying(found.cells) or [DIMENSIONS[0]]
    there = menus.containers(len(dimensions) + 1)
    columns = [dimension.column for dimension in dimensions]
    first = next((columns.index(column) for column in FIRST_ACROSS if column in columns), 0)
    across = menus.choose(there, words.AGAINST, dimensions, "across", first)
    others = [dimension for dimension in dimensions if dimension != across]
    series = menus.choose(there, words.LINE_FOR_EACH, [*others, None], "series") if others else None
    rest = [dimension for dimension in others if dimension != series]
    held = menus.choose_values(there, found.cells, rest, "held")
    cells, runs = alike(found.cells, held), alike(found.points, held)
    drawn = Chart(
        charts.curves(cells, runs, across, measure, series),
        words.READ_CURVES,
        f"{store.name}-{measure.column}",
        partial(chart_rows.measured, cells, runs, dimensions, measure),
    )
    chart(store, found, drawn, measure)


def _spread(store: Store, found: Overview) -> None:
    algorithm = next(dimension for dimension in DIMENSIONS if dimension.column == "algorithm")
    dimensions = sorted(varying(found.cells) or [algorithm], key=lambda dimension: dimension != algorithm)
    there = menus.containers(len(dimensions) + 1)
    measure = menus.choose(there, words.SHOW, measured(found.cells), "measure")
    by = menus.choose(there, words.SIDE_BY_SIDE, dimensions, "by")
    others = [dimension for dimension in dimensions if dimension != by]
    held = menus.choose_values(there, found.cells, others, "among", any_too=True)
    runs = alike(found.points, held)
    drawn = Chart(
        charts.spread(runs, by, measure, others),
        words.READ_SPREAD,
        f"{store.name}-{measure.column}-distribution",
        partial(chart_rows.measured, (), runs, dimensions, measure),
    )
    chart(store, found, drawn, measure)


def _slowest(store: Store, found: Overview) -> None:
    dimensions = varying(found.cells)
    there = menus.containers(len(dimensions))
    of_processes = [dimension for dimension in dimensions if dimension.column == "processes"]
    others = [dimension for dimension in dimensions if dimension not in of_processes]
    held = {  # P8 is in no run of seven processes, so counts over several numbers of processes mean nothing
        **menus.choose_values(there, found.cells, of_processes, "slowest"),
        **menus.choose_values(there, found.cells, others, "slowest", any_too=True),
    }
    rows = queries.slowest(store, [row["cell"] for row in alike(found.cells, held)])
    if not rows:
        st.info(words.NONE_SLOWEST)
        return
    st.html(f'<p class="cut-told">{who_was_slowest(rows)}</p>')
    drawn = Chart(
        charts.slowest(rows),
        words.READ_SLOWEST,
        f"{store.name}-slowest",
        partial(chart_rows.slowest, rows),
    )
    chart(store, found, drawn, MEASURES["latency"], words.CLICK_BAR)


def who_was_slowest(rows: Rows) -> str:
    """The processes that finished most snapshots last, in a sentence, as HTML."""
    most, every = max(row["snapshots"] for row in rows), sum(row["snapshots"] for row in rows)
    names = [f"<b>{escape(row['process'])}</b>" for row in rows if row["snapshots"] == most]
    return words.slowest(names, most, every)


def _heat(store: Store, found: Overview) -> None:
    dimensions = varying(found.cells)
    if len(dimensions) < 2:
        st.info(words.TWO_NEEDED)
        return
    there = menus.containers(len(dimensions) + 1)
    measure = menus.choose(there, words.SHOW, measured(found.cells), "measure")
    across = menus.choose(there, words.LEFT_TO_RIGHT, dimensions, "heat-across")
    others = [dimension for dimension in dimensions if dimension != across]
    up = menus.choose(there, words.UPWARDS, others, "heat-up")
    held = menus.choose_values(there, found.cells, [each for each in others if each != up], "heat")
    cells = alike(found.cells, held)
    drawn = Chart(
        charts.heat(cells, across, up, measure),
        words.READ_HEAT,
        f"{store.name}-{measure.column}-map",
        partial(chart_rows.measured, cells, (), dimensions, measure),
    )
    chart(store, found, drawn, measure, words.CLICK_FIELD)


VIEWS: Mapping[str, Callable[[Store, Overview], None]] = {
    words.VIEW_TIME: partial(_curves, measure=MEASURES["latency"]),
    words.VIEW_RECORDED: partial(_curves, measure=MEASURES["recorded_messages"]),
    words.VIEW_DISTRIBUTION: _spread,
    words.VIEW_HEAT: _heat,
    words.VIEW_SLOWEST: _slowest,
    words.VIEW_PREDICTION: predicting,
    words.VIEW_RUNS: table,
}
