"""The browser's side of the explorer, from `assets/explore/`: one script, one style sheet, one piece of HTML.

There is no build step. The script is written as a few files of one module, joined here in the order in which
they build on one another; so are the style sheets. These name colours by meaning, as custom properties: `--cc-ink`
in the explorer, `--cut-ink` in the page around it. What each looks like, light and dark, is diagrams/theme.py's.
"""

from __future__ import annotations

from pathlib import Path

from diagrams import theme

ASSETS = Path(__file__).resolve().parent.parent / "assets"

SCRIPTS = (
    "dom", "timeline", "events", "colours", "reasons", "outbox", "meter", "chunks", "diagram", "network",
    "causality", "cone", "record", "signs", "story", "transport", "messages", "change", "overlay", "fifo", "preview",
    "handles", "toolbar", "menu", "manual", "manipulate", "guess", "predict", "present", "share", "keeper", "ask",
    "find", "strip", "explore",
)  # fmt: skip
STYLES = ("explore", "ask", "manipulate", "share")


def script() -> str:
    """The module whose default export Streamlit calls."""
    return _joined(SCRIPTS, ".js")


def styles() -> str:
    """The style sheet. The script says in `data-scheme` whether the page is light or dark."""
    light, dark = theme.properties("cc", theme.LIGHT), theme.properties("cc", theme.DARK)
    return f'.cc {{ {light} }}\n.cc[data-scheme="dark"] {{ {dark} }}\n{_joined(STYLES, ".css")}'


def page_styles() -> str:
    """The style sheet of the page around it, which sets the size of all type by that of the screen.

    Its colours follow CSS's `color-scheme`, which Streamlit sets for its pages but not for its dialogs: there they
    are the light ones.
    """
    both = {token: f"light-dark({light}, {theme.DARK[token]})" for token, light in theme.LIGHT.items()}
    return f":root {{ {theme.properties('cut', both)} }}\n{(ASSETS / 'page.css').read_text('utf-8')}"


def still() -> str:
    """What follows the script in a page of its own: it shows the run that lies in the page."""
    return _joined(("still",), ".js")


def markup() -> str:
    """The explorer's HTML, in which the script finds its places."""
    return _joined(("explore",), ".html")


def _joined(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((ASSETS / "explore" / f"{name}{suffix}").read_text("utf-8") for name in names)
