"""The page Sizing in a browser: inputs in the link, each view on every screen, a run of one's own system."""

from __future__ import annotations

from itertools import groupby, product
from operator import itemgetter

import pytest

from tests.e2e.conftest import sync_api
from tests.e2e.layout import PAGE_RESIZED, SIZES, sized
from tests.tools import check_none, pairs

SHOWN = {
    "Figures": ".cut-sizes", "Chart": ".st-key-cut-chart .main-svg", "Simulated check": ".st-key-cut-chart .main-svg",
    "Formulas": ".cut-sizes", "Usual claims": ".cut-good",
}  # fmt: skip
QUERIES = ("", "?algorithm=aligned_barriers&topology=dag&nodes=20&capacity=100000")


@pytest.mark.long("more of each page in a real browser")
def test_inputs_are_in_the_link_and_the_documents_example_is_one_click_away(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/sizing")
    page.get_by_role("heading", name="The usual estimate gives 1.98 GB for every node").wait_for()
    page.get_by_text("500,000 events/second: refuted").wait_for()
    page.get_by_role("spinbutton", name="Nodes").fill("10")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The usual estimate gives 180 MB for every node").wait_for()
    page.wait_for_url("**/sizing?nodes=10")
    page.reload()
    page.get_by_role("heading", name="The usual estimate gives 180 MB for every node").wait_for()
    nodes = page.get_by_role("spinbutton", name="Nodes")
    sync_api.expect(nodes).to_have_value("10")  # the heading may come before the form
    page.get_by_role("button", name="Reset to the example").click()
    page.get_by_role("heading", name="The usual estimate gives 1.98 GB for every node").wait_for()
    page.wait_for_url("**/sizing")


def test_who_comes_back_finds_the_inputs_and_a_bad_link_is_one_sentence(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/sizing?nodes=7&topology=ring")
    page.get_by_role("heading", name="The usual estimate gives 20 MB for every node").wait_for()
    page.get_by_role("link", name="History").click()
    page.wait_for_url("**/history")
    page.get_by_role("link", name="Sizing").click()
    page.wait_for_url("**/sizing?nodes=7&topology=ring")
    page.get_by_role("heading", name="The usual estimate gives 20 MB for every node").wait_for()
    page.goto(f"{fresh_tab.url}/sizing?nodes=0")
    assert page.get_by_role("alert").inner_text() == "nodes: expected a whole number from 1 to 100,000, not '0'."


def test_ones_own_system_is_run_beside_the_law(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/sizing?nodes=4&topology=ring&rate=1&delay=5&message_delay=4")
    page.get_by_role("radio", name="Simulated check").click()
    page.get_by_text("We ran 160 small systems").wait_for()
    page.get_by_role("button", name="Run it 8 times").click()
    page.get_by_role("columnheader", name="Measured").wait_for()


def faults_of(tab, looks):
    """The faults of views of this page, each at a size."""
    page, found = tab.page, []
    for query, of_query in groupby(sorted(looks), key=itemgetter(0)):
        page.goto(f"{tab.url}/sizing{query}")
        for view, of_view in groupby(of_query, key=itemgetter(1)):
            page.get_by_role("radio", name=view, exact=True).click()
            page.locator(SHOWN[view]).first.wait_for()
            sizes = [size for *_, size in of_view]
            found += [f"{query}, {view} at {fault}" for fault in sized(page, sizes, drawn=PAGE_RESIZED)]
            page.set_viewport_size({"width": 1280, "height": 720})
    return found


def test_every_view_and_every_screen(fresh_tab):
    check_none(faults_of(fresh_tab, pairs(QUERIES, SHOWN, SIZES[:4:3])))


@pytest.mark.long("every view of every page at every size")
@pytest.mark.parametrize("query", QUERIES)
def test_every_view_on_every_screen(fresh_tab, query):
    check_none(faults_of(fresh_tab, product([query], SHOWN, SIZES)))
