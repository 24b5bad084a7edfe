"""The user's formula, compared with the measurements."""

from __future__ import annotations

from functools import partial

import streamlit as st

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.files import Chart
from diagrams.charts.measures import measured, varying
from pipeline.ensembles.predictions import EXAMPLE, QUANTITIES, names_in, quantities_of, read_formula, typical_error
from pipeline.ensembles.queries import Overview
from pipeline.store.folder import Store
from views.ensembles import words
from views.ensembles.single_runs import chart
from views.server.errors import complaining
from views.server.plain_words import as_text
from views.widgets import menus

TRIES = ("rate * marker_delay * channels", EXAMPLE, "rate * (delay + marker_delay / 2) * channels")


@complaining()
def predicting(store: Store, found: Overview) -> None:
    """Ask for a formula, and draw predicted against measured values, a dot for each cell."""
    quantities = [quantities_of(cell) for cell in found.cells]
    names = names_in(quantities)
    left, right = st.columns([1, 3], gap="small")
    measure = menus.choose([left], words.PREDICT, measured(found.cells), "predicted", first=1)
    text = right.text_input(
        words.as_formula(as_text(", ".join(names))), TRIES[0], key="predict-formula", persist_state="session",
        help="  \n".join(f"{as_text(name)}: {QUANTITIES.get(name, words.A_PARAMETER)}" for name in names),
    )  # fmt: skip
    formula = read_formula(text, names)
    predicted = [formula.value(each) for each in quantities]
    pairs = [(guess, cell[f"{measure.column}_50"]) for guess, cell in zip(predicted, found.cells, strict=True)]
    error = typical_error((guess, middle) for guess, middle in pairs if middle is not None)
    st.markdown(words.NOTHING_TO_COMPARE if error is None else words.off(error, len(pairs)))
    dimensions = varying(found.cells)
    drawn = Chart(
        charts.comparison(found.cells, predicted, measure, dimensions),
        words.READ_PREDICTION,
        f"{store.name}-{measure.column}-predicted",
        partial(chart_rows.compared, found.cells, predicted, dimensions, measure),
    )
    chart(store, found, drawn, measure)
