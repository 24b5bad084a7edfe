"""What a process says beside its work. Where it goes may be full, or gone, and that is no reason to end."""

from __future__ import annotations

import sys
from contextlib import suppress


def warn(text: object) -> None:
    """Write a line to the standard error, if it takes one."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
