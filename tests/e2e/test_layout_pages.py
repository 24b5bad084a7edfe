"""Ensembles, Traces and History on every screen: nothing overlaps, nothing is cut off, nothing scrolls sideways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import ExplorerPage, serving
from tests.e2e.layout import SIZES, faults
from tests.tools import check_none

CHART, DIAGRAM = ".st-key-cut-chart .main-svg", ".st-key-cut-diagram .main-svg"
DRAWN = """(plot) => {
  const drawn = document.querySelector(plot);
  return drawn && Math.abs(drawn.clientWidth - drawn.closest("[class*=st-key-cut-]").clientWidth) < 3;
}"""


def check_every_screen(tab: ExplorerPage, plot: str, what: str) -> None:
    found = []
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.wait_for_function(DRAWN, arg=plot)
        found += [f"{what} at {width}x{height}: {fault}" for fault in faults(tab.page)]
    check_none(found)


@pytest.fixture
def visit(fresh_tab) -> Iterator[ExplorerPage]:
    yield fresh_tab
    fresh_tab.page.set_viewport_size({"width": 1280, "height": 720})


def test_the_views_of_an_ensemble(visit):
    page = visit.page
    page.goto(f"{visit.url}/ensembles")
    for view in ("Time taken", "Heat map", "Slowest process"):
        page.set_viewport_size({"width": 1280, "height": 720})
        page.get_by_role("radio", name=view).click()
        page.locator(CHART).first.wait_for()
        check_every_screen(visit, CHART, view)


def test_a_log_and_its_cut(visit):
    visit.page.goto(f"{visit.url}/traces")
    visit.page.locator(DIAGRAM).first.wait_for()
    check_every_screen(visit, DIAGRAM, "Traces")
