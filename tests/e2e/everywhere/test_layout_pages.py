"""The other pages on every screen: nothing overlaps, nothing is cut off, nothing scrolls sideways."""

from __future__ import annotations

import shutil
from itertools import groupby, product
from operator import itemgetter

import pytest

from pipeline.store.examples import ENSEMBLE
from sim.document import library
from tests.e2e.conftest import serving
from tests.e2e.layout import PAGE_RESIZED, SIZES, faults, resize, sized
from tests.tools import check_none, pairs

CHART = ".st-key-cut-chart .main-svg"
WITHIN = """() => {
  const { left, top, right, bottom } = document.querySelector("[data-testid=stPopoverBody]").getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}"""  # it follows its button a moment after the page is resized


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


def views_of_ensembles(page, looks):
    """The faults of the charts of an ensemble, each at a size."""
    found = []
    for view, of_view in groupby(looks, key=itemgetter(0)):
        page.get_by_role("radio", name=view).click()
        page.locator(CHART).first.wait_for()
        found += [f"{view} at {fault}" for fault in sized(page, [size for _, size in of_view], drawn=PAGE_RESIZED)]
        resize(page, (1280, 720), PAGE_RESIZED)
    return found


VIEWS = ("Time taken", "Heat map", "Slowest process")


def test_the_views_of_an_ensemble_and_what_saves_a_chart(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/ensembles")
    looks = [(view, size) for number, view in enumerate(VIEWS) for size in SIZES[number::3]]
    found = views_of_ensembles(page, looks)
    page.get_by_role("button", name="Save chart").click()
    page.get_by_role("button", name="Save SVG").wait_for()
    for size in SIZES[::2]:
        resize(page, size, PAGE_RESIZED)
        page.get_by_role("button", name="Save chart").scroll_into_view_if_needed()
        page.wait_for_function(WITHIN)
        found += [f"Save chart at {size}: {fault}" for fault in faults(page, "[data-testid=stPopoverBody]")]
    check_none(found)


@pytest.mark.long("every view of every page at every size")
def test_every_view_of_an_ensemble_on_every_screen(fresh_tab):
    fresh_tab.page.goto(f"{fresh_tab.url}/ensembles")
    check_none(views_of_ensembles(fresh_tab.page, product(VIEWS, SIZES)))


EVERY_RUN = {  # what is told when the page has drawn it
    "complete=2&sends=1&fifo=no": ".cut-states[data-ready]",
    "complete=2&sends=0&crashes=1&restarts=yes": ".cut-states[data-ready]",
    "complete=2&sends=1&losses=1": ".cut-states[data-ready]",
    "scenario=termination": ".cut-states[data-ready]",
    "scenario=overlapping": CHART,
}
SHOWN = {"States": None, "Checks": ".cut-fields", "Snapshots": ".cut-wide, .cut-told"}


def every_run(tab, looks):
    """The faults of the views of a system's runs, each at a size."""
    found, page = [], tab.page
    for query, of_query in groupby(sorted(looks), key=itemgetter(0)):
        page.goto(f"{tab.url}/every-run?{query}")
        page.locator(EVERY_RUN[query]).first.wait_for()
        for view, of_view in groupby(of_query, key=itemgetter(1)):
            page.get_by_role("radio", name=view).click()
            page.locator(SHOWN[view] or EVERY_RUN[query]).first.wait_for()
            sizes = [size for *_, size in of_view]
            found += [f"{query}, {view} at {fault}" for fault in sized(page, sizes, drawn=PAGE_RESIZED)]
            page.set_viewport_size({"width": 1280, "height": 720})
    return found


def test_every_run_in_each_view(fresh_tab):
    check_none(every_run(fresh_tab, pairs([*EVERY_RUN][1::2], SHOWN, SIZES[:4:3])))


@pytest.mark.long("every view of every page at every size")
@pytest.mark.parametrize("query", EVERY_RUN)
def test_every_run_in_each_view_on_every_screen(fresh_tab, query):
    check_none(every_run(fresh_tab, product([query], SHOWN, SIZES)))


@pytest.mark.long("more of each page in a real browser")
def test_the_cards_of_the_gallery(tab):
    """In a row all cards are equally high, with their buttons on one line; a last row may be shorter."""
    page = tab.page
    tab.open("/?scenario=lecture")
    page.get_by_role("button", name="Scenarios").click()
    cards = len(library.names())
    page.wait_for_function(
        "(count) => document.querySelectorAll('[class*=st-key-open-] button').length === count", arg=cards
    )
    found = []
    for width, height in SIZES:
        resize(page, (width, height))
        told = page.evaluate(UNEVEN)
        assert told["cards"] == cards and (width < 600) == (told["rows"] == cards)
        found += [f"{width}x{height}: the row at {row} has cards of {sizes}" for row, sizes in told["uneven"]]
        found += [f"{width}x{height}: {fault}" for fault in faults(page, "[role=dialog]") if "scrolls" in fault]
    check_none(found)


@pytest.mark.long("more of each page in a real browser")
def test_a_log_and_its_cut(fresh_tab):
    fresh_tab.open("/traces")
    found = []
    for size in SIZES:
        resize(fresh_tab.page, size)
        for name in ("Ask", "Events", "Lattice", "Cut"):
            fresh_tab.tab(name)
            found += [f"{name} at {size}: {fault}" for fault in faults(fresh_tab.page)]
    check_none(found)


@pytest.mark.long("every view of every page at every size")
def test_two_entries_of_the_history_side_by_side(fresh_tab, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "data"))
    for name in ("bank-2026-11-22-0915", "bank-2026-11-22-1120"):
        shutil.copytree(ENSEMBLE, tmp_path / "data" / name)
    page, found = fresh_tab.page, []
    with serving("app.py", tmp_path / "server.log") as (url, _):
        page.goto(f"{url}/history")
        table = page.get_by_test_id("stDataFrame")
        table.locator("td", has_text="bank").first.wait_for(state="attached")
        for row, told in ((52, "Open in Ensembles"), (87, "Both have the same settings")):
            table.locator(".dvn-scroller").click(position={"x": 18, "y": row})
            page.get_by_text(told).wait_for()
            found += [f"{told} at {fault}" for fault in sized(page, SIZES, drawn=PAGE_RESIZED)]
            resize(page, (1280, 720), PAGE_RESIZED)
        page.goto("about:blank")
    check_none(found)
