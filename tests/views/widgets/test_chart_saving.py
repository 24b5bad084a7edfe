"""The menu that saves a chart: its options, and no drawing before the user wants it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from diagrams.export import png


def menu(*traces: dict[str, str]) -> None:
    from diagrams.charts import figures as charts
    from diagrams.charts.files import Chart
    from diagrams.charts.measures import DIMENSIONS, MEASURES
    from views.widgets.chart_saving import save_menu

    def rows() -> bytes:
        raise AssertionError("nobody has asked for them")

    figure = charts.spread([], DIMENSIONS[0], MEASURES["latency"])
    figure["data"] += traces
    save_menu(Chart(figure, "How to read it.", "bank-latency", rows))


@pytest.fixture
def page() -> AppTest:
    cannot_be_drawn = {"type": "of no known type"}
    return AppTest.from_function(menu, args=(cannot_be_drawn,), default_timeout=60).run()


def test_nothing_is_drawn_before_it_is_asked_for(page):
    assert not page.exception
    (button,) = page.get("download_button")
    assert button.proto.label == "Save SVG"


def test_letters_are_asked_for_on_paper_only(page):
    def labels() -> list[str]:
        return [widget.label for widget in page.selectbox]

    assert labels() == ["Width", "Colours"]
    page.selectbox[0].set_value("84mm").run()
    assert labels() == ["Width", "Letters", "Colours"]
    page.get("segmented_control")[0].set_value("csv").run()
    assert labels() == []


@pytest.mark.slow
def test_a_picture_of_too_many_dots_is_refused_in_place_of_the_button(monkeypatch):
    page = AppTest.from_function(menu, default_timeout=60).run()
    page.get("segmented_control")[0].set_value("png").run()
    assert [button.proto.label for button in page.get("download_button")] == ["Save PNG"]
    monkeypatch.setattr(png, "MOST_DOTS", 1800 * 1000)
    page.selectbox[1].set_value("dark").run()
    assert not page.get("download_button") and not page.exception
    (complaint,) = page.get("html")
    assert "1,800 x" in complaint.proto.body
    page.get("segmented_control")[0].set_value("svg").run()
    assert page.get("download_button") and not page.get("html")
