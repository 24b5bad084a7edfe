"""The browser's side of the explorer, from `assets/explore/`, and of the page Compare: scripts, style sheet, HTML.

There is no build step: `browser/modules.py` joins the modules of the script, in the order of their imports. The style
sheets name colours by meaning, as custom properties: `--cc-ink` in the explorer, `--cut-ink` in the page around it.
Their light and dark values are in diagrams/shapes/theme.py.
"""

from __future__ import annotations

from pathlib import Path

from diagrams.browser import modules
from diagrams.shapes import theme

ASSETS = Path(__file__).resolve().parents[2] / "assets"
EXPLORE, COMPARE, LIVE = ASSETS / "explore", ASSETS / "compare", ASSETS / "live"
STYLES = (
    "explore", "rules", "ask", "events", "manipulate", "cut", "lattice", "proof", "property", "stored", "break",
    "share", "export",
    "present", "layout",
)  # fmt: skip


def script() -> str:
    """The module whose default export Streamlit calls."""
    return modules.join(EXPLORE / "explore.js")


def styles() -> str:
    """The style sheet. The script says in `data-scheme` whether the page is light or dark."""
    light, dark = theme.properties("cc", theme.LIGHT), theme.properties("cc", theme.DARK)
    sheets = [*(EXPLORE / f"{name}.css" for name in STYLES), COMPARE / "compare.css", LIVE / "live.css"]
    rules = "".join(sheet.read_text("utf-8") for sheet in sheets)
    return f'.cc {{ {light} }}\n.cc[data-scheme="dark"] {{ {dark} }}\n{rules}'


def page_styles() -> str:
    """The style sheet of the page around it, which sets the size of all type by the size of the screen.

    Its colours follow CSS's `color-scheme`, which Streamlit sets for its pages but not for its dialogs: there they
    are the light ones.
    """
    both = {token: f"light-dark({light}, {theme.DARK[token]})" for token, light in theme.LIGHT.items()}
    return f":root {{ {theme.properties('cut', both)} }}\n{(ASSETS / 'page.css').read_text('utf-8')}"


def still() -> str:
    """The script of a stand-alone page, which shows the run that the page contains."""
    return modules.join(EXPLORE / "still.js")


def comparison_script() -> str:
    """The module of the page Compare, whose default export Streamlit calls."""
    return modules.join(COMPARE / "compare.js")


def comparison_markup() -> str:
    """The HTML of the page Compare, with that of an explorer as a template."""
    return (COMPARE / "compare.html").read_text("utf-8").replace("<!-- explorer -->", markup())


def live_script() -> str:
    """The module of the page Live, whose default export Streamlit calls."""
    return modules.join(LIVE / "live.js")


def live_markup() -> str:
    """The HTML of the page Live."""
    return (LIVE / "live.html").read_text("utf-8")


def markup() -> str:
    """The explorer's HTML, in which the script finds its places."""
    return (EXPLORE / "explore.html").read_text("utf-8")
