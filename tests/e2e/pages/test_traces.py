"""The Traces page as a teacher uses it: a log, a cut of it, its verdict, its lattice; then Explore and History."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import ExplorerPage, patience_ms
from tests.e2e.pages.test_live_page import watched
from tests.tools import check_none

SPARK_S = 240  # Spark may have to start
EXPLORER = ".cc[data-ready=true] .cc-diagram .main-svg"
VERDICT = ".cc-cut-verdict"

# a sends to b, b answers, and a sends again: three messages that the clocks tell of.
CLOCKS = [
    ("a", "asks", {"a": 1}),
    ("b", "is asked", {"b": 1, "a": 1}),
    ("b", "answers", {"b": 2, "a": 1}),
    ("a", "is answered", {"a": 2, "b": 2}),
    ("a", "asks again", {"a": 3, "b": 2}),
    ("b", "is asked again", {"b": 3, "a": 3}),
]
LOG = "".join(f"{text}\n{host} {json.dumps(clock)}\n" for host, text, clock in CLOCKS)


@pytest.fixture(scope="module")
def traces(contexts, app_with_data) -> Iterator[ExplorerPage]:
    """A tab that has brought a log of two processes."""
    visit = ExplorerPage(contexts["light"].new_page(), app_with_data)
    page = visit.page
    page.set_default_timeout(patience_ms(SPARK_S))
    page.goto(app_with_data)
    page.get_by_role("link", name="Traces").click()
    page.get_by_role("button", name="Bring your own log").click()
    page.locator("input[type=file]").set_input_files(
        [{"name": "question.log", "mimeType": "text/plain", "buffer": LOG.encode()}]
    )
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("6 events of 2 processes").wait_for(timeout=patience_ms(SPARK_S))
    page.get_by_role("button", name="Read it").wait_for(state="detached")  # the form covers nothing any more
    yield visit
    page.close()
    check_none(visit.trouble.found)


def told(page: Page, text: str) -> None:
    """Wait until the tab Cut says something."""
    page.locator(".cc-view[data-view=cut]").get_by_text(text).first.wait_for()


def test_a_handle_moves_the_cut_its_verdict_is_told_and_a_link_shows_it_again(traces):
    """The same part of the page as in Explore: the message that decides, the channels, the nearest consistent cut."""
    page = traces.page
    page.wait_for_selector(EXPLORER)
    handle = page.locator(".cc-cut-handle[data-lane='1']")
    handle.press("End")
    told(page, "“asks again”: received at “is asked again” inside the cut, sent at “asks again” outside it.")
    told(page, "3 events, up to is asked again")
    page.get_by_role("button", name="Shrink to a consistent cut").click()
    told(page, "This cut is consistent")
    page.locator(".cc-cut-handle[data-lane='0']").press("End")
    told(page, "a->b = <asks again>")
    told(page, "A channel may hold more: the clocks of this log do not show every message.")
    page.wait_for_function("/data=question[-0-9]*&rows=1-6&cut=3[.]2&/.test(location.search)")
    for reopen in (page.reload, lambda: page.goto(page.url)):
        reopen()
        page.wait_for_selector(EXPLORER)
        told(page, "a->b = <asks again>")


def test_there_are_the_tabs_that_make_sense_of_a_log_what_was_understood_and_nothing_to_edit(traces):
    page = traces.page
    assert page.get_by_role("tab").all_inner_texts() == ["Cut", "Lattice", "Ask", "Events"]
    tools = page.locator(".cc-tools button:visible").all_inner_texts()
    assert [text.strip() for text in tools] == ["Find", "Export"]
    page.get_by_role("tab", name="Lattice").click()
    page.locator(".cc-view[data-view=lattice]").get_by_text("cuts are consistent").first.wait_for()
    page.get_by_text("What the app understood").click()
    page.get_by_text("a channel may hold more messages than the page says").wait_for()


LINES = [1, pytest.param(6_000_000, marks=pytest.mark.long("a log of six megabytes on the page Traces"))]


@pytest.mark.parametrize("lines", LINES, ids=["small", "six megabytes"])
def test_a_log_that_cannot_be_believed_is_refused_and_two_of_one_name_are_read(traces, app_with_data, lines):
    page = traces.page.context.new_page()
    page.set_default_timeout(patience_ms(SPARK_S))

    def bring(*logs):
        page.locator("input[type=file]").set_input_files(
            [{"name": name, "mimeType": "text/plain", "buffer": log} for name, log in logs]
        )
        page.get_by_role("button", name="Read it").click()

    page.goto(app_with_data)
    page.get_by_role("link", name="Traces").click()
    page.get_by_role("button", name="Bring another log").click()  # what the app read last is on show
    bring(("wrong.log", LOG.replace('{"b": 2, "a": 1}', '{"b": 1, "a": 1}').encode()))
    page.get_by_role("alert").filter(has_text="wrong.log:6: the clock of").wait_for()
    page.reload()
    page.get_by_role("button", name="Bring another log").click()
    bring(*[("twin.log", log) for log in (LOG.encode(), LOG.encode() + b"\n" * lines)])
    page.get_by_text("12 events of 2 processes in 2 executions").wait_for()
    page.close()


def test_the_window_opens_in_explore_and_history_leads_back(traces):
    page = traces.page
    page.get_by_role("button", name="Open in Explore").click()
    page.locator(".cc:not([data-log]) .cc-title").get_by_text("question").wait_for()
    check_none(traces.trouble.found)
    page.get_by_role("link", name="History").click()
    page.get_by_text("All ensembles and logs").wait_for()
    table = page.get_by_test_id("stDataFrame")
    table.locator("td", has_text="question").first.wait_for(state="attached")  # what the canvas shows is drawn
    table.locator(".dvn-scroller").click(position={"x": 18, "y": 52})  # the box before the first row
    page.get_by_role("button", name="Open in Traces").click()
    page.locator(VERDICT).wait_for(timeout=patience_ms(SPARK_S))


@pytest.mark.long("more of each page in a real browser")
def test_a_stretch_of_a_live_cluster_goes_to_traces(contexts, app_with_data):
    tab = ExplorerPage(contexts["light"].new_page(), app_with_data)
    for live in watched(tab):
        live.page.wait_for_function("() => parseFloat(document.querySelector('.cc-live-position').textContent) > 3")
        live.press("To Traces")
        live.page.wait_for_selector(".cc[data-log][data-ready=true]", timeout=patience_ms(SPARK_S))
        assert live.page.locator(".cc-title").inner_text().startswith("Live, ")
    tab.page.close()
    check_none(tab.trouble.found)
