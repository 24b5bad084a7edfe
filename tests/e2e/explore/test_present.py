"""The presenter view: large, by keys, and back as it was."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.e2e.explore.test_manipulation import LECTURE_STATES, MARKER_13
from tests.e2e.hand import Hand
from tests.e2e.layout import faults

ZOOM = "JSON.stringify(document.querySelector('.cc-diagram').layout.yaxis.range)"
COVERED = """() => {
  const points = [[5, 5], [innerWidth - 30, 20], [innerWidth / 2, 5], [innerWidth / 2, innerHeight / 2]];
  return points.every(([x, y]) => document.elementFromPoint(x, y)?.closest(".cc"));
}"""
# The texts of all captions that are seen: inside their place, and on the screen.
SEEN = """() => [...document.querySelectorAll(".cc-captions [data-state]")].filter((node) => {
  const [own, place] = [node, node.closest(".cc-captions")].map((one) => one.getBoundingClientRect());
  return own.width && own.bottom <= Math.min(place.bottom, innerHeight) + 0.5 && own.right <= innerWidth;
}).map((node) => node.innerText)"""
# The drawing is as large as its place: Plotly follows a little later.
FILLED = """() => {
  const place = document.querySelector(".cc-diagram");
  const drawing = place.querySelector(".main-svg");
  return ["clientWidth", "clientHeight"].every((side) => Math.abs(drawing[side] - place[side]) < 2);
}"""
PARTS = (".cc-sentence", ".cc-diagram", ".cc-presented-aside", ".cc-notice", ".cc-manual", ".cc-captions", ".cc-keys")


@pytest.fixture
def presented(explorer):
    explorer.press("p")
    explorer.page.wait_for_selector(".cc[data-presenting]")
    yield explorer
    if explorer.page.locator(".cc[data-presenting]").count():
        explorer.press("Escape")
        explorer.page.wait_for_selector(".cc:not([data-presenting])")


def test_nothing_but_the_diagram_captions_and_sentence_which_keys_and_buttons_step_turn_and_leave(presented):
    root = presented.root.bounding_box()
    assert (root["x"], root["y"]) == (0, 0)
    assert presented.page.evaluate(COVERED)
    for hidden in (".cc-head", ".cc-panel", ".cc-transport", ".cc-signs", ".cc-lane", ".cc-presented-aside"):
        assert not presented.page.locator(hidden).first.is_visible()
    presented.press("/")
    assert not presented.page.locator(".cc-find").is_visible()
    for seen in (".cc-diagram", ".cc-words", ".cc-presented"):
        assert presented.page.locator(seen).first.is_visible()
    assert presented.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
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
    presented.press("p")
    presented.page.wait_for_selector(".cc[data-presenting]")
    presented.press("Home")
    page = presented.page
    page.get_by_role("button", name="One step on").last.click()
    assert presented.step == 1
    page.get_by_role("button", name="One step back").last.click()
    assert presented.step == 0  # buttons, for those without a keyboard


def overlapping(page):
    """The parts on the screen that lie over each other, or outside it."""
    nodes = {part: page.locator(part).first for part in PARTS}
    boxes = {part: node.bounding_box() for part, node in nodes.items() if node.is_visible()}
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    inside = {"x": 0, "y": 0, "width": width, "height": height}
    outside = [part for part, box in boxes.items() if not meet(box, inside, whole=True)]
    return outside + [pair for pair in combinations(boxes, 2) if meet(*(boxes[part] for part in pair))]


def meet(one, other, whole=False):
    """Whether two boxes have more than an edge in common; `whole`: whether one lies inside the other."""
    ways = (("x", "width"), ("y", "height"))
    if whole:
        return all(one[at] >= other[at] - 1 and one[at] + one[size] <= other[at] + other[size] + 1 for at, size in ways)
    return all(one[at] + 1 < other[at] + other[size] and other[at] + 1 < one[at] + one[size] for at, size in ways)


@pytest.mark.long("more of each page in a real browser")
def test_the_captions_say_all_that_is_recorded_to_the_last_step(presented):
    assert presented.page.evaluate(SEEN) == ["P1", "P2", "P3", "C12", "C13", "C21", "C23", "C31", "C32"]
    for _ in range(presented.last):
        presented.press("ArrowRight")
        assert len(presented.page.evaluate(SEEN)) == 9
    assert presented.step == presented.last
    assert presented.page.evaluate(SEEN) == [
        *(f"{name} = {state}" for name, state in LECTURE_STATES.items()),
        "C12 = <empty>", "C13 = <empty>", "C21 = <H->D>", "C23 = <empty>", "C31 = <empty>", "C32 = <empty>",
    ]  # fmt: skip
    assert presented.page.locator(".cc-counter").inner_text() == f"{presented.last} / {presented.last}"


def test_every_snapshot_has_its_captions_or_a_few_words(fresh_tab):
    fresh_tab.open("/?scenario=overlapping&step=38&view=present")
    page = fresh_tab.page
    page.wait_for_selector(".cc[data-presenting]")
    assert len(page.evaluate(SEEN)) == 2 * (5 + 8)
    for snapshot, state in [("S1", "P1 = 100"), ("S2", "P1 = 89")]:
        assert state in page.locator(f".cc-captions [data-snapshot={snapshot}]").inner_text()
    assert overlapping(page) == []
    page.set_viewport_size({"width": 480, "height": 320})  # too small for two
    other = page.locator(".cc-captions [data-snapshot=S2]")
    page.wait_for_function("document.querySelector('.cc-captions [data-snapshot=S2]').innerText.includes('complete')")
    fresh_tab.press("n")
    assert "P1 = 89" in other.inner_text()
    assert overlapping(page) == []


@pytest.mark.long("more of each page in a real browser")
def test_what_has_no_room_is_counted(fresh_tab):
    page = fresh_tab.page
    fresh_tab.open("/?scenario=hundred&step=500&view=present")
    page.wait_for_selector(".cc[data-presenting]")
    assert "84 of 100 processes" in page.locator(".cc-captions").inner_text()
    assert "P56 = 47" in page.evaluate(SEEN)
    assert overlapping(page) == []


def test_a_clicker_steps_blanks_and_digits_go_to_a_step(presented):
    page = presented.page
    for key, step in [("PageDown", 1), ("PageDown", 2), ("PageUp", 1)]:
        presented.press(key)
        assert presented.step == step
    for key, back in [("b", "b"), (".", "."), ("B", "PageDown"), ("b", "Escape")]:
        presented.press(key)
        assert page.locator(".cc-blank").is_visible()
        presented.press(back)
        assert not page.locator(".cc-blank").is_visible()
        assert presented.step == 1
    presented.press("b")
    page.locator(".cc-blank").click()
    assert not page.locator(".cc-blank").is_visible()
    for key in ("1", "4"):
        presented.press(key)
    assert presented.step == 1
    assert page.locator(".cc-counter").inner_text() == "Enter: step 14"
    presented.press("Enter")
    assert presented.step == 14
    presented.press("9")
    presented.press("ArrowLeft")  # another key: the digit is forgotten
    presented.press("Enter")
    assert presented.step == 13


def test_signs_and_keys_come_on_demand_and_nothing_lies_over_the_diagram(presented):
    page, aside = presented.page, presented.page.locator(".cc-presented-aside")
    assert overlapping(page) == []
    presented.press("l")
    assert "A dashed arrow is a marker" in aside.inner_text()
    assert overlapping(page) == []
    presented.press("?")
    assert "PageDown" in aside.inner_text()
    presented.press("?")
    assert not aside.is_visible()
    page.get_by_role("button", name="Signs in the diagram").click()
    aside.get_by_role("button", name="Close").click()
    assert not aside.is_visible()
    for size in [(390, 844), (640, 360), (1920, 1080)]:
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        presented.press("End")
        page.wait_for_function(FILLED)
        assert overlapping(page) + faults(page) == [], size
        presented.press("l")
        assert overlapping(page) == [], size
        presented.press("l")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("button", name="Leave the presenter view").click()
    page.wait_for_selector(".cc:not([data-presenting])")


def test_a_marker_is_dragged_there(presented):
    presented.press("End")
    hand = Hand(presented)
    assert hand.drag(MARKER_13, 2, 800).startswith("arrives at 80")
    presented.page.wait_for_function("document.querySelector('.cc-captions').innerText.includes('P3 = {I, J}')")
    presented.page.wait_for_function(FILLED)  # the longer caption took room from the diagram
    hand.grip(MARKER_13)
    presented.page.mouse.move(*hand.at(2, 600), steps=3)
    presented.press("Escape")  # ends the drag, and not the view
    hand.drop()
    assert presented.page.locator(".cc[data-presenting]").count()
    hand.handle(MARKER_13).click()
    assert not presented.page.locator(".cc-popup").count()
    assert overlapping(presented.page) == []


def test_a_delivery_is_chosen_there(explorer):
    explorer.tab("Change")
    explorer.edit("I choose every delivery")
    explorer.press("p")
    page = explorer.page
    page.wait_for_selector(".cc[data-presenting]")
    assert overlapping(page) == []
    step = explorer.step
    page.locator(".cc-handle[data-choice]").first.click()
    page.wait_for_selector(f".cc[data-step='{step + 1}']:not([data-pending])")
    explorer.press("1")  # a digit is a choice here, not the number of a step
    page.wait_for_selector(f".cc[data-step='{step + 2}']:not([data-pending])")
    page.locator(".cc-choices button").first.click()
    page.wait_for_selector(f".cc[data-step='{step + 3}']:not([data-pending])")
    assert page.locator(".cc-counter").inner_text() == f"{step + 3} / {step + 3}"
    explorer.press("Escape")
    page.wait_for_selector(".cc:not([data-presenting])")


def opened_notes(explorer):
    with explorer.page.expect_popup() as popup:
        explorer.press("s")
    popup.value.wait_for_selector(".cc-notes")
    return popup.value


def test_a_second_window_shows_the_notes_and_both_step_together(presented):
    notes = opened_notes(presented)
    place = notes.locator(".cc-notes-place")
    assert place.inner_text() == f"Step 0 of {presented.last}"
    assert "Channel C21 leads from P2 to P1" in notes.locator(".cc-notes-story").inner_text()
    following = notes.locator(".cc-notes-next").inner_text()
    notes.get_by_role("button", name="Next").click()
    assert place.inner_text() == f"Step 1 of {presented.last}"
    assert notes.locator(".cc-notes-now").inner_text() == following
    presented.page.wait_for_selector(".cc[data-step='1']")
    presented.press("PageDown")
    notes.wait_for_function("document.querySelector('.cc-notes-place').innerText.startsWith('Step 2 ')")
    notes.keyboard.press("End")
    presented.page.wait_for_selector(f".cc[data-step='{presented.last}']")
    assert notes.locator(".cc-notes-next").inner_text() == "This is the last step."
    notes.get_by_role("button", name="Blank").click()
    assert presented.page.locator(".cc-blank").is_visible()
    notes.get_by_role("button", name="Show again").click()
    assert not presented.page.locator(".cc-blank").is_visible()
    notes.get_by_role("button", name="Pause").click()
    notes.get_by_role("button", name="Reset").click()
    assert notes.get_by_role("timer").inner_text() == "0:00"
    notes.get_by_role("button", name="Leave").click()
    presented.page.wait_for_selector(".cc:not([data-presenting])")
    notes.close()


@pytest.mark.long("more of each page in a real browser")
def test_the_second_window_is_reached_from_the_story_and_closes_with_the_page(fresh_explorer):
    fresh_explorer.tab("Story")
    with fresh_explorer.page.expect_popup() as popup:
        fresh_explorer.page.get_by_role("button", name="Notes for the lecturer").click()
    assert popup.value.locator(".cc-notes").get_attribute("data-scheme") == "light"
    with popup.value.expect_event("close"):
        fresh_explorer.page.goto("about:blank")


@pytest.mark.long("more of each page in a real browser")
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


@pytest.mark.long("more of each page in a real browser")
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


@pytest.mark.long("more of each page in a real browser")
def test_a_blocked_second_window_is_told_a_click_opens_nothing_and_the_reminder_fades(presented):
    opened = "window.ownOpen = window.open; window.open = () => null"
    presented.page.evaluate(opened)
    presented.press("s")
    assert "allow pop-ups" in presented.page.get_by_role("alert").inner_text()
    assert overlapping(presented.page) == []
    presented.page.evaluate("window.open = window.ownOpen")
    presented.page.get_by_role("button", name="Dismiss this message").click()
    presented.press("End")
    presented.page.locator(".cc-diagram .nsewdrag").click()
    assert not presented.page.locator(".cc-popup").first.is_visible()
    assert presented.page.locator(".cc-keys").is_visible()
    presented.page.wait_for_selector(".cc[data-idle]")
    assert overlapping(presented.page) == []


@pytest.mark.long("more of each page in a real browser")
def test_predicting_ends_where_presenting_begins_and_a_question_that_comes_later_is_not_asked(explorer):
    explorer.page.get_by_role("button", name="Predict", exact=True).click()
    explorer.page.wait_for_selector(".cc[data-predicting]")
    explorer.page.get_by_role("button", name="Present", exact=True).click()
    explorer.page.wait_for_selector(".cc[data-presenting]:not([data-predicting])")
    explorer.press("Escape")
    explorer.page.wait_for_selector(".cc:not([data-presenting])")
    press_both = """root => ["predict", "present"].forEach(tool => root.querySelector(`[data-tool=${tool}]`).click())"""
    explorer.root.evaluate(press_both)
    explorer.page.wait_for_selector(".cc[data-presenting]:not([data-pending])")
    explorer.press("Escape")
    explorer.page.wait_for_selector(".cc:not([data-presenting])")
    assert not explorer.page.locator(".cc[data-predicting]").count()
