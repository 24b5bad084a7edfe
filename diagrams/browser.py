"""The browser's side of the explorer, from `assets/explore/`: one script, one style sheet, one piece of HTML.

There is no build step. The script is written as a few files of one module, joined here in the order in which
they build on one another; so are the style sheets.
"""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"

SCRIPTS = (
    "dom", "timeline", "events", "colours", "reasons", "outbox", "meter", "chunks", "diagram", "network",
    "causality", "cone", "record", "story", "transport", "messages", "change", "overlay", "fifo", "preview", "handles",
    "toolbar", "menu", "manual", "manipulate", "guess", "predict", "present", "share", "keeper", "ask", "find", "strip",
    "explore",
)  # fmt: skip
STYLES = ("explore", "ask", "manipulate", "share")


def script() -> str:
    """The module whose default export Streamlit calls."""
    return _joined(SCRIPTS, ".js")


def styles() -> str:
    """The style sheet."""
    return _joined(STYLES, ".css")


def page_styles() -> str:
    """The style sheet of the page around it, which sets the size of all type by that of the screen."""
    return (ASSETS / "page.css").read_text("utf-8")


def still() -> str:
    """What follows the script in a page of its own: it shows the run that lies in the page."""
    return _joined(("still",), ".js")


def markup() -> str:
    """The explorer's HTML, in which the script finds its places."""
    return _joined(("explore",), ".html")


def _joined(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((ASSETS / "explore" / f"{name}{suffix}").read_text("utf-8") for name in names)
