"""Dijkstra's page: actions are interchanged by hand, and the diagram moves with them."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from sim.edit.link import Shared, query_of
from tests.e2e.conftest import ExplorerPage

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = sync_api.expect


def row(explorer: ExplorerPage) -> str:
    """The names of the actions in their order, red ones in brackets."""
    script = "(all) => all.map((a) => a.dataset.red === 'true' ? `[${a.firstChild.data}]` : a.firstChild.data).join('')"
    told: str = explorer.page.locator(".cc-actions .cc-action").evaluate_all(script)
    return told


def place(explorer: ExplorerPage, label: str) -> float:
    """How far down the diagram the name of an event is, in pixels."""
    box = explorer.page.locator(".cc-diagram .textpoint text").get_by_text(label, exact=True).bounding_box()
    assert box is not None
    return box["y"]


def test_one_swap_leads_the_lecture_to_the_recorded_state_and_the_link_keeps_it(explorer):
    page = explorer.page
    explorer.tab("Proof")
    page.locator(".cc[data-proof]").wait_for()
    assert row(explorer) == "ABIFG[C]H[J][D][E][K]"
    assert place(explorer, "C") < place(explorer, "H")
    page.get_by_role("button", name="Swap C and H").click()
    expect(page.locator(".cc-proof-count")).to_have_text("0 inversions")
    assert row(explorer) == "ABIFGH[C][J][D][E][K]"
    expect(page.locator(".cc-proof-said")).to_contain_text("nothing leads from C to H")
    assert page.locator(".cc-compared tbody tr").count() == 9
    assert page.locator('.cc-compared tbody tr[data-holds="true"]').count() == 9
    page.wait_for_function("() => location.search.includes('swaps=1')")
    page.reload()
    page.locator(".cc[data-proof]").wait_for()
    assert row(explorer) == "ABIFGH[C][J][D][E][K]"
    assert place(explorer, "C") > place(explorer, "H")
    page.get_by_role("button", name="Straighten").click()
    expect(page.get_by_role("button", name="Straighten")).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("() => location.search.includes('swaps=straight')")
    page.get_by_role("button", name="As it happened").click()
    expect(page.locator(".cc-proof-count")).to_have_text("1 inversion")
    page.get_by_role("button", name="Play the swaps").click()
    expect(page.locator(".cc-proof-count")).to_have_text("0 inversions")
    explorer.tab("Record")
    expect(page.locator(".cc-actions")).to_be_hidden()
    assert page.locator(".cc[data-proof]").count() == 0


def test_where_fifo_is_taken_away_the_message_that_forbids_a_swap_is_named(tab):
    edits = (
        ({"do": "fifo", "channel": "p->q", "fifo": False}, 0.0),
        ({"do": "delay", "message": {"label": "e0"}, "delay": 20}, 0.0),
    )
    query = query_of(Shared(scenario="never_occurred", edits=edits, shown={"tab": "proof"}))
    tab.open(f"?{urlencode(query)}")
    page = tab.page
    page.get_by_role("button", name="Swap all").click()
    expect(page.locator(".cc-proof-count")).to_have_text("1 inversion")
    page.get_by_role("button", name="Why e0 and q.2 cannot be swapped").click()
    said = "They stay in this order: e0 sends M, and q.2 accepts it. But e0 is red, and q.2 is white."
    expect(page.locator(".cc-proof-said")).to_contain_text(said)
    expect(page.get_by_role("button", name="Straighten")).to_be_disabled()
    expect(page.locator('[data-view="proof"]')).to_contain_text("p turns red before q does")


def test_the_walk_leads_to_the_state_that_never_occurred(tab):
    tab.open("?scenario=never_occurred&tab=proof")
    page = tab.page
    walk = page.get_by_role("region", name="Guided walk")
    for number in range(2, 8):
        walk.get_by_role("button", name="Next").click()
        expect(walk).to_contain_text(f"{number} of 8")
    expect(walk).to_contain_text("Now e1 comes first")
    assert row(tab) == "e1[e0][e2]"
    assert tab.step == 6
    walk.get_by_role("button", name="Next").click()
    expect(page.locator(".cc-proof-said")).to_contain_text(re.compile("turn red at one instant"))
    expect(walk.get_by_role("button", name="Next")).to_be_disabled()
