"""The pages beside Explore, opened by their own addresses."""

from __future__ import annotations

PAGES = ("Every run", "Ensembles", "Sizing", "Live", "Traces", "History")


def test_no_request_fails_when_a_page_is_opened_directly(fresh_tab):
    """The tab itself fails on an error in the console."""
    failed: list[str] = []
    page = fresh_tab.page
    note = lambda answer: failed.append(answer.url) if answer.status >= 400 else None  # noqa: E731
    page.on("response", note)
    for title in PAGES:
        page.goto(f"{fresh_tab.url}/{title.lower().replace(' ', '-')}")
        page.locator("[data-testid=stTopNavLink][aria-current]").get_by_text(title, exact=True).wait_for()
        page.get_by_role("heading").first.wait_for()
    page.remove_listener("response", note)
    assert not failed
