"""What is wrong with the layout of a page: texts that overlap, are cut off, or lie beyond the edge; as sentences."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

PATIENCE_S = 5.0  # that a fault has to stay
SIZES = ((390, 844), (640, 360), (1024, 768), (1280, 720), (1920, 1080))
RESIZED = """() => {
  const [plot, room] = [".cc-diagram .main-svg", ".cc-diagram"].map((name) => document.querySelector(name));
  return ["clientWidth", "clientHeight"].every((side) => Math.abs(plot[side] - room[side]) <= 1);
}"""  # whether the explorer's diagram has taken a new size of the page
_LINKS_FIT = """() => {
  const links = [...document.querySelectorAll("[data-testid=stTopNavLink]")];
  return links.every((link) => link.getBoundingClientRect().right <= innerWidth);
}"""  # the links to the pages become a menu a moment after the page is resized
_SCRIPT = Path(__file__).with_name("layout.js")


def faults(page: Any, scope: str = "body") -> list[str]:
    """The faults of the page when it lies still, within the element of a selector and the line at the top.

    What is being drawn anew for another size is no fault yet: one that stays is.

    What lies fixed over a page that scrolls (the way through the steps) is compared with nothing below it.
    """
    page.wait_for_function(_LINKS_FIT)
    script, ends = _SCRIPT.read_text("utf-8"), time.monotonic() + PATIENCE_S
    while True:
        found: list[str] = page.evaluate(script, scope)
        if not found or time.monotonic() > ends:
            return found
        page.wait_for_timeout(100)
