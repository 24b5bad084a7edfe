"""The other pages on every screen: nothing overlaps, nothing is cut off, nothing scrolls sideways."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from pipeline.store.examples import ENSEMBLE
from sim.document import library
from tests.e2e.conftest import ExplorerPage, serving
from tests.e2e.layout import RESIZED, SIZES, faults
from tests.tools import check_none

CHART = ".st-key-cut-chart .main-svg"
DRAWN = """(plot) => {
  const drawn = document.querySelector(plot);
  const room = drawn?.closest("[class*=st-key-cut-]").parentElement;
  return drawn && Math.abs(drawn.clientWidth - room.clientWidth) < 3 && drawn.clientHeight <= room.clientHeight;
}"""

WITHIN = """(selector) => {
  const { left, top, right, bottom } = document.querySelector(selector).getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}"""  # it follows its button a moment after the page is resized

NARROWED = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth <= main.clientWidth; // the table is drawn anew a moment after the page is resized
}"""


# For each row of cards of the gallery: their heights, and how far below each other their buttons end.
UNEVEN = """() => {
  const rows = new Map();
  for (const button of document.querySelectorAll("[role=dialog] [class*=st-key-open-] button")) {
    const card = button.closest("[data-testid=stVerticalBlock]").getBoundingClientRect();
    const row = Math.round(card.top);
    rows.set(row, [...(rows.get(row) ?? []), [card.height, button.getBoundingClientRect().bottom]]);
  }
  const differ = (values) => Math.max(...values) - Math.min(...values) > 1;
  const uneven = [...rows].filter(([, cards]) => [0, 1].some((part) => differ(cards.map((card) => card[part]))));
  return { cards: [...rows.values()].flat().length, rows: rows.size, uneven };
}"""


def check_every_screen(tab: ExplorerPage, what: str) -> None:
    found = []
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.wait_for_function(DRAWN, arg=CHART)
        found += [f"{what} at {width}x{height}: {fault}" for fault in faults(tab.page)]
    check_none(found)


@pytest.fixture
def visit(fresh_tab) -> Iterator[ExplorerPage]:
    yield fresh_tab
    fresh_tab.page.set_viewport_size({"width": 1280, "height": 720})


def test_the_views_of_an_ensemble(visit):
    page = visit.page
    page.goto(f"{visit.url}/ensembles")
    for view in ("Time taken", "Heat map", "Slowest process"):
        page.set_viewport_size({"width": 1280, "height": 720})
        page.get_by_role("radio", name=view).click()
        page.locator(CHART).first.wait_for()
        check_every_screen(visit, view)
    page.get_by_role("button", name="Save chart").click()
    page.get_by_role("button", name="Save SVG").wait_for()
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.get_by_role("button", name="Save chart").scroll_into_view_if_needed()
        page.wait_for_function(WITHIN, arg="[data-testid=stPopoverBody]")
        found += [f"Save chart at {width}x{height}: {fault}" for fault in faults(page, "[data-testid=stPopoverBody]")]
    check_none(found)


EVERY_RUN = {  # what is told when the page has drawn it
    "complete=2&sends=1&fifo=no": ".cut-states[data-ready]",
    "complete=2&sends=0&crashes=1&restarts=yes": ".cut-states[data-ready]",
    "complete=2&sends=1&losses=1": ".cut-states[data-ready]",
    "scenario=termination": ".cut-states[data-ready]",
    "scenario=overlapping": CHART,
}


@pytest.mark.parametrize("query", EVERY_RUN)
def test_every_run_in_each_view(visit, query):
    page, found = visit.page, []
    page.goto(f"{visit.url}/every-run?{query}")
    page.locator(EVERY_RUN[query]).first.wait_for()
    for view, shown in (("States", EVERY_RUN[query]), ("Checks", ".cut-fields"), ("Snapshots", ".cut-wide, .cut-told")):
        page.get_by_role("radio", name=view).click()
        page.locator(shown).first.wait_for()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(NARROWED)
            if shown == CHART:
                page.wait_for_function(DRAWN, arg=CHART)
            found += [f"{view} at {width}x{height}: {fault}" for fault in faults(page)]
    check_none(found)


def test_the_cards_of_the_gallery(visit):
    """In a row all cards are equally high, with their buttons on one line; a last row may be shorter."""
    page = visit.page
    visit.open("/?scenario=lecture")
    page.get_by_role("button", name="Scenarios").click()
    cards = len(library.names())
    page.wait_for_function(
        "(count) => document.querySelectorAll('[class*=st-key-open-] button').length === count", arg=cards
    )
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        told = page.evaluate(UNEVEN)
        assert told["cards"] == cards and (width < 600) == (told["rows"] == cards)
        found += [f"{width}x{height}: the row at {row} has cards of {sizes}" for row, sizes in told["uneven"]]
        found += [f"{width}x{height}: {fault}" for fault in faults(page, "[role=dialog]") if "scrolls" in fault]
    check_none(found)


def test_a_log_and_its_cut(visit):
    visit.open("/traces")
    found = []
    for width, height in SIZES:
        visit.page.set_viewport_size({"width": width, "height": height})
        visit.page.wait_for_function(RESIZED)
        for tab in ("Ask", "Events", "Lattice", "Cut"):
            visit.tab(tab)
            found += [f"{tab} at {width}x{height}: {fault}" for fault in faults(visit.page)]
    check_none(found)


def test_two_entries_of_the_history_side_by_side(visit, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "data"))
    for name in ("bank-2026-11-22-0915", "bank-2026-11-22-1120"):
        shutil.copytree(ENSEMBLE, tmp_path / "data" / name)
    page = visit.page
    with serving("app.py", tmp_path / "server.log") as (url, _):
        page.goto(f"{url}/history")
        table = page.get_by_test_id("stDataFrame")
        table.locator("td", has_text="bank").first.wait_for(state="attached")
        for row, told in ((52, "Open in Ensembles"), (87, "Both were asked for the same")):
            table.locator(".dvn-scroller").click(position={"x": 18, "y": row})
            page.get_by_text(told).wait_for()
            found = []
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_function(NARROWED)
                found += [f"{told} at {width}x{height}: {fault}" for fault in faults(page)]
            check_none(found)
            page.set_viewport_size({"width": 1280, "height": 720})
        page.goto("about:blank")
