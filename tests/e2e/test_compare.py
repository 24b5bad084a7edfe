"""The page Compare as a lecturer and an engineer use it, and on every screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.e2e.layout import SIZES, faults
from tests.e2e.test_accessibility import SCHEMES, issues
from tests.tools import check_none

READY = ".cc-comparison[data-ready=true] .cc-diagram .main-svg"
FITS = """() => [...document.querySelectorAll(".cc-diagram")].every((room) => {
  const plot = room.querySelector(".main-svg");
  return !plot || ["clientWidth", "clientHeight"].every((side) => Math.abs(plot[side] - room[side]) <= 1);
})"""

QUERIES = (
    "scenario=lecture",
    "scenario=barriers&algorithms=aligned_barriers,stop_the_world,mattern",
    "scenario=two_banks&algorithms=aligned_barriers,chandy_lamport",
)


class Comparison:
    """What a person does on the page, in their words."""

    def __init__(self, tab: ExplorerPage) -> None:
        self.tab, self.page = tab, tab.page

    def open(self, query: str) -> None:
        self.page.goto(f"{self.tab.url}/compare?{query}")
        self.page.wait_for_selector(READY)

    def answered(self) -> None:
        """Wait until Python has answered all edits."""
        self.page.wait_for_timeout(100)
        self.page.wait_for_selector(".cc-comparison:not([data-pending])")

    def column(self, name: str) -> Any:
        return self.page.locator(f".cc-column[data-algorithm={name}]")

    def steps(self) -> list[str | None]:
        return [own.get_attribute("data-step") for own in self.page.locator(".cc-place:not([hidden]) > .cc").all()]

    def titles(self) -> list[str]:
        return [own.input_value() for own in self.page.locator(".cc-column > header select").all()]


@pytest.fixture
def comparison(fresh_tab: ExplorerPage) -> Iterator[Comparison]:
    yield Comparison(fresh_tab)
    fresh_tab.page.set_viewport_size({"width": 1280, "height": 720})


def test_four_algorithms_step_together_by_time(comparison):
    comparison.open("scenario=lecture")
    assert comparison.titles() == ["chandy_lamport", "lai_yang", "mattern", "stop_the_world"]
    comparison.page.keyboard.press("End")
    assert len(set(comparison.steps())) > 1, "each at its own last step"
    assert "time 1075" in comparison.page.locator(".cc-shared .cc-position").inner_text()
    comparison.page.keyboard.press("Home")
    assert comparison.steps() == ["0"] * 4
    comparison.page.keyboard.press("ArrowRight")
    assert comparison.steps() == ["1"] * 4


def test_a_run_out_of_sight_is_drawn_when_it_comes_into_sight(comparison):
    """On a small screen the second row of diagrams lies below: there no step is drawn meanwhile."""
    comparison.open("scenario=lecture")
    drawn = """(name) => document.querySelectorAll(`[data-algorithm=${name}] .scatterlayer .point`).length"""
    before = {name: comparison.page.evaluate(drawn, name) for name in ("chandy_lamport", "stop_the_world")}
    comparison.page.keyboard.press("End")
    comparison.page.wait_for_function(
        f"(before) => ({drawn})('chandy_lamport') !== before", arg=before["chandy_lamport"]
    )
    assert comparison.page.evaluate(drawn, "stop_the_world") == before["stop_the_world"]
    comparison.column("stop_the_world").locator(".cc-panel").scroll_into_view_if_needed()
    comparison.page.wait_for_function(
        f"(before) => ({drawn})('stop_the_world') !== before", arg=before["stop_the_world"]
    )


def test_a_step_in_one_column_takes_the_others_along(comparison):
    comparison.open("scenario=lecture&algorithms=chandy_lamport,lai_yang")
    comparison.page.get_by_role("tab", name="Events").click()
    comparison.column("lai_yang").locator(".cc-event-rows [role=option]").nth(5).click()
    comparison.page.wait_for_function("document.querySelector('.cc-comparison').dataset.step !== '0'")
    here, there = comparison.steps()
    assert int(here or 0) > 0 and int(there or 0) > 0
    assert comparison.column("chandy_lamport").locator("[data-view=events]").is_visible(), "so does its tab"


def test_an_edit_goes_to_all_and_the_link_keeps_it(comparison):
    page = comparison.page
    comparison.open("scenario=two_banks&algorithms=chandy_lamport,stop_the_world")
    page.keyboard.press("End")
    handle = comparison.column("stop_the_world").get_by_role("slider", name="80").first
    handle.focus()
    page.keyboard.press("ArrowRight")
    comparison.answered()
    page.wait_for_url("**edits=**")
    page.get_by_role("tab", name="Change").click()
    edits = page.locator(".cc-place .cc-edits li").all_inner_texts()
    assert len(edits) == 2 and len(set(edits)) == 1, "both columns tell of it"
    figures = page.locator(".cc-costs tbody").inner_text()
    address = page.url
    page.keyboard.press("Control+z")
    comparison.answered()
    page.wait_for_url(lambda url: "edits=" not in url)
    page.goto(address)
    page.wait_for_selector(READY)
    assert page.locator(".cc-costs tbody").inner_text() == figures
    assert comparison.steps() != ["0", "0"]


def test_a_refused_algorithm_says_why_and_its_button_helps(comparison):
    comparison.open("scenario=two_banks&algorithms=aligned_barriers,chandy_lamport")
    refused = comparison.column("aligned_barriers").locator(".cc-refused")
    assert "Aligned barriers begin at a source" in refused.inner_text()
    refused.get_by_role("button", name="Take away the channels to S1: then it is a source").click()
    comparison.answered()
    refused.wait_for(state="hidden")
    assert len(comparison.steps()) == 2


def test_algorithms_come_and_go(comparison):
    page = comparison.page
    comparison.open("scenario=two_banks&algorithms=chandy_lamport")
    page.get_by_label("One more algorithm").select_option("lai_yang")
    comparison.column("lai_yang").locator(".main-svg").first.wait_for()
    comparison.answered()
    page.get_by_label("Algorithm instead of Lai-Yang").select_option("mattern")
    comparison.column("mattern").locator(".main-svg").first.wait_for()
    comparison.answered()
    assert comparison.titles() == ["chandy_lamport", "mattern"]
    page.get_by_role("button", name="Compare without Chandy-Lamport").click()
    comparison.column("chandy_lamport").wait_for(state="detached")
    page.wait_for_url("**algorithms=mattern")


def test_a_refused_edit_is_told_where_it_was_made(comparison):
    comparison.open("scenario=two_banks&algorithms=chandy_lamport,mattern")
    comparison.page.get_by_role("tab", name="Change").click()
    comparison.column("mattern").get_by_role("button", name="I choose every delivery").click()
    comparison.answered()
    notice = comparison.column("mattern").locator(".cc-notice")
    notice.wait_for()
    assert "open one of the runs in Explore" in notice.inner_text()
    assert comparison.column("chandy_lamport").locator(".cc-notice").is_hidden()


def test_from_explore_to_the_comparison_and_back(comparison):
    page = comparison.page
    comparison.tab.open("/?scenario=overlapping")
    comparison.tab.tab("Story")
    page.get_by_role("link", name="Compare algorithms").click()
    page.wait_for_selector(READY)
    assert page.locator(".cc-comparison .cc-title").first.inner_text() == "Two overlapping snapshots"
    comparison.column("mattern").get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(".cc-comparison", state="detached")  # its columns are explorers, too
    page.wait_for_selector(".cc[data-scene=overlapping][data-ready=true]:not(.cc-comparison)")
    comparison.tab.tab("Change")
    assert page.get_by_label("Snapshots follow the rules of").input_value() == "mattern"


def test_the_presenter_view(comparison):
    page = comparison.page
    comparison.open("scenario=lecture")
    page.keyboard.press("p")
    page.wait_for_selector(".cc-comparison[data-presented]")
    assert page.locator(".cc-costs").is_hidden() and page.locator(".cc-place .cc-panel").first.is_hidden()
    page.wait_for_function(FITS)
    boxes = [own.bounding_box() for own in page.locator(".cc-place .cc-diagram").all()]
    assert all(box and box["height"] > 300 and box["width"] > 200 for box in boxes)
    page.keyboard.press("Escape")
    page.wait_for_selector(".cc-comparison:not([data-presented])")
    comparison.open("scenario=lecture&view=present")
    page.wait_for_selector(".cc-comparison[data-presented]")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_on_every_screen(comparison, query, color_scheme):
    comparison.open(query)
    comparison.page.keyboard.press("End")
    found = []
    for width, height in SIZES:
        comparison.page.set_viewport_size({"width": width, "height": height})
        comparison.page.wait_for_function(FITS)
        found += [f"{width}x{height}: {fault}" for fault in faults(comparison.page)]
    check_none(found)


def test_a_step_drawn_right_after_the_page_is_resized_keeps_the_diagram_in_its_room(comparison):
    """Plotly takes the new size at a step, if it may, and draws the step for it, but leaves the picture as it was."""
    comparison.open("scenario=lecture&algorithms=chandy_lamport,lai_yang")
    for width in (900, 1280):
        comparison.page.set_viewport_size({"width": width, "height": 720})
        comparison.page.keyboard.press("ArrowRight")
        comparison.page.wait_for_timeout(300)
        assert comparison.page.evaluate(FITS), f"at {width} pixels"


def test_the_table_of_tradeoffs_scrolls_beneath_the_line_of_links(comparison):
    """And its last cell ends above the way through the steps, which is fixed on small screens."""
    comparison.open("scenario=two_banks&algorithms=chandy_lamport")
    page = comparison.page
    strip = """() => {
      const main = document.querySelector("[data-testid=stMain]");
      const table = document.querySelector(".st-key-cut-tradeoffs").getBoundingClientRect();
      main.scrollTo(0, main.scrollTop + table.top + 150);
      const { left, top } = document.querySelector("[data-testid=stMain]").getBoundingClientRect();
      const under = document.elementsFromPoint(left + 60, top + 8).find((own) => own.closest(".stMainBlockContainer"));
      return Boolean(under.querySelector(".cut-under-links"));
    }"""
    ends = """() => {
      const main = document.querySelector("[data-testid=stMain]");
      main.scrollTo(0, main.scrollHeight);
      const bottom = (selector) => document.querySelector(selector).getBoundingClientRect();
      const steps = bottom(".cc-shared .cc-transport");
      return bottom(".st-key-cut-tradeoffs").bottom <= (steps.bottom > 0 ? steps.top : innerHeight) + 1;
    }"""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(strip)
        page.wait_for_function(ends)


@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_nothing_serious_for_axe(comparison, color_scheme):
    comparison.open("scenario=two_banks&algorithms=aligned_barriers,chandy_lamport,stop_the_world")
    comparison.page.keyboard.press("End")
    check_none(issues(comparison.tab, f"{color_scheme}, Compare"))
