"""Warnings of a process. If the standard error is full or closed, the process goes on without them."""

from __future__ import annotations

import sys
from contextlib import suppress


def warn(text: object) -> None:
    """Write a line to the standard error, if that is possible."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
