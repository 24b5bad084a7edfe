"""Charts of an ensemble: valid Plotly, and the numbers of the rows they are drawn from."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from diagrams.charts import figures as charts
from diagrams.charts.measures import (
    DIMENSIONS,
    MEASURES,
    OF_WORKLOAD,
    Dimension,
    alike,
    delay_words,
    values,
    varying,
    with_parameters,
)
from diagrams.charts.parts import AWAY, Axis, number, slot_of
from diagrams.shapes import theme
from tests.cases import each

PROCESSES, MARKERS, DELAY = (
    next(d for d in DIMENSIONS if d.column == c) for c in ("processes", "marker_delay", "delay")
)
LATENCY = MEASURES["latency"]


def cell(number, processes, marker_delay, median, **more):
    """A row of the summary of cells; its runs lie from half the median to twice it."""
    mean = float(marker_delay.split(":")[1])
    quantiles = {0: 0.25, 10: 0.5, 50: 1, 90: 2, 100: 4}
    measures = {
        f"{measure}_{share}": None if median is None else median * factor
        for measure in MEASURES for share, factor in quantiles.items()
    }  # fmt: skip
    return {
        "cell": number, "runs": 50, "processes": processes, "channels": 2, "initiators": 1, "topology": "line",
        "algorithm": "chandy_lamport", "delay": "fixed:5", "mean_delay": 5.0, "marker_delay": marker_delay,
        "mean_marker_delay": mean, "parameters": json.dumps({"transfers": 60 // processes}), **measures, **more,
    }  # fmt: skip


def single(run_id, of, latency, failed=False):
    """A row of the runs, of the cell `of`."""
    return {
        **{key: of[key] for key in ("cell", "processes", "marker_delay", "mean_marker_delay", "delay", "mean_delay")},
        "algorithm": "chandy_lamport", "run_id": run_id, "snapshot_id": "S1", "failed": failed, "seed": run_id,
        "witness": "consistency: message <b> on P1->P2" if failed else None, "latency": latency,
    }  # fmt: skip


CELLS = [
    cell(0, 8, "fixed:20", 40.0), cell(1, 8, "fixed:1", 4.0), cell(2, 4, "fixed:1", 2.0), cell(3, 4, "fixed:20", 20.0),
]  # fmt: skip
RUNS = [
    single(7, CELLS[0], 41.5),
    single(8, CELLS[1], 4.5),
    single(9, CELLS[2], None),
    single(10, CELLS[3], 19.0, True),
]


def valid(figure):
    """The figure, once Plotly has accepted it in both palettes."""
    for palette in theme.PALETTES.values():
        go.Figure(theme.resolve(figure, palette))
    json.dumps(figure, allow_nan=False)
    return figure


def by_mode(figure, mode):
    return [trace for trace in figure["data"] if trace.get("mode") == mode]


def test_curves_are_the_medians_by_place_a_line_for_each_value():
    figure = valid(charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES))
    four, eight = by_mode(figure, "lines+markers")
    assert (four["name"], four["x"], four["y"]) == ("4", [1.0, 20.0], [2.0, 20.0])
    assert (eight["name"], eight["x"], eight["y"]) == ("8", [1.0, 20.0], [4.0, 40.0])
    assert eight["customdata"] == [[None, None, 1], [None, None, 0]]
    assert (four["line"]["dash"], four["marker"]["symbol"]) != (eight["line"]["dash"], eight["marker"]["symbol"])


def test_the_band_lies_between_the_tenth_and_the_ninetieth():
    figure = charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES)
    band = next(trace for trace in figure["data"] if trace.get("fill") == "toself")
    assert band["x"] == [1.0, 20.0, 20.0, 1.0]
    assert band["y"] == [4.0, 40.0, 10.0, 1.0]


def test_single_runs_lie_beside_their_place_and_say_which_they_are():
    figure = charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES)
    four, eight = by_mode(figure, "markers")
    assert eight["customdata"] == [[7, "S1", 0], [8, "S1", 1]]
    assert eight["y"] == [41.5, 4.5]
    assert all(abs(x - position) < 19 / 2 for x, position in zip(eight["x"], (20.0, 1.0), strict=True))
    assert four["customdata"] == [[10, "S1", 3]], "what was not measured is not drawn"


def test_a_failing_run_is_a_cross_that_names_its_witness_without_markup():
    four = by_mode(charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES), "markers")[0]
    assert four["marker"]["symbol"] == ["x"]
    assert four["marker"]["color"] == ["@bad"]
    assert "message &lt;b&gt; on P1-&gt;P2" in four["hovertext"][0]


def test_cells_in_which_nothing_was_measured_are_left_out():
    figure = valid(charts.curves([*CELLS[:2], cell(9, 8, "fixed:5", None)], [], MARKERS, LATENCY))
    assert by_mode(figure, "lines+markers")[0]["x"] == [1.0, 20.0]


def test_two_delays_of_the_same_mean_stand_side_by_side():
    same = [cell(0, 8, "fixed:5", 1.0), cell(1, 8, "exponential:5", 2.0)]
    figure = valid(charts.curves(same, [], MARKERS, LATENCY))
    assert by_mode(figure, "lines+markers")[0]["x"] == [0.0, 1.0]
    assert figure["layout"]["xaxis"]["ticktext"] == ["5", "exponential 5"]


def test_a_single_cell_is_a_chart_too():
    for figure in (charts.curves(CELLS[:1], RUNS[:1], PROCESSES, LATENCY), charts.spread(RUNS[:1], PROCESSES, LATENCY)):
        valid(figure)


def test_spread_has_every_run_in_its_shape_and_beside_it():
    figure = valid(charts.spread(RUNS, PROCESSES, LATENCY))
    shapes = [trace for trace in figure["data"] if trace["type"] == "violin"]
    assert [shape["y"] for shape in shapes] == [[19.0], [41.5, 4.5]]
    clouds = by_mode(figure, "markers")
    assert all(rank + AWAY[0] <= x <= rank + AWAY[1] for rank, cloud in enumerate(clouds) for x in cloud["x"])
    assert figure["layout"]["xaxis"]["ticktext"] == ["4", "8"]


def test_heat_is_the_median_of_each_pair_and_a_click_says_the_cell():
    figure = valid(charts.heat(CELLS, PROCESSES, MARKERS, LATENCY))
    colours, spots = figure["data"]
    assert colours["z"] == [[2.0, 4.0], [20.0, 40.0]]
    assert (colours["zmin"], colours["zmax"]) == (2.0, 40.0)
    assert spots["customdata"][0] == [None, None, 0]
    assert (spots["x"][0], spots["y"][0], spots["text"][0]) == (1.0, 1.0, "40")


def test_heat_leaves_a_hole_where_nothing_was_measured():
    colours = charts.heat([*CELLS[:3], cell(3, 4, "fixed:20", None)], PROCESSES, MARKERS, LATENCY)["data"][0]
    assert colours["z"] == [[2.0, 4.0], [None, 40.0]]


def test_comparison_puts_prediction_across_and_measurement_up():
    figure = valid(charts.comparison(CELLS, [30.0, None, 2.0, 25.0], LATENCY, [PROCESSES]))
    line, dots = figure["data"]
    assert (dots["x"], dots["y"]) == ([30.0, 2.0, 25.0], [40.0, 2.0, 20.0])
    assert dots["error_y"]["array"] == [40.0, 2.0, 20.0]
    assert dots["error_y"]["arrayminus"] == [20.0, 1.0, 10.0]
    assert line["x"] == line["y"], "on the line both are the same"
    assert line["x"][1] >= 40.0


def test_comparison_of_nothing_is_an_empty_chart():
    valid(charts.comparison(CELLS, [None] * 4, LATENCY, []))


# ------------------------------------------------------------------ words


def test_what_varies_is_found_but_not_what_follows_from_it():
    assert [dimension.column for dimension in varying(with_parameters(CELLS))] == ["processes", "marker_delay"]


def test_a_parameter_that_varies_by_itself_is_a_dimension():
    rows = with_parameters([cell(0, 4, "fixed:1", 1.0, parameters=f'{{"pace": {pace}}}') for pace in (5.0, 2.5)])
    (pace,) = varying(rows)
    assert pace.column == OF_WORKLOAD + "pace"
    assert values(pace, rows) == {2.5: "2.5", 5.0: "5"}


def test_values_are_in_order_of_size_or_of_appearance():
    assert list(values(MARKERS, CELLS)) == ["fixed:1", "fixed:20"]
    words = Dimension("topology", "topology", "Topology")
    assert list(values(words, [{"topology": "star"}, {"topology": "line"}, {"topology": "star"}])) == ["star", "line"]


def test_channels_are_fifo_or_not():
    rows = [cell(0, 4, "fixed:1", 1.0, fifo=True), cell(1, 4, "fixed:1", 3.0, fifo=False)]
    (fifo,) = varying(with_parameters(rows))
    assert values(fifo, rows) == {True: "FIFO", False: "not FIFO"}
    figure = valid(charts.curves(rows, [], fifo, LATENCY))
    assert figure["layout"]["xaxis"]["ticktext"] == ["FIFO", "not FIFO"]
    assert [row["cell"] for row in alike(rows, {fifo: False})] == [1]


def test_alike_keeps_what_has_the_values():
    assert [row["cell"] for row in alike(CELLS, {PROCESSES: 4, MARKERS: "fixed:1"})] == [2]
    assert alike(CELLS, {}) == CELLS


@each(
    ("text", "words"),
    [("fixed:5", "5"), ("uniform:1:9", "1 to 9"), ("exponential:2.5", "exponential 2.5"), ("same", "as messages"),
     (None, "as messages"), ("listed", "listed")],
)  # fmt: skip
def test_delays_in_words(text, words):
    assert delay_words(text) == words


@each(
    ("value", "text"),
    [(None, "none"), (0, "0"), (12.0, "12"), (9.04321, "9.04"), (0.12345, "0.123"), (123456.7, "123,457")],
)
def test_numbers_have_three_digits_that_count(value, text):
    assert number(value) == text


def test_slots_of_lines_lie_side_by_side_around_the_place():
    slots = [slot_of(rank, 3) for rank in range(3)]
    assert all(low < high for low, high in slots)
    assert all(math.isclose(a[1], b[0]) for a, b in pairwise(slots))
    assert math.isclose(slots[0][0], -slots[-1][1])


def test_an_axis_of_numbers_has_its_ticks_at_the_values_unless_they_crowd():
    assert Axis(MARKERS, CELLS).layout()["tickvals"] == [1.0, 20.0]
    crowded = [cell(0, 4, "fixed:1", 1.0), cell(1, 4, "fixed:2", 1.0), cell(2, 4, "fixed:100", 1.0)]
    assert "tickvals" not in Axis(MARKERS, crowded).layout()


@pytest.mark.slow
def test_every_measure_can_be_drawn():
    for measure in MEASURES.values():
        runs = [row | {measure.column: 3} for row in RUNS]
        valid(charts.curves(CELLS, runs, DELAY, measure))


def test_a_bar_for_each_process_counts_what_it_finished_last_and_is_the_longest_of_them():
    rows = [
        {"process": "P1", "snapshots": 3, "cell": 0, "run_id": 7, "snapshot_id": "S1", "latency": 41.5},
        {"process": "<P2>", "snapshots": 1, "cell": 1, "run_id": 9, "snapshot_id": "S1", "latency": 2.0},
    ]
    figure = charts.slowest(rows)
    (bars,) = figure["data"]
    assert bars["y"] == [3, 1]
    assert bars["customdata"] == [[7, "S1", 0], [9, "S1", 1]]
    assert figure["layout"]["xaxis"]["ticktext"][0] == "P1"
    assert "<P2>" not in figure["layout"]["xaxis"]["ticktext"][1]
    go.Figure(theme.resolve(figure, theme.PALETTES["light"]))
