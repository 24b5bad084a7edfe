"""An algorithm on the page: its legend, its words, its counts and stamps; and the choice among those there are."""

from __future__ import annotations

import pytest

RULES = "Snapshots follow the rules of"


@pytest.fixture
def lai_yang(fresh_tab):
    fresh_tab.open("/?scenario=lai_yang&step=13")
    return fresh_tab


def test_lai_yang_has_its_own_legend_record_and_reasons(lai_yang):
    page = lai_yang.page
    labels = page.locator(".cc-signs li:visible").all_inner_texts()
    assert [label.strip() for label in labels][:4] == ["event", "white message", "red message", "count"]
    assert lai_yang.record() == ({"P1": "750", "P2": "190"}, {"C12": "<30>", "C21": "<30>"})
    card = page.locator(".cc-card:not([hidden])").inner_text()
    assert "all 4 checks hold" in card and "2 counts, 2 recorded messages" in card
    assert "it is white" in card and "arker" not in page.locator(".cc").inner_text()


def test_dijkstras_page_speaks_of_fifo_only_where_the_algorithm_needs_it(lai_yang):
    lai_yang.tab("Proof")
    told = lai_yang.page.locator('[data-view="proof"]')
    told.get_by_text("What each process sees").wait_for()
    assert "FIFO" not in told.inner_text()


def test_counts_are_told_as_what_they_are(lai_yang):
    page = lai_yang.page
    lai_yang.tab("Ask")
    menu = page.get_by_label("Message", exact=True)
    assert menu.locator("optgroup").evaluate_all("groups => groups.map(group => group.label)") == ["Messages", "Counts"]
    menu.select_option(label="count S1 (1) from P2 to P1 · step 7")
    asked = page.locator("[data-view=ask]").inner_text()
    assert "This count told P1 how many white messages there are on C21" in asked
    menu.select_option(label="10 on C12 · step 5")
    assert "red for S1" in page.locator("[data-view=ask]").inner_text()


def test_another_algorithm_takes_the_lecture_s_snapshot(fresh_explorer):
    """The counts take one time unit, so P1 tells P2 and P3 at once: another cut of the same run, and a right one."""
    page = fresh_explorer.page
    fresh_explorer.tab("Change")
    page.get_by_label(RULES).select_option("Lai-Yang")
    page.wait_for_selector(".cc:not([data-pending])")
    assert fresh_explorer.edits() == ["snapshots by Lai-Yang"]
    states, channels = fresh_explorer.record()
    assert states == {"P1": "{A, B}", "P2": "{F}", "P3": "{I}"} and channels["C32"] == "<I->G>"
    assert "all 3 checks hold" in page.locator(".cc-card:not([hidden])").inner_text()
    fresh_explorer.edit("Undo")
    fresh_explorer.tab("Change")
    assert page.get_by_label(RULES).input_value() == "chandy_lamport"


def test_an_algorithm_without_the_channels_that_it_needs_runs_all_the_same_and_the_edit_says_so(lai_yang):
    page = lai_yang.page
    lai_yang.tab("Change")
    page.get_by_label(RULES).select_option("Chandy-Lamport")
    page.wait_for_selector(".cc:not([data-pending])")
    assert page.get_by_label(RULES).input_value() == "chandy_lamport"
    assert lai_yang.edits() == ["snapshots by Chandy-Lamport, though it needs FIFO channels"]
