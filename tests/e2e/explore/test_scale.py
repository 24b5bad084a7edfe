"""Long runs: seen through a window, searched, and crossed by an overview of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from sim.core.model import APPLICATION_KINDS
from sim.document.files import parse_toml
from sim.run.execution import Execution, run
from tests.e2e.conftest import ExplorerPage
from tests.tools import check_none

LONG = """
title = "A long run"
seed = 4
processes = ["P1", "P2", "P3", "P4", "P5"]
[topology]
kind = "complete"
[workload]
kind = "bank"
balance = 1000
transfers = 1000
[[snapshots]]
id = "early"
process = "P1"
at = 2000
[[snapshots]]
id = "late"
process = "P2"
at = 8000
"""
IDLE = """
title = "Mostly alone"
processes = ["P1", "P2"]
[topology]
kind = "complete"
""" + "".join(f'[[script]]\nprocess = "P1"\nat = {time}\n' for time in range(1, 41))
FRAME = "Part of the run on show"


def open_text(explorer, text: str, title: str) -> None:
    page = explorer.page
    page.get_by_role("button", name="Open file").click()
    own = {"name": "own.toml", "mimeType": "text/plain", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(own)
    page.get_by_role("heading", name=title).wait_for()
    explorer.until_closed(page.get_by_role("dialog", name="Open a file"))


@pytest.fixture(scope="module")
def execution() -> Execution:
    return run(parse_toml(LONG, "long"))


@pytest.fixture(scope="module")
def long_page(contexts, app_url) -> Iterator:
    explorer = ExplorerPage(contexts["light"].new_page(), app_url)
    explorer.open()
    open_text(explorer, LONG, "A long run")
    yield explorer
    explorer.page.close()


@pytest.fixture
def long_run(long_page) -> Iterator:
    """At the beginning, with a window of the usual width."""
    long_page.tab("Record")
    long_page.press("Home")
    rest(long_page)
    yield long_page
    found, long_page.trouble.found = long_page.trouble.found, []
    check_none(found)


def rest(explorer) -> None:
    """Wait until the window is where it is to be."""
    explorer.page.wait_for_selector(".cc-strip-frame:not([data-ahead])")
    explorer.page.wait_for_selector(".cc:not([data-pending])")
    explorer.page.wait_for_function("!document.querySelector('.cc-words').textContent.startsWith('Going to')")


def window(explorer) -> tuple[int, int]:
    """The steps on show, as the strip's frame tells them."""
    told = explorer.page.get_by_role("slider", name=FRAME).get_attribute("aria-valuetext")
    first, until = re.match(r"steps (\d+) to (\d+)", told).groups()
    return int(first), int(until)


@pytest.mark.long("a run of ten thousand events on the page")
def test_ten_thousand_events_open_and_step_through_the_windows_edge(long_run, execution):
    assert long_run.last == execution.steps > 9_000
    first, until = window(long_run)
    for _ in range(until - first + 30):
        long_run.page.keyboard.press("ArrowRight")
    rest(long_run)
    assert long_run.step == until - first + 30
    assert window(long_run)[0] > first
    told = long_run.page.locator(".cc-words").inner_text()
    row = next(event for event in execution.events if event.step == long_run.step)
    assert told.startswith(row.process)


def test_find_lists_what_a_search_of_the_event_table_finds(long_run, execution):
    for text, process, kind in (("P3.77", None, None), ("", "P2", "receive"), ("p5.1", None, "send")):
        check_find(long_run.page, execution, text, process, kind)


def check_find(page, execution, text, process, kind):
    page.keyboard.press("/")
    page.get_by_label("Find an event", exact=True).locator("visible=true").last.fill(text)
    page.locator(".cc-find").get_by_label("Process").select_option(process or "every process")
    page.locator(".cc-find").get_by_label("Kind").select_option(kind or "every kind")
    found = [
        event
        for event in execution.events
        if event.kind in APPLICATION_KINDS
        and text.lower() in event.label.lower()
        and process in (None, event.process)
        and kind in (None, event.kind)
    ]
    assert page.locator(".cc-find [role=status]").inner_text().startswith(f"{len(found):,} ")
    labels = page.locator(".cc-find [role=listbox] strong").all_inner_texts()
    assert len(labels) == min(50, len(found))
    assert set(labels) <= {event.label for event in found}
    page.keyboard.press("Escape")
    assert page.locator(".cc-find").is_hidden()


def test_enter_goes_to_what_was_found_and_selects_it(long_run, execution):
    target = next(event for event in execution.events if event.label == "P4.900")
    long_run.page.get_by_role("button", name="Find").click()
    long_run.page.locator(".cc-find").get_by_label("Find an event", exact=True).fill("P4.900")
    long_run.page.keyboard.press("Enter")
    rest(long_run)
    assert long_run.step == target.step
    first, until = window(long_run)
    assert first < target.step < until
    assert long_run.page.locator(".cc-asked-name").inner_text() == "P4.900"
    clock = [int(text) for text in long_run.page.locator(".cc-clock dd").all_inner_texts()]
    assert clock == list(execution.history.clock(target))
    long_run.page.keyboard.press("Escape")
    assert long_run.page.locator(".cc-asked").count() == 0


def test_frame_is_dragged_along_the_strip_and_a_press_beside_it_brings_it_there(long_run):
    page = long_run.page
    track = page.locator(".cc-strip-track").bounding_box()
    y = track["y"] + track["height"] / 2
    frame = page.get_by_role("slider", name=FRAME).bounding_box()
    page.mouse.move(frame["x"] + frame["width"] / 2, y)
    page.mouse.down()
    for share in (0.2, 0.4, 0.6):
        page.mouse.move(track["x"] + share * track["width"], y)
    first, until = window(long_run)
    assert first < 0.6 * long_run.last < until, "the frame goes before the window"
    page.mouse.up()
    rest(long_run)
    assert window(long_run)[0] <= long_run.step <= window(long_run)[1]
    assert abs(long_run.step - 0.6 * long_run.last) < 200
    track = long_run.page.locator(".cc-strip-track").bounding_box()
    long_run.page.mouse.click(track["x"] + track["width"] / 2, track["y"] + 20)
    rest(long_run)
    assert abs(long_run.step - long_run.last / 2) < 50


@pytest.mark.long("more of each page in a real browser")
def test_frame_is_moved_by_keyboard_and_other_keys_step(long_run):
    frame = long_run.page.get_by_role("slider", name=FRAME)
    first, until = window(long_run)
    moves = [("PageDown", 300), ("ArrowRight", 330), ("ArrowLeft", 300), ("PageUp", 0), ("PageDown", 300)]
    for key, begin in moves:
        frame.press(key)
        assert window(long_run) == (begin, begin + until - first), key
    frame.press("End")
    rest(long_run)
    assert window(long_run)[1] == long_run.last
    step = long_run.step
    frame.press("Home")
    rest(long_run)
    assert window(long_run)[0] == 0
    assert long_run.step < step


@pytest.mark.long("more of each page in a real browser")
def test_frame_stays_ahead_of_a_window_that_comes_late(long_run):
    """Whoever moves the frame on while a window is loading goes on from the frame, not from that window."""
    frame = long_run.page.get_by_role("slider", name=FRAME)
    told = frame.evaluate(
        """async (frame) => {
          const root = frame.closest(".cc");
          const press = (key) => frame.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const until = async (isSo) => { while (!isSo()) await new Promise((done) => setTimeout(done, 5)); };
          press("PageDown");
          await until(() => "pending" in root.dataset);
          const { ack } = root.dataset;
          press("PageDown");
          await until(() => root.dataset.ack !== ack);
          return frame.getAttribute("aria-valuetext");
        }"""
    )
    assert told.startswith("steps 600 to 900 ")
    rest(long_run)
    assert window(long_run) == (600, 900)


@pytest.mark.long("more of each page in a real browser")
def test_window_is_made_wider_and_narrower(long_run):
    width = lambda: window(long_run)[1] - window(long_run)[0]  # noqa: E731
    assert width() == 300
    for button, steps in [("Show more steps", 600), ("Show fewer steps", 300), ("Show fewer steps", 150)]:
        long_run.page.get_by_role("button", name=button).click()
        rest(long_run)
        assert width() == steps
    long_run.page.get_by_role("button", name="Show more steps").click()
    rest(long_run)


@pytest.mark.long("more of each page in a real browser")
def test_a_short_run_has_no_strip_and_a_row_of_internal_events_is_one_bar_until_each_is_asked_for(explorer):
    assert explorer.page.locator(".cc-strip").is_hidden()
    open_text(explorer, IDLE, "Mostly alone")
    bar = explorer.page.locator(".textpoint", has_text="×40")
    assert bar.count() == 1
    single = explorer.page.get_by_role("checkbox", name="show each of 40 internal events in 1 bar")
    single.check()
    bar.wait_for(state="detached")
    explorer.page.get_by_role("checkbox", name="show every internal event").uncheck()
    bar.wait_for()


@pytest.mark.long("more of each page in a real browser")
def test_the_list_of_events_holds_the_window_and_makes_the_rows_that_are_near(long_run, execution):
    page = long_run.page
    long_run.tab("Events")
    first, until = window(long_run)
    told = sum(first <= event.step <= until for event in execution.events)
    assert page.locator("[data-view=events] [role=status]").inner_text() == f"{told} events of steps {first} to {until}"
    rows = page.locator(".cc-event-rows [role=option]")
    assert 0 < rows.count() < told
    page.locator(".cc-event-rows").press("End")
    long_run.page.wait_for_selector(f".cc[data-step='{until}']")
    assert f"step {until}," in page.locator(".cc-event-rows [aria-selected=true]").inner_text()
    rest(long_run)
    assert window(long_run)[0] > first
    long_run.tab("Record")
