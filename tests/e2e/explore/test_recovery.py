"""A recovery, step by step: what is faded, the line gone back to, what is put back and fenced off; then its tabs."""

from __future__ import annotations

import pytest

SEEN = """node => node.data
  .filter(trace => trace.meta?.sign && trace.x.some(value => value !== null)).map(trace => trace.meta.sign)"""
OF_RECOVERIES = {
    "line gone back to", "abandoned event", "abandoned message", "recovery", "restored process", "message put back",
    "fenced off",
}  # fmt: skip
BEGINS, PUT_BACK, LAST = 12, 14, 16


@pytest.fixture
def recovery(tab):
    tab.open(f"/?scenario=recovery&step={BEGINS - 1}")
    return tab


def seen(explorer):
    return set(explorer.page.locator(".cc-diagram").evaluate(SEEN)) & OF_RECOVERIES


def test_step_by_step(recovery):
    assert seen(recovery) == set()
    recovery.press("ArrowRight")
    at_once = {"line gone back to", "abandoned event", "abandoned message", "recovery"}
    assert recovery.step == BEGINS and seen(recovery) == at_once
    recovery.press("ArrowRight")
    assert seen(recovery) == at_once | {"restored process"}
    recovery.press("ArrowRight")
    assert recovery.step == PUT_BACK
    assert seen(recovery) == at_once | {"restored process", "message put back"}
    recovery.press("End")
    assert recovery.step == LAST and seen(recovery) == OF_RECOVERIES
    recovery.press("Home")
    assert seen(recovery) == set()


def test_ask_why_a_message_was_put_back_or_fenced_off_and_why_an_event_is_abandoned(recovery):
    recovery.press("End")
    recovery.tab("Ask")
    events, messages = recovery.page.locator(".cc-asking select").all()
    answer = recovery.page.locator(".cc-answer")
    messages.select_option(label="30 on C12 · step 1")
    assert "The recovery puts 30 back into C12 (step 14)" in answer.inner_text()
    messages.select_option(label="50 on C12 · step 10")
    assert "never: it is fenced off" in answer.inner_text()
    assert "P2 fences 50 off (step 16)" in answer.inner_text()
    events.select_option(label="c · send · step 10")
    assert "c is abandoned. P1 goes back (step 13)" in answer.inner_text()
    assert "Vector clock" not in answer.inner_text()
    assert recovery.page.locator(".cc-cone").get_attribute("hidden") is not None
    recovery.press("Home")
    assert "A recovery will take this event back." in answer.inner_text(), "nobody knows yet"
    events.select_option(label="a · send · step 1")
    assert "1 in its future, 0 concurrent" in answer.inner_text()  # P2.3, and nothing that is gone


def test_no_cut_holds_what_is_gone(recovery):
    page = recovery.page
    recovery.press("End")
    recovery.tab("Cut")
    handle = page.get_by_role("slider", name="P1", exact=True)
    assert (handle.get_attribute("aria-valuemin"), handle.get_attribute("aria-valuemax")) == ("0", "1")
    page.get_by_role("button", name="As after step 16").click()
    assert page.locator(".cc-states[data-signature]").inner_text().split("\n") == [
        "P1",
        "1 event, up to a",
        "P2",
        "1 event, up to P2.3",
    ]
    recovery.tab("Lattice")
    page.get_by_text("3 of 4 cuts are consistent.").wait_for()
    recovery.tab("Proof")
    page.get_by_text("No red action comes before a white one").wait_for()


def test_the_lane_of_the_storage_can_be_hidden(recovery):
    recovery.tab("Events")
    recovery.page.locator(".cc-processes summary").click()
    recovery.edit("Hide storage")
    lanes = recovery.page.locator(".cc-diagram .xaxislayer-above text")
    assert lanes.all_text_contents() == ["P1", "P2"]
    told = recovery.page.locator(".cc-left-out span").inner_text()
    assert told == "The lane of the storage is hidden; the run is the same."
