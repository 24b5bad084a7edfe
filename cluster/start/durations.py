"""Durations as a command line has them: 50ms, 2s, 50ms..200ms."""

from __future__ import annotations

import re

from sim.core.errors import InputError

_TIME = re.compile(r"([0-9.]+)(us|ms|s)?")
_SCALE = {"us": 1e-6, "ms": 1e-3, "s": 1.0, None: 1e-3}


def seconds(text: str, where: str) -> float:
    """Return a duration such as 50ms, 2s or 100us, in seconds; a number without a unit is in milliseconds.

    Raises InputError, which begins with `where`.
    """
    found = _TIME.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        return float(found[1]) * _SCALE[found[2]]
    except ValueError:
        raise InputError(f"{where}: {text!r} is no duration; write 50ms, 2s or 100us") from None


def delays(text: str) -> tuple[float, float]:
    """Return the shortest and the longest delay of --delay, in seconds: 50ms, or 50ms..200ms. Raises InputError."""
    low, _, high = text.partition("..")
    found = seconds(low, "--delay"), seconds(high or low, "--delay")
    if found[0] > found[1]:
        raise InputError(f"--delay: {text} ends before it begins; write the shorter delay first")
    return found
