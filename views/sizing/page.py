"""The page Sizing: the documents' arithmetic and the law of each algorithm, as a calculator; a check of the law."""

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
from views.sizing.form import fill, sizing_form
from views.sizing.form_state import KEYS, query_of, read
from views.sizing.tables import check_table, claims_table, figures_table, formulas_table
from views.widgets.chart_saving import save_menu

PAGE = SIZING
FOLLOWED = "sizing_address"
PROBLEM = "sizing_problem"
CHECKED = "sizing_checked"  # in the session: the last check of a system of one's own
RECORDED = MEASURES["recorded_messages"]


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title="Sizing", url_path=PAGE)


def page() -> None:
    """Draw the page."""
    _follow()
    left, right = st.columns([1, 3], gap="medium")
    with left.container(key="cut-grid"):
        asked = sizing_form(_changed, _to_documents)
    with right.container(key="cut-results"):
        _results(asked)


# ------------------------------------------------------------------ what is asked


def _follow() -> None:
    """Fill the form as a new address says; who comes from another page finds all as it was."""
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
    """Something in the form was changed: it counts, and no longer what a wrong address has asked for."""
    st.session_state[PROBLEM] = ""


def _to_documents() -> None:
    _changed()
    fill(System())


def _results(asked: dict[str, object]) -> None:
    """Draw what comes of the form, and put it into the address."""
    if st.session_state[PROBLEM]:
        complain(st.session_state[PROBLEM])
        return
    try:
        system = System.read(asked)
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
        "View", list(VIEWS), default=next(iter(VIEWS)), required=True, key="sizing-view", persist_state="session",
        label_visibility="collapsed",
    )  # fmt: skip
    with complaining():
        VIEWS[view](system)


def in_a_sentence(system: System) -> str:
    """What comes of it, in a sentence."""
    bound, found, model = usual_estimate(system), sizes(system), cost_model_of(system)
    head = f"By the documents, {in_bytes(bound['bytes_per_node'])} at each node"
    algorithm = ALGORITHMS[system.algorithm]
    if found is None or model is None:
        return f"{head}. {algorithm.title} has no law here: {algorithm.no_cost_model}."
    size = float(system.size)
    if model.keeps:
        here, other = in_bytes(found.at_initiator * size), in_bytes(found.at_another * size)
        return f"{head}; by the law {here} at the initiator, and at most {other} at any other node."
    if model.blocks_after is not None:
        return f"{head}; by the law nothing is recorded, but {in_bytes(found.on_blocked * size)} wait in one channel."
    return f"{head}; by the law nothing is recorded, but all stand still for {digits(found.stands_still)} s."


# ------------------------------------------------------------------ views


def _figures(system: System) -> None:
    st.html(figures_table(figures(system)))
    if is_of_the_documents(system):
        st.caption("Nodes, topology, rate, size and marker delay are those of the documents; the others are ours.")


def _over_delay(system: System) -> None:
    curves = _curves(system)
    told = f"{_of_lines(system)}, if markers take so long. Points: your system."
    drawn = Chart(sizing_chart(system, curves), told, "sizing", partial(chart_rows.sized, curves))
    _chart(drawn)


def _of_lines(system: System) -> str:
    """What the lines of the chart are."""
    model, head = cost_model_of(system), "Lines: what the channels to a node hold by the documents"
    if model is None:
        return head
    if model.keeps:
        return f"{head}; by the law, those to the initiator, and to the other node with the most"
    if model.blocks_after is not None:
        return f"{head}; by the law, what waits in the fullest blocked channel"
    return f"{head}; by the law, what is sent to a node later, since all stand still"


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
    """Draw the ensemble of small systems, and a check of one's own."""
    cells, expected = _ensemble()
    st.html(f'<p class="cut-told">{escape(ensemble_in_a_sentence(cells, expected))}</p>')
    with complaining():
        _own_check(system)
    dimensions = varying(cells)
    drawn = Chart(
        charts.comparison(cells, expected, RECORDED, dimensions),
        "Dots: small systems, by the median of ten runs; bars: eight of ten runs. On the line the law is right.",
        "sizing-check",
        partial(chart_rows.compared, cells, expected, dimensions, RECORDED),
    )
    _chart(drawn)


@cache
def _ensemble() -> tuple[Sequence[Row], list[float]]:
    """The cells of the ensemble that comes with the app, and what the law says of each."""
    cells = queries.kept_overview(Store.open(examples.SIZING)).cells
    return with_parameters(cells), [predicted(cell) for cell in cells]


def ensemble_in_a_sentence(cells: Sequence[Row], expected: Sequence[float]) -> str:
    """How far the law is off, in a sentence."""
    medians = [cell["recorded_messages_50"] for cell in cells]
    errors = [error_of(law, own) or 0.0 for law, own in zip(expected, medians, strict=True)]
    worst, runs = max(map(abs, errors)), sum(cell["runs"] for cell in cells)
    return (
        f"In {len(cells)} small systems, {runs:,} runs in all, the law is at most {worst:.1%} off in what is recorded. "
        "They differ in topology, nodes, rate, both delays and the algorithm."
    )


def _own_check(system: System) -> None:
    """A button that runs one's own system, scaled down, and what came of the last one; nothing without a law."""
    if cost_model_of(system) is None:
        return
    small = scaled(system)
    st.html(f'<p class="cut-told">{escape(scaled_in_words(system, small))}</p>')
    if st.button(f"Run it {RUNS} times", key="sizing-run", type="primary"):
        with (
            st.spinner("Running …"),
            for_this_tab() as is_open,
            answering(is_open, advice="use fewer nodes"),
        ):
            take_turn()
            st.session_state[CHECKED] = check(system)
    done: Check | None = st.session_state.get(CHECKED)
    if done is not None and done.system == small:
        st.html(check_table(done))
        st.caption(f"Means of {done.runs} runs. The unit of time is that from one message on a channel to the next.")


def scaled_in_words(system: System, small: System) -> str:
    """What is run for a system, in a sentence."""
    held = float(small.delay), float(small.message_delay)
    other = " The delays stand in another proportion, so that channels hold some messages at all."
    before = float(system.delay) * float(small.message_delay), float(small.delay) * float(system.message_delay)
    is_same = abs(before[0] - before[1]) <= 1e-6 * max(*before, 1e-12)
    return (
        f"Your system, scaled down: {small.nodes} nodes. A channel carries {digits(held[0])} messages while a marker "
        f"is on its way, and {digits(held[1])} while a message is." + ("" if is_same else other)
    )


def _formulas(system: System) -> None:
    st.caption("N nodes, S marker delay, d message delay, recᵢ the time at which i records.")
    st.html(formulas_table(formulas(system)))


def _documents(system: System) -> None:
    st.html(claims_table(claims()))


VIEWS = {
    "Figures": _figures, "Chart": _over_delay, "Simulated check": _checked, "Formulas": _formulas,
    "The documents": _documents,
}  # fmt: skip
