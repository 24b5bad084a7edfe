"""The cut that one holds: dragged, moved by keys and buttons, in links, of the story, and what it finds."""

from __future__ import annotations

import re

import pytest

DRAWN = """() => Object.fromEntries(["past", "crossing", "offending"].map(
    (part) => [part, document.querySelector(`.cc-cut-${part}`).getAttribute("d").split("M").length - 1]))"""


class Holding:
    """What somebody who holds a cut does and reads."""

    def __init__(self, explorer):
        self.explorer, self.page = explorer, explorer.page
        self.panel = self.page.locator("[data-view=cut]")
        self.over = self.page.locator(".cc-cut-over[data-holds]")

    def open(self, query):
        self.explorer.open(query)
        return self

    def handle(self, process):
        return self.page.get_by_role("slider", name=process, exact=True)

    def drag(self, process, dx=0, dy=0):
        box = self.handle(process).locator(".cc-knob").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + dx / 2, y + dy / 2)
        mouse.move(x + dx, y + dy)
        mouse.up()

    def put(self, button):
        self.panel.get_by_role("button", name=button).click()

    @property
    def frontier(self):
        return [int(handle.get_attribute("aria-valuenow")) for handle in self.over.get_by_role("slider").all()]

    @property
    def verdict(self):
        return self.panel.locator(".cc-cut-verdict").inner_text()

    @property
    def why(self):
        return self.panel.locator(".cc-cut-why li").all_inner_texts()

    @property
    def channels(self):
        return self.panel.locator(".cc-channels li").all_inner_texts()


@pytest.fixture
def holding(tab):
    return Holding(tab)


def test_a_cut_is_dragged_or_brought_by_a_click_and_says_at_once_why_it_is_not_consistent(holding):
    holding.open("?scenario=lecture&tab=cut&step=18")
    assert (holding.frontier, holding.verdict) == ([2, 3, 1], "✓ This cut is consistent"), "that of S1"
    assert holding.channels == ["C21 = <H->D>"]
    assert "31 of the 96 cuts" in holding.panel.inner_text()
    assert holding.page.evaluate(DRAWN) == {"past": 1, "crossing": 1, "offending": 0}
    assert holding.page.locator(".cc-signs [data-sign=held-cut]").is_visible()
    assert not holding.page.locator(".cc-signs [data-sign=cut]").is_visible(), "the snapshot's own line is hidden"
    holding.drag("P1", dy=400)
    holding.handle("P2").press("ArrowUp")
    assert (holding.frontier, holding.verdict) == ([5, 2, 1], "✗ This cut is not consistent")
    assert holding.why == ["H->D: received at D inside the cut, sent at H outside it."]
    assert holding.channels == ["C13 = <E->K>"]
    assert holding.page.evaluate(DRAWN) == {"past": 1, "crossing": 1, "offending": 1}
    holding.put("Grow to a consistent cut")
    assert holding.frontier == [5, 3, 1]
    holding.handle("P2").press("ArrowUp")
    holding.put("Shrink to a consistent cut")
    assert (holding.frontier, holding.verdict) == ([3, 2, 1], "✓ This cut is consistent")
    holding.put("Cut of S1")
    assert holding.frontier == [2, 3, 1]
    holding.explorer.press("Home")
    holding.put("As after step 0")
    assert holding.frontier == [0, 0, 0]
    holding.explorer.press("End")
    holding.put("Cut of S1")
    box = holding.handle("P3").locator(".cc-knob").bounding_box()
    holding.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 180)  # between J and K
    assert holding.frontier == [2, 3, 2]
    assert holding.page.get_by_role("tab", name="Cut").get_attribute("aria-selected") == "true"


def test_a_cut_is_in_the_address_and_what_is_none_of_the_run_is_ignored(holding):
    holding.open("?scenario=lecture&tab=cut&cut=4.2.2&step=18")
    assert (holding.frontier, holding.verdict) == ([4, 2, 2], "✗ This cut is not consistent")
    holding.handle("P1").press("Home")
    holding.page.wait_for_url(re.compile(r"cut=0\.2\.2"))
    holding.page.reload()
    holding.page.wait_for_selector(".cc[data-ready=true] .cc-cut-over[data-holds=false]")
    assert holding.frontier == [0, 2, 2]
    holding.open("?scenario=lecture&tab=cut&cut=4.99.2")
    assert holding.frontier == [2, 3, 1]


def test_a_cut_of_the_story_is_the_cut_that_one_holds(holding):
    holding.open("?scenario=lecture&step=18")
    assert not holding.over.is_visible()
    holding.explorer.tab("Story")
    radios = holding.page.locator("[name^=cc-cut]")
    radios.nth(2).check()
    assert (holding.frontier, holding.over.get_attribute("data-holds")) == ([4, 2, 2], "false")
    radios.nth(0).check()
    assert not holding.over.is_visible()
    radios.nth(1).check()
    assert holding.over.get_attribute("data-holds") == "true"
    holding.handle("P1").press("ArrowDown")
    assert holding.panel.is_visible(), "the story's cut is moved: from now on it is one's own"
    assert holding.frontier == [3, 1, 1]
    holding.explorer.tab("Story")
    assert radios.nth(0).is_checked() and not holding.over.is_visible()


def test_what_a_cut_finds_of_what_is_conserved(holding):
    holding.open("?scenario=two_banks&tab=cut&cut=2.0")
    assert "830 in processes + 50 in channels = 880" in holding.panel.inner_text()
    assert "not 800 ✗" in holding.panel.inner_text()
    holding.put("Shrink to a consistent cut")
    assert "conserved ✓" in holding.panel.inner_text()


def test_an_edit_keeps_the_cut_predicting_hides_it_and_a_picture_shows_it(holding):
    holding.open("?scenario=lecture&tab=cut&cut=4.2.2&step=18")
    holding.explorer.turn()
    assert holding.frontier == [4, 2, 2]
    holding.page.get_by_role("button", name="Predict", exact=True).click()
    holding.page.locator(".cc-predict").wait_for()
    assert not holding.over.is_visible()
    holding.explorer.press("Escape")
    assert holding.over.is_visible() and holding.frontier == [4, 2, 2]
    holding.explorer.delay("C21", "app", 20)
    holding.explorer.tab("Cut")
    assert (holding.frontier, holding.verdict) == ([4, 2, 2], "✗ This cut is not consistent")
    holding.page.get_by_role("button", name="Export", exact=True).click()
    menu = holding.page.get_by_role("dialog").get_by_label("Cut", exact=True)
    assert menu.input_value() == "4.2.2"
    holding.page.get_by_label("Format").select_option("svg")
    with holding.page.expect_download() as download:
        holding.page.get_by_role("button", name="Download").click()
    assert download.value.path().read_text("utf-8").count('stroke-opacity="0.6"') == 1
