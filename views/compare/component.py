"""The component of the Compare page: explorers side by side, which step together by time."""

from __future__ import annotations

import json
from collections.abc import Callable

from diagrams.browser import scripts as browser
from views.server.vendor import COMPARE_URL
from views.widgets.explorer import URLS, mounting

_mount = mounting("consistent_cut_comparison", browser.comparison_markup(), COMPARE_URL)


def comparison(document: bytes, key: str, on_outbox_change: Callable[[], None]) -> None:
    """Show the comparison.

    Args:
        document: `CompareSession.document`, sent at every run.
        key: the widget's key; its state holds `outboxes`: by algorithm the edits that are not acknowledged yet.
        on_outbox_change: called before the page's script when the browser has made an edit.
    """
    head = json.dumps(URLS).encode()
    _mount(key=key, data=head[:-1] + b", " + document[1:], on_outboxes_change=on_outbox_change)
