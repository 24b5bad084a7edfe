"""The presenter view: large, by keys, and back as it was."""

from __future__ import annotations

import pytest

ZOOM = "JSON.stringify(document.querySelector('.cc-diagram').layout.yaxis.range)"
COVERED = """() => {
  const points = [[5, 5], [innerWidth - 30, 20], [innerWidth / 2, 5], [innerWidth / 2, innerHeight / 2]];
  return points.every(([x, y]) => document.elementFromPoint(x, y)?.closest(".cc"));
}"""


@pytest.fixture
def presented(explorer):
    explorer.press("p")
    explorer.page.wait_for_selector(".cc[data-presenting]")
    yield explorer
    if explorer.page.locator(".cc[data-presenting]").count():
        explorer.press("Escape")
        explorer.page.wait_for_selector(".cc:not([data-presenting])")


def test_nothing_but_the_diagram_the_captions_and_the_sentence(presented):
    root = presented.root.bounding_box()
    assert (root["x"], root["y"]) == (0, 0)
    assert presented.page.evaluate(COVERED)
    for hidden in (".cc-head", ".cc-panel", ".cc-transport", ".cc-signs", ".cc-overlay"):
        assert not presented.page.locator(hidden).first.is_visible()
    presented.press("/")
    assert not presented.page.locator(".cc-find").is_visible()
    for seen in (".cc-diagram", ".cc-words", ".cc-presented"):
        assert presented.page.locator(seen).first.is_visible()
    assert presented.page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_keys_step_turn_and_leave(presented):
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", presented.last), ("Home", 0)]:
        presented.press(key)
        assert presented.step == step
    presented.press(" ")
    presented.page.wait_for_selector(".cc[data-step='1']")
    presented.press(" ")
    turn = presented.page.locator(".cc-orientation")
    before = turn.get_attribute("data-orientation")
    presented.press("o")
    presented.page.wait_for_function(f"document.querySelector('.cc-orientation').dataset.orientation !== '{before}'")
    presented.press("o")
    presented.press("Escape")
    presented.page.wait_for_selector(".cc:not([data-presenting])")
    assert presented.page.locator(".cc-head").is_visible()


def test_the_line_says_what_is_recorded_so_far(presented):
    line = presented.page.locator(".cc-presented")
    assert "C21" in line.inner_text()
    presented.press("End")
    presented.page.wait_for_function("document.querySelector('.cc-presented').innerText.includes('<H->D>')")
    assert "C12 = <empty>" in line.inner_text()
    assert f"{presented.last} / {presented.last}" in line.inner_text()


def test_zoom_and_step_survive(explorer):
    explorer.press("ArrowRight")
    whole = explorer.page.evaluate(ZOOM)
    explorer.page.locator(".cc-diagram .nsewdrag").hover()
    explorer.page.mouse.wheel(0, -300)
    explorer.page.wait_for_function(f"{ZOOM} !== {whole!r}")
    zoomed = explorer.page.evaluate(ZOOM)
    size = explorer.page.evaluate("getComputedStyle(document.documentElement).fontSize")
    explorer.press("p")
    explorer.page.wait_for_selector(".cc[data-presenting]")
    assert explorer.page.evaluate(ZOOM) == zoomed
    explorer.press("ArrowRight")
    explorer.press("p")
    explorer.page.wait_for_selector(".cc:not([data-presenting])")
    assert explorer.page.evaluate(ZOOM) == zoomed
    assert explorer.step == 2
    assert explorer.page.evaluate("getComputedStyle(document.documentElement).fontSize") == size
    explorer.page.locator(".cc-diagram .nsewdrag").dblclick()


def test_the_address_opens_it_and_a_key_typed_into_a_field_does_not(fresh_explorer):
    fresh_explorer.tab("Change")
    fresh_explorer.page.get_by_placeholder("any text").press_sequentially("p")
    assert not fresh_explorer.page.locator(".cc[data-presenting]").count()
    fresh_explorer.open("/?scenario=lecture&step=5&view=present")
    fresh_explorer.page.wait_for_selector(".cc[data-presenting]")
    assert fresh_explorer.step == 5
    fresh_explorer.press("ArrowRight")
    fresh_explorer.page.wait_for_function("location.search.includes('step=6')")
    assert "view=present" in fresh_explorer.page.url
    fresh_explorer.press("Escape")
    fresh_explorer.page.wait_for_function("!location.search.includes('view=present')")


def test_a_click_opens_nothing_and_the_reminder_fades(presented):
    presented.press("End")
    presented.page.locator(".cc-diagram .nsewdrag").click()
    assert not presented.page.locator(".cc-popup").first.is_visible()
    assert presented.page.locator(".cc-keys").is_visible()
    presented.page.wait_for_selector(".cc[data-idle]")


def test_predicting_ends_where_presenting_begins(explorer):
    explorer.page.get_by_role("button", name="Predict", exact=True).click()
    explorer.page.get_by_role("button", name="Present", exact=True).click()
    explorer.page.wait_for_selector(".cc[data-presenting]:not([data-predicting])")
    explorer.press("Escape")
    explorer.page.wait_for_selector(".cc:not([data-presenting])")
