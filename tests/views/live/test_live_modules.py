"""Modules of the page Live alone."""

from __future__ import annotations

import pytest

from diagrams.browser.scripts import LIVE
from tests.cases import check_each
from tests.javascript import IN_BOTH

CHARTS, FRAMES = LIVE / "charts.js", LIVE / "frames.js"
ASK = """async ({ Frames }, status, body) => {
  globalThis.fetch = async (address, { headers }) => {
    asked.push(headers["If-None-Match"] ?? null);
    return new Response([204, 304].includes(status) ? null : body, { status, headers: { ETag: '"7"' } });
  };
  globalThis.document ??= { hidden: false, addEventListener: () => {} };
  const asked = [], taken = [], told = [];
  const closing = new AbortController();
  const take = (frame) => taken.push(frame), lost = (problem) => told.push(problem);
  const frames = new Frames(() => "/live/frames/a", take, lost, closing.signal);
  await frames.ask();
  await frames.ask();
  closing.abort();
  return { asked, taken, told };
}"""


TIMES = {0.4: "0.4 ms", 9.96: "10.0 ms", 12.4: "12 ms", 999: "999 ms", 1400: "1.4 s"}


@IN_BOTH
def test_a_time_in_words(run_module):
    found = run_module("({ milliseconds }, values) => values.map((value) => milliseconds(value))", [CHARTS], [*TIMES])
    assert dict(zip(TIMES, found, strict=True)) == TIMES


def test_a_frame_is_asked_for_with_the_mark_of_the_last_one(run_module):
    found = run_module(ASK, [FRAMES], 200, '{"now": 3}')
    assert found == {"asked": [None, '"7"'], "taken": [{"now": 3}, {"now": 3}], "told": [None, None]}


@pytest.mark.slow
def test_what_a_server_without_a_frame_comes_to(run_module):
    def check(status, told):
        found = run_module(ASK, [FRAMES], status, "Reload.")
        assert found["taken"] == [] and found["told"] == [told, told]

    again = "The server cannot draw this moment. The page asks again."
    check_each([(304, None), (404, "Reload."), (503, "Reload."), (500, again)], check)
