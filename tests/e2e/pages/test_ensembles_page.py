"""The Ensembles page as a student uses it: a grid, its charts, and one of its runs as a diagram."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import ExplorerPage, patience_ms
from tests.tools import check_none

SPARK_S = 240  # Spark may have to start
EXPLORER = ".cc[data-ready=true] .cc-diagram .main-svg"
CHART = ".st-key-cut-chart .main-svg"


@pytest.fixture(scope="module")
def ensembles(contexts, app_with_data) -> Iterator[ExplorerPage]:
    """A tab in which the lecture was edited, then the page Ensembles opened, and a small grid carried out."""
    explorer = ExplorerPage(contexts["light"].new_page(), app_with_data)
    explorer.open("/?scenario=lecture")
    explorer.tab("Change")
    explorer.edit("Add")
    explorer.page.get_by_role("link", name="Ensembles").click()
    for label, text in {"Processes": "3", "Delay of markers": "2, 10", "Runs of each": "20"}.items():
        explorer.page.get_by_label(label, exact=True).fill(text)
        explorer.page.get_by_label(label, exact=True).press("Enter")
    explorer.page.get_by_text("40 runs").wait_for()
    explorer.page.get_by_role("button", name="Run", exact=True).click()
    explorer.page.get_by_role("heading", name="in 40 snapshots").wait_for(timeout=patience_ms(SPARK_S))
    explorer.page.locator(CHART).first.wait_for(timeout=patience_ms(SPARK_S))
    yield explorer
    explorer.page.close()
    check_none(explorer.trouble.found)


def charts(ensembles: ExplorerPage) -> None:
    """Go to the charts, whichever page is open."""
    if not ensembles.page.locator(CHART).count():
        ensembles.page.get_by_role("link", name="Ensembles").click()
    ensembles.page.locator(CHART).first.wait_for()


def test_the_slowest_run_opens_with_its_verdict_and_back_leads_to_what_was_there(ensembles):
    page = ensembles.page
    charts(ensembles)
    assert page.get_by_role("heading", name="No check fails in 40 snapshots").is_visible()
    slowest = page.get_by_role("button", name="the slowest")
    time = float(re.search(r"\(([\d.]+) time units\)", slowest.inner_text())[1])
    slowest.click()
    page.wait_for_selector(EXPLORER)
    title = page.locator(".cc-title").inner_text()
    assert re.fullmatch(r"Run \d+ of bank-[\d-]+", title)
    assert "all 5 checks hold" in page.locator(".cc-card[data-snapshot]:not([hidden]) .cc-status").inner_text()
    assert "S1 is complete" in page.locator(".cc-words").inner_text()
    assert page.locator("[data-tool=undo]").is_disabled()
    ensembles.tab("Story")
    assert f"it took {time:g} time units" in page.locator(".cc-view[data-view=story]").inner_text()

    page.wait_for_url("**/?run=*")
    page.go_back()
    page.locator(CHART).first.wait_for()
    page.go_back()
    page.wait_for_selector(".cc[data-scene=lecture]")
    ensembles.tab("Change")
    page.wait_for_function("document.querySelectorAll('.cc-edits:not(.cc-none) li').length === 1")
    page.go_forward()
    page.locator(CHART).first.wait_for()
    page.go_forward()
    page.wait_for_function(f"document.querySelector('.cc-title')?.textContent === '{title}'")

    page.get_by_role("link", name="Ensembles").click()
    page.locator(CHART).first.wait_for()
    page.get_by_role("link", name="Explore").click()
    page.wait_for_function(f"document.querySelector('.cc-title')?.textContent === '{title}'")


AT_A_DOT = """() => {
  const plot = document.querySelector(".st-key-cut-chart .js-plotly-plot");
  const { xaxis, yaxis } = plot._fullLayout;
  const cloud = plot.data.find(({ customdata }) => customdata?.[0][0] != null);
  const last = cloud.y.indexOf(Math.max(...cloud.y)); // away from all others
  const box = plot.getBoundingClientRect();
  const at = [box.left + xaxis._offset + xaxis.d2p(cloud.x[last]), box.top + yaxis._offset + yaxis.d2p(cloud.y[last])];
  return { at, run: cloud.customdata[last][0] };
}"""


def test_a_dot_of_the_chart_is_a_run(ensembles):
    page = ensembles.page
    charts(ensembles)
    dot = page.evaluate(AT_A_DOT)
    page.mouse.click(*dot["at"])
    picked = page.locator(".st-key-cut-picked")
    picked.get_by_text(f"Run {dot['run']}", exact=True).wait_for()
    picked.get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(EXPLORER)
    assert page.locator(".cc-title").inner_text().startswith(f"Run {dot['run']} of ")


def test_every_view_has_something_to_show(ensembles):
    page = ensembles.page
    charts(ensembles)
    for view in ("Messages recorded", "Distribution", "Slowest process", "Prediction"):
        page.get_by_role("radio", name=view).click()
        page.locator(CHART).first.wait_for()
        assert not page.get_by_role("alert").count()
    formula = page.get_by_role("textbox", name="as (names")
    formula.fill("rate * speed")
    formula.press("Enter")
    page.get_by_role("alert").get_by_text("'speed' is no quantity").wait_for()
    page.get_by_role("radio", name="Runs").click()
    page.get_by_test_id("stDataFrame").wait_for()
    page.get_by_role("radio", name="Time taken").click()
    page.locator(CHART).first.wait_for()


def test_a_grid_that_makes_no_sense_is_refused_beside_the_form(ensembles):
    page = ensembles.page
    charts(ensembles)
    processes = page.get_by_label("Processes", exact=True)
    processes.fill("some")
    processes.press("Enter")
    complaint = page.locator(".st-key-cut-grid").get_by_role("alert")
    complaint.wait_for()
    assert complaint.inner_text().startswith("Processes: 'some'")
    processes.fill("3")
    processes.press("Enter")
    complaint.wait_for(state="detached")


def test_a_reload_shows_what_the_app_ran_last_and_a_run_opened_then_is_not_replaced(ensembles):
    page = ensembles.page
    charts(ensembles)
    page.reload()
    page.locator(CHART).first.wait_for(timeout=patience_ms(SPARK_S))
    page.get_by_role("button", name="the run with the most recorded messages").click()
    page.wait_for_selector(EXPLORER)
    page.wait_for_url("**/?run=*")
    assert page.locator(".cc-title").inner_text().startswith("Run ")


def test_the_links_are_reached_by_keyboard_and_hidden_in_the_presenter_view(ensembles):
    ensembles.open("/?scenario=lecture")
    page = ensembles.page
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    names = []
    for _ in range(8):
        names.append(page.evaluate("document.activeElement.innerText"))
        page.keyboard.press("Tab")
    assert names == ["Explore", "Compare", "Every run", "Ensembles", "Sizing", "Live", "Traces", "History"]
    page.get_by_role("button", name="Present", exact=True).click()
    page.wait_for_selector(".cc[data-presenting]")
    link = page.get_by_test_id("stTopNav").get_by_text("Ensembles")
    box = link.bounding_box()
    covering = "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('.cc'))"
    assert page.evaluate(covering, [box["x"] + 5, box["y"] + 5])
    page.keyboard.press("Escape")
