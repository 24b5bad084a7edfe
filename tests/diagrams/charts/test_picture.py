"""Charts as still pictures, measured on their shapes; their files; the rows behind them."""

from __future__ import annotations

from itertools import combinations
from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.charts import figures as charts
from diagrams.charts.axes import below, beside
from diagrams.charts.files import view_of
from diagrams.charts.measures import MEASURES, Dimension, alike
from diagrams.charts.parts import axis
from diagrams.charts.picture import chart_picture
from diagrams.charts.traces import density, quantile
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import LETTERS, Sheet
from diagrams.shapes.primitives import Area, Box, Disc, Line
from tests.cases import each
from tests.diagrams.charts.test_chart_figures import CELLS, LATENCY, MARKERS, PROCESSES, RUNS, cell, single
from tests.diagrams.tools import texts_of

WIDTHS = {"84mm": 238.11, "170mm": 481.89}  # in points
SMALLEST = 7.0  # points of a label
WORDS = Dimension("algorithm", "algorithm", "Algorithm")
MESSAGES = MEASURES["recorded_messages"]

MANY = [
    cell(7 * i + j, size, f"fixed:{mean}", 1.7 * size * mean, algorithm=f"an algorithm-of {i} people")
    for i, size in enumerate((2, 3, 5, 9, 12, 40)) for j, mean in enumerate((0.25, 1, 2, 3, 20, 500, 12000))
]  # fmt: skip
SINGLE = [single(number, of, of["latency_50"] * (0.6 + 0.1 * (number % 9))) for number, of in enumerate(3 * MANY)]
SLOW = [
    {"process": f"P{number}", "snapshots": 41 * number % 1213, "cell": 0, "run_id": number, "snapshot_id": "S1",
     "latency": 2.5} for number in range(1, 31)
]  # fmt: skip

FIGURES = {
    "lines": charts.curves(MANY, SINGLE, MARKERS, LATENCY, PROCESSES),
    "a line": charts.curves(CELLS[:2], RUNS, MARKERS, LATENCY),
    "names": charts.curves(alike(MANY, {MARKERS: "fixed:2"}), [], WORDS, LATENCY),
    "lines of names": charts.curves(MANY, SINGLE, MARKERS, LATENCY, WORDS),
    "spread": charts.spread(SINGLE, MARKERS, LATENCY),
    "spread of names": charts.spread([row | {"algorithm": f"algorithm {row['processes']}"} for row in SINGLE], WORDS,
                                     LATENCY),
    "few bars": charts.slowest(SLOW[:6]), "bars": charts.slowest(SLOW),
    "heat": charts.heat(CELLS, MARKERS, PROCESSES, LATENCY), "large heat": charts.heat(MANY, WORDS, MARKERS, LATENCY),
    "heat of names": charts.heat(MANY, MARKERS, WORDS, LATENCY),
    "prediction": charts.comparison(MANY, [1.1 * row["latency_50"] for row in MANY], LATENCY, [PROCESSES]),
    "nothing": charts.comparison(CELLS, [None] * 4, LATENCY, []), "no runs": charts.spread([], PROCESSES, LATENCY),
}  # fmt: skip


def picture(figure, **given: str) -> Picture:
    sheet = Sheet.of(view_of(given))
    return chart_picture(figure, sheet).on(sheet)


def faults(made: Picture) -> list[str]:
    """The labels that are over another one, or cut off."""
    texts = texts_of(made)
    over = [f"{a.letters} on {b.letters}" for (a, box), (b, other) in combinations(texts, 2) if box.meets(other)]
    page = Box(0, 0, made.width, made.height)
    cut = [
        f"{text.letters} at {box}" for text, box in texts
        if box.left < page.left or box.top < page.top or box.right > page.right or box.bottom > page.bottom
    ]  # fmt: skip
    return over + cut


def letters_in(made: Picture) -> list[str]:
    return [text.letters for text, _ in texts_of(made)]


# ------------------------------------------------------------------ labels


@pytest.mark.slow
@each("width", WIDTHS)
@each("name", FIGURES)
def test_every_label_can_be_read_on_paper(name, width):
    made = picture(FIGURES[name], width=width)
    assert made.unit == "pt" and made.width == pytest.approx(WIDTHS[width], abs=0.01)
    assert {round(text.size, 6) for text, _ in texts_of(made)} == {8.0}
    assert faults(made) == []
    assert faults(picture(FIGURES[name], width=width, **{"font-size": "7pt"})) == []


@each("name", FIGURES)
def test_every_label_can_be_read_on_a_screen(name):
    made = picture(FIGURES[name])
    assert made.unit == "px" and made.width == 900
    assert all(text.size >= 15 for text, _ in texts_of(made))
    assert faults(made) == []


def drawn_as(kind: str, rows, runs):
    """A chart in which each row has a name of its own."""
    match kind:
        case "names below":
            return charts.curves(rows, runs, WORDS, LATENCY)
        case "names in the legend":
            return charts.curves(rows, runs, MARKERS, LATENCY, WORDS)
        case "names of violins":
            return charts.spread(runs, WORDS, LATENCY)
        case "names beside":
            return charts.heat(rows, MARKERS, WORDS, LATENCY)
    return charts.heat(rows, WORDS, MARKERS, LATENCY)


@given(
    names=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=30, unique=True),
    middle=st.floats(-1e7, 1e7).map(lambda value: round(value, 6)),
    step=st.floats(0, 1e6).map(lambda value: round(value, 6)), width=st.integers(45, 200), size=st.floats(7, 10),
    kind=st.sampled_from(["names below", "names in the legend", "names of violins", "names beside", "map of names"]),
)  # fmt: skip
def test_whatever_values_and_names_are_no_label_is_over_another_one(names, middle, step, width, size, kind):
    rows = [cell(rank, 4, "fixed:1", middle + step * rank, algorithm=name) for rank, name in enumerate(names)]
    runs = [single(rank, row, row["latency_50"]) | {"algorithm": row["algorithm"]} for rank, row in enumerate(rows)]
    made = picture(drawn_as(kind, rows, runs), width=f"{width}mm", **{"font-size": f"{size:.1f}pt"})
    assert faults(made) == []
    assert all(text.size >= SMALLEST - 0.01 for text, _ in texts_of(made))


def test_labels_are_broken_or_told_in_a_key_and_only_counted_ones_are_left_out():
    """Labels stay as large as the others."""
    plot = Box(50, 50, 450, 250)

    def told(*names: str) -> tuple[list[tuple[str, ...]], list[str]]:
        places = {"tickvals": [*range(len(names))], "ticktext": [*names], "range": [-0.6, len(names) - 0.4]}
        found = below(axis("") | places, (-0.6, len(names) - 0.4), plot, LETTERS, 460)
        return [tick.lines for tick in found.ticks], list(found.key)

    assert told("3", "5") == ([("3",), ("5",)], [])
    assert told(*["Chandy-Lamport"] * 4) == ([("Chandy-", "Lamport")] * 4, [])
    five = told(*["exponential delays"] * 5)
    assert five == ([(letter,) for letter in "abcde"], ["exponential delays"] * 5)
    uneven = ["0.25", "1", "20", "500", "12000", "13000", "14000", "15000", "16000"]
    assert told(*uneven) == ([(letter,) for letter in "abcdefghi"], uneven), "no reader can guess one that is missing"
    lines, key = told(*[f"{number},000" for number in range(1, 21)])
    assert key == [] and lines[0] == ("1,000",) and lines.count(()) > 10
    lines, key = told(*[f"P{number}" for number in range(1, 31)])
    assert key == [] and lines[0] == ("P1",) and () in lines


def test_names_beside_the_plot_become_letters_where_they_have_no_room():
    names = [f"a name of many words, {number}" for number in range(8)]
    places = {"tickvals": [*range(8)], "ticktext": names, "range": [-0.6, 7.4]}
    found = beside(axis("") | places, (-0.6, 7.4), 200, LETTERS, 400)
    assert [tick.lines for tick in found.ticks] == [(letter,) for letter in "ABCDEFGH"] and found.key == names
    made = picture(FIGURES["heat of names"], width="84mm", **{"font-size": "10pt"})
    assert "A: an algorithm-of 0 people" in letters_in(made)


# ------------------------------------------------------------------ shapes


def dots_of(made: Picture, colour: str) -> list[tuple[float, float]]:
    return [part.centre for part in made.inside if isinstance(part, Disc) and part.fill == colour]


def test_medians_lie_where_their_numbers_say():
    """Places on both axes grow with the values, and the band lies around the line."""
    rows = [cell(rank, 4, f"fixed:{mean}", median) for rank, (mean, median) in enumerate([(1, 10.0), (3, 20), (9, 40)])]
    made = picture(charts.curves(rows, [], MARKERS, LATENCY), width="84mm")
    (x1, y1), (x2, y2), (x3, y3) = dots_of(made, "@p0")
    assert (x3 - x1) / (x2 - x1) == pytest.approx(4) and (y1 - y3) / (y1 - y2) == pytest.approx(3)
    (line,) = [part for part in made.inside if isinstance(part, Line) and part.colour == "@p0"]
    assert line.strokes == (((x1, y1), (x2, y2), (x3, y3)),)
    (band,) = [part for part in made.inside if isinstance(part, Area) and part.fill == "@p0/0.16"]
    unit = (y1 - y2) / 10
    assert [y for _, y in band.polygons[0]] == pytest.approx(
        [y1 - 10 * unit, y2 - 20 * unit, y3 - 40 * unit, y3 + 20 * unit, y2 + 10 * unit, y1 + 5 * unit]
    )


def test_single_runs_are_drawn_and_one_that_fails_is_a_cross():
    made = picture(charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES), width="84mm")
    crosses = [part for part in made.inside if isinstance(part, Area) and part.fill == "@bad"]
    assert [len(cross.polygons[0]) for cross in crosses] == [12]
    assert len([part for part in made.inside if isinstance(part, Area) and part.fill == "@p1/0.45"]) == 2


def test_lines_are_told_apart_without_colour():
    made = picture(FIGURES["lines"], width="84mm", theme="grey")
    lines = [part for part in made.inside if isinstance(part, Line) and part.colour.startswith("@p")]
    symbols = [part for part in made.inside if isinstance(part, Area | Disc) and part.outline == "@paper"]
    forms = {
        (type(part).__name__, len(getattr(part, "polygons", ((),))[0]), getattr(part, "width", 0)) for part in symbols
    }
    assert len({line.dash for line in lines}) == 6
    assert len(forms) >= 5


def test_bars_are_as_high_as_their_numbers():
    made = picture(FIGURES["few bars"], width="84mm")
    (bars,) = [part for part in made.inside if isinstance(part, Area)]
    heights = [low - high for (_, low), _, (_, high), _ in bars.polygons]
    counts = [row["snapshots"] for row in SLOW[:6]]
    assert [height / heights[0] for height in heights] == pytest.approx([count / counts[0] for count in counts])
    assert {f"{count:,}" for count in counts} <= set(letters_in(made))
    assert "1,189" not in letters_in(picture(FIGURES["bars"], width="84mm")), "no number has room above 30 bars"


def test_a_violin_reaches_from_the_least_run_to_the_greatest_with_a_box_around_the_middle_half():
    runs = [single(number, CELLS[0], value) for number, value in enumerate((2.0, 3, 4, 5, 6, 7, 8, 40))]
    made = picture(charts.spread(runs, PROCESSES, LATENCY), width="84mm")
    dots = [y for _, y in dots_of(made, "@p0/0.45")]
    shape, box = [part for part in made.inside if isinstance(part, Area)]
    sides = [y for _, y in shape.polygons[0]]
    assert (min(sides), max(sides)) == pytest.approx((min(dots), max(dots)))
    unit = (max(dots) - min(dots)) / 38
    assert [max(dots) - (y - 2) * unit for y in (3.5, 7.5)] == pytest.approx(
        [box.polygons[0][0][1], box.polygons[0][2][1]]
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40).map(sorted))
def test_a_density_spans_the_values_and_its_peak_is_one(values):
    found = density(values)
    assert found[0][0] == values[0] and found[-1][0] == pytest.approx(values[-1], abs=1e-6)
    assert max(share for _, share in found) == 1 and min(share for _, share in found) >= 0
    assert quantile(values, 0) == values[0] and quantile(values, 1) == values[-1]


def test_quantiles_are_those_that_plotly_draws():
    """Each value stands for the middle of its part (Langford's method 10, Plotly's "linear")."""
    assert [quantile([1.0, 2, 3, 4], share) for share in (0.25, 0.5, 0.75)] == [1.5, 2.5, 3.5]
    odd = [float(value) for value in range(1, 8)]
    assert quantile(odd, 0.5) == quantiles(odd, n=2)[0] == 4


def test_fields_are_darker_for_higher_values_and_none_is_there_for_what_was_not_measured():
    made = picture(charts.heat([*CELLS[:3], cell(3, 4, "fixed:20", None)], MARKERS, PROCESSES, LATENCY), legend="no")
    fields = [part for part in made.inside if isinstance(part, Area) and part.fill.startswith("@accent")]
    found = {text.letters: box for text, box in texts_of(made) if text.letters in ("40", "4", "2")}
    opacities = {}
    for field in fields:
        (left, low), _, (right, high), _ = field.polygons[0]
        name = next(
            name for name, box in found.items() if left < box.left and box.right < right and high < box.top < low
        )
        opacities[name] = float(field.fill.partition("/")[2])
    assert opacities == {"2": 0.06, "4": pytest.approx(0.06 + 0.54 * 2 / 38, abs=0.001), "40": 0.6}


def test_numbers_are_left_out_of_fields_that_are_too_small_for_them():
    assert "40" in letters_in(picture(FIGURES["heat"], width="84mm"))
    assert "96" not in letters_in(picture(FIGURES["large heat"], width="84mm"))
    assert {"0.85", "816,000"} <= set(letters_in(picture(FIGURES["large heat"], width="84mm"))), "the ends of its scale"


def test_a_prediction_is_drawn_with_its_range_and_none_beyond_the_axes():
    made = picture(charts.comparison(CELLS, [30.0, -5.0, 2.0, 25.0], LATENCY, [PROCESSES]), width="84mm")
    dots = [part for part in made.inside if isinstance(part, Disc) and part.outline == "@paper"]
    (ranges,) = [part for part in made.inside if isinstance(part, Line) and part.colour == "@accent/0.45"]
    assert len(ranges.strokes) == 3 and len(dots) == 3 + 1, "the fourth is in the legend"


def test_a_legend_is_there_for_several_lines_unless_it_is_not_wanted():
    assert {"Processes:", "2", "40"} <= set(letters_in(picture(FIGURES["lines"], width="84mm")))
    assert "Processes:" not in letters_in(picture(FIGURES["lines"], width="84mm", legend="no"))
    assert len(letters_in(picture(FIGURES["a line"], legend="no"))) == len(letters_in(picture(FIGURES["a line"])))


# ------------------------------------------------------------------ files
