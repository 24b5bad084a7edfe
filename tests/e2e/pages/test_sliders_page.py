"""The sliders of the page Ensembles as a student uses them: drag, see the charts change, open a run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.e2e.everywhere.test_accessibility import issues
from tests.e2e.layout import SIZES, resize, sized
from tests.tools import check_none

EXPLORER = ".cc[data-ready=true] .cc-diagram .main-svg"
DRAWN = ".cut-try[data-ready=true] .cut-plot .main-svg"
RESIZED = """() => [...document.querySelectorAll(".cut-plot")].every((room) => {
  const { width, height } = room.querySelector(".main-svg").getBoundingClientRect();
  return Math.abs(width - room.clientWidth) <= 1 && Math.abs(height - room.clientHeight) <= 1;
})"""
TITLE = "getComputedStyle(document.querySelector('.cut-plot .gtitle')).fill"
# What is not wholly in the window, of the sliders and the first charts.
OUT_OF_SIGHT = """charts => [...document.querySelectorAll(".cut-sliders label"),
    ...[...document.querySelectorAll(".cut-plot")].slice(0, charts)].filter((node) => {
  const { top, bottom } = node.getBoundingClientRect();
  return top < 0 || bottom > innerHeight;
}).map((node) => node.textContent)"""
# Where the charts begin, with a sentence as long as they come.
CHARTS_BEGIN = """() => {
  document.querySelector(".cut-sentence").textContent = "1,000 of 1,000 snapshots fail a check. They took 10.4 to "
    + "1,234 time units and found 100 to 200 messages in the channels.";
  return document.querySelector(".cut-bars").getBoundingClientRect().top;
}"""
# Waits until the bars lie where they are for three frames: the charts are drawn after the sentence is told.
STILL = """() => new Promise((resolve) => {
  let before = "", same = 0;
  const look = () => {
    const bars = [...document.querySelectorAll(".cut-plot .bars .point path")];
    const own = bars.map((bar) => bar.getAttribute("d")).join();
    same = own === before ? same + 1 : 0;
    before = own;
    if (same === 3) resolve();
    else requestAnimationFrame(look);
  };
  look();
})"""
RECORDED = "() => document.querySelectorAll('.cut-plot')[1].data[0].x.at(-1)"  # the most that a run has recorded


@pytest.fixture
def sliders(fresh_tab: ExplorerPage) -> ExplorerPage:
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/ensembles")
    page.get_by_role("radio", name="Drag and see").click()
    page.locator(DRAWN).first.wait_for()
    return fresh_tab


def test_charts_follow_a_slider_while_it_is_dragged_and_a_bar_is_a_run(sliders: ExplorerPage) -> None:
    page = sliders.page
    before = page.evaluate(RECORDED)
    page.evaluate("document.querySelector('.cut-plot').isTheSame = true")
    slider = page.get_by_label("Mean delay of a message")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.14, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2, steps=8)
    page.wait_for_function(f"before => ({RECORDED})() > before", arg=before)  # and the button is still down
    page.mouse.up()
    assert page.evaluate("document.querySelector('.cut-plot').isTheSame")  # drawn in place
    told = page.locator(".cut-sentence").inner_text()
    assert told.startswith("No check fails in ")

    slider.focus()
    value = slider.input_value()
    slider.press("ArrowLeft")
    assert int(slider.input_value()) == int(value) - 1
    page.wait_for_function("told => document.querySelector('.cut-sentence').textContent !== told", arg=told)

    page.evaluate(STILL)
    bar = page.locator(".cut-plot").nth(1).locator(".bars .point path").first.bounding_box()
    page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] - 1)
    page.wait_for_selector(EXPLORER)
    assert page.locator(".cc-title").inner_text().startswith("Run ")
    assert "all 5 checks hold" in page.locator(".cc-card[data-snapshot]:not([hidden]) .cc-status").inner_text()

    page.get_by_role("link", name="Ensembles").click()
    page.locator(DRAWN).first.wait_for()
    assert page.get_by_label("Mean delay of a message").input_value() == str(int(value) - 1)


@pytest.mark.long("more of each page in a real browser")
def test_the_sliders_on_every_screen_and_in_another_theme(sliders: ExplorerPage) -> None:
    """In a small window every slider is seen together with what it changes."""
    page, found = sliders.page, []
    for size in SIZES:
        found += sized(page, [size], drawn=RESIZED)
        if charts := {390: 2, 640: 1}.get(size[0]):
            assert page.evaluate(OUT_OF_SIGHT, charts) == [], size
    check_none([*found, *issues(sliders, "the sliders")])
    light = page.evaluate(TITLE)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => {TITLE} !== light", arg=light)
    with page.expect_request("**/sliders?*") as asked:
        page.get_by_role("slider", name="Processes").press("ArrowRight")
    assert "theme=dark" in asked.value.url
    page.emulate_media(color_scheme="light")
    for size in SIZES[:2]:
        resize(page, size, RESIZED)
        before = page.evaluate("document.querySelector('.cut-bars').getBoundingClientRect().top")
        assert page.evaluate(CHARTS_BEGIN) == before, f"the room of the sentence is enough at {size}"
        page.locator(".cut-how").scroll_into_view_if_needed()
        assert page.evaluate(OUT_OF_SIGHT, 0) == [], f"the sliders stay at {size}"


@pytest.mark.long("more of each page in a real browser")
def test_an_answer_leaves_the_focus_and_is_told_once(sliders: ExplorerPage) -> None:
    page = sliders.page
    button = page.get_by_role("button", name="the slowest")
    button.focus()
    heard = page.get_by_role("status").filter(has_text="snapshots.")
    heard.wait_for(state="attached")
    page.evaluate("""() => {
      window.heard = [];
      const status = document.querySelector(".cut-try [role=status]");
      new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });
      const slider = document.querySelector(".cut-sliders [name=delay]");
      const drag = (value) => { slider.value = value; slider.dispatchEvent(new Event("input")); };
      for (const value of [9, 14, 20, 26, 30]) drag(value);
    }""")
    page.wait_for_function("heard.length && heard.at(-1) === document.querySelector('.cut-sentence').textContent")
    assert len(page.evaluate("heard")) == 1
    assert button.evaluate("node => node === document.activeElement")
    assert "median" in page.locator(".cut-plot").first.get_attribute("aria-label")


@pytest.mark.long("more of each page in a real browser")
def test_a_refused_question_is_asked_once_and_a_gateway_is_not_quoted(sliders: ExplorerPage) -> None:
    page, asked = sliders.page, []

    def refuse(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(status=400, content_type="text/plain", body="Processes: expected less.")

    page.route("**/sliders?*", refuse)
    page.get_by_role("slider", name="Processes").press("ArrowRight")
    page.get_by_text("Processes: expected less.").first.wait_for()
    assert page.locator(".cut-try[data-old]").count() == 1
    page.unroute("**/sliders?*")
    page.route("**/sliders?*", lambda route: route.fulfill(status=502, content_type="text/html", body="<b>Gateway"))
    page.get_by_role("slider", name="Processes").press("ArrowRight")
    page.get_by_text("The server does not answer. The page tries again.").first.wait_for()
    page.unroute("**/sliders?*")
    page.locator(".cut-try:not([data-old])").wait_for()
    assert len(asked) == 1
    sliders.trouble.found.clear()  # the console names what was refused


@pytest.mark.long("more of each page in a real browser")
def test_a_page_without_its_charts_says_so(fresh_tab: ExplorerPage) -> None:
    page = fresh_tab.page
    page.route("**/*plotly*.js*", lambda route: route.abort())
    page.goto(f"{fresh_tab.url}/ensembles")
    page.get_by_role("radio", name="Drag and see").click()
    page.get_by_text("The charts did not load: reload the page.").wait_for()
    fresh_tab.trouble.found.clear()  # the console names the script
