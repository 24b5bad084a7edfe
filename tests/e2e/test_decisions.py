"""The timeline of what a coordinator decides, on the tab Record."""

from __future__ import annotations

import pytest

from tests.e2e.layout import RESIZED, SIZES, faults

pytestmark = pytest.mark.browser


def test_each_snapshot_has_a_row_that_says_how_it_ended_and_why_and_leads_there(fresh_explorer):
    fresh_explorer.open("/?scenario=expired_and_retried")
    rows = fresh_explorer.page.locator(".cc-decisions-rows button")
    assert rows.all_inner_texts() == ["S1 not asked for yet", "S2 not asked for yet"]
    fresh_explorer.press("End")
    assert rows.all_inner_texts() == [
        "S1 expired at step 8: no word from P1 and P2 within 10", "S2 complete at step 21",
    ]  # fmt: skip
    rows.first.click()
    fresh_explorer.page.wait_for_selector(".cc[data-step='8']")
    assert rows.all_inner_texts()[1] == "S2 not asked for yet"
    card = fresh_explorer.page.locator(".cc-card[data-snapshot=S1] .cc-facts")
    assert card.inner_text().endswith("expired at step 8: no word from P1 and P2 within 10.")


def test_without_a_coordinator_there_is_none(explorer):
    explorer.tab("Record")
    assert not explorer.page.locator(".cc-decisions").is_visible()


def test_its_lane_has_a_sign_for_each_and_can_be_hidden(fresh_explorer):
    page = fresh_explorer.page
    fresh_explorer.open("/?scenario=expired_and_retried&step=8")
    seen = page.locator(".cc-diagram .textpoint text")
    assert "S1 expired" in told(seen) and "S2 complete" not in told(seen)
    fresh_explorer.press("ArrowLeft")
    assert "S1 expired" not in told(seen), "before the decision"
    fresh_explorer.press("End")
    assert {"S1 expired", "S2 complete"} <= told(seen)
    fresh_explorer.tab("Events")
    page.locator(".cc-processes summary").click()
    lanes = page.locator(".cc-diagram .xaxislayer-above text")
    assert page.get_by_role("button", name="Move left coordinator").count() == 0
    fresh_explorer.edit("Hide coordinator")
    assert lanes.all_text_contents() == ["P1", "P2"]
    assert (
        page.locator(".cc-left-out span").inner_text() == "The lane of the coordinator is hidden; the run is the same."
    )
    assert not {"S1 expired", "S2 complete"} & told(seen)
    fresh_explorer.edit("Show coordinator")
    assert lanes.all_text_contents() == ["P1", "P2", "coordinator"]


def told(texts):
    """The texts that are seen."""
    return {text.strip().replace("\u00a0", " ") for text in texts.all_text_contents()}


def test_the_coordinator_is_added_told_something_and_taken_away_by_edits_that_are_undone(fresh_explorer):
    page = fresh_explorer.page
    fresh_explorer.tab("Change")
    group = page.get_by_role("region", name="Coordinator")
    switch = group.get_by_label("A coordinator starts the snapshots")
    assert group.get_by_role("spinbutton").count() == 0
    switch.check()
    page.locator(".cc-edits li", has_text="with a coordinator").wait_for()
    page.locator(".cc-diagram .xaxislayer-above text", has_text="coordinator").wait_for()
    assert group.get_by_role("spinbutton").count() == 11 and group.get_by_role("combobox").count() == 1
    retries = group.get_by_label("Retries")
    retries.fill("2")
    retries.press("Tab")
    page.locator(".cc-edits li", has_text="tried again, each time by another initiator: 2").wait_for()
    missed = group.get_by_label("Missed")
    missed.fill("1")
    missed.press("Tab")
    page.get_by_text("missed: expected a whole number of at least 2, not 1.").wait_for()
    assert (missed.input_value(), retries.input_value(), len(fresh_explorer.edits())) == ("3", "2", 2)
    group.get_by_label("When held").select_option(label="their senders stand still")
    page.locator(".cc-edits li", has_text="may hold: their senders stand still").wait_for()
    fresh_explorer.edit("Undo")
    page.wait_for_function("document.querySelectorAll('.cc-edits li').length === 2")
    assert group.get_by_label("When held").input_value() == "fail"
    switch.uncheck()
    page.locator(".cc-edits li", has_text="without a coordinator").wait_for()
    assert group.get_by_role("spinbutton").count() == 0


def test_where_the_algorithm_allows_none_the_reason_is_told(fresh_tab):
    fresh_tab.open("/?scenario=lai_yang")
    fresh_tab.tab("Change")
    group = fresh_tab.page.get_by_role("region", name="Coordinator")
    assert group.get_by_role("checkbox").is_disabled()
    reason = "The rules of Lai-Yang do not work with a coordinator as yet; those of Chandy-Lamport do."
    assert group.locator("p").inner_text() == reason


def test_neither_the_signs_nor_the_fields_overlap_or_are_cut_off(fresh_tab):
    found = []
    for scenario in ("expired_and_retried", "joins"):
        fresh_tab.open(f"/?scenario={scenario}")
        fresh_tab.press("End")
        for width, height in SIZES:
            fresh_tab.page.set_viewport_size({"width": width, "height": height})
            fresh_tab.page.wait_for_function(RESIZED)
            for name in ("Change", "Events", "Record"):
                fresh_tab.page.locator(".cc-tabs").get_by_text(name, exact=True).dispatch_event("click")
                found += [f"{scenario} {width}x{height}, {name}: {fault}" for fault in faults(fresh_tab.page)]
    assert not found
