"""The diagram component: `assets/` registered with Streamlit, once per process.

The component's JavaScript has no build step. It is written as a few files of one module, joined here in
the order in which they build on one another.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from views.vendor import PLOTLY_URL

ASSETS = Path(__file__).resolve().parent.parent / "assets"

SCRIPTS = (
    "dom", "timeline", "colours", "outbox", "meter", "chunks", "diagram", "network",
    "record", "story", "transport", "messages", "change", "explore",
)  # fmt: skip


def _script() -> str:
    return "\n".join((ASSETS / "explore" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)


_mount = st.components.v2.component(
    "consistent_cut_explorer",
    html=(ASSETS / "explore.html").read_text("utf-8"),
    css=(ASSETS / "explore.css").read_text("utf-8"),
    js=_script(),
    isolate_styles=False,
)


def explorer(data: dict[str, Any], key: str, on_outbox_change: Callable[[], None]) -> None:
    """Show the explorer.

    Args:
        data: what the browser is told at every run: revision, session, ack, notice, undo, edits and scene.
        key: the widget's key; its state holds `outbox`, the edits that are not acknowledged yet.
        on_outbox_change: called before the page's script when the browser has made an edit.
    """
    _mount(key=key, data={**data, "plotly_url": PLOTLY_URL}, on_outbox_change=on_outbox_change)
