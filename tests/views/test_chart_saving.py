"""The menu that saves a chart: what it asks, and that nothing is drawn before somebody wants it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def menu() -> None:
    from diagrams import charts
    from diagrams.chart_files import Chart
    from diagrams.measures import DIMENSIONS, MEASURES
    from views.chart_saving import save_menu

    def rows() -> bytes:
        raise AssertionError("nobody has asked for them")

    figure = charts.spread([], DIMENSIONS[0], MEASURES["latency"])
    figure["data"].append({"type": "of no known type"})  # such a figure cannot be drawn
    save_menu(Chart(figure, "How to read it.", "bank-latency", rows))


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(menu, default_timeout=60).run()


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
