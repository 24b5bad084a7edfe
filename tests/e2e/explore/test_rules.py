"""The badge of a step opens the rules; the story says them first."""

from __future__ import annotations

from tests.e2e.conftest import ExplorerPage


def test_the_badge_opens_the_rules_with_the_clause_of_the_step_marked(explorer: ExplorerPage) -> None:
    page, dialog = explorer.page, explorer.page.get_by_role("dialog", name="The rules")
    while "first marker" not in page.locator("button.cc-rule").inner_text():
        explorer.press("ArrowRight")
    page.locator("button.cc-rule").focus()
    page.keyboard.press("Enter")
    marked = dialog.locator("[aria-current=step]")
    assert marked.count() == 1 and "A marker is a message that means" in marked.inner_text()
    assert dialog.get_by_role("listitem").count() == 4 and "1985, section 3.2" in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    explorer.press("ArrowRight")
    page.locator("button.cc-rule").click()
    assert dialog.is_visible() and "Step 7" in dialog.inner_text() and marked.count() == 0
    page.keyboard.press("Escape")


def test_the_story_says_the_rules_before_it_needs_them(explorer: ExplorerPage) -> None:
    explorer.tab("Story")
    told = explorer.page.locator("[data-view=story]").inner_text()
    assert told.index("At its first marker a process") < told.index("Three processes exchange")
