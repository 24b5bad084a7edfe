"""The timeline of what a coordinator decides, on the tab Record."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_each_snapshot_has_a_row_that_says_how_it_ended_and_why_and_leads_there(fresh_explorer):
    fresh_explorer.open("/?scenario=expired_and_retried")
    rows = fresh_explorer.page.locator(".cc-decisions-rows button")
    assert rows.all_inner_texts() == ["S1 not asked for yet", "S2 not asked for yet"]
    fresh_explorer.press("End")
    assert rows.all_inner_texts() == [
        "S1 expired at step 9: no word from P1 and P2 within 10", "S2 complete at step 21",
    ]  # fmt: skip
    rows.first.click()
    fresh_explorer.page.wait_for_selector(".cc[data-step='9']")
    assert rows.all_inner_texts()[1] == "S2 not asked for yet"
    card = fresh_explorer.page.locator(".cc-card[data-snapshot=S1] .cc-facts")
    assert card.inner_text().endswith("expired at step 9: no word from P1 and P2 within 10.")


def test_without_a_coordinator_there_is_none(explorer):
    explorer.tab("Record")
    assert not explorer.page.locator(".cc-decisions").is_visible()
