"""Explore on every screen: nothing overlaps, nothing is cut off, and fingers do what the mouse does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from operator import itemgetter
from urllib.parse import urlencode

import pytest
from playwright.sync_api import TimeoutError as NotInTime

from sim.edit.link import Shared, query_of
from tests.e2e.conftest import ExplorerPage, patience_ms
from tests.e2e.layout import RESIZED, SIZES, faults, resize
from tests.tools import check_none, pairs

Look = tuple[str, tuple[int, int], str, str]  # a run, a size of the page, a key that leads to a step, a tab

BROKEN = urlencode(query_of(Shared(scenario="lecture", edits=(({"do": "break", "rule": "deaf_initiator"}, 0.0),))))
SCENARIOS = ("lecture", "two_initiators", "lai_yang", "hundred")
QUERIES = {name: f"scenario={name}" for name in SCENARIOS} | {"broken": BROKEN}
KEYS = ("Home", "End")
TABS = ("Record", "Cut", "Lattice", "Proof", "Ask", "Events", "Network", "Change", "Break it", "Story")
IN_TEST = ("lecture", "broken")  # all runs together are long
LOOKS: list[Look] = pairs(IN_TEST, SIZES[::2], KEYS, TABS)
# Tabs that only some runs have, and tabs that have parts in some runs only.
SPECIAL = (
    ("deadlock", "Property"), ("phantom_deadlock", "Property"), ("token_gone", "Property"),
    ("expired_and_retried", "Change"), ("expired_and_retried", "Events"), ("expired_and_retried", "Record"),
    ("joins", "Change"), ("joins", "Events"), ("joins", "Record"),
    ("recovery_tutorial", "Change"), ("recovery_tutorial", "Stored"),
)  # fmt: skip
TO_THE_TOP = "(page) => page.scrollTo(0, 0)"  # else the line with the title lies over what is scrolled, as it should
DRAWN = "document.querySelector('.cc-diagram .main-svg')"
PHONE = {"width": 390, "height": 844}


def faults_of(tab: ExplorerPage, looks: Iterable[Look]) -> list[str]:
    """The faults of the page at looks at runs, each at a size, at a step and in a tab."""
    found = []
    for name, of_run in groupby(sorted(looks), key=itemgetter(0)):
        tab.open(f"/?{QUERIES.get(name, f'scenario={name}')}")
        for size, at_size in groupby(of_run, key=itemgetter(1)):
            resize(tab.page, size)
            for _, _, key, shown in at_size:
                tab.press(key)
                tab.page.locator(".cc-tabs").get_by_text(shown, exact=True).dispatch_event("click")
                tab.page.locator("[data-testid=stMain]").evaluate(TO_THE_TOP)
                where = f"{name}, {size[0]}x{size[1]}, {key}, {shown}"
                found += [f"{where}: {fault}" for fault in faults(tab.page)]
        tab.page.set_viewport_size({"width": 1280, "height": 720})
    return found


@pytest.mark.parametrize("scenario", IN_TEST)
def test_nothing_overlaps_or_is_cut_off_on_any_screen(tab, scenario):
    """Every tab, size, run and end of a run is met with each of the others; all of these together are long."""
    found = faults_of(tab, [look for look in LOOKS if look[0] == scenario])
    assert set(tab.page.locator(".cc-tabs").get_by_role("tab").all_inner_texts()) == set(TABS)
    check_none(found)


@pytest.mark.long("every tab of Explore at every size")
@pytest.mark.parametrize("scenario", QUERIES)
def test_in_every_tab_at_every_size_nothing_overlaps(tab, scenario):
    check_none(faults_of(tab, product([scenario], SIZES, KEYS, TABS)))


def test_nor_in_tabs_and_parts_that_only_some_runs_have(tab):
    """Some of them, each at a size; the first is that of a phone."""
    looks = [(name, size, "End", shown) for (name, shown), size in zip(SPECIAL[1::2], SIZES, strict=True)]
    check_none(faults_of(tab, looks))


@pytest.mark.long("every tab of Explore at every size")
def test_nor_in_those_at_every_size(tab):
    check_none(faults_of(tab, [(name, *how, shown) for name, shown in SPECIAL for how in product(SIZES, KEYS)]))


def test_a_narrow_page_keeps_the_way_through_the_steps_in_sight_and_folds_its_tools(explorer):
    page = explorer.page
    for width, height in SIZES[:2]:
        resize(page, (width, height))
        box = page.get_by_role("button", name="One step on").bounding_box()
        assert box is not None and box["y"] + box["height"] <= height, width
        assert not page.get_by_role("button", name="Share").is_visible(), width
        page.get_by_role("button", name="Menu", exact=True).click()
        assert page.get_by_role("button", name="Share").is_visible(), width
        page.keyboard.press("Escape")
        assert not page.get_by_role("button", name="Share").is_visible(), width
        assert page.evaluate("document.activeElement.className") == "cc-unfold", width


def test_the_network_fits_a_page_that_became_narrow_while_another_tab_was_open(hand):
    """What lies over its picture (choices of a run by hand, channels) has been laid out for a wide page."""
    page, explorer = hand.page, hand.explorer
    explorer.press("Home")
    explorer.tab("Change")
    hand.press(page.get_by_role("button", name="I choose every delivery"))
    explorer.tab("Network")
    page.locator(".cc-network-choices button").first.wait_for()
    explorer.tab("Change")
    explorer.edit("Reset")
    resize(page, SIZES[0])
    explorer.tab("Network")
    page.get_by_role("button", name="Split the network …").first.click()
    page.locator(".cc-network-channels circle").first.click()
    explorer.press("Shift")
    assert faults(page) == []
    assert page.evaluate(RING_IS_WHOLE)


RING_IS_WHOLE = """() => {
  const ring = document.querySelector(".cc-network-channels circle[data-chosen]").getBoundingClientRect();
  const seen = document.elementFromPoint(ring.left + ring.width / 2, ring.top + 2);
  return seen?.matches("circle[data-chosen]") ?? false;
}"""  # no edge of what lies around it cuts its upper end


CLICKED_AND_ESCAPED = """async () => {
  const button = document.querySelector(".cc-unfold");
  button.focus();
  button.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  await new Promise((done) => setTimeout(done)); // begun after the one in which the button would lose the focus
  return [button.getAttribute("aria-expanded"), document.activeElement.className];
}"""


def test_escape_right_after_a_click_gives_the_focus_back_for_good(explorer):
    """A button that was clicked loses the focus a moment later; what Escape gives back then, it does not lose."""
    page = explorer.page
    resize(page, (640, 360))
    assert page.evaluate(CLICKED_AND_ESCAPED) == ["false", "cc-unfold"]


def test_a_picture_that_was_kept_from_its_new_size_is_drawn_once_more(explorer):
    """A step that is drawn in the same moment may leave the picture as it was, while Plotly knows of the new size."""
    page = explorer.page
    page.evaluate("""() => {
      const { relayout } = Plotly;
      Plotly.relayout = (node, update) => {
        if (!node.matches(".cc-diagram") || !update.width) return relayout(node, update);
        Plotly.relayout = relayout;
        Object.assign(node.layout, update);
        return Promise.resolve();
      };
    }""")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.wait_for_function(RESIZED)


def test_the_wheel_scrolls_a_page_that_scrolls_and_zooms_one_that_does_not(explorer):
    page = explorer.page
    zoomed = page.locator(".cc-diagram[data-zoomed]")
    main = "document.querySelector('[data-testid=stMain]')"
    page.set_viewport_size({"width": 640, "height": 360})
    page.mouse.move(320, 180)
    page.mouse.wheel(0, 120)
    page.wait_for_function(f"() => {main}.scrollTop > 0")
    assert zoomed.count() == 0
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_function(f"() => {main}.scrollHeight <= {main}.clientHeight && {DRAWN}.clientWidth > 640")
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -120)
    zoomed.wait_for()


class Phone:
    """A phone with the lecture's example, and a finger on it: Chromium's own touch emulation."""

    def __init__(self, explorer: ExplorerPage) -> None:
        self.explorer = explorer
        self.page = explorer.page
        self.finger = self.page.context.new_cdp_session(self.page)

    def touch(self, points: Sequence[tuple[float, float]]) -> None:
        """Put the finger down at the first point, move it through the others, and lift it."""
        for number, (x, y) in enumerate(points):
            kind = "touchMove" if number else "touchStart"
            self.finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        self.finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def middle(self, selector: str) -> tuple[float, float]:
        """The middle of an element."""
        box = self.page.locator(selector).first.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def wait_for_step(self, step: int) -> None:
        self.page.wait_for_selector(f".cc[data-step='{step}']")


@pytest.fixture
def phone(browser, app_url) -> Iterator[Phone]:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    explorer = ExplorerPage(context.new_page(), app_url)
    explorer.open()
    yield Phone(explorer)
    context.close()
    assert not explorer.trouble.found


def test_a_swipe_steps_and_a_finger_scrolls(phone):
    x, y = phone.middle(".cc-diagram .nsewdrag")
    left = [(x + 60, y + 20), (x + 40, y + 20), (x, y + 22), (x - 60, y + 22)]  # from between the lines of P2 and P3
    phone.touch(left)
    phone.wait_for_step(1)
    phone.touch(left)
    phone.wait_for_step(2)
    phone.touch(left[::-1])
    phone.wait_for_step(1)
    phone.touch([(x + 40, y + 100), (x + 40, y + 60), (x + 41, y), (x + 41, y - 80)])
    phone.page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop > 0")
    assert phone.explorer.step == 1
    phone.explorer.press("p")
    x, y = phone.middle(".cc[data-presenting] .cc-diagram .nsewdrag")
    phone.touch([(x + 60, y), (x, y), (x - 60, y)])
    phone.wait_for_step(2)
    leave = '.cc-keys [data-key="escape"]'
    phone.page.tap(leave)
    try:
        phone.page.wait_for_selector(".cc:not([data-presenting])", timeout=patience_ms(5))
    except NotInTime:  # while a slow browser lays out the step, a tap may end the swipe instead of being one
        phone.page.tap(leave)
        phone.page.wait_for_selector(".cc:not([data-presenting])")


def test_a_finger_drags_a_marker_and_a_tap_asks_about_an_event(phone):
    phone.explorer.press("End")
    x, y = phone.middle('.cc-handle[aria-label="Arrival of marker S1 on C13"]')
    phone.touch([(x, y), (x, y + 12), (x, y + 40), (x, y + 60)])
    phone.page.locator("[data-tool=undo]:not([disabled])").wait_for()
    phone.explorer.tab("Change")
    assert "C13" in phone.explorer.edits()[0]
    phone.page.locator("[data-testid=stMain]").evaluate("(page) => page.scrollTo(0, 0)")
    phone.page.touchscreen.tap(*phone.middle('.cc-handle[aria-label="Time of event A at P1"]'))
    phone.page.wait_for_selector(".cc-asked")
    assert phone.page.locator(".cc-asked-name").inner_text() == "A"
