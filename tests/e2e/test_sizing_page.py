"""The page Sizing in a browser: inputs in the link, each view on every screen, a run of one's own system."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import PATIENCE_MS, ExplorerPage, sync_api
from tests.e2e.layout import SIZES, faults
from tests.tools import check_none

SHOWN = {
    "Figures": ".cut-sizes", "Chart": ".st-key-cut-chart .main-svg", "Simulated check": ".st-key-cut-chart .main-svg",
    "Formulas": ".cut-sizes", "The documents": ".cut-good",
}  # fmt: skip
NARROWED = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth <= main.clientWidth;
}"""


@pytest.fixture
def visit(fresh_tab: ExplorerPage):
    yield fresh_tab
    fresh_tab.page.set_viewport_size({"width": 1280, "height": 720})


def test_inputs_are_in_the_link_and_the_documents_example_is_one_click_away(visit):
    page = visit.page
    page.goto(f"{visit.url}/sizing")
    page.get_by_role("heading", name="By the documents, 1.98 GB at each node").wait_for()
    page.get_by_text("500,000 events/second: refuted").wait_for()
    page.get_by_role("spinbutton", name="Nodes").fill("10")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="By the documents, 180 MB at each node").wait_for()
    page.wait_for_url("**/sizing?nodes=10")
    page.reload()
    page.get_by_role("heading", name="By the documents, 180 MB at each node").wait_for()
    nodes = page.get_by_role("spinbutton", name="Nodes")
    sync_api.expect(nodes).to_have_value("10", timeout=PATIENCE_MS)  # the heading may come before the form
    page.get_by_role("button", name="The documents’ example").click()
    page.get_by_role("heading", name="By the documents, 1.98 GB at each node").wait_for()
    page.wait_for_url("**/sizing")


def test_who_comes_back_finds_the_inputs(visit):
    page = visit.page
    page.goto(f"{visit.url}/sizing?nodes=7&topology=ring")
    page.get_by_role("heading", name="By the documents, 20 MB at each node").wait_for()
    page.get_by_role("link", name="History").click()
    page.wait_for_url("**/history")
    page.get_by_role("link", name="Sizing").click()
    page.wait_for_url("**/sizing?nodes=7&topology=ring")
    page.get_by_role("heading", name="By the documents, 20 MB at each node").wait_for()


def test_a_bad_link_is_one_sentence(visit):
    page = visit.page
    page.goto(f"{visit.url}/sizing?nodes=0")
    assert page.get_by_role("alert").inner_text() == "nodes: expected a whole number from 1 to 100,000, not '0'."


def test_ones_own_system_is_run_beside_the_law(visit):
    page = visit.page
    page.goto(f"{visit.url}/sizing?nodes=4&topology=ring&rate=1&delay=5&message_delay=4")
    page.get_by_role("radio", name="Simulated check").click()
    page.get_by_text("In 160 small systems").wait_for()
    page.get_by_role("button", name="Run it 8 times").click()
    page.get_by_role("columnheader", name="Measured").wait_for()


@pytest.mark.parametrize("query", ["", "?algorithm=aligned_barriers&topology=dag&nodes=20&capacity=100000"])
def test_every_view_on_every_screen(visit, query):
    page, found = visit.page, []
    page.goto(f"{visit.url}/sizing{query}")
    for view, shown in SHOWN.items():
        page.set_viewport_size({"width": 1280, "height": 720})
        page.get_by_role("radio", name=view, exact=True).click()
        page.locator(shown).first.wait_for()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(NARROWED)
            page.wait_for_timeout(300)  # a chart is drawn anew a moment after the page is resized
            found += [f"{view} at {width}x{height}: {fault}" for fault in faults(page)]
    check_none(found)
