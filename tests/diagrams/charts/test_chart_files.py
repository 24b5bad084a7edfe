"""The files of charts: pictures in each format, and the rows behind them as CSV."""

from __future__ import annotations

import csv
from functools import partial
from io import BytesIO, StringIO
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfReader

from diagrams.charts import figures as charts
from diagrams.charts import rows as chart_rows
from diagrams.charts.files import FILES, Chart, chart_file, check_size, file_name, view_of
from sim.core.errors import InputError
from tests.cases import each
from tests.diagrams.charts.test_chart_figures import CELLS, LATENCY, MARKERS, PROCESSES, RUNS, cell
from tests.diagrams.charts.test_picture import FIGURES, SLOW, WORDS

CHART = Chart(
    FIGURES["lines"],
    "Line: the median.",
    "bank-latency",
    partial(chart_rows.measured, CELLS, RUNS, [PROCESSES], LATENCY),
)


@pytest.mark.slow
def test_a_picture_has_the_size_and_the_colours_that_are_asked_for():
    made = chart_file(CHART, "svg", view_of({"width": "84mm", "theme": "dark"})).decode()
    root = ElementTree.fromstring(made)
    assert root.attrib["width"].endswith("pt") and float(root.attrib["width"][:-2]) == pytest.approx(238.11, abs=0.01)
    assert "#0e1117" in made and "#ffffff" not in made
    told = [element.text for element in root[:2]]
    assert told[0] == LATENCY.title and told[1].endswith(
        "From left to right: Mean delay of a marker (time units). Line: the median."
    )
    image = Image.open(BytesIO(chart_file(CHART, "png", view_of({"width": "84mm"}))))
    assert image.size[0] == pytest.approx(238.11 / 72 * 300, abs=2)
    assert len(image.convert("RGB").getcolors(1 << 20)) > 50


def test_a_pdf_is_one_page_of_the_width_with_its_words_and_says_what_is_seen():
    page = PdfReader(BytesIO(chart_file(CHART, "pdf", view_of({"width": "84mm"})))).pages[0]
    assert float(page.mediabox.width) == pytest.approx(238.11, abs=0.1)
    assert "Processes:" in page.extract_text() and len(page.get_contents().get_data()) > 10_000
    plain = PdfReader(BytesIO(chart_file(CHART, "pdf", view_of({})))).pages[0]
    assert float(plain.mediabox.width) == 900


def test_files_are_named_after_the_chart_and_its_width():
    assert file_name(CHART, "pdf", view_of({"width": "84mm"})) == "bank-latency-84mm.pdf"
    assert file_name(CHART, "csv", view_of({"width": "84mm"})) == "bank-latency.csv"
    assert all(form.what_for.endswith(".") for form in FILES.values())


@each(
    ("asked", "complaint"),
    [
        ({"width": "84"}, "--width '84' is not possible; give a length"),
        ({"theme": "pink"}, "--theme 'pink' is not known; say light or dark or grey"),
        ({"width": "30mm", "font-size": "20pt"}, "a picture 85pt wide is too narrow for letters of 20pt"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_drawn(asked, complaint):
    with pytest.raises(InputError, match=complaint):
        view_of(asked)


def test_a_png_of_too_many_dots_is_refused_before_it_is_drawn_and_others_are_not():
    wide = view_of({"width": "2400pt"})
    for refused in (check_size, chart_file):
        with pytest.raises(InputError, match="at most 20,000,000 dots, and this picture has 10,000 x "):
            refused(CHART, "png", wide)
    for form in ("svg", "pdf", "csv"):
        check_size(CHART, form, wide)
    check_size(CHART, "png", view_of({"width": "400mm"}))


# ------------------------------------------------------------------ rows


def lines_of(text: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text.decode("utf-8"))))


def test_the_rows_of_a_chart_are_the_numbers_that_it_draws():
    figure = charts.curves(CELLS, RUNS, MARKERS, LATENCY, PROCESSES)
    lines = lines_of(chart_rows.measured(CELLS, RUNS, [MARKERS, PROCESSES], LATENCY))
    for trace in figure["data"]:
        found = trace.get("customdata")
        if not found:
            continue
        for (run, _, of), y in zip(found, trace["y"], strict=True):
            (line,) = [
                each for each in lines if each["cell"] == str(of) and each["run"] == ("" if run is None else str(run))
            ]
            assert float(line["median" if run is None else "value"]) == y
            assert line["row"] == ("cell" if run is None else "run")
    assert len(lines) == 4 + 3, "what was not measured is not there"
    first = next(line for line in lines if line["row"] == "cell" and line["cell"] == "0")
    assert (first["processes"], first["marker_delay"], first["mean_marker_delay"]) == ("8", "fixed:20", "20.0")
    assert (first["runs"], first["median"], first["low"], first["high"]) == ("50", "40.0", "20.0", "80.0")
    assert [line["failed"] for line in lines if line["row"] == "run"] == ["false", "false", "true"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_is_rounded(value):
    (line,) = lines_of(chart_rows.measured([cell(0, 4, "fixed:1", value)], [], [], LATENCY))
    assert float(line["median"]) == value


@example("=1+1")
@example("@SUM(A1)")
@example("-2+3")
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\0")))
def test_no_cell_is_a_formula(text):
    rows = [cell(0, 4, "fixed:1", 1.0, algorithm=text)]
    (line,) = csv.reader(StringIO(chart_rows.measured(rows, [], [WORDS], LATENCY).decode().partition("\n")[2]))
    assert (not line[2].startswith(("=", "@")) and not line[2].startswith(("+", "-"))) or _is_number(line[2])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_the_rows_of_a_comparison_and_of_the_slowest():
    lines = lines_of(chart_rows.compared(CELLS, [30.0, None, 2.0, 25.0], [PROCESSES], LATENCY))
    assert [(line["predicted"], line["median"]) for line in lines] == [
        ("30.0", "40.0"),
        ("2.0", "2.0"),
        ("25.0", "20.0"),
    ]
    (line, *_) = lines_of(chart_rows.slowest(SLOW))
    assert line == {
        "process": "P1", "snapshots": "41", "cell": "0", "run": "1", "snapshot": "S1", "longest": "2.5"
    }  # fmt: skip
