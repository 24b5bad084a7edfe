"""The diagram component: the explorer of `diagrams/browser.py`, registered with Streamlit once per process."""

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from diagrams import browser
from views import exports
from views.vendor import PLOTLY_URL, SCRIPT_URL, STYLES_URL

# Streamlit sends these with every answer, so they hold only the address of the rest. A single line would be a path.
_JS = f"""export default async (component) =>
  (await import(new URL("{SCRIPT_URL}", location.href).href)).default(component);
"""
_CSS = """.cc[data-ready="false"] {
  visibility: hidden;
}
"""

_mount = st.components.v2.component(
    "consistent_cut_explorer", html=browser.markup(), css=_CSS, js=_JS, isolate_styles=False
)
_URLS = {"plotly_url": PLOTLY_URL, "styles_url": STYLES_URL, "exports_url": exports.URL}


def explorer(data: dict[str, Any], scene: bytes, key: str, on_outbox_change: Callable[[], None]) -> None:
    """Show the explorer.

    Args:
        data: `ExploreSession.data`, sent at every run.
        scene: the scene as JSON, sent as it is under the key "scene" of `data`.
        key: the widget's key; its state holds `outbox`, the edits that are not acknowledged yet.
        on_outbox_change: called before the page's script when the browser has made an edit.
    """
    head = json.dumps({**data, **_URLS}, ensure_ascii=False).encode()
    _mount(key=key, data=head[:-1] + b', "scene": ' + scene + b"}", on_outbox_change=on_outbox_change)
