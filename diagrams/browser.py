"""The browser's side of the explorer, from `assets/explore/`: one script, one style sheet, one piece of HTML.

There is no build step. The script is written as a few files of one module, joined here in the order in which
they build on one another; so are the style sheets.
"""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"

SCRIPTS = (
    "dom", "timeline", "events", "colours", "reasons", "outbox", "meter", "chunks", "diagram", "network",
    "record", "story", "transport", "messages", "change", "explore",
)  # fmt: skip
STYLES = ("explore",)


def script() -> str:
    """The module whose default export Streamlit calls."""
    return _joined(SCRIPTS, ".js")


def styles() -> str:
    """The style sheet."""
    return _joined(STYLES, ".css")


def markup() -> str:
    """The explorer's HTML, in which the script finds its places."""
    return _joined(("explore",), ".html")


def _joined(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((ASSETS / "explore" / f"{name}{suffix}").read_text("utf-8") for name in names)
