"""The timeline of what a coordinator decides, on the tab Record."""

from __future__ import annotations


def test_each_snapshot_has_a_row_that_says_how_it_ended_and_why_and_leads_there(tab):
    tab.open("/?scenario=expired_and_retried")
    rows = tab.page.locator(".cc-decisions-rows button")
    assert rows.all_inner_texts() == ["S1 not asked for yet", "S2 not asked for yet"]
    tab.press("End")
    assert rows.all_inner_texts() == [
        "S1 expired at step 8: no word from P1 and P2 within 10", "S2 complete at step 21",
    ]  # fmt: skip
    rows.first.click()
    tab.page.wait_for_selector(".cc[data-step='8']")
    assert rows.all_inner_texts()[1] == "S2 not asked for yet"
    card = tab.page.locator(".cc-card[data-snapshot=S1] .cc-facts")
    assert card.inner_text().endswith("expired at step 8: no word from P1 and P2 within 10.")


def test_its_lane_has_a_sign_for_each_and_can_be_hidden(tab):
    page = tab.page
    tab.open("/?scenario=expired_and_retried&step=8")
    seen = page.locator(".cc-diagram .textpoint text")
    assert "S1 expired" in told(seen) and "S2 complete" not in told(seen)
    tab.press("ArrowLeft")
    assert "S1 expired" not in told(seen), "before the decision"
    tab.press("End")
    assert {"S1 expired", "S2 complete"} <= told(seen)
    tab.tab("Events")
    page.locator(".cc-processes summary").click()
    lanes = page.locator(".cc-diagram .xaxislayer-above text")
    assert page.get_by_role("button", name="Move left coordinator").count() == 0
    tab.edit("Hide coordinator")
    assert lanes.all_text_contents() == ["P1", "P2"]
    assert (
        page.locator(".cc-left-out span").inner_text() == "The lane of the coordinator is hidden; the run is the same."
    )
    assert not {"S1 expired", "S2 complete"} & told(seen)
    tab.edit("Show coordinator")
    assert lanes.all_text_contents() == ["P1", "P2", "coordinator"]


def told(texts):
    """The texts that are seen."""
    return {text.strip().replace("\u00a0", " ") for text in texts.all_text_contents()}


def test_the_coordinator_is_added_told_something_and_taken_away_by_edits_that_are_undone(explorer):
    page = explorer.page
    explorer.tab("Record")
    assert not page.locator(".cc-decisions").is_visible(), "without a coordinator there is none"
    explorer.tab("Change")
    group = page.get_by_role("region", name="Coordinator")
    switch = group.get_by_label("A coordinator starts the snapshots")
    assert group.get_by_role("spinbutton").count() == 0
    switch.check()
    page.locator(".cc-edits li", has_text="with a coordinator").wait_for()
    page.locator(".cc-diagram .xaxislayer-above text", has_text="coordinator").wait_for()
    assert group.get_by_role("spinbutton").count() == 12 and group.get_by_role("combobox").count() == 1
    retries = group.get_by_label("Retries")
    retries.fill("2")
    retries.press("Tab")
    page.locator(".cc-edits li", has_text="tried again, each time by another initiator: 2").wait_for()
    missed = group.get_by_label("Missed")
    missed.fill("1")
    missed.press("Tab")
    page.get_by_text("missed: expected a whole number of at least 2, not 1.").wait_for()
    assert (missed.input_value(), retries.input_value(), len(explorer.edits())) == ("3", "2", 2)
    group.get_by_label("When held").select_option(label="their senders stand still")
    page.locator(".cc-edits li", has_text="too many messages: their senders stand still").wait_for()
    explorer.edit("Undo")
    page.wait_for_function("document.querySelectorAll('.cc-edits li').length === 2")
    assert group.get_by_label("When held").input_value() == "fail"
    switch.uncheck()
    page.locator(".cc-edits li", has_text="without a coordinator").wait_for()
    assert group.get_by_role("spinbutton").count() == 0
