"""Asking about events and messages: the browser's answers against those that Python computes in another way."""

from __future__ import annotations

import re

import pytest

from diagrams.scene.composition import compose
from sim.core.model import Event
from sim.document import library
from sim.explain.reasons import explain, reasons
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from tests.tools import thinned

CLICK_EVENT = """([lane, place]) => {
    const { xaxis, yaxis } = document.querySelector('.cc-diagram')._fullLayout;
    const isDown = xaxis.ticktext != null;
    const [x, y] = isDown ? [lane, place] : [place, lane];
    const box = document.querySelector('.cc-diagram').getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
}"""
SIGNS = """() => Object.fromEntries([...document.querySelectorAll('.cc-cone [data-of]')].map(
    (path) => [path.dataset.of, (path.getAttribute('d') ?? '').split('M').length - 1]))"""

RING = """() => {
  const { width, height } = document.querySelector(".cc-cone [data-of=itself]").getBBox();
  return [width, height];
}"""


def of(name: str) -> Execution:
    return run(library.load(name))


def events_of(execution: Execution) -> list[Event]:
    return [event for own in execution.history.of.values() for event in own]


def expected(execution: Execution, event: Event) -> tuple[dict[str, int], list[int]]:
    """How many events stand in each relation to `event`, by comparing each of them with it; its vector clock."""
    history = execution.history
    others = [other for other in events_of(execution) if other is not event]
    past = sum(history.happened_before(other, event) for other in others)
    future = sum(history.happened_before(event, other) for other in others)
    return {"past": past, "future": future, "concurrent": len(others) - past - future}, list(history.clock(event))


def choose(explorer, menu: str, text: str) -> None:
    """Choose the entry of a menu of the Ask tab that begins with a text."""
    explorer.tab("Ask")
    select = explorer.page.locator("[data-view=ask]").get_by_label(menu, exact=True)
    value = select.evaluate(
        "(menu, text) => [...menu.options].find((one) => one.text.startsWith(text + ' ')).value", text
    )
    select.select_option(value)


def answered(explorer) -> tuple[dict[str, int], list[int]]:
    """What the Ask tab says of an event."""
    page = explorer.page
    counts = {
        name: int(page.locator(f".cc-relations [data-of={name}] .cc-count").inner_text().replace(",", ""))
        for name in ("past", "future", "concurrent")
    }
    return counts, [int(text) for text in page.locator(".cc-clock dd").all_inner_texts()]


NAMES = ["lecture", "two_initiators", "ring", "widgets", "never_occurred", "hundred"]


@pytest.mark.parametrize("name", thinned(NAMES, 1, "what Ask says of events and messages of more scenarios"))
def test_past_future_and_clock_agree_with_a_comparison_of_all_pairs(tab, name):
    execution = of(name)
    events = events_of(execution)
    tab.open(f"/?scenario={name}")
    for event in events[:: max(1, len(events) // 4)]:
        choose(tab, "Event", event.label)
        assert answered(tab) == expected(execution, event), event.label


def test_signs_of_past_and_future_stand_at_every_event(explorer):
    execution = of("lecture")
    for event in events_of(execution):
        choose(explorer, "Event", event.label)
        counts, _ = expected(execution, event)
        assert explorer.page.evaluate(SIGNS) == counts | {"itself": 1}, event.label
    width, height = explorer.page.evaluate(RING)
    assert width == pytest.approx(height, rel=0.01), "a whole ring"
    assert explorer.page.locator(".cc-cone").is_visible()


@pytest.mark.parametrize("turned", [False, True], ids=["down", "right"])
def test_click_on_an_event_asks_about_it_and_escape_or_a_click_on_nothing_ends_it(explorer, turned):
    page, scene = explorer.page, compose(of("lecture"))
    if turned:
        page.locator(".cc-orientation").click()
        page.wait_for_selector(".cc:not([data-pending])")
    explorer.press("End")
    dot = next(dot for dot in scene.dots if dot.label == "H")
    x, y = page.evaluate(CLICK_EVENT, [dot.lane, dot.position])
    for end in ("Escape", "click"):
        page.mouse.click(x, y)
        assert page.locator(".cc-asked-name").inner_text() == "H"
        assert page.get_by_role("tab", name="Ask").get_attribute("aria-selected") == "true"
        if end == "Escape":
            page.keyboard.press("Escape")  # the first closes the little window that a click opens
            page.keyboard.press("Escape")
        else:
            page.mouse.click(*page.evaluate(CLICK_EVENT, [0.5, scene.positions[1]]))
        assert page.locator(".cc-asked").count() == 0
        assert not page.locator(".cc-cone").is_visible()
    if turned:
        page.locator(".cc-orientation").click()
        page.wait_for_selector(".cc:not([data-pending])")


NAMES = ["lecture", "overlapping", "two_banks", "token_lost"]


@pytest.mark.parametrize("name", thinned(NAMES, 1, "what Ask says of events and messages of more scenarios"))
def test_messages_tell_of_every_snapshot_whether_it_recorded_them_and_why(tab, name):
    execution = of(name)
    tab.open(f"/?scenario={name}")
    tab.tab("Ask")
    tab.press("End")  # nothing is still to come
    menu = tab.page.locator("[data-view=ask]").get_by_label("Message", exact=True)
    for flight in execution.flights:
        menu.select_option(str(flight.id))
        rows = tab.page.locator(".cc-reasons > li")
        told = [
            (snapshot, reason)
            for snapshot in snapshots_of(execution)
            if (reason := reasons(execution, snapshot, [flight])[0]).case != "other_marker"
        ]
        assert rows.count() == len(told)
        for row, (snapshot, reason) in zip(rows.all(), told, strict=True):
            assert row.get_attribute("data-recorded") == str(reason.recorded).lower()
            assert explain(execution, snapshot, flight.id) in row.inner_text()
            steps = dict.fromkeys(step for step in reason[2:] if step is not None)
            assert row.get_by_role("button").all_inner_texts() == [f"Step {step}" for step in steps]


def test_the_deciding_steps_are_one_press_away(explorer):
    choose(explorer, "Message", "H->D")
    row = explorer.page.locator(".cc-reasons > li")
    assert "has not been sent yet" in row.inner_text() and row.get_attribute("data-recorded") == "false"
    for step in ("Step 9", "Step 13", "Step 15"):
        row.get_by_role("button", name=step).press("Enter")
        assert f"Step {explorer.step}" == step
        explorer.press("Shift")  # the panel follows with the next frame, and has other buttons then
    assert "was closed (step 15)" in row.inner_text()
    assert row.get_by_role("button").all_inner_texts() == ["Step 5", "Step 15"] and "so far" not in row.inner_text()


def test_everything_is_asked_by_keyboard(explorer):
    explorer.tab("Ask")
    explorer.page.keyboard.press("Escape")
    example = explorer.page.locator(".cc-examples button").first
    example.press("Enter")
    first = explorer.page.locator(".cc-asked-name").inner_text()
    explorer.page.locator(".cc-names button").first.press("Enter")
    assert explorer.page.locator(".cc-asked-name").inner_text() != first
    explorer.page.get_by_role("button", name="Ask nothing").press("Enter")
    assert example.is_visible()


def test_a_process_and_a_channel_in_the_record_lead_to_the_steps_at_which_they_changed(explorer):
    execution = of("lecture")
    recordings = {event.process: event.step for event in execution.events if event.kind == "record"}
    for start in ("Home", "End"):
        for process, step in recordings.items():
            explorer.press(start)
            row = explorer.page.locator(".cc-states dt", has_text=process).locator("+ dd").get_by_role("button")
            assert f"recorded at step {step}" in row.get_attribute("title")
            row.click()
            assert explorer.step == step
    explorer.press("End")  # and a channel to its changes in turn
    row = explorer.page.locator(".cc-channels li[data-channel='P2->P1']").get_by_role("button")
    closed = int(re.search(r"step (\d+)", row.get_attribute("title"))[1])
    seen = []
    for _ in range(4):
        row.focus()
        explorer.press("Enter")  # and let the step be drawn
        seen.append((explorer.step, row.inner_text()))
    steps = [step for step, _ in seen]
    assert steps[0] == closed == steps[3]
    assert steps[1] < steps[2] < closed, "from the last change round to the first"
    assert [text for _, text in seen[:3]] == ["C21 = <H->D>", "C21 = ...recording...", "C21 = <H->D, ...recording..."]


def test_an_event_says_whether_its_process_has_recorded_it(explorer):
    choose(explorer, "Event", "J")
    said = explorer.page.locator(".cc-answer .cc-reasons")
    said.filter(has_text="S1: P3 has not recorded yet").wait_for()
    said.get_by_role("button", name="Step 6").press("Enter")
    said.filter(has_text="S1: not in P3's recorded state: it comes after P3 recorded").wait_for()
    choose(explorer, "Event", "I")
    said.filter(has_text="S1: in P3's recorded state: it came before P3 recorded").wait_for()
