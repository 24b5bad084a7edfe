"""The page Compare as a lecturer and an engineer use it, and on every screen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.e2e.everywhere.test_accessibility import SCHEMES, issues, of_theme
from tests.e2e.layout import SIZES, resize, sized
from tests.tools import check_none

READY = ".cc-comparison[data-ready=true] .cc-diagram .main-svg"
FITS = """() => [...document.querySelectorAll(".cc-diagram")].every((room) => {
  const plot = room.querySelector(".main-svg");
  return !plot || ["clientWidth", "clientHeight"].every((side) => Math.abs(plot[side] - room[side]) <= 1);
})"""


class Comparison:
    """What a person does on the page, in their words."""

    def __init__(self, tab: ExplorerPage) -> None:
        self.tab, self.page = tab, tab.page

    def open(self, query: str) -> None:
        self.page.goto(f"{self.tab.url}/compare?{query}")
        self.page.wait_for_selector(READY)

    def answered(self) -> None:
        """Wait until Python has answered all edits: each is pending as soon as it is made."""
        self.page.wait_for_selector(".cc-comparison:not([data-pending])")

    def column(self, name: str) -> Any:
        return self.page.locator(f".cc-column[data-algorithm={name}]")

    def steps(self) -> list[str | None]:
        return [own.get_attribute("data-step") for own in self.page.locator(".cc-place:not([hidden]) > .cc").all()]

    def titles(self) -> list[str]:
        return [own.input_value() for own in self.page.locator(".cc-column > header select").all()]


@pytest.fixture
def comparison(fresh_tab: ExplorerPage) -> Comparison:
    return Comparison(fresh_tab)


def test_four_algorithms_step_together_by_time_and_are_presented(comparison):
    """On a small screen the second row of diagrams lies below: there no step is drawn until it comes into sight."""
    page = comparison.page
    comparison.open("scenario=lecture")
    assert comparison.titles() == ["chandy_lamport", "lai_yang", "mattern", "stop_the_world"]
    drawn = """(name) => document.querySelectorAll(`[data-algorithm=${name}] .scatterlayer .point`).length"""
    is_drawn = f"([name, before]) => ({drawn})(name) !== before"
    before = {name: page.evaluate(drawn, name) for name in ("chandy_lamport", "stop_the_world")}
    page.keyboard.press("End")
    assert len(set(comparison.steps())) > 1, "each at its own last step"
    assert "time 1075" in page.locator(".cc-shared .cc-position").inner_text()
    page.wait_for_function(is_drawn, arg=["chandy_lamport", before["chandy_lamport"]])
    assert page.evaluate(drawn, "stop_the_world") == before["stop_the_world"], "it lies out of sight"
    comparison.column("stop_the_world").locator(".cc-panel").scroll_into_view_if_needed()
    page.wait_for_function(is_drawn, arg=["stop_the_world", before["stop_the_world"]])
    page.keyboard.press("Home")
    assert comparison.steps() == ["0"] * 4
    page.keyboard.press("ArrowRight")
    assert comparison.steps() == ["1"] * 4

    page.keyboard.press("p")
    page.wait_for_selector(".cc-comparison[data-presented]")
    assert page.locator(".cc-costs").is_hidden() and page.locator(".cc-place .cc-panel").first.is_hidden()
    page.wait_for_function(FITS)
    boxes = [own.bounding_box() for own in page.locator(".cc-place .cc-diagram").all()]
    assert all(box and box["height"] > 300 and box["width"] > 200 for box in boxes)
    page.keyboard.press("Escape")
    page.wait_for_selector(".cc-comparison:not([data-presented])")
    comparison.open("scenario=lecture&algorithms=mattern&view=present")
    page.wait_for_selector(".cc-comparison[data-presented]")


@pytest.mark.long("more of each page in a real browser")
def test_a_step_in_one_column_takes_the_others_along_and_keeps_the_diagram_in_its_room(comparison):
    """Plotly takes the new size at a step, if it may, and draws the step for it, but leaves the picture as it was."""
    comparison.open("scenario=lecture&algorithms=chandy_lamport,lai_yang")
    comparison.page.get_by_role("tab", name="Events").click()
    comparison.column("lai_yang").locator(".cc-event-rows [role=option]").nth(5).click()
    comparison.page.wait_for_function("document.querySelector('.cc-comparison').dataset.step !== '0'")
    here, there = comparison.steps()
    assert int(here or 0) > 0 and int(there or 0) > 0
    assert comparison.column("chandy_lamport").locator("[data-view=events]").is_visible(), "so does its tab"
    comparison.page.evaluate("document.activeElement.blur()")
    for width in (900, 1280):
        before = comparison.steps()
        comparison.page.set_viewport_size({"width": width, "height": 720})
        comparison.page.keyboard.press("ArrowRight")
        assert comparison.steps() != before
        comparison.page.wait_for_function(FITS)


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


@pytest.mark.long("more of each page in a real browser")
def test_algorithms_come_and_go_and_what_is_refused_says_why_where_it_was_asked(comparison):
    page = comparison.page
    comparison.open("scenario=two_banks&algorithms=aligned_barriers,chandy_lamport")
    refused = comparison.column("aligned_barriers").locator(".cc-refused")
    assert "Aligned barriers begin at a source" in refused.inner_text()
    refused.get_by_role("button", name="Remove the channels to S1, which makes it a source").click()
    refused.wait_for(state="hidden")
    comparison.answered()
    assert len(comparison.steps()) == 2

    page.get_by_label("Algorithm instead of Aligned barriers").select_option("lai_yang")
    comparison.column("lai_yang").locator(".main-svg").first.wait_for()
    page.get_by_label("One more algorithm").select_option("mattern")
    comparison.column("mattern").locator(".main-svg").first.wait_for()
    comparison.answered()
    assert comparison.titles() == ["lai_yang", "chandy_lamport", "mattern"]
    page.get_by_role("button", name="Compare without Lai-Yang").click()
    comparison.column("lai_yang").wait_for(state="detached")
    page.wait_for_url("**algorithms=chandy_lamport*mattern*")

    page.get_by_role("tab", name="Change").click()
    comparison.column("mattern").get_by_role("button", name="I choose every delivery").click()
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


# Each theme on one screen; all of them are long.
SCREENS = (
    ("light", "scenario=lecture", SIZES[:1]),
    ("dark", "scenario=barriers&algorithms=aligned_barriers,stop_the_world,mattern", SIZES[2:3]),
    ("light", "scenario=two_banks&algorithms=aligned_barriers,chandy_lamport", SIZES[:2]),
)


@pytest.mark.parametrize(("color_scheme", "query", "sizes"), SCREENS[1:2])
def test_on_every_screen(comparison, color_scheme, query, sizes):
    comparison.open(query)
    comparison.page.keyboard.press("End")
    check_none(sized(comparison.page, sizes, drawn=FITS))


@pytest.mark.long("every comparison at every size, in both themes")
@pytest.mark.parametrize("query", [query for _, query, _ in SCREENS])
@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_each_on_every_screen(comparison, color_scheme, query):
    test_on_every_screen(comparison, color_scheme, query, SIZES)


@pytest.mark.long("more of each page in a real browser")
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
    for size in SIZES:
        resize(page, size, strip)
        page.wait_for_function(ends)


@pytest.mark.long("more of each page in a real browser")
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_nothing_serious_for_axe(comparison, color_scheme):
    comparison.open("scenario=two_banks&algorithms=aligned_barriers,chandy_lamport,stop_the_world")
    comparison.page.keyboard.press("End")
    check_none(issues(comparison.tab, f"{color_scheme}, Compare", **of_theme(color_scheme)))
