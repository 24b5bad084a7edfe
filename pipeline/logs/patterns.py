"""Regular expressions that users give: Python's or JavaScript's way of naming groups, and a bound on their patience."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sim.core.errors import InputError

MOST_SECONDS = 10.0  # that the search for one match may take


def compiled(text: str, where: str, groups: tuple[str, ...] = ()) -> re.Pattern[str]:
    """`text` as an expression in which ^ and $ are the ends of lines. `where` opens every error, such as an option.

    Raises InputError where it is none, or lacks one of `groups`.
    """
    python = re.sub(r"(?<!\\)\(\?<(?![=!])", "(?P<", text)  # JavaScript names a group (?<host>...)
    try:
        pattern = re.compile(python, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as problem:
        raise InputError(
            f"{where}: {text!r} is no regular expression ({problem}); see docs.python.org/library/re"
        ) from None
    for group in groups:
        if group not in pattern.groupindex:
            raise InputError(
                f"{where}: {text!r} has no group {group!r}; write (?P<{group}>...) around what it is: "
                f"it needs {', '.join(groups)}"
            )
    return pattern


class TooSlow(Exception):
    """A search has gone on for MOST_SECONDS without finding anything."""


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of `pattern`, one after the other. Raises TooSlow."""
    found = 0
    with watched(lambda: found):
        for match in pattern.finditer(text):
            found += 1
            yield match


@contextmanager
def watched(progress: Callable[[], int]) -> Iterator[None]:
    """Raises TooSlow in the block once `progress` has stood still for MOST_SECONDS.

    An expression such as (a+)+$ can take longer than anybody lives. Python looks for signals while it searches;
    only a main thread receives them, which is where Spark's workers work: in other threads nobody watches.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    seen = -1

    def look(*_: Any) -> None:
        nonlocal seen
        now = progress()
        if now == seen:
            raise TooSlow
        seen = now

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS / 2, MOST_SECONDS / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
