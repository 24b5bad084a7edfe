"""What is wrong with the layout of a page: texts that overlap, are cut off, or lie beyond the edge; as sentences."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.waiting import budget_s

PATIENCE_S = 5.0  # that a fault has to stay
SIZES = ((390, 844), (640, 360), (1024, 768), (1280, 720), (1920, 1080))
RESIZED = """() => {
  const [plot, room] = [".cc-diagram .main-svg", ".cc-diagram"].map((name) => document.querySelector(name));
  return ["clientWidth", "clientHeight"].every((side) => Math.abs(plot[side] - room[side]) <= 1);
}"""  # whether the explorer's diagram has taken a new size of the page
PAGE_RESIZED = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const fits = (drawn) => {
    const room = drawn.closest("[class*=st-key-cut-]").parentElement;
    return Math.abs(drawn.clientWidth - room.clientWidth) < 3 && drawn.clientHeight <= room.clientHeight;
  };
  const charts = [...document.querySelectorAll(".st-key-cut-chart .main-svg:first-of-type")];
  return main.scrollWidth <= main.clientWidth && charts.every(fits);
}"""  # whether the tables and charts of another page have: they are drawn anew a moment later
_LINKS_FIT = """() => {
  const links = [...document.querySelectorAll("[data-testid=stTopNavLink]")];
  return links.every((link) => link.getBoundingClientRect().right <= innerWidth);
}"""  # the links to the pages become a menu a moment after the page is resized
_SCRIPT = Path(__file__).with_name("layout.js").read_text("utf-8")
_NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def resize(page: Any, size: tuple[int, int], drawn: str = RESIZED) -> None:
    """Give the page a size, and wait until it has taken it: until a function in it says so."""
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.wait_for_function(drawn)


def faults(page: Any, scope: str = "body") -> list[str]:
    """The faults of the page when it lies still, within the element of a selector and the line at the top.

    What is being drawn anew for another size is no fault yet: one that stays is.

    What stays in its place over what scrolls (the way through the steps, the title of a group) is compared with
    nothing below it.
    """
    page.wait_for_function(_LINKS_FIT)
    ends = time.monotonic() + budget_s(PATIENCE_S)
    while True:
        found: list[str] = page.evaluate(_SCRIPT, scope)
        if not found or time.monotonic() > ends:
            return found
        page.evaluate(_NEXT_FRAME)


def sized(page: Any, sizes: Any, scope: str = "body", drawn: str = RESIZED) -> list[str]:
    """The faults of the page at each of several sizes."""
    found = []
    for size in sizes:
        resize(page, size, drawn)
        found += [f"{size[0]}x{size[1]}: {fault}" for fault in faults(page, scope)]
    return found
