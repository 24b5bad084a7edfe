"""The component of the page Live: the diagram of a cluster as it grows, and the controls of the cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from diagrams.browser import scripts as browser
from diagrams.shapes import theme
from views.live.frame import WIDTHS
from views.live.routes import URL
from views.server.vendor import LIVE_URL
from views.widgets.explorer import URLS, mounting

_mount = mounting("consistent_cut_live", browser.live_markup(), LIVE_URL)
_SAME = {**URLS, "frames_url": URL, "palettes": theme.PALETTES, "widths": WIDTHS}  # for every cluster


def live_cluster(data: Mapping[str, Any], key: str, on_outbox_change: Callable[[], None]) -> None:
    """Show a cluster.

    Args:
        data: what differs for each browser: `LivePage.data`.
        key: the widget's key; its state holds `outbox`, the wishes that are not acknowledged yet.
        on_outbox_change: called before the page's script when the user has pressed a button.
    """
    _mount(key=key, data=json.dumps({**_SAME, **data}).encode(), on_outbox_change=on_outbox_change)
