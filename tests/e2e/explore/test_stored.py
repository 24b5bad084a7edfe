"""The tab Stored, a rollback by its button, and the storage and the recovery in the tab Change."""

from __future__ import annotations

import pytest


def test_the_system_is_rolled_back_by_a_button_and_the_rollback_is_undone(explorer):
    page = explorer.page
    assert not page.get_by_role("tab", name="Stored").is_visible(), "nothing is stored in the lecture's run"
    explorer.tab("Change")
    page.get_by_role("region", name="Storage").get_by_label("Store the snapshots").check()
    page.locator(".cc-edits li", has_text="snapshots are stored").wait_for()
    explorer.tab("Stored")
    page.get_by_text("Nothing is stored yet.").wait_for()
    explorer.press("End")
    before = explorer.last
    card = page.locator(".cc-stored[data-snapshot=S1]")
    assert card.locator(".cc-status").inner_text().startswith("valid since step ")
    assert "A rollback to it now would abandon" in card.inner_text()
    row = card.get_by_role("row", name="P1").inner_text()
    card.get_by_role("button", name="Roll back to S1 at").click()
    page.wait_for_selector(".cc:not([data-pending])")
    assert explorer.last > before and explorer.step == explorer.last
    assert card.get_by_role("row", name="P1").inner_text() != row, "what was abandoned is not abandoned again"
    explorer.tab("Change")
    assert explorer.edits()[-1].startswith("roll back to S1 at ")
    explorer.edit("Undo")
    assert explorer.last == before and explorer.edits() == ["snapshots are stored"]
    explorer.tab("Stored")
    assert card.get_by_role("row", name="P1").inner_text() == row


@pytest.mark.long("more of each page in a real browser")
def test_the_switches_of_the_recovery_change_the_total(tab):
    """The tutorial's mistakes, put right one after the other."""
    tab.open("/?scenario=recovery_tutorial")
    page = tab.page
    tab.tab("Change")
    group = page.get_by_role("region", name="Recovery")
    total = group.locator(".cc-totals")
    assert total.inner_text() == "990 money at the end of the run, of 1,000 ✗"
    for switch, found in (("Put the channels", "1,020"), ("P1", "1,050"), ("Fence off", "1,000")):
        group.get_by_label(switch).check()
        total.get_by_text(f"{found} money").wait_for()
    assert total.inner_text() == "1,000 money at the end of the run, of 1,000 ✓"
    times = group.get_by_label("Recoveries at the times")
    times.fill("")
    times.press("Tab")
    page.locator(".cc-edits li", has_text="no recovery at a given time").wait_for()
    assert not group.get_by_label("Fence off").is_visible()


def test_where_the_rules_allow_no_recovery_and_no_coordinator_the_reason_is_told(tab):
    tab.open("/?scenario=lai_yang")
    tab.tab("Change")
    group = tab.page.get_by_role("region", name="Recovery")
    assert group.get_by_role("checkbox").first.is_disabled()
    assert group.locator("p").first.inner_text().startswith("The rules of Lai-Yang do not allow a recovery yet;")
    group = tab.page.get_by_role("region", name="Coordinator")
    assert group.get_by_role("checkbox").is_disabled()
    reason = "The rules of Lai-Yang do not work with a coordinator yet; those of Chandy-Lamport do."
    assert group.locator("p").inner_text() == reason
