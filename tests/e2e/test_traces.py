"""The Traces page as a teacher uses it: a log, a cut of it, its verdict, and the window as a diagram; then History."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.tools import check_none

PATIENCE_MS = 240_000  # Spark may have to start on a busy machine
DIAGRAM = ".st-key-cut-diagram .main-svg"
VERDICT = ".st-key-cut-trace h3"
CHANNELS = ".st-key-cut-trace h3 + .cut-told"

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

AT_AN_EVENT = """([process, number]) => {
  const plot = document.querySelector(".st-key-cut-diagram .js-plotly-plot");
  const { xaxis, yaxis } = plot._fullLayout;
  const events = plot.data.at(-1);
  const place = events.customdata.findIndex(([name, own]) => name === process && own === number);
  const box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(events.x[place]), box.top + yaxis._offset + yaxis.d2p(events.y[place])];
}"""


@pytest.fixture(scope="module")
def traces(contexts, app_with_data) -> Iterator[ExplorerPage]:
    """A tab that has brought a log of two processes."""
    visit = ExplorerPage(contexts["light"].new_page(), app_with_data)
    page = visit.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto(app_with_data)
    page.get_by_role("link", name="Traces").click()
    page.get_by_role("button", name="Bring your own log").click()
    page.locator("input[type=file]").set_input_files(
        [{"name": "question.log", "mimeType": "text/plain", "buffer": LOG.encode()}]
    )
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("6 events of 2 processes").wait_for(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Read it").wait_for(state="detached")  # the form covers nothing any more
    yield visit
    page.close()
    check_none(visit.trouble.found)


def end_the_cut_at(page, process: str, number: int) -> None:
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")  # else an old diagram is clicked
    page.locator(DIAGRAM).first.wait_for()
    page.mouse.click(*page.evaluate(AT_AN_EVENT, [process, number]))


def test_a_click_moves_the_cut_and_its_verdict_is_told(traces):
    page = traces.page
    end_the_cut_at(page, "b", 3)
    page.get_by_text("asks again” on a->b was received inside the cut, but sent outside it").wait_for()
    page.get_by_text("Last events inside: a: is answered; b: is asked again").wait_for()
    page.get_by_role("button", name="Make it consistent").click()
    page.get_by_text("Consistent.", exact=True).wait_for()
    end_the_cut_at(page, "a", 3)
    page.locator(CHANNELS).get_by_text("asks again").wait_for()


def test_what_was_understood_is_told(traces):
    page = traces.page
    page.get_by_text("What the app understood").click()
    page.get_by_text("a channel may hold more messages than the page says").wait_for()


def test_a_log_that_cannot_be_believed_is_refused_in_one_sentence(traces, app_with_data):
    page = traces.page.context.new_page()
    page.goto(app_with_data)
    page.get_by_role("link", name="Traces").click()
    page.get_by_role("button", name="Bring another log").click(timeout=PATIENCE_MS)  # what the app read last is on show
    wrong = LOG.replace('{"b": 2, "a": 1}', '{"b": 1, "a": 1}')
    page.locator("input[type=file]").set_input_files(
        [{"name": "wrong.log", "mimeType": "text/plain", "buffer": wrong.encode()}]
    )
    page.get_by_role("button", name="Read it").click()
    page.get_by_role("alert").filter(has_text="wrong.log:6: the clock of").wait_for(timeout=PATIENCE_MS)
    page.close()


def test_two_logs_of_one_name_are_both_read_and_one_of_six_megabytes_is_taken(traces, app_with_data):
    page = traces.page.context.new_page()
    page.goto(app_with_data)
    page.get_by_role("link", name="Traces").click()
    page.get_by_role("button", name="Bring another log").click(timeout=PATIENCE_MS)
    logs = (LOG.encode(), LOG.encode() + b"\n" * 6_000_000)
    page.locator("input[type=file]").set_input_files(
        [{"name": "twin.log", "mimeType": "text/plain", "buffer": log} for log in logs]
    )
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("12 events of 2 processes in 2 executions").wait_for(timeout=PATIENCE_MS)
    page.close()


def test_the_window_opens_in_explore_and_history_leads_back(traces):
    page = traces.page
    page.get_by_role("button", name="Open this window in Explore").click()
    page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg")
    assert "question" in page.locator(".cc-title").inner_text()
    check_none(traces.trouble.found)
    page.get_by_role("link", name="History").click()
    page.get_by_text("What has been run").wait_for()
    table = page.get_by_test_id("stDataFrame")
    table.locator("td", has_text="question").first.wait_for(state="attached")  # what the canvas shows is drawn
    table.locator(".dvn-scroller").click(position={"x": 18, "y": 52})  # the box before the first row
    page.get_by_role("button", name="Open in Traces").click()
    page.locator(VERDICT).wait_for(timeout=PATIENCE_MS)
