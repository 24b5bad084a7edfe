"""Regular expressions that users write: in Python's or JavaScript's syntax, and with a time limit."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sim.core.errors import InputError

MOST_SECONDS = 10.0  # for the search for one match


def compile_pattern(text: str, where: str, groups: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Compiles `text`; ^ and $ match at the ends of lines. Errors begin with `where`, such as the name of an option.

    Raises InputError if `text` is no regular expression, or lacks one of `groups`.
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
    """A search took MOST_SECONDS without finding a match."""


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of `pattern`, one after the other. Raises TooSlow if one takes longer than MOST_SECONDS."""
    found = 0
    with time_limit(lambda: found):
        for match in pattern.finditer(text):
            found += 1
            yield match


@contextmanager
def time_limit(progress: Callable[[], int]) -> Iterator[None]:
    """Raises TooSlow in the block if the value of `progress` does not change for MOST_SECONDS.

    An expression such as (a+)+$ takes exponential time. A timer signal interrupts the search. Python delivers signals
    to the main thread only; Spark's workers run there. In other threads there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    last = -1

    def check(*_: Any) -> None:
        nonlocal last
        now = progress()
        if now == last:
            raise TooSlow
        last = now

    before = signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS / 2, MOST_SECONDS / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
