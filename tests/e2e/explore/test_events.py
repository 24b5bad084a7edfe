"""The list of events, its filter, and processes that are hidden, folded and moved."""

from __future__ import annotations

import pytest

from sim.document import library
from sim.run.execution import run

EVENTS = run(library.load("lecture")).events
FILTER = "[data-view=events] input[type=search]"
ROWS = ".cc-event-rows [role=option]"
LANES = ".cc-diagram .xaxislayer-above text"


@pytest.fixture
def listed(explorer):
    """The Events tab of the lecture example, nothing filtered."""
    explorer.tab("Events")
    yield explorer
    explorer.tab("Events")
    explorer.page.locator(FILTER).fill("")
    explorer.page.locator(FILTER).blur()


def test_each_event_is_listed_and_a_click_goes_there(listed):
    page = listed.page
    rows = page.locator(ROWS)
    assert rows.count() == len(EVENTS)
    target = next(event for event in EVENTS if event.label == "H")
    rows.nth(target.row).click()
    assert listed.step == target.step
    now = page.locator(f"{ROWS}[aria-current=step]")
    assert now.count() == sum(event.step == target.step for event in EVENTS)
    told = now.first.inner_text()
    assert all(word in told for word in ("P2", "H", "send to P1 on C21", f"step {target.step}, time 736"))
    listed.tab("Ask")
    assert page.locator(".cc-asked-name").inner_text() == "H"
    listed.tab("Events")
    for _ in range(2):
        listed.press("ArrowRight")
    assert now.first.inner_text().split()[0] == next(e.process for e in EVENTS if e.step == listed.step)
    box, seen = page.locator(".cc-event-rows").bounding_box(), now.first.bounding_box()
    assert box["y"] <= seen["y"] <= box["y"] + box["height"]


def test_what_the_filter_finds_stands_out_and_the_keys_go_through_it(listed):
    page = listed.page
    page.locator(FILTER).fill("marker received")
    received = [event for event in EVENTS if event.kind == "marker_receive"]
    assert page.locator(ROWS).count() == len(received)
    assert (page.locator(".cc-halo").get_attribute("d") or "").count("M") == len(received)
    assert page.locator(".cc[data-filtering]").count() == 1
    page.keyboard.press("ArrowDown")
    for event in received[:3]:
        page.wait_for_selector(f".cc[data-step='{event.step}']")
        page.keyboard.press("ArrowDown")
    listed.tab("Record")
    assert page.locator(".cc[data-filtering]").count() == 0, "only the open tab marks what it finds"
    listed.tab("Events")
    page.get_by_role("button", name="show all", exact=True).click()
    assert page.locator(ROWS).count() == len(EVENTS)


def test_find_says_why_and_goes_to_what_is_no_event(listed):
    page = listed.page
    page.keyboard.press("Escape")
    page.locator(FILTER).blur()
    page.keyboard.press("/")
    text = page.get_by_role("combobox", name="Find an event")
    text.fill("C21")
    assert set(page.locator(".cc-find [role=listbox] .cc-why-found").all_inner_texts()) == {"channel: C21"}
    text.fill("P3 records")
    text.press("Enter")
    step = next(event.step for event in EVENTS if event.process == "P3" and event.kind == "record")
    page.wait_for_selector(f".cc[data-step='{step}']")
    assert page.get_by_role("tab", name="Events").get_attribute("aria-selected") == "true"


def test_processes_are_hidden_folded_moved_and_brought_back(fresh_explorer):
    page = fresh_explorer.page
    before = fresh_explorer.record()
    names = page.locator(LANES)
    assert names.all_text_contents() == ["P1", "P2", "P3"]
    fresh_explorer.tab("Events")
    page.locator(".cc-processes summary").click()

    fresh_explorer.edit("Hide P2")
    assert names.all_text_contents() == ["P1", "P3"]
    assert page.locator(".cc-left-out").inner_text().startswith("1 of 3 processes is hidden: P2.")
    assert page.locator(ROWS).count() == sum(event.process != "P2" for event in EVENTS)
    assert page.locator(".cc-lane:visible").count() == 2
    assert fresh_explorer.record() == before
    assert not fresh_explorer.edits()

    page.locator(".cc-lane:visible").first.click()
    fresh_explorer.page.locator(".cc-line-menu").get_by_role("button", name="Move P1 right").click()
    page.wait_for_selector(".cc:not([data-pending])")
    assert names.all_text_contents() == ["P3", "P1"]
    fresh_explorer.turn()
    assert page.locator(".cc-diagram .yaxislayer-above text").all_text_contents() == ["P3", "P1"]
    fresh_explorer.turn()

    fresh_explorer.page.reload()
    page.wait_for_selector(".cc[data-ready=true]:not([data-pending]) .cc-diagram .main-svg")
    page.wait_for_function(f"() => document.querySelectorAll('{LANES}').length === 2")

    page.locator(".cc-left-out").get_by_role("button", name="Show all").click()
    page.wait_for_function(f"() => document.querySelectorAll('{LANES}').length === 3")
    assert names.all_text_contents() == ["P2", "P3", "P1"]
    assert page.locator(".cc-left-out").is_hidden()
