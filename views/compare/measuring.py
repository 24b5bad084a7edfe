"""A table of trade-offs that is made in the background of the app: asked for in a tab, kept until the app ends.

Nothing here imports Streamlit.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from pipeline.spark.progress import Progress
from pipeline.store.examples import TRADEOFFS
from pipeline.tradeoffs.cases import Asked
from pipeline.tradeoffs.table import Table, measured_at_once, table_from_json
from sim.core.errors import InputError

MOST_KEPT = 100  # tables, of as many visitors

_lock = threading.Lock()
_made: dict[str | None, Table] = {}  # by visitor (None: there are none)


@lru_cache(maxsize=1)
def that_comes_with_the_app() -> Table:
    """The table of `make tradeoffs`. Raises InputError if it is missing, or of another version."""
    try:
        return table_from_json(TRADEOFFS.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"examples/{TRADEOFFS.name}: cannot be read ({problem.strerror}); run make tradeoffs"
        ) from None


def made_by(owner: str | None) -> Table | None:
    """The last table that a visitor has had made, if any."""
    return _made.get(owner)


def measure(asked: Asked, owner: str | None, progress: Progress, stop: threading.Event) -> None:
    """The work of a job: make the table, and keep it for who asked. Nothing is kept of one that is stopped."""
    table = measured_at_once(asked, progress, stop)
    if table is not None:
        with _lock:
            _made.pop(owner, None)
            _made[owner] = table
            for old in list(_made)[:-MOST_KEPT]:
                del _made[old]


def forget(owner: str | None) -> None:
    """Show the table that comes with the app again."""
    with _lock:
        _made.pop(owner, None)
