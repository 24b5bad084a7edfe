"""The page Sizing: a calculator with the usual estimate and the cost model of each algorithm; a check of the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from html import escape

import streamlit as st

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.files import Chart
from diagrams.charts.measures import MEASURES, Row, varying, with_parameters
from diagrams.charts.parts import TITLE_HEIGHT
from diagrams.charts.sizes import Curve, curves_of, sizing_chart
from diagrams.shapes import theme
from pipeline.ensembles import queries
from pipeline.ensembles.cost_check import RUNS, Check, check, predicted, scaled
from pipeline.ensembles.predictions import error_of
from pipeline.store import examples
from pipeline.store.folder import Store
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.explain.sizing import claims, digits, figures, in_bytes, is_of_the_documents
from sim.theory.sizing import cost_model_of, sizes, usual_estimate
from sim.theory.sizing_formulas import formulas
from sim.theory.sizing_inputs import System
from views.server.addresses import PAGE_BEFORE, SIZING
from views.server.budget import answering, take_turn
from views.server.errors import complain, complaining
from views.server.tabs import for_this_tab
from views.sizing import words
from views.sizing.form import fill, sizing_form
from views.sizing.form_state import KEYS, query_of, read
from views.sizing.tables import check_table, claims_table, figures_table, formulas_table
from views.widgets.chart_saving import save_menu

PAGE = SIZING
FOLLOWED = "sizing_address"
PROBLEM = "sizing_problem"
CHECKED = "sizing_checked"  # in the session: the last check of the user's system
RECORDED = MEASURES["recorded_messages"]


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=PAGE)


def page() -> None:
    """Draw the page."""
    _follow()
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        form_state = sizing_form(_changed, _to_example)
    with right.container(key="cut-results"):
        _results(form_state)


# ------------------------------------------------------------------ the form


def _follow() -> None:
    """Fill the form as a new address says; a user who comes from another page finds it unchanged."""
    params = {key: text for key, text in st.query_params.to_dict().items() if key in KEYS}
    followed = st.session_state.get(FOLLOWED)
    if not params and followed and st.session_state.get(PAGE_BEFORE) != PAGE:
        st.query_params.from_dict(followed)
    elif params != followed:
        st.session_state[FOLLOWED] = params
        st.session_state[PROBLEM] = ""
        try:
            fill(read(params))
        except InputError as problem:
            st.session_state[PROBLEM] = str(problem)
            fill(System())


def _changed() -> None:
    """Note a change of the form: it replaces a wrong address."""
    st.session_state[PROBLEM] = ""


def _to_example() -> None:
    _changed()
    fill(System())


def _results(form_state: dict[str, object]) -> None:
    """Draw the results of the form, and put its values into the address."""
    if st.session_state[PROBLEM]:
        complain(st.session_state[PROBLEM])
        return
    try:
        system = System.read(form_state)
        cost_model_of(system)
    except InputError as problem:
        complain(str(problem))
        return
    query = query_of(system)
    if query != st.session_state[FOLLOWED]:
        st.session_state[FOLLOWED] = query
        st.query_params.from_dict(query)
    st.html(f'<h2 class="cut-sentence">{escape(in_a_sentence(system))}</h2>')
    view = st.segmented_control(
        words.VIEW, list(VIEWS), default=next(iter(VIEWS)), required=True, key="sizing-view", persist_state="session",
        label_visibility="collapsed",
    )  # fmt: skip
    with complaining():
        VIEWS[view](system)


def in_a_sentence(system: System) -> str:
    """The main results in a sentence or two."""
    bound, found, model = usual_estimate(system), sizes(system), cost_model_of(system)
    head = words.estimate(in_bytes(bound["bytes_per_node"]))
    algorithm = ALGORITHMS[system.algorithm]
    if found is None or model is None:
        return f"{head} {words.no_model(algorithm.title, algorithm.no_cost_model)}"
    size = float(system.size)
    if model.keeps:
        here, other = in_bytes(found.at_initiator * size), in_bytes(found.at_another * size)
        return f"{head} {words.keeps(here, other)}"
    if model.blocks_after is not None:
        return f"{head} {words.blocks(in_bytes(found.on_blocked * size))}"
    return f"{head} {words.stops(digits(found.stands_still))}"


# ------------------------------------------------------------------ views


def _figures(system: System) -> None:
    st.html(figures_table(figures(system)))
    if is_of_the_documents(system):
        st.caption(words.OF_THE_EXAMPLE)


def _over_delay(system: System) -> None:
    curves = _curves(system)
    how_to_read = f"{_of_lines(system)}. {words.POINTS}"
    drawn = Chart(sizing_chart(system, curves), how_to_read, "sizing", partial(chart_rows.sized, curves))
    _chart(drawn)


def _of_lines(system: System) -> str:
    """The meaning of the lines of the chart."""
    model, head = cost_model_of(system), words.LINES
    if model is None:
        return head
    if model.keeps:
        return f"{head}, {words.LINES_KEPT}"
    if model.blocks_after is not None:
        return f"{head}, {words.LINES_BLOCKED}"
    return f"{head}, {words.LINES_STOPPED}"


@lru_cache(maxsize=64)
def _curves(system: System) -> list[Curve]:
    return curves_of(system)


def _chart(drawn: Chart) -> None:
    """Draw a chart, with a menu to save it."""
    layout = dict(drawn.figure["layout"])
    del layout["title"]  # it stands beside the chart, where a long one is broken
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] - TITLE_HEIGHT}
    with st.container(horizontal=True, vertical_alignment="center", key="cut-chart-head"):
        st.html(f'<h3 class="cut-told cut-{drawn.name}">{escape(drawn.title)}</h3>')
        save_menu(drawn)
    palette = theme.PALETTES[st.context.theme.type or "light"]
    with st.container(key="cut-chart"):
        st.plotly_chart(
            theme.resolve({"data": drawn.figure["data"], "layout": layout}, palette), theme=None, key="sizing-chart",
            height="stretch", config={"displayModeBar": False},
        )  # fmt: skip
    st.caption(drawn.how_to_read)


def _checked(system: System) -> None:
    """Draw the ensemble of small systems, and a check of the user's system."""
    cells, expected = _ensemble()
    st.html(f'<p class="cut-told">{escape(ensemble_in_a_sentence(cells, expected))}</p>')
    with complaining():
        _own_check(system)
    dimensions = varying(cells)
    drawn = Chart(
        charts.comparison(cells, expected, RECORDED, dimensions),
        words.READ_CHECK,
        "sizing-check",
        partial(chart_rows.compared, cells, expected, dimensions, RECORDED),
    )
    _chart(drawn)


@cache
def _ensemble() -> tuple[Sequence[Row], list[float]]:
    """The cells of the ensemble that comes with the app, and the cost model's number for each."""
    cells = queries.kept_overview(Store.open(examples.SIZING)).cells
    return with_parameters(cells), [predicted(cell) for cell in cells]


def ensemble_in_a_sentence(cells: Sequence[Row], expected: Sequence[float]) -> str:
    """The error of the cost model, in a sentence."""
    medians = [cell["recorded_messages_50"] for cell in cells]
    errors = [error_of(model, own) or 0.0 for model, own in zip(expected, medians, strict=True)]
    worst, runs = max(map(abs, errors)), sum(cell["runs"] for cell in cells)
    return words.accuracy(len(cells), runs, worst)


def _own_check(system: System) -> None:
    """Draw a button that runs the user's system, scaled down, and the last result; nothing without a cost model."""
    if cost_model_of(system) is None:
        return
    small = scaled(system)
    st.html(f'<p class="cut-told">{escape(scaled_in_words(system, small))}</p>')
    if st.button(words.run_it(RUNS), key="sizing-run", type="primary"):
        with (
            st.spinner(words.RUNNING),
            for_this_tab() as is_open,
            answering(is_open, advice=words.FEWER_NODES),
        ):
            take_turn()
            st.session_state[CHECKED] = check(system)
    done: Check | None = st.session_state.get(CHECKED)
    if done is not None and done.system == small:
        st.html(check_table(done))
        st.caption(words.means(done.runs))


def scaled_in_words(system: System, small: System) -> str:
    """The small system that is run for a system, in a sentence or two."""
    held = float(small.delay), float(small.message_delay)
    before = float(system.delay) * float(small.message_delay), float(small.delay) * float(system.message_delay)
    is_same = abs(before[0] - before[1]) <= 1e-6 * max(*before, 1e-12)
    text = words.scaled(small.nodes, digits(held[0]), digits(held[1]))
    return text if is_same else f"{text} {words.OTHER_RATIO}"


def _formulas(system: System) -> None:
    st.caption(words.SYMBOLS)
    st.html(formulas_table(formulas(system)))


def _claims(system: System) -> None:
    st.html(claims_table(claims()))


VIEWS = {
    words.FIGURES: _figures, words.CHART: _over_delay, words.CHECK: _checked, words.FORMULAS: _formulas,
    words.CLAIMS: _claims,
}  # fmt: skip
