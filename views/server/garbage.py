"""The garbage collector of the app: it looks at the objects of sessions, not again and again at imported modules.

A drawing makes hundreds of thousands of objects and no cycles, so by default the collector would traverse everything
several times for each edit: 50 ms of each on a hundred processes.
"""

from __future__ import annotations

import gc
from functools import cache

OBJECTS = 50_000  # made and not freed between two looks at the youngest


@cache
def settle() -> None:
    """Keep all present objects, which are those of the modules, to the end of the process; once."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS)
