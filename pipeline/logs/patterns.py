"""Regular expressions that users write: in Python's or JavaScript's syntax, and with bounds on time and memory.

An expression such as ^(a+)+$ may take exponential time, and Python's `re` holds up all other threads meanwhile. So `re`
only checks expressions, and the package `regex` searches: it gives up after a time, and other threads go on. `regex`
copies a part that is repeated a given number of times, so these numbers are bounded.

The bound is on the processor time of all searches in a log together: MOST_SECONDS, and more than healthy expressions
need. (Our own took up to 0.45 s for each MB of an execution, and 3 µs for a line that may be a delimiter.)
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator

import regex

from sim.core.errors import InputError, brief

MOST_SECONDS = 10.0  # for all files that are read together; and in addition:
SECONDS_PER_MB = 5.0  # of an execution
SECONDS_PER_EXECUTION = 0.005
SECONDS_PER_LINE = 1e-5  # that may be a delimiter
SECONDS_PER_LETTER = 1e-6  # of such a line
MOST_FOR_A_LINE = 2.0
MOST_LETTERS = 2_000  # of an expression
MOST_COPIED = 200_000  # letters of an expression, with copies of what is repeated a given number of times

_COUNT = re.compile(r"([)\s]?)\{([0-9]*),?([0-9]*)\}")  # with the end of a group before it, perhaps after white space
_FOREIGN = re.compile(
    r"(?P<escaped>\\N\{[^}]*\}|\\.)|(?P<group>\(\?<(?![=!]))|\{(?![0-9]+,?[0-9]*\}|,[0-9]*\})", re.DOTALL
)


def compile_pattern(text: str, where: str, groups: tuple[str, ...] = ()) -> regex.Pattern[str]:
    """Compiles `text`; ^ and $ match at the ends of lines. Errors begin with `where`, such as the name of an option.

    Raises InputError if `text` is no regular expression, is too long, or lacks one of `groups`.
    """
    if len(text) > MOST_LETTERS or _copied(text) > MOST_COPIED:
        raise InputError(
            f"{where}: {brief(text)} is too long, or repeats something too often; use at most {MOST_LETTERS:,} "
            "letters, and + or * instead of large numbers in {}"
        )
    common = _FOREIGN.sub(_in_common_syntax, text)
    try:
        known = re.compile(common, re.MULTILINE).groupindex
        pattern = regex.compile(common, regex.MULTILINE | regex.VERSION0)
    except (re.error, regex.error, ValueError, RecursionError, OverflowError) as problem:
        raise InputError(
            f"{where}: {text!r} is no regular expression ({problem}); see docs.python.org/library/re"
        ) from None
    for group in groups:
        if group not in known:
            raise InputError(
                f"{where}: {text!r} has no group {group!r}; write (?P<{group}>...) around what it is: "
                f"it needs {', '.join(groups)}"
            )
    return pattern


def _copied(text: str) -> int:
    """An upper bound for the letters of an expression in which every part repeated n times is written n times."""
    counts = [(bool(bracket), _number(least), _number(most)) for bracket, least, most in _COUNT.findall(text)]
    of_groups = math.prod(max(1, least, most) for is_group, least, most in counts if is_group)
    of_letters = max((max(least, most) for is_group, least, most in counts if not is_group), default=1)
    return len(text) * of_groups * max(1, of_letters)


def _number(digits: str) -> int:
    """A number of repetitions; 0 if it is left out. All numbers above MOST_COPIED have the same effect."""
    return int(digits[:9] or 0)


def _in_common_syntax(found: re.Match[str]) -> str:
    """A form that both engines read alike, of JavaScript's group (?<host>...), or of a { that begins no repetition."""
    return found["escaped"] or ("(?P<" if found["group"] else r"\{")


class TooSlow(Exception):
    """Searches took too long, or too much memory."""


def seconds_for(size: int, total: int) -> float:
    """The seconds for the searches in an execution of `size` bytes; all executions together have `total` bytes."""
    return MOST_SECONDS * size / max(1, total) + SECONDS_PER_MB * size / 1e6 + SECONDS_PER_EXECUTION


def matches(pattern: regex.Pattern[str], text: str, seconds: float) -> Iterator[regex.Match[str]]:
    """Yield the matches of `pattern`, one after the other.

    Raises TooSlow after `seconds` of processor time of this process; the time of all its threads counts.
    """
    try:
        yield from pattern.finditer(text, timeout=seconds, concurrent=True)
    except (TimeoutError, MemoryError):
        raise TooSlow from None


class LineSearches:
    """Searches in single lines of all files that are read together."""

    def __init__(self) -> None:
        self._left = MOST_SECONDS

    def first(self, pattern: regex.Pattern[str], line: str) -> regex.Match[str] | None:
        """The first match in a line. Raises TooSlow if this search, or all together, took too long."""
        begun = time.thread_time()
        try:
            found = pattern.search(line, timeout=min(self._left, MOST_FOR_A_LINE), concurrent=True)
        except (TimeoutError, MemoryError):
            raise TooSlow from None
        healthy = SECONDS_PER_LINE + SECONDS_PER_LETTER * len(line)
        self._left -= max(0.0, time.thread_time() - begun - healthy)
        if self._left <= 0:
            raise TooSlow
        return found
