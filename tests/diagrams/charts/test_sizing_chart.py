"""The chart of sizes: its lines, the user's point on each, its file and its rows."""

from __future__ import annotations

import plotly.graph_objects as go

from diagrams.charts import rows as chart_rows
from diagrams.charts.files import SVG, Chart, chart_file, view_of
from diagrams.charts.sizes import curves_of, sizing_chart
from diagrams.shapes import theme
from sim.core.algorithm import ALGORITHMS
from sim.theory.sizing import sizes, usual_estimate
from sim.theory.sizing_inputs import System
from tests.cases import each

DAG = {"topology": "dag", "nodes": 12}


@each("algorithm", list(ALGORITHMS))
@each("wanted", [DAG, {**DAG, "delay": 0}, {**DAG, "rate": 0, "delay": 0, "message_delay": 0}])
def test_each_line_has_the_users_point_and_plotly_takes_it(algorithm: str, wanted) -> None:
    system = System.read({**wanted, "algorithm": algorithm})
    curves = curves_of(system)
    figure = sizing_chart(system, curves)
    go.Figure(theme.resolve(figure, theme.LIGHT))
    *lines, points = figure["data"]
    assert len(lines) == len(curves) == len(points["x"])
    for line, x, y in zip(lines, points["x"], points["y"], strict=True):
        assert line["y"][line["x"].index(x)] == y


def test_the_documents_example_is_on_the_lines() -> None:
    system = System()
    bound, initiator, other = curves_of(system)
    found = sizes(system)
    assert found is not None
    assert bound.bytes[2.0] == usual_estimate(system)["bytes_per_node"] == 1.98e9
    assert (initiator.bytes[2.0], other.bytes[2.0]) == (found.at_initiator * 200, found.at_another * 200)
    assert list(bound.bytes) == sorted(bound.bytes) and {0.0, 0.01, 2.0, 4.0} <= set(bound.bytes)
    assert sizing_chart(system, [bound])["layout"]["title"]["text"] == "Held in channels (GB)"


def test_it_can_be_saved_as_a_picture_and_as_rows() -> None:
    system = System()
    curves = curves_of(system)
    chart = Chart(sizing_chart(system, curves), "", "sizing", lambda: chart_rows.sized(curves))
    assert chart_file(chart, SVG, view_of({})).startswith(b"<svg")
    lines = chart.rows().decode().splitlines()
    assert lines[0] == "line,marker_delay,bytes"
    assert "usual estimate,2.0,1980000000.0" in lines
