"""A table of trade-offs that the app makes in the background, for one visitor, and keeps until it ends.

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
from views.compare import words

MOST_KEPT = 100  # tables, of as many visitors

_lock = threading.Lock()
_made: dict[str | None, Table] = {}  # by visitor (None: there are none)


@lru_cache(maxsize=1)
def table_of_the_app() -> Table:
    """The table of `make tradeoffs`. Raises InputError if it is missing, or of another version."""
    try:
        return table_from_json(TRADEOFFS.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(words.no_table(TRADEOFFS.name, problem.strerror)) from None


def made_by(owner: str | None) -> Table | None:
    """The last table made for a visitor, if any."""
    return _made.get(owner)


def measure(asked: Asked, owner: str | None, progress: Progress, stop: threading.Event) -> None:
    """The work of a job: make the table, and keep it for its owner. A stopped job keeps nothing."""
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
