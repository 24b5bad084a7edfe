"""The tab Break it: a rule is broken on purpose, the page says so, and the smallest counterexample shows its harm."""

from __future__ import annotations

from playwright.sync_api import expect

SMALLEST = "Show the smallest counterexample"


def switch(page, name):
    return page.locator(f'[data-rule="{name}"]')


def flip(explorer, name):
    """Press a switch, and wait until Python has answered."""
    switch(explorer.page, name).click()
    explorer.page.wait_for_selector(".cc:not([data-pending])")


def test_a_broken_rule_is_said_found_harmful_shown_and_taken_back(tab):
    page = tab.page
    tab.open("?scenario=two_banks")
    banner, harm = page.locator(".cc-broken"), page.locator(".cc-harm")
    tab.tab("Break it")
    expect(banner).to_be_hidden()
    flip(tab, "slips_in")
    expect(banner).to_contain_text("A rule is broken here on purpose: A message goes out before the marker.")
    expect(harm).to_contain_text("Every check still holds in this run. The broken rule does no harm here.")
    tab.edit(SMALLEST)
    expect(page.locator(".cc-notice")).to_contain_text("Changed: S1 sends 50 to S2 at 36.")
    expect(harm).to_contain_text("It fails at the message that S1 sends to S2 at step 3")
    assert tab.step == tab.last
    harm.get_by_role("button", name="Not a consistent cut").click()
    expect(page.locator('.cc-signs [data-key="orphan"], .cc-signs :text("orphan message")').first).to_be_visible()
    harm.get_by_role("button", name="Open Proof").click()
    expect(page.locator('[data-view="proof"]')).to_contain_text("The condition is sharp")
    tab.tab("Break it")
    tab.press("Control+z")
    expect(harm).to_contain_text("Every check still holds in this run.")
    tab.press("Control+z")
    expect(banner).to_be_hidden()
    expect(switch(page, "slips_in")).not_to_be_checked()


def test_another_scenario_shows_it_and_the_way_back_keeps_the_edits_and_one_rule_replaces_another(tab):
    page = tab.page
    tab.open()
    tab.tab("Break it")
    flip(tab, "slips_in")
    tab.edit("See it in “Two banks”")
    page.wait_for_selector('.cc[data-scene="two_banks"]')
    tab.tab("Break it")
    expect(switch(page, "slips_in")).to_be_checked()
    flip(tab, "deaf_initiator")
    expect(switch(page, "slips_in")).not_to_be_checked()
    expect(page.locator(".cc-harm")).to_contain_text("C21 recorded [], but [80] crosses the cut.")
    page.go_back()
    page.wait_for_selector('.cc[data-scene="lecture"]')
    tab.tab("Break it")
    expect(switch(page, "slips_in")).to_be_checked()


def test_what_lies_over_the_diagram_does_so_under_the_banner_too(tab):
    page = tab.page
    tab.open("?scenario=two_banks")
    tab.tab("Break it")
    flip(tab, "deaf_initiator")
    tab.tab("Cut")
    for width, height in [(1280, 720), (390, 844)]:
        page.set_viewport_size({"width": width, "height": height})
        diagram = page.locator(".cc-diagram").bounding_box()
        for over in (".cc-cut-over", ".cc-cut-under", ".cc-overlay"):
            assert page.locator(over).first.bounding_box() == diagram, (over, width)
