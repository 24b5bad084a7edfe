"""The page Every run as a student uses it: from a run to all of them, a wrong one, and back."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import ExplorerPage

EXPLORER = ".cc[data-ready=true] .cc-diagram .main-svg"
GRAPH = ".cut-states[data-ready]"
CHOSEN_BY_CLICKS = """(states) => states.map((state) => {
  const { x, y, width, height } = state.querySelector("path").getBoundingClientRect();
  const [clientX, clientY] = [x + width / 2, y + height / 2];
  const event = new MouseEvent("click", { clientX, clientY, detail: 1, bubbles: true });
  document.elementFromPoint(clientX, clientY).dispatchEvent(event);
  return Number(document.querySelector(".cut-states input").value);
})"""


@pytest.fixture
def page(fresh_tab: ExplorerPage):
    return fresh_tab.page


@pytest.mark.long("more of each page in a real browser")
def test_from_a_run_to_every_run_of_it_and_to_one_of_those(fresh_tab, page):
    fresh_tab.open("/?scenario=two_banks")
    fresh_tab.tab("Story")
    page.get_by_role("link", name="Try every run of this").click()
    page.locator(GRAPH).wait_for()
    page.get_by_role("heading", name="Every check holds in every run: 17 states, 21 steps between them.").wait_for()
    page.get_by_role("radio", name="Snapshots (2)").click()
    row = page.locator(".cut-taken")
    row.wait_for()
    assert row.inner_text().split("\t")[0] == "7 of 11"
    page.get_by_role("radio", name="Checks").click()
    page.get_by_text("✓ holds in every run").first.wait_for()
    page.get_by_role("radio", name="States").click()

    page.get_by_role("button", name="State 12", exact=False).click()
    about = page.locator(".cut-state")
    assert "S1 550, has recorded for audit: 550" in about.inner_text()
    assert "audit is complete" in about.inner_text()
    assert page.locator(".cut-on-way").count() == 5
    page.keyboard.press("ArrowRight")
    assert page.get_by_label("State", exact=True).input_value() == "14"
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(EXPLORER)
    assert page.locator(".cc-title").inner_text().startswith("Two banks: the way to state ")


@pytest.mark.long("more of each page in a real browser")
def test_a_rule_that_is_broken_in_explore_is_broken_in_every_run_of_it(fresh_tab, page):
    fresh_tab.open("/?scenario=two_banks")
    fresh_tab.tab("Break it")
    page.locator('[data-rule="slips_in"]').click()
    page.wait_for_selector(".cc:not([data-pending])")
    page.get_by_text("Every check still holds in this run.").wait_for()
    page.locator("[data-view=break]").get_by_role("link", name="Try every run of this").click()
    page.get_by_role("heading", name="in some runs").wait_for()
    page.get_by_role("button", name="Channel states, Conservation (9 steps)").click()
    page.wait_for_selector(EXPLORER)
    assert "A wrong channel state" in page.locator(".cc-card[data-snapshot]:not([hidden])").inner_text()


def test_the_shortest_wrong_run_of_a_broken_rule_opens_and_a_click_chooses_a_state_however_close_they_lie(
    page, fresh_tab
):
    page.goto(f"{fresh_tab.url}/every-run?complete=2&sends=1&fifo=no")
    page.get_by_role("heading", name="2 checks fail in some runs: 57 states").wait_for()
    page.locator(GRAPH).wait_for()
    assert page.locator("[data-state]").evaluate_all(CHOSEN_BY_CLICKS) == list(range(127))
    page.get_by_role("button", name="Channel states (4 steps)").wait_for()
    page.get_by_role("button", name="Consistent cut (5 steps)").click()
    page.wait_for_selector(EXPLORER)
    assert "Not a consistent cut" in page.locator(".cc-card[data-snapshot]:not([hidden])").inner_text()
    page.go_back()
    page.locator(GRAPH).wait_for()


def test_a_crash_is_asked_for_and_the_run_that_needs_it_opens(page, fresh_tab):
    page.goto(f"{fresh_tab.url}/every-run?complete=2&sends=1&rule=two_markers")
    page.get_by_role("heading", name="Every check holds in every run: ").wait_for()
    page.get_by_role("spinbutton", name="Crashes").fill("1")
    page.keyboard.press("Enter")
    page.get_by_text("Who has crashed may start again").click()
    page.get_by_role("button", name="Try every run").click()
    page.wait_for_url("**/every-run?complete=2&sends=1&rule=two_markers&crashes=1&restarts=yes")
    page.get_by_role("heading", name="1 check fails in some runs with at most 1 crash: 921 states").wait_for()
    page.get_by_text("In a run at most 1 crash; who has crashed may start again").wait_for()
    page.get_by_role("radio", name="Checks").click()
    page.get_by_text("P2 crashes: it loses its state").wait_for()
    page.get_by_text("Of a run with a crash, only complete snapshots are checked").wait_for()
    page.get_by_role("button", name="Channel states (7 steps)").click()
    page.wait_for_selector(EXPLORER)
    assert "A wrong channel state" in page.locator(".cc-card[data-snapshot]:not([hidden])").inner_text()
    page.go_back()
    page.get_by_role("heading", name="with at most 1 crash: 921 states").wait_for()
    assert page.get_by_role("spinbutton", name="Crashes").input_value() == "1"


@pytest.mark.long("more of each page in a real browser")
def test_a_loss_is_asked_for_and_a_message_that_is_recorded_and_lost_is_right(page, fresh_tab):
    page.goto(f"{fresh_tab.url}/every-run?complete=2&sends=1&rule=unaligned_barriers")
    page.get_by_role("heading", name="Every check holds in every run: ").wait_for()
    page.get_by_role("spinbutton", name="Losses").fill("1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Try every run").click()
    page.wait_for_url("**/every-run?complete=2&sends=1&rule=unaligned_barriers&losses=1")
    page.get_by_role("heading", name="Every check holds in every run with at most 1 loss: 181 states").wait_for()
    page.get_by_text("In a run at most 1 loss; what is lost is not sent again").wait_for()
    page.get_by_role("radio", name="Checks").click()
    page.get_by_text("A snapshot whose marker is lost is never complete.").wait_for()
    assert page.get_by_role("spinbutton", name="Losses").input_value() == "1"


@pytest.mark.long("more of each page in a real browser")
def test_the_way_to_a_state_with_a_crash_opens(page, fresh_tab):
    page.goto(f"{fresh_tab.url}/every-run?complete=2&sends=0&crashes=1")
    page.get_by_role("button", name="State 3", exact=False).first.click()
    assert "P1 is down" in page.locator(".cut-state").inner_text()
    page.get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(EXPLORER)
    assert page.locator(".cc-title").inner_text().endswith(": the way to state 3")


REFUSED = {
    "complete=2&rule=lai_yang&crashes=1": "Crashes: the rules of Lai-Yang do not support a crash yet",
    "scenario=crash&crashes=1": ("Crashes: the scenario has faults of its own; take them out, or leave Crashes out."),
    "complete=2&restarts=yes": "Who has crashed may start again: only a process that has crashed can start again",
    "complete=2&losses=3": "losses: expected a whole number from 0 to 2, not '3'.",
    "complete=2&crashes=3": "crashes: expected a whole number from 0 to 2, not '3'.",
    "complete=99": "complete: expected a whole number from 2 to 4, not '99'.",
}


def test_what_cannot_be_explored_is_refused_in_a_sentence(page, fresh_tab):
    told = {}
    for query in REFUSED:
        page.goto(f"{fresh_tab.url}/every-run?{query}")
        complaint = page.locator(".st-key-cut-results").get_by_role("alert")
        complaint.wait_for()
        told[query] = complaint.inner_text()
        assert not page.locator(GRAPH).count(), query
    assert not [text for query, text in told.items() if not text.startswith(REFUSED[query]) or text.count(".") != 1]


@pytest.mark.long("more of each page in a real browser")
def test_one_that_is_not_small_goes_on_when_it_is_asked_to_and_stops(page, fresh_tab):
    page.goto(f"{fresh_tab.url}/every-run?complete=4&sends=1&states=2500000")
    page.get_by_role("heading", name="Not all explored (more than 25,000 states)").wait_for()
    page.get_by_text("python -m sim explore --complete 4 --sends 1").wait_for()
    page.get_by_label("At most").click()
    page.get_by_role("option", name="2,500,000 states").click()
    page.get_by_role("button", name="Try every run").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("heading", name="Not all explored (you stopped it)").wait_for()
    page.wait_for_url("**/every-run?complete=4&sends=1&states=2500000")
    page.get_by_role("heading", name="States after so many steps").wait_for()


@pytest.mark.long("more of each page in a real browser")
def test_the_address_comes_back_with_the_page_and_without_one_it_is_the_first_run(page, fresh_tab):
    address = f"{fresh_tab.url}/every-run?complete=2&sends=0"
    page.goto(address)
    page.get_by_role("heading", name="Every check holds in every run").wait_for()
    page.get_by_role("link", name="History").click()
    page.wait_for_url("**/history")
    page.get_by_role("link", name="Every run").click()
    page.wait_for_url(address)
    page.goto(f"{fresh_tab.url}/every-run")
    page.get_by_role("heading", name="17 states, 21 steps").wait_for()
    page.get_by_text("Processes do not wait for each other").click()
    page.get_by_role("button", name="Try every run").click()
    page.wait_for_url("**/every-run?scenario=two_banks&order=own")
    page.get_by_role("heading", name="17 states").wait_for(state="detached")
    page.go_back()
    page.get_by_role("heading", name="17 states, 21 steps").wait_for()
