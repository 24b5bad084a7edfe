"""The tab Stored, a rollback by its button, and the storage and the recovery in the tab Change."""

from __future__ import annotations

import pytest

from tests.e2e.layout import RESIZED, SIZES, faults

pytestmark = pytest.mark.browser


def test_the_system_is_rolled_back_by_a_button_and_the_rollback_is_undone(fresh_explorer):
    page = fresh_explorer.page
    assert not page.get_by_role("tab", name="Stored").is_visible(), "nothing is stored in the lecture's run"
    fresh_explorer.tab("Change")
    page.get_by_role("region", name="Storage").get_by_label("Store the snapshots").check()
    page.locator(".cc-edits li", has_text="snapshots are stored").wait_for()
    fresh_explorer.tab("Stored")
    page.get_by_text("Nothing is stored yet.").wait_for()
    fresh_explorer.press("End")
    before = fresh_explorer.last
    card = page.locator(".cc-stored[data-snapshot=S1]")
    assert card.locator(".cc-status").inner_text().startswith("valid since step ")
    assert "A rollback to it now would abandon" in card.inner_text()
    row = card.get_by_role("row", name="P1").inner_text()
    card.get_by_role("button", name="Roll back to S1 at").click()
    page.wait_for_selector(".cc:not([data-pending])")
    assert fresh_explorer.last > before and fresh_explorer.step == fresh_explorer.last
    assert card.get_by_role("row", name="P1").inner_text() != row, "what was abandoned is not abandoned again"
    fresh_explorer.tab("Change")
    assert fresh_explorer.edits()[-1].startswith("roll back to S1 at ")
    fresh_explorer.edit("Undo")
    assert fresh_explorer.last == before and fresh_explorer.edits() == ["snapshots are stored"]
    fresh_explorer.tab("Stored")
    assert card.get_by_role("row", name="P1").inner_text() == row


def test_the_switches_of_the_recovery_change_the_total(fresh_tab):
    """The tutorial's mistakes, put right one after the other."""
    fresh_tab.open("/?scenario=recovery_tutorial")
    page = fresh_tab.page
    fresh_tab.tab("Change")
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


def test_where_the_rules_allow_no_recovery_the_reason_is_told(fresh_tab):
    fresh_tab.open("/?scenario=lai_yang")
    fresh_tab.tab("Change")
    group = fresh_tab.page.get_by_role("region", name="Recovery")
    assert group.get_by_role("checkbox").first.is_disabled()
    assert group.locator("p").first.inner_text().startswith("The rules of Lai-Yang do not allow for a recovery as yet;")


def test_neither_the_tables_nor_the_fields_overlap_or_are_cut_off(fresh_tab):
    found = []
    fresh_tab.open("/?scenario=recovery_tutorial")
    fresh_tab.press("End")
    for width, height in SIZES:
        fresh_tab.page.set_viewport_size({"width": width, "height": height})
        fresh_tab.page.wait_for_function(RESIZED)
        for name in ("Change", "Stored"):
            fresh_tab.page.locator(".cc-tabs").get_by_text(name, exact=True).dispatch_event("click")
            found += [f"{width}x{height}, {name}: {fault}" for fault in faults(fresh_tab.page, ".cc-panel")]
    assert not found
