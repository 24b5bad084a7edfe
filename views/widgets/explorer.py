"""The diagram component: the explorer of `diagrams/browser/scripts.py`, registered with Streamlit once per process."""

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from diagrams.browser import scripts as browser
from views.server.vendor import PLOTLY_URL, SCRIPT_URL, STYLES_URL
from views.widgets import exports

# Streamlit sends this and the script with every answer, so they hold only the address of the rest.
_CSS = """.cc[data-ready="false"] {
  visibility: hidden;
}
"""

URLS = {"plotly_url": PLOTLY_URL, "styles_url": STYLES_URL, "exports_url": exports.URL}  # for every explorer


def mounting(name: str, html: str, script: str) -> Callable[..., Any]:
    """A function that mounts a component with explorers in it; `script` is the address of its script."""
    # A single line would be a path.
    js = f"""export default async (component) =>
  (await import(new URL("{script}", location.href).href)).default(component);
"""
    return st.components.v2.component(name, html=html, css=_CSS, js=js, isolate_styles=False)


_mount = mounting("consistent_cut_explorer", browser.markup(), SCRIPT_URL)


def explorer(data: dict[str, Any], scene: bytes, key: str, on_outbox_change: Callable[[], None]) -> None:
    """Show the explorer.

    Args:
        data: `ExploreSession.data`, sent at every run.
        scene: the scene as JSON, sent as it is under the key "scene" of `data`.
        key: the widget's key; its state holds `outbox`, the edits that are not acknowledged yet.
        on_outbox_change: called before the page's script when the browser has made an edit.
    """
    head = json.dumps({**data, **URLS}, ensure_ascii=False).encode()
    _mount(key=key, data=head[:-1] + b', "scene": ' + scene + b"}", on_outbox_change=on_outbox_change)
