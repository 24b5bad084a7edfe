"""How fast the page is: `python -m pytest bench/page.py -p tests.e2e.conftest -s -q`, in a real browser.

Three waits, each the median of several: from a step's key to its paint, from an edit to the repainted
diagram, and from choosing a scenario in the gallery to its diagram.
"""

from __future__ import annotations

import statistics
import time

import pytest

from tests.e2e.conftest import ExplorerPage

SCENARIOS = ("lecture", "overlapping", "hundred")

STEP_TIMES_MS = """async () => {
  const times = [];
  for (let n = 0; n < 15; n++) {
    await new Promise((done) => setTimeout(done, 100));
    const start = performance.now();
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    times.push(performance.now() - start);
  }
  return times;
}"""


def median(times_ms: list[float]) -> str:
    """The median and the slowest of some waits, for a line of the table."""
    return f"{statistics.median(times_ms):6.0f} ms (slowest {max(times_ms):.0f})"


def now_ms() -> float:
    """A clock in milliseconds."""
    return time.perf_counter() * 1000


@pytest.mark.parametrize("name", SCENARIOS)
def test_key_to_painted_step(fresh_explorer: ExplorerPage, name: str) -> None:
    """From the arrow key to the frame in which the step is painted."""
    fresh_explorer.open(f"?scenario={name}")
    fresh_explorer.page.evaluate(STEP_TIMES_MS)
    fresh_explorer.press("Home")
    print(f"\nkey to painted step      {name:14} {median(fresh_explorer.page.evaluate(STEP_TIMES_MS))}")


@pytest.mark.parametrize("name", SCENARIOS)
def test_edit_to_repainted_diagram(fresh_explorer: ExplorerPage, name: str) -> None:
    """From the click that adds an event to the repainted diagram, through Python and back."""
    fresh_explorer.open(f"?scenario={name}")
    fresh_explorer.tab("Change")
    waits = []
    for _ in range(7):
        start = now_ms()
        fresh_explorer.edit("Add")
        fresh_explorer.press("Shift")  # lets two frames be drawn
        waits.append(now_ms() - start)
    print(f"\nedit to repainted        {name:14} {median(waits)}")


def test_choosing_a_scenario_to_painted_diagram(fresh_explorer: ExplorerPage) -> None:
    """From the click on a card of the gallery to its diagram."""
    page = fresh_explorer.page
    for name in SCENARIOS:
        waits = []
        for other in ("two_banks", "ring", "star"):
            fresh_explorer.open(f"?scenario={other}")
            page.get_by_role("button", name="Scenarios").click()
            card = page.locator(f".st-key-open-{name} button")
            card.wait_for()
            start = now_ms()
            card.click()
            page.wait_for_url(f"**scenario={name}")
            page.wait_for_selector(f".cc[data-scene={name}][data-ready=true]")
            fresh_explorer.press("Shift")
            waits.append(now_ms() - start)
        print(f"\nchoosing to painted      {name:14} {median(waits)}")
