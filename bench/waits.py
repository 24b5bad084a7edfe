"""Measures waits inside the page, without the test driver's latency: from an action to two frames after the answer."""

from __future__ import annotations

import statistics
from typing import Any

# Call it with [event, condition] before an action. window.benchWait becomes a promise of the milliseconds from the next
# event of that name (pointerup, click, change) to two frames after `condition` holds.
WATCH = """([event, condition]) => {
  const [selector, holds] = {
    answered: [".cc", (root) => !root.hasAttribute("data-pending")],
    step: ["[data-testid=stPlotlyChart]", () => document.querySelector(".gtitle")?.textContent !== window.benchTitle],
  }[condition] ?? [".cc", (root) => root.dataset.scene === condition && !root.hasAttribute("data-pending")];
  window.benchTitle = document.querySelector(".gtitle")?.textContent;
  window.benchWait = new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`${event}: nothing came of it`)), 60000);
    const begin = () => {
      const start = performance.now();
      const observer = new MutationObserver(() => {
        const node = document.querySelector(selector);
        if (!node || !holds(node)) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
      });
      const everything = { attributes: true, childList: true, subtree: true, characterData: true };
      if (condition === "step") observer.observe(document.body, everything);
      else observer.observe(document.querySelector(selector), { attributeFilter: ["data-pending", "data-scene"] });
    };
    window.addEventListener(event, begin, { capture: true, once: true });
  });
}"""

# The milliseconds from an act to the painted page, `times` times: a task posted in a frame runs after it is drawn.
PAINTED = """async (times, act) => {
  const found = [];
  for (let n = 1; n <= times; n++) {
    await new Promise((done) => setTimeout(done, 100));
    const start = performance.now();
    act(n);
    await new Promise((done) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    found.push(performance.now() - start);
  }
  return found;
}"""

# From a key to the painted step.
KEYS = f"""(times) => ({PAINTED})(times, () => {{
  document.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowRight", bubbles: true }}));
}})"""

# The first handle whose middle is visible and not covered: its position, and whether time runs downwards.
HANDLE = """() => {
  const down = document.querySelector(".cc-orientation")?.dataset.orientation === "down";
  for (const handle of document.querySelectorAll(".cc-handles .cc-handle[data-message]")) {
    const box = handle.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const top = document.elementFromPoint(x, y);
    if (top && (top === handle || handle.contains(top))) return { x, y, down };
  }
  return null;
}"""

# From a move of a handle of the cut, which is held already, to the painted cut; it goes to and fro over `way` pixels of
# the time axis.
CUT_MOVES = f"""([times, way]) => {{
  const handle = document.querySelector(".cc-cut-over[data-holds] .cc-cut-handle:focus");
  const down = document.querySelector(".cc-orientation")?.dataset.orientation === "down";
  const box = handle.querySelector(".cc-knob").getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return ({PAINTED})(times, (n) => {{
    const by = (n % 2 ? 1 : 0.3) * way * (1 - n / times / 5);
    const at = down ? {{ clientX: x, clientY: y + by }} : {{ clientX: x + by, clientY: y }};
    handle.dispatchEvent(new PointerEvent("pointermove", {{ ...at, pointerId: 1, bubbles: true }}));
  }});
}}"""

DRAG_BY = 18  # pixels along the time axis
DRAG_MOVES = 4


def path(handle: dict[str, Any], back: bool) -> list[tuple[float, float]]:
    """The points over which the mouse drags a handle along the time axis, forward or back."""
    x, y, sign = handle["x"], handle["y"], -1 if back else 1
    ways = [sign * DRAG_BY * (move + 1) / DRAG_MOVES for move in range(DRAG_MOVES)]
    return [(x, y + way) if handle["down"] else (x + way, y) for way in ways]


def at_rank(times: list[float], share: float) -> float:
    """The quantile `share` of some waits; NaN of none."""
    ordered = sorted(times) or [float("nan")]
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(times: list[float]) -> float:
    """The median; NaN of none."""
    return statistics.median(times) if times else float("nan")
