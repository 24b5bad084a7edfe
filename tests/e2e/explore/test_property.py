"""The tab Property: what snapshots say of a stable property, step by step, and snapshots until one shows it."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def cards(explorer):
    """What each card says, by its heading."""
    found = explorer.page.locator(".cc-property .cc-card")
    return dict(zip(found.locator("h3").all_inner_texts(), found.all_inner_texts(), strict=True))


def test_a_snapshot_keeps_its_answer_to_itself_until_it_is_complete(tab):
    tab.open("?scenario=phantom_deadlock&step=19")
    tab.tab("Property")
    assert "not complete yet" in cards(tab)["Snapshot S1"] and "circle" not in cards(tab)["Snapshot S1"]
    naive = cards(tab)["The cut collector"]
    assert (
        "Some processes are in a deadlock: T waits for U, U waits for V, V waits for T." in naive and "✗ wrong" in naive
    )
    tab.press("ArrowRight")
    told = cards(tab)["Snapshot S1"]
    assert "T no longer waits for U: what U has released is on its way." in told
    assert "It does not hold in S1, so it did not hold at step 7, when S1 began." in told
    pictures = tab.page.locator(".cc-card:last-of-type .cc-waiting")
    names = [picture.get_attribute("aria-label") for picture in pictures.all()]
    assert names == [
        "Wait-for graph: T waits for U, U waits for V, V waits for T. A circle: T, U, V.",
        "Wait-for graph: U waits for V, V waits for T. There is no circle.",
    ]
    tab.page.get_by_role("button", name="Step 7").click()
    assert tab.step == 7 and "not complete yet" in cards(tab)["Snapshot S1"]
    tab.page.get_by_role("button", name="Predict").click()
    tab.page.locator(".cc-predict").wait_for()
    assert not tab.page.locator(".cc-property").is_visible(), "nothing tells the answer to who predicts"


def test_signs_are_explained_where_they_are_drawn(tab):
    page = tab.page
    tab.open("?scenario=phantom_deadlock&step=0")
    tab.tab("Property")
    how = page.get_by_text("An arrow points from a waiting process")
    expect(how).to_be_hidden()
    expect(page.get_by_text("a snapshot is taken", exact=True)).to_be_hidden()
    tab.press("End")
    expect(how).to_contain_text("Crossed out: a channel shows that it is over.")
    expect(how).not_to_contain_text("Dashed")
    expect(page.get_by_text("a snapshot is taken", exact=True)).to_be_visible()
    expect(page.get_by_text("it holds", exact=True)).to_be_hidden()


def test_snapshots_until_one_shows_it_and_all_of_them_undone(tab):
    tab.open("?scenario=token_gone")
    tab.tab("Property")
    tab.page.get_by_label("Time between two").fill("40")
    tab.edit("Take snapshots")
    notice = tab.page.locator(".cc-notice-text").inner_text()
    assert re.fullmatch(
        r"\d snapshots\. It became true at step \d+, S\d found it at step \d+: \d+ time units later\.", notice
    )
    assert len(cards(tab)) > 3
    tab.edit("Undo")
    assert len(cards(tab)) == 3
    tab.open("?scenario=phantom_deadlock")
    tab.tab("Property")
    tab.edit("Take snapshots")
    assert "no snapshot will ever show it" in tab.page.locator(".cc-notice-text").inner_text()


def test_it_is_there_for_such_workloads_only_and_gives_way_to_the_record(tab):
    tab.open("?scenario=termination")
    tab.tab("Property")
    page = tab.page
    page.get_by_role("button", name="Scenarios").click()
    first = page.get_by_role("dialog").get_by_role("button", name="Open").first
    first.wait_for()
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    first.click()
    page.wait_for_selector(".cc[data-scene=lecture]")
    assert page.get_by_role("tab", name="Property").count() == 0
    assert page.get_by_role("tab", name="Record").get_attribute("aria-selected") == "true"
